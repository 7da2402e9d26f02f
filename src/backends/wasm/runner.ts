// Runs a compiled kernel over a range of samples. Arrays outside the linear memory are streamed through it: samples a tile at a time,
// tables and accumulators whole, once a call. Planes that lie inside are used where they are.
// Invariants: a tile starts at a multiple of its size and lies within one block of the reductions; code writes whole groups of samples,
// so that a group only a part of which is in the range always goes through a tile, of which that part is copied back; the memory grows
// at most once a call, before anything is written to it.
import { HarrierError } from '../../errors.ts'
import type { Plane } from '../../ir/graph.ts'
import { BLOCK } from '../../ir/reduction.ts'
import { BYTES } from '../../ir/types.ts'
import type { LaunchRange, PlaneArray, PlaneType } from '../backend.ts'
import { isInPlace, movedArray } from '../movedArray.ts'
import { outOfRange } from '../outOfRange.ts'
import { LENGTH, NO_REPORT, PITCH, planeSlot, REPORT, SAMPLE_COUNT, type Frame } from './frame.ts'
import { isBound, type Binding, type Bound } from './launch.ts'
import type { Memory, Views } from './memory.ts'
import { startReductions } from './reductions.ts'
import { align, copyEntries, planStreams, type Place, type Stream, type Tile } from './streams.ts'

/** A kernel in memory. */
export interface LoadedKernel {
  readonly name: string
  readonly planes: readonly Plane[]
  readonly frame: Frame
  readonly memory: Memory
  readonly check: boolean
  /** Elements between samples, or entries, of each plane. */
  readonly sampleStrides: readonly number[] | undefined
  readonly code: Code
}

/** What a module exports; `block` is the address of the frame. */
export interface Code {
  /** Runs any samples. */
  readonly part: (block: number, begin: number, end: number) => void
  /** Runs samples that make whole groups. */
  readonly whole: (block: number, begin: number, end: number) => void
  /** Puts the identity in every accumulator of the reductions. */
  readonly reset: (block: number) => void
  /** Folds the accumulators of each reduction into the first of them. */
  readonly fold: (block: number) => void
}

/** A plane on its way through a tile. */
interface Passage {
  readonly tile: Tile
  readonly caller: Place
  readonly held: Place
}

export type Runner = (bindings: readonly Binding[], range: LaunchRange) => void

