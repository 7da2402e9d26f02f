// What one launch keeps in linear memory in front of its tiles: the argument block that compiled code reads, and its scratch.
// Plain data, so that the cache can keep it beside the code. All offsets are in bytes from the start of the block.
import { isConstruct, walk, type AccessOp, type Graph, type Node, type Plane, type ReduceOp } from '../../ir/graph.ts'
import type { EffectOp } from '../../ir/ops.ts'
import { ACCUMULATORS } from '../../ir/reduction.ts'
import type { Type } from '../../ir/types.ts'
import { laneBytes, type Lanes } from './lanes.ts'

/** Number of samples in the whole problem, i32. */
export const SAMPLE_COUNT = 0
/** First access outside a table or accumulator, in a checked kernel: sample (u32, all ones if none), plane, index. */
export const REPORT = 16
export const NO_REPORT = 0xffff_ffff
const FIRST_PLANE = 32
const PLANE_SLOT = 16
/** Bytes of scatter-adds that are noted before a kernel that scatters in loops falls back to one sample at a time. */
const LOG_BYTES = 2 ** 17

/**
 * Slot of a plane: for a uniform its value; else the address of what would be sample (or entry) 0, modulo 2³², the distance of
 * components in bytes, and the number of entries.
 */
export const planeSlot = (plane: number): number => FIRST_PLANE + plane * PLANE_SLOT
export const PITCH = 4
export const LENGTH = 8

export type ReductionSlot = {
  readonly plane: number
  readonly component: number
  readonly type: Type
  readonly reduce: ReduceOp
  /** Where its 32 accumulators lie; a condition is a mask as wide as a lane. */
  readonly offset: number
}

/** Scatter-adds in the order of execution, noted for a whole group and applied sample by sample. */
export type ScatterLog = {
  readonly offset: number
  /** A record: tag (i32, padded to 16 bytes), an index (i32) for each sample of the group, a value for each. */
  readonly recordBytes: number
  readonly valuesOffset: number
  readonly records: number
  /**
   * together: the notes of a group have room, whatever happens. attempted: they may run full, and then the group is run again one
   * sample at a time. alone: always one sample at a time, as the group has other effects inside constructs, which cannot be run again.
   */
  readonly mode: 'together' | 'attempted' | 'alone'
}

/** Components of a plane that code reads and writes. */
export type PlaneUse = {
  readonly read: readonly number[]
  readonly written: readonly number[]
}

export type Frame = {
  readonly lanes: Lanes
  /** Vectors that run side by side. */
  readonly vectors: number
  /** Samples of one step: lanes · vectors. Divides 32. */
  readonly group: number
  readonly bytes: number
  readonly reductions: readonly ReductionSlot[]
  readonly tapes: readonly number[]
  readonly log: ScatterLog | null
  readonly uses: readonly PlaneUse[]
  /** Stores leave some samples untouched, so that a tile must hold them before. */
  readonly storesInPart: boolean
}

/** A plane that samples own: it is streamed. The others are shared by all samples. */
export const isPerSample = ({ role }: Plane): boolean => role === 'sample' || role === 'mask'

const align = (bytes: number, alignment: number): number => Math.ceil(bytes / alignment) * alignment

export interface FrameRequest {
  readonly graph: Graph
  readonly lanes: Lanes
  readonly vectors: number
}

export function layOut({ graph, lanes, vectors }: FrameRequest): Frame {
  const group = lanes * vectors
  let next = planeSlot(graph.planes.length)
  const reserve = (bytes: number): number => {
    const offset = align(next, 64)
    next = offset + bytes
    return offset
  }

  const contributed = uses(graph, ['contribute'])
  const reductions = graph.planes.flatMap(({ type, reduce }, plane) =>
    contributed[plane]!.map((component): ReductionSlot => {
      const offset = reserve(ACCUMULATORS * laneBytes(type, lanes))
      return { plane, component, type, reduce: reduce!, offset }
    }),
  )
  // One slot more than the capacity: what lanes that are masked off write goes there.
  const tapes = graph.tapes.map(({ type, capacity }) => reserve((capacity + 1) * group * laneBytes(type, lanes)))

  return {
    lanes,
    vectors,
    group,
    reductions,
    tapes,
    log: scatterLog(graph, group, reserve),
    uses: planeUses(graph),
    storesInPart: storesInPart(graph),
    bytes: align(next, 64),
  }
}

function scatterLog(graph: Graph, group: number, reserve: (bytes: number) => number): ScatterLog | null {
  const count = [...walk(graph.body)].filter(({ op }) => op === 'scatterAdd').length
  if (count === 0) return null
  const others = graph.body.nodes.some((node) => holds(node, ['store', 'contribute', 'finish']))
  const mode = !scattersInLoop(graph) ? 'together' : others ? 'alone' : 'attempted'
  const valuesOffset = 16 + align(group * 4, 16)
  const recordBytes = align(valuesOffset + group * 8, 16)
  const records = mode === 'together' ? count : Math.max(count, Math.floor(LOG_BYTES / recordBytes))
  return { offset: reserve(records * recordBytes), recordBytes, valuesOffset, records, mode }
}

/** Whether a construct has some effects inside. */
const holds = (node: Node, ops: readonly EffectOp[]): boolean =>
  isConstruct(node) &&
  node.regions.some((region) => [...walk(region)].some(({ op }) => (ops as readonly string[]).includes(op)))

/** Whether a sample may scatter any number of times. */
const scattersInLoop = (graph: Graph): boolean =>
  [...walk(graph.body)].some((node) => node.op === 'loop' && holds(node, ['scatterAdd']))

/** Stores under a mask: of kernels that finish samples, inside constructs, and where samples may run one by one. */
const storesInPart = (graph: Graph): boolean =>
  graph.planes.some(({ role }) => role === 'mask') ||
  scattersInLoop(graph) ||
  graph.body.nodes.some((node) => holds(node, ['store']))

/** Components of each plane that some ops access. */
function uses(graph: Graph, ops: readonly AccessOp[]): number[][] {
  const found = graph.planes.map(() => new Set<number>())
  for (const node of walk(graph.body)) {
    if ('component' in node && ops.includes(node.op)) found[node.plane]!.add(node.component)
  }
  return found.map((components) => [...components].sort((a, b) => a - b))
}

function planeUses(graph: Graph): PlaneUse[] {
  const read = uses(graph, ['load', 'gather'])
  const written = uses(graph, ['store', 'scatterAdd', 'finish'])
  return graph.planes.map(({ role }, plane) => ({
    // What is finished at launch is skipped, whether or not this kernel finishes more.
    read: role === 'mask' ? [0] : read[plane]!,
    written: written[plane]!,
  }))
}
