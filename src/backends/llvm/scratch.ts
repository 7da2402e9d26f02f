// Where what lies in scratch memory: the report of a checked build, the block results of reductions, then a part for each thread with
// its tapes and lists.
import type { Graph } from '../../ir/graph.ts'
import type { Code } from './code.ts'
import { planEvents, type EventPlan } from './events.ts'
import { CHECK_REPORT_BYTES, type EmitOptions, type KernelShape, type ScratchPlan } from './interface.ts'
import { layOutRefill, type RefillLayout } from './refillLayout.ts'
import { bytesPerBlock, reductionsOf } from './reduce.ts'
import { hasScatterInLoop, planScatter, type ScatterPlan } from './scatter.ts'
import { tapeLayout } from './tapes.ts'

export interface ScratchLayout {
  readonly plan: ScratchPlan
  /** Offset of the first block result. */
  readonly results: number
  /** Offsets in the part of a thread. */
  readonly tapes: readonly number[]
  readonly scatter: ScatterPlan
  /** Where scatter-adds stand in loops; they take the place of lists. */
  readonly events: EventPlan | undefined
  /** Where lanes are retired and refilled. */
  readonly refill: RefillLayout | undefined
}

const ALIGNMENT = 64

/** Blocks that each thread computes before the team applies their scatter-adds. */
export const BLOCKS_PER_ROUND = 16

export function layOutScratch(
  graph: Graph,
  { width, vectors, divergence }: KernelShape,
  { check }: EmitOptions,
): ScratchLayout {
  const results = check ? CHECK_REPORT_BYTES : 0
  const perBlock = bytesPerBlock(reductionsOf(graph))
  const lanes = width * vectors
  const tapes = tapeLayout(graph.tapes, lanes)
  const scatter = planScatter(graph, width)
  const events = lanes > 1 && hasScatterInLoop(graph) ? planEvents(graph, lanes, tapes.bytes) : undefined
  const refill = divergence === 'refilled' ? layOutRefill(graph) : undefined
  const perThread = tapes.bytes + (events?.bytes ?? 0) + (refill?.bytes ?? 0)
  // What lies behind the block results starts at a multiple of 64.
  const padding = perBlock > 0 && perThread + scatter.bytes > 0 ? ALIGNMENT : 0
  const plan: ScratchPlan = {
    fixed: results + padding + scatter.bytes,
    perBlock,
    perThread,
    perTeamThread: BLOCKS_PER_ROUND * scatter.bytes,
  }
  return { plan, results, tapes: tapes.offsets, scatter, events, refill }
}

/** Where the parts of scratch memory that depend on the launch start. */
export interface ScratchAddresses {
  /** First of the lists of scatter-adds, of a block each: one, or with a job as many as a round has blocks. */
  readonly lists: string
  /** The part of the calling thread. */
  readonly own: string
}

/**
 * @param scratch address of scratch memory
 * @param blocks blocks that the launch touches (i64)
 * @param job whether there is one (i1), and what it says: its threads and the number of the calling one (i64, 1 and 0 without)
 */
export function locateScratch(
  code: Code,
  { plan, results, scatter }: ScratchLayout,
  scratch: string,
  blocks: string,
  job: { readonly exists: string; readonly threads: string; readonly thread: string },
): ScratchAddresses {
  if (plan.perThread + scatter.bytes === 0) return { lists: '', own: '' }
  const size = code.value(`mul i64 ${blocks}, ${plan.perBlock}`)
  const padded = code.value(`add i64 ${size}, ${ALIGNMENT - 1}`)
  const aligned = code.value(`and i64 ${padded}, ${-ALIGNMENT}`)
  const start = code.value(`add i64 ${aligned}, ${results}`)
  const lists = code.value(`getelementptr i8, ptr ${scratch}, i64 ${start}`)
  const ofTeam = code.value(`mul i64 ${job.threads}, ${BLOCKS_PER_ROUND * scatter.bytes}`)
  const listBytes = code.value(`select i1 ${job.exists}, i64 ${ofTeam}, i64 ${scatter.bytes}`)
  const before = code.value(`add i64 ${listBytes}, ${code.value(`mul i64 ${job.thread}, ${plan.perThread}`)}`)
  return { lists, own: code.value(`getelementptr i8, ptr ${lists}, i64 ${before}`) }
}