export function createRunner(kernel: LoadedKernel): Runner {
  const { name, planes, frame, memory, check } = kernel
  const { group } = frame
  const { part, whole, reset, fold } = kernel.code
  const plan = planStreams(planes, frame, kernel.sampleStrides)
  const numbers = planes.map((_, plane) => plane)
  const uniforms = numbers.filter((plane) => planes[plane]!.role === 'uniform')
  const tables = numbers.filter((plane) => planes[plane]!.role === 'table')

  // State of the call under way. Calls do not overlap, as each runs from start to end on one thread.
  let bindings: readonly Binding[] = []
  let views: Views
  let block = 0
  /** Where the tiles lie, for the views and the block that they were found for. */
  let held: readonly Place[] = []
  let heldIn: { readonly views: Views; readonly block: number } | undefined

  function heldPlaces(): readonly Place[] {
    if (heldIn?.views !== views || heldIn.block !== block) {
      held = plan.tiles.map(({ type, offset, pitch }) => placeAt(type, block + offset, pitch))
      heldIn = { views, block }
    }
    return held
  }

  function boundTo(plane: number): Bound {
    const binding = bindings[plane]
    const label = planes[plane]!.name
    if (!isBound(binding)) {
      throw new HarrierError('E_INTERNAL', `kernel '${name}': launched while nothing is bound to '${label}'`)
    }
    return binding
  }

  /** Refuses arrays whose memory is no longer where it was when they were bound. */
  function checkArrays(): void {
    for (let plane = 0; plane < bindings.length; plane++) {
      const binding = bindings[plane]
      if (isBound(binding) && binding.address === undefined && !isInPlace(binding.array, binding.size))
        throw movedArray(name, planes[plane]!.name)
    }
  }

  const isInside = ({ plane }: Stream): boolean => boundTo(plane).address !== undefined

  function setPlane(plane: number, address: number, pitch: number, length: number): void {
    const slot = (block + planeSlot(plane)) >> 2
    views.u32[slot] = address
    views.u32[slot + PITCH / 4] = pitch
    views.i32[slot + LENGTH / 4] = length
  }

  function setUniform(plane: number, value: number): void {
    const { type } = planes[plane]!
    const stored = type === 'bool' ? 'i32' : (type as PlaneType)
    views[stored][(block + planeSlot(plane)) / BYTES[stored]] = value
  }

  /** Points the code at an array inside the memory. */
  function useInside(plane: number): void {
    const { address, pitch, length } = boundTo(plane)
    setPlane(plane, address!, pitch * BYTES[planes[plane]!.type], length)
  }

  /** The array of a plane, where it lies now. */
  function callersPlace(plane: number, type: PlaneType): Place {
    const { array, pitch, size, address } = boundTo(plane)
    if (address === undefined) return { array, start: 0, pitch }
    const start = address / BYTES[type]
    return { array: views[type].subarray(start, start + size), start: 0, pitch }
  }

  const placeAt = (type: PlaneType, address: number, pitch: number): Place => ({
    array: views[type],
    start: address / BYTES[type],
    pitch: pitch / BYTES[type],
  })

  function reportedOutside(): HarrierError | undefined {
    const report = (block + REPORT) >> 2
    if (views.u32[report] === NO_REPORT) return undefined
    const [sample, plane, index] = views.i32.subarray(report, report + 3) as unknown as [number, number, number]
    return outOfRange(name, { plane: planes[plane]!, length: boundTo(plane).length, sample, index })
  }

  const firstWholeOf = (first: number, last: number): number => Math.min(last, Math.ceil(first / group) * group)
  const lastWholeOf = (firstWhole: number, last: number): number =>
    Math.max(firstWhole, Math.floor(last / group) * group)

  function runGroups(first: number, last: number): void {
    const firstWhole = firstWholeOf(first, last)
    const lastWhole = lastWholeOf(firstWhole, last)
    if (first < firstWhole) part(block, first, firstWhole)
    if (firstWhole < lastWhole) whole(block, firstWhole, lastWhole)
    if (lastWhole < last) part(block, lastWhole, last)
  }

  /** Runs samples of one tile, with copies for the planes that go through it. */
  function step(passages: readonly Passage[], tileStart: number, first: number, last: number): void {
    const count = last - first
    if (count <= 0) return
    for (const { tile, caller, held } of passages) {
      const { plane, type, offset, pitch, stride, reads } = tile
      setPlane(plane, block + offset - tileStart * stride * BYTES[type], pitch, 0)
      copyEntries(tile, reads, caller, first, held, first - tileStart, count)
    }
    runGroups(first, last)
    const outside = check ? reportedOutside() : undefined
    if (outside) throw outside
    for (const { tile, caller, held } of passages) {
      copyEntries(tile, tile.writes, held, first - tileStart, caller, first, count)
    }
  }

  /** Runs all samples of the range. `endBlock` is called when the last sample of a block, or of the range, is through. */
  function stream({ begin, end }: LaunchRange, endBlock: ((sample: number) => void) | undefined): void {
    const places = heldPlaces()
    const all = plan.tiles.map((tile, k): Passage => ({
      tile,
      caller: callersPlace(tile.plane, tile.type),
      held: places[k]!,
    }))
    const inside = plan.tiles.filter(isInside)
    const streamed = inside.length === 0 ? all : all.filter(({ tile }) => !inside.includes(tile))
    for (let tileStart = begin - (begin % plan.samples); tileStart < end; tileStart += plan.samples) {
      const first = Math.max(begin, tileStart)
      const last = Math.min(end, tileStart + plan.samples)
      if (inside.length === 0) step(all, tileStart, first, last)
      else {
        // In place, but for groups of which only a part is in the range.
        const firstWhole = firstWholeOf(first, last)
        const lastWhole = lastWholeOf(firstWhole, last)
        step(all, tileStart, first, firstWhole)
        for (const { plane } of inside) useInside(plane)
        step(streamed, tileStart, firstWhole, lastWhole)
        step(all, tileStart, lastWhole, last)
      }
      if (endBlock && (last === end || last % BLOCK === 0)) endBlock(first)
    }
  }

  function reduce(range: LaunchRange): void {
    const reductions = startReductions(frame)
    reset(block)
    stream(range, (sample) => {
      fold(block)
      reductions.endBlock(views, block, sample)
      reset(block)
    })
    reductions.write(
      (plane): PlaneArray => callersPlace(plane, planes[plane]!.type as PlaneType).array,
      (plane) => boundTo(plane).pitch,
    )
  }

  /** Copies tables and accumulators in, runs, and copies accumulators out. */
  function withShared(copied: readonly Stream[], sizes: readonly number[], run: () => void): void {
    let next = block + plan.bytes
    const held = copied.map((shared, k) => {
      const { plane, type, stride, reads } = shared
      const { length } = boundTo(plane)
      const pitch = stride === 1 ? length * BYTES[type] : BYTES[type]
      const place = placeAt(type, next, pitch)
      setPlane(plane, next, pitch, length)
      copyEntries(shared, reads, callersPlace(plane, type), 0, place, 0, length)
      next += sizes[k]!
      return place
    })
    for (const shared of plan.shared) if (isInside(shared)) useInside(shared.plane)
    run()
    copied.forEach((shared, k) => {
      const { plane, type, writes } = shared
      copyEntries(shared, writes, held[k]!, 0, callersPlace(plane, type), 0, boundTo(plane).length)
    })
  }

  return (bound, range) => {
    bindings = bound
    checkArrays()
    const copied = plan.shared.length === 0 ? plan.shared : plan.shared.filter((shared) => !isInside(shared))
    // At least an entry each, as code reads entry 0 of an empty table before it drops what it found.
    const sizes = copied.map(({ plane, components, stride, type }) =>
      align(Math.max(1, boundTo(plane).length) * BYTES[type] * (stride === 1 ? components : stride)),
    )
    block = memory.workspace(
      sizes.reduce((sum, size) => sum + size, plan.bytes),
      `kernel '${name}'`,
    )
    views = memory.views()
    views.u32[(block + SAMPLE_COUNT) >> 2] = range.sampleCount
    if (check) views.u32[(block + REPORT) >> 2] = NO_REPORT
    for (const plane of uniforms) {
      const value = bindings[plane]
      if (typeof value === 'number') setUniform(plane, value)
    }
    // A kernel may ask for the length of a table of which it reads nothing.
    for (const plane of tables) {
      const table = bindings[plane]
      if (isBound(table)) setPlane(plane, 0, 0, table.length)
    }
    const runSamples = (): void => (frame.reductions.length > 0 ? reduce(range) : stream(range, undefined))
    try {
      if (plan.shared.length === 0) runSamples()
      else withShared(copied, sizes, runSamples)
    } finally {
      bindings = []
    }
  }
}
