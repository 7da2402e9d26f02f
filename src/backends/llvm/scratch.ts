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

export function layOutScratch(
  graph: Graph,
  { width, vectors, divergence }: KernelShape,
  { check }: EmitOptions,
): ScratchLayout {
  const results = check ? CHECK_REPORT_BYTES : 0
  const perBlock = bytesPerBlock(reductionsOf(graph))
  const tapes = tapeLayout(graph.tapes, width * vectors)
  const scatter = planScatter(graph, width, tapes.bytes)
  const lanes = width * vectors
  const events = lanes > 1 && hasScatterInLoop(graph) ? planEvents(graph, lanes, tapes.bytes) : undefined
  const refill = divergence === 'refilled' ? layOutRefill(graph) : undefined
  const perThread = tapes.bytes + scatter.bytes + (events?.bytes ?? 0) + (refill?.bytes ?? 0)
  // What lies behind the block results starts at a multiple of 64.
  const fixed = results + (perBlock > 0 && perThread > 0 ? ALIGNMENT : 0)
  return { plan: { fixed, perBlock, perThread }, results, tapes: tapes.offsets, scatter, events, refill }
}

/**
 * Address of the part of a thread.
 * @param blocks blocks that the launch touches (i64)
 * @param thread number of the thread (i64)
 */
export function threadPart(
  code: Code,
  { plan, results }: ScratchLayout,
  scratch: string,
  blocks: string,
  thread: string,
) {
  const size = code.value(`mul i64 ${blocks}, ${plan.perBlock}`)
  const padded = code.value(`add i64 ${size}, ${ALIGNMENT - 1}`)
  const aligned = code.value(`and i64 ${padded}, ${-ALIGNMENT}`)
  const start = code.value(`add i64 ${aligned}, ${results}`)
  const before = code.value(`mul i64 ${thread}, ${plan.perThread}`)
  const offset = code.value(`add i64 ${start}, ${before}`)
  return code.value(`getelementptr i8, ptr ${scratch}, i64 ${offset}`)
}
