// The memory of a thread that runs refilled lanes: the queue of prepared samples, the queue of those that are done, and what open
// blocks of reductions hold.
import { walk, type Graph, type PlaneEffect } from '../../ir/graph.ts'
import { BLOCK } from '../../ir/reduction.ts'
import { BYTES } from '../../ir/types.ts'
import { columnType, planQueue, type QueuePlan } from './queue.ts'
import { planRefill, type RefillPlan } from './refillPlan.ts'
import { uniformity } from './uniformity.ts'

/** Samples that are prepared at a time, and that wait to be delivered. */
export const PREPARED = 256

/** Blocks that may be open at a time: the next one starts while the last samples of one still run. */
export const OPEN_BLOCKS = 2

/** A place in the program that contributes to a reduction. */
export interface Contribution {
  readonly effect: PlaneEffect
  /** Bytes from the start of the thread's part: a value for each sample of the open blocks. */
  readonly offset: number
}

export interface RefillLayout {
  readonly plan: RefillPlan
  /** Number of the sample, `plan.kept`, then the initial carries that differ from sample to sample. */
  readonly fresh: QueuePlan
  /** Carries whose initial value differs from sample to sample. */
  readonly queuedInitial: readonly number[]
  /** Number of the sample, then `plan.results`. */
  readonly done: QueuePlan
  readonly contributions: readonly Contribution[]
  readonly bytes: number
}

/** The layout, or undefined where lanes of this kernel cannot be refilled. */
export function layOutRefill(graph: Graph): RefillLayout | undefined {
  const uniform = uniformity(graph)
  const plan = planRefill(graph, uniform)
  if (plan === undefined) return undefined
  const { loop, kept, results } = plan
  const initial = loop.operands.slice(1)
  const queuedInitial = initial.flatMap((value, k) => (value.op !== 'const' && !uniform.isUniform(value) ? [k] : []))
  const fresh = planQueue(
    ['i32', ...kept.map(({ type }) => type), ...queuedInitial.map((k) => loop.types[k]!)],
    PREPARED,
    0,
  )
  const done = planQueue(['i32', ...results.map((k) => loop.types[k]!)], PREPARED, fresh.bytes)
  let bytes = fresh.bytes + done.bytes
  const contributions = [...walk(graph.body)].flatMap((node): Contribution[] => {
    if (node.op !== 'contribute') return []
    const offset = bytes
    bytes += OPEN_BLOCKS * BLOCK * BYTES[columnType(graph.planes[node.plane]!.type)]
    return [{ effect: node, offset }]
  })
  return { plan, fresh, queuedInitial, done, contributions, bytes }
}
