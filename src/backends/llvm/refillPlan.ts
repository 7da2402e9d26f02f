// Which kernels run with lanes that are retired and refilled, and what becomes of their parts: those whose main work is one loop that
// each sample leaves by itself, with nothing in it that must happen in sample order.
import {
  freeValues,
  isConstruct,
  isEffect,
  walk,
  type Construct,
  type Graph,
  type Node,
  type Value,
} from '../../ir/graph.ts'
import type { Type } from '../../ir/types.ts'
import type { Uniformity } from './uniformity.ts'

export interface RefillPlan {
  readonly loop: Construct
  /** What the loop uses from outside, other for each sample: its count, and values of the body of the graph. */
  readonly kept: readonly Value[]
  /** Types of what a lane holds while it runs the loop. */
  readonly state: readonly Type[]
  /** Carries whose last value something uses. */
  readonly results: readonly number[]
  /** Nodes of the body that the loop needs. */
  readonly before: readonly Node[]
  /** Nodes of the body that its effects need, once the loop has its results; what they share with `before` is computed anew. */
  readonly after: readonly Node[]
}

/** A loop with a known cap this small does not pay for refilling. */
const SMALL_CAP = 16

export function planRefill(graph: Graph, uniformity: Uniformity): RefillPlan | undefined {
  const { nodes } = graph.body
  const divergent = [...walk(graph.body)].filter(
    (node): node is Construct => isConstruct(node) && node.op === 'loop' && !uniformity.leavesTogether(node),
  )
  const loop = divergent.find((node) => nodes.includes(node))
  if (loop === undefined || graph.tapes.length > 0) return undefined
  const inner = new Set<Node>(loop.regions.flatMap((region) => [...walk(region)]))
  // Loops before or after the main one would run for few lanes at a time.
  if (divergent.some((node) => node !== loop && !inner.has(node))) return undefined
  const [count] = loop.operands
  if (count!.op === 'const' && Number(count!.literal) <= SMALL_CAP) return undefined

  // Effects stand in the body of the graph, and scatter-adds at the sample's own number.
  const effects = [...walk(graph.body)].filter(isEffect)
  if (effects.some((effect) => !nodes.includes(effect))) return undefined
  if (effects.some(({ op, operands }) => op === 'scatterAdd' && operands[0]!.op !== 'sampleIndex')) return undefined

  const isOfSample = (value: Value): boolean =>
    value.op !== 'const' &&
    !(value.op === 'result' ? uniformity.isInvariant(value.source) : uniformity.isInvariant(value))
  const free = [...freeValues(loop.regions)].filter(isOfSample)
  const kept = [...new Set([...(isOfSample(count!) ? [count!] : []), ...free])]
  const before = needed(graph, [...loop.operands, ...kept], loop, uniformity)
  const after = needed(graph, [], loop, uniformity, effects)
  // A loop that feeds on itself through another node is no main loop.
  if (before.includes(loop)) return undefined
  const results = loop.types.flatMap((_, k) => (isResultUsed(graph, loop, k) ? [k] : []))
  const state = [...kept.map(({ type }) => type), ...loop.types]
  return { loop, kept, state, results, before, after }
}

/** Nodes of the body that values or effects need, in order; `loop` is taken as given. */
function needed(
  { body }: Graph,
  values: readonly Value[],
  loop: Construct,
  { isInvariant }: Uniformity,
  effects: readonly Node[] = [],
): readonly Node[] {
  const found = new Set<Node>()
  const needNode = (node: Node): void => {
    if (found.has(node) || node === loop || isInvariant(node)) return
    found.add(node)
    node.operands.forEach(need)
    if (isConstruct(node)) freeValues(node.regions).forEach(need)
  }
  const need = (value: Value): void => {
    if (value.op !== 'const') needNode(value.op === 'result' ? value.source : value)
  }
  values.forEach(need)
  effects.forEach(needNode)
  return body.nodes.filter((node) => found.has(node))
}

function isResultUsed({ body }: Graph, loop: Construct, index: number): boolean {
  const isIt = (value: Value) => value.op === 'result' && value.source === loop && value.index === index
  for (const node of walk(body)) {
    if (node.operands.some(isIt)) return true
    if (isConstruct(node) && node.regions.some(({ results }) => results.some(isIt))) return true
  }
  return false
}
