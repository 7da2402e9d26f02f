// One call of a compiled kernel. Arrays outside the linear memory are streamed through it: samples a tile at a time, tables and
// accumulators whole, once a launch. Planes that lie inside are used where they are.
// Invariants: a tile starts at a multiple of its size and lies within one block of the reductions; code writes whole groups of samples,
// so that a group only a part of which is in the range always goes through a tile, of which that part is copied back; an array inside
// the memory is known by its address, so that it stays bound when the memory grows.
import { HarrierError } from '../../errors.ts'
import type { Plane } from '../../ir/graph.ts'
import { BLOCK } from '../../ir/reduction.ts'
import { BYTES } from '../../ir/types.ts'
import type { Launch, LaunchRange, PlaneArray, PlaneType } from '../backend.ts'
import { outOfRange } from '../outOfRange.ts'
import { LENGTH, NO_REPORT, PITCH, planeSlot, REPORT, SAMPLE_COUNT, type Frame } from './frame.ts'
import type { Memory } from './memory.ts'
import { startReductions } from './reductions.ts'
import { align, copyEntries, planStreams, type Place, type StreamPlan, type Tile } from './streams.ts'

/** A kernel in memory, shared by all its launches. */
export interface LoadedKernel {
  readonly name: string
  readonly planes: readonly Plane[]
  readonly frame: Frame
  readonly memory: Memory
  readonly check: boolean
  /** Elements between samples, or entries, of each plane. */
  readonly sampleStrides: readonly number[] | undefined
  readonly run: (block: number, begin: number, end: number) => void
}

interface Bound {
  readonly array: PlaneArray
  readonly pitch: number
  readonly length: number
  /** Elements when it was bound. */
  readonly size: number
  /** Where it lies in the linear memory; undefined outside. */
  readonly address: number | undefined
}

/** What is bound to a plane: an array, or the number of a uniform. */
type Binding = Bound | number | undefined

const isBound = (binding: Binding): binding is Bound => typeof binding === 'object'

export function createLaunch(kernel: LoadedKernel): Launch {
  const { planes, frame, memory, sampleStrides } = kernel
  const plan = planStreams(planes, frame, sampleStrides)
  const bindings: Binding[] = planes.map(() => undefined)
  return {
    bind(plane, array, pitch, length) {
      bindings[plane] = { array, pitch, length, size: array.length, address: memory.addressOf(array) }
    },
    set(plane, value) {
      bindings[plane] = value
    },
    run: (range) => run(kernel, plan, bindings, range),
    async runAsync(range) {
      // Bindings of its own, so that this launch can be bound anew before the next turn of the event loop.
      const own = [...bindings]
      await new Promise((resolve) => setTimeout(resolve, 0))
      run(kernel, plan, own, range)
    },
    release() {
      bindings.forEach((binding, plane) => {
        if (isBound(binding)) bindings[plane] = undefined
      })
    },
  }
}

function boundTo({ name, planes }: LoadedKernel, bindings: readonly Binding[], plane: number): Bound {
  const binding = bindings[plane]
  if (!isBound(binding)) {
    throw new HarrierError(
      'E_INTERNAL',
      `kernel '${name}': launched while nothing is bound to '${planes[plane]!.name}'`,
    )
  }
  if (binding.address === undefined && binding.array.length !== binding.size) {
    throw new HarrierError(
      'E_BINDING',
      `kernel '${name}': the array of '${planes[plane]!.name}' was detached, or its buffer resized, after it was bound; bind the array anew`,
    )
  }
  return binding
}

