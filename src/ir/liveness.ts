// Which nodes a graph needs: everything an effect on a plane depends on, through carries and results of loops, branches and
// dispatches, and through tapes.
// Invariants: a carry that only feeds itself is dead, whatever its loop; so is a record on a tape that nothing needed recalls.
import {
  isConstruct,
  isPlaneEffect,
  walk,
  type Construct,
  type Effect,
  type Graph,
  type Node,
  type Value,
} from './graph.ts'

export interface Liveness {
  isLive(node: Node): boolean
  /** Numbers of the results (for a loop: carries) of a construct that something needs. */
  liveResults(construct: Construct): readonly number[]
}

export function liveness(graph: Graph): Liveness {
  const live = new Set<Node>()
  const results = new Map<Construct, Set<number>>()
  /** The loop and carry that a region parameter stands for; −1 is the iteration number. */
  const carriedBy = new Map<Value, { loop: Construct; carry: number }>()
  for (const node of walk(graph.body)) {
    if (!isConstruct(node)) continue
    for (const { parameters } of node.regions) {
      parameters.forEach((parameter, k) => carriedBy.set(parameter, { loop: node, carry: k - 1 }))
    }
  }

  const pending: Value[] = []
  const need = (values: readonly Value[]) => pending.push(...values)

  function needConstruct(construct: Construct): void {
    if (live.has(construct)) return
    live.add(construct)
    results.set(construct, new Set())
    need([construct.operands[0]!])
    if (construct.op === 'loop') need(construct.regions[1]!.results)
  }

  function needResult(construct: Construct, index: number): void {
    needConstruct(construct)
    const needed = results.get(construct)!
    if (needed.has(index)) return
    needed.add(index)
    if (construct.op === 'loop') need([construct.operands[index + 1]!, construct.regions[0]!.results[index]!])
    else need(construct.regions.map((region) => region.results[index]!))
  }

  /** An effect and the constructs that hold it. */
  function needEffect(effect: Effect, holders: readonly Construct[]): void {
    live.add(effect)
    need(effect.operands)
    holders.forEach(needConstruct)
  }

  /** What to do once a value of a tape is needed. */
  const records = new Map<number, (() => void)[]>()

  function needEffects(nodes: readonly Node[], holders: readonly Construct[]): void {
    for (const node of nodes) {
      if (isPlaneEffect(node)) needEffect(node, holders)
      else if (node.op === 'record') {
        const ofTape = records.get(node.tape) ?? []
        records.set(node.tape, ofTape)
        ofTape.push(() => needEffect(node, holders))
      } else if (isConstruct(node)) {
        for (const { nodes: inner } of node.regions) needEffects(inner, [...holders, node])
      }
    }
  }

  needEffects(graph.body.nodes, [])
  for (let value = pending.pop(); value; value = pending.pop()) {
    if (live.has(value)) continue
    live.add(value)
    need(value.operands)
    if (value.op === 'result') needResult(value.source, value.index)
    if (value.op === 'recall') {
      records.get(value.tape)?.forEach((needRecord) => needRecord())
      records.delete(value.tape)
    }
    const carried = carriedBy.get(value)
    if (carried && carried.carry >= 0) needResult(carried.loop, carried.carry)
  }

  return {
    isLive: (node) => live.has(node),
    liveResults: (construct) => [...(results.get(construct) ?? [])].sort((a, b) => a - b),
  }
}
