// How planes outside the linear memory pass through it: per-sample planes a tile at a time, tables and accumulators whole.
// Invariant: what is copied is what code reads and what it wrote; the bytes of a caller that no sample of the range owns are not touched.
import type { Plane } from '../../ir/graph.ts'
import { BLOCK } from '../../ir/reduction.ts'
import { BYTES } from '../../ir/types.ts'
import type { PlaneArray, PlaneType } from '../backend.ts'
import { isPerSample, type Frame } from './frame.ts'

/** The copies of one plane. */
export interface Stream {
  readonly plane: number
  readonly type: PlaneType
  readonly components: number
  /** Elements between samples or entries; 1: each component is a row of its own. */
  readonly stride: number
  readonly reads: readonly number[]
  readonly writes: readonly number[]
}

/** A per-sample plane and where its tile lies in the workspace. */
export interface Tile extends Stream {
  readonly offset: number
  /** Bytes from a component to the next. */
  readonly pitch: number
}

export interface StreamPlan {
  /** Samples of a tile: a power of two, at most a block of the reductions. */
  readonly samples: number
  readonly tiles: readonly Tile[]
  /** Tables and accumulators. */
  readonly shared: readonly Stream[]
  /** Bytes of frame and tiles. */
  readonly bytes: number
}

/** Half of a small second-level cache, so that a tile is still there when it is copied out. */
const TILE_BYTES = 2 ** 17
const FEWEST_SAMPLES = 64

export const align = (bytes: number): number => Math.ceil(bytes / 64) * 64

/** A place that entries are copied from or to. */
export interface Place {
  readonly array: PlaneArray
  /** Element of component 0 of the first entry that lies there. */
  readonly start: number
  /** Elements from a component to the next, where the stride is 1. */
  readonly pitch: number
  /** What was last copied from here: making a view takes as long as copying a thousand numbers. */
  recent?: { readonly start: number; readonly count: number; readonly view: PlaneArray }
}

export function planStreams(
  planes: readonly Plane[],
  frame: Frame,
  sampleStrides: readonly number[] | undefined,
): StreamPlan {
  const streams = planes.flatMap((plane, number): Stream[] => {
    const { read, written } = frame.uses[number]!
    if (plane.role === 'uniform' || plane.role === 'reduction' || read.length + written.length === 0) return []
    const stride = sampleStrides?.[number] ?? 1
    // What a store leaves as it is, code or stride, must be there before the tile is copied back; accumulators are added to.
    const keepsSome = plane.role !== 'sample' || frame.storesInPart || stride !== 1
    const reads = keepsSome ? [...new Set([...read, ...written])] : read
    return [
      { plane: number, type: plane.type as PlaneType, components: plane.components, stride, reads, writes: written },
    ]
  })
  const perSample = streams.filter(({ plane }) => isPerSample(planes[plane]!))
  const sampleBytes = ({ type, stride, components }: Stream) => BYTES[type] * (stride === 1 ? components : stride)
  const total = perSample.reduce((sum, stream) => sum + sampleBytes(stream), 1)
  const samples = 2 ** Math.floor(Math.log2(Math.min(BLOCK, Math.max(FEWEST_SAMPLES, TILE_BYTES / total))))
  let next = frame.bytes
  const tiles = perSample.map((stream): Tile => {
    const offset = next
    next += align(samples * sampleBytes(stream))
    return { ...stream, offset, pitch: samples * BYTES[stream.type] }
  })
  return { samples, tiles, shared: streams.filter((stream) => !perSample.includes(stream)), bytes: next }
}

function viewOf(place: Place, start: number, count: number): PlaneArray {
  const { array, recent } = place
  if (start === 0 && count === array.length) return array
  if (recent !== undefined && recent.start === start && recent.count === count) return recent.view
  const view = array.subarray(start, start + count)
  place.recent = { start, count, view }
  return view
}

/** Below this many elements a loop is faster than making a view and copying by it. */
const FEW = 24

function copy(from: Place, start: number, to: PlaneArray, place: number, count: number): void {
  if (count > FEW) to.set(viewOf(from, start, count), place)
  else for (let k = 0; k < count; k++) to[place + k] = from.array[start + k]!
}

/** Copies some components of `count` entries: entries fromEntry on of one place to entries toEntry on of the other. */
export function copyEntries(
  { stride, components: width }: Pick<Stream, 'stride' | 'components'>,
  components: readonly number[],
  from: Place,
  fromEntry: number,
  to: Place,
  toEntry: number,
  count: number,
): void {
  if (count <= 0) return
  if (stride === 1) {
    for (const component of components) {
      const start = from.start + component * from.pitch + fromEntry
      copy(from, start, to.array, to.start + component * to.pitch + toEntry, count)
    }
  } else if (components.length > 0) {
    // The storage may end with the components of the last entry.
    const elements = (count - 1) * stride + width
    copy(from, from.start + fromEntry * stride, to.array, to.start + toEntry * stride, elements)
  }
}