function run(kernel: LoadedKernel, plan: StreamPlan, bindings: readonly Binding[], range: LaunchRange): void {
  const { name, planes, frame, memory, check } = kernel
  const { sampleCount, begin, end } = range
  const bound = (plane: number): Bound => boundTo(kernel, bindings, plane)

  // Nothing below this line makes the memory grow, so that the views hold.
  const copies = plan.shared.filter(({ plane }) => bound(plane).address === undefined)
  const sharedBytes = copies.map(({ plane, components, stride, type }) =>
    align(bound(plane).length * BYTES[type] * (stride === 1 ? components : stride) + BYTES[type]),
  )
  const bytes = plan.bytes + sharedBytes.reduce((sum, size) => sum + size, 0)
  const block = memory.workspace(bytes, `kernel '${name}'`)
  const views = memory.views()
  const { u32, i32 } = views

  const setPlane = (plane: number, address: number, pitch: number, length: number): void => {
    const slot = (block + planeSlot(plane)) >> 2
    u32[slot] = address
    u32[slot + PITCH / 4] = pitch
    i32[slot + LENGTH / 4] = length
  }

  function setUniform(plane: number, value: number): void {
    const { type } = planes[plane]!
    const address = block + planeSlot(plane)
    const stored = type === 'bool' ? 'i32' : (type as PlaneType)
    views[stored][address / BYTES[stored]] = value
  }

  /** The array of a plane, from where it lies now. */
  function outside(plane: number, type: PlaneType): Place {
    const { array, pitch, size, address } = bound(plane)
    if (address === undefined) return { array, start: 0, pitch }
    const start = address / BYTES[type]
    return { array: views[type].subarray(start, start + size), start: 0, pitch }
  }

  const inside = (type: PlaneType, address: number, pitch: number): Place => ({
    array: views[type],
    start: address / BYTES[type],
    pitch: pitch / BYTES[type],
  })

  u32[(block + SAMPLE_COUNT) >> 2] = sampleCount
  if (check) u32[(block + REPORT) >> 2] = NO_REPORT
  planes.forEach(({ role }, plane) => {
    const binding = bindings[plane]
    if (typeof binding === 'number') setUniform(plane, binding)
    // A kernel may ask for the length of a table of which it reads nothing.
    else if (role === 'table' && binding) setPlane(plane, 0, 0, binding.length)
  })

  // Tables and accumulators.
  let next = block + plan.bytes
  const held = copies.map((stream, k) => {
    const { plane, type, stride, reads } = stream
    const { length } = bound(plane)
    const pitch = stride === 1 ? length * BYTES[type] : BYTES[type]
    const place = inside(type, next, pitch)
    copyEntries(stream, reads, outside(plane, type), place, 0, length)
    setPlane(plane, next, pitch, length)
    next += sharedBytes[k]!
    return place
  })
  for (const { plane, type } of plan.shared) {
    const { address, pitch, length } = bound(plane)
    if (address !== undefined) setPlane(plane, address, pitch * BYTES[type], length)
  }

  // Samples.
  const direct = plan.tiles.filter(({ plane }) => bound(plane).address !== undefined)
  const streamed = plan.tiles.filter((tile) => !direct.includes(tile))
  const reductions = frame.reductions.length > 0 ? startReductions(frame) : undefined
  reductions?.reset(views, block)

  const tilePlace = ({ type, offset, pitch, stride }: Tile, tileStart: number): Place => {
    const address = block + offset - tileStart * stride * BYTES[type]
    return inside(type, address, pitch)
  }
  const useTile = (tile: Tile, tileStart: number): void => {
    const { plane, type, offset, pitch, stride } = tile
    setPlane(plane, block + offset - tileStart * stride * BYTES[type], pitch, 0)
  }
  const copyIn = (tile: Tile, tileStart: number, first: number, last: number): void =>
    copyEntries(tile, tile.reads, outside(tile.plane, tile.type), tilePlace(tile, tileStart), first, last - first)
  const copyOut = (tile: Tile, tileStart: number, first: number, last: number): void =>
    copyEntries(tile, tile.writes, tilePlace(tile, tileStart), outside(tile.plane, tile.type), first, last - first)

  function refuseReported(): void {
    const report = (block + REPORT) >> 2
    if (u32[report] === NO_REPORT) return
    const [sample, plane, index] = i32.subarray(report, report + 3)
    throw outOfRange(name, { plane: planes[plane!]!, length: bound(plane!).length, sample: sample!, index: index! })
  }

  /** Runs samples of one tile, copying what passes through it. */
  function step(tiles: readonly Tile[], tileStart: number, first: number, last: number): void {
    if (first >= last) return
    for (const tile of tiles) {
      useTile(tile, tileStart)
      copyIn(tile, tileStart, first, last)
    }
    kernel.run(block, first, last)
    if (check) refuseReported()
    for (const tile of tiles) copyOut(tile, tileStart, first, last)
  }

  /** Runs samples that make whole groups, with planes inside the memory in place. */
  function stepInPlace(tileStart: number, first: number, last: number): void {
    for (const { plane, type } of direct) {
      const { address, pitch, length } = bound(plane)
      setPlane(plane, address!, pitch * BYTES[type], length)
    }
    step(streamed, tileStart, first, last)
  }

  const { group } = frame
  for (let tileStart = begin - (begin % plan.samples); tileStart < end; tileStart += plan.samples) {
    const first = Math.max(begin, tileStart)
    const last = Math.min(end, tileStart + plan.samples)
    if (direct.length === 0) step(streamed, tileStart, first, last)
    else {
      const firstWhole = Math.min(last, Math.ceil(first / group) * group)
      const lastWhole = Math.max(firstWhole, Math.floor(last / group) * group)
      step(plan.tiles, tileStart, first, firstWhole)
      if (firstWhole < lastWhole) stepInPlace(tileStart, firstWhole, lastWhole)
      step(plan.tiles, tileStart, lastWhole, last)
    }
    if (reductions && (last === end || last % BLOCK === 0)) reductions.endBlock(views, block, first)
  }

  copies.forEach((stream, k) => {
    copyEntries(stream, stream.writes, held[k]!, outside(stream.plane, stream.type), 0, bound(stream.plane).length)
  })
  reductions?.write(
    (plane) => outside(plane, planes[plane]!.type as PlaneType).array,
    (plane) => bound(plane).pitch,
  )
}
