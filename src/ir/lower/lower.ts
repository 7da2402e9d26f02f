// Lowering as a pass: rebuilds a graph with every derived op rewritten by its row of the table, until basic ops are left.
// Invariants: the result has no derived op, and no fma where the target has none; it computes the same, the elementary functions
// within the bounds that their files state.
import { walk, type Graph, type Node, type Value } from '../graph.ts'
import { isDerived } from '../ops.ts'
import { rebuild } from '../rebuild.ts'
import { softwareFma } from './fma.ts'
import { lowerings, type LoweringTarget } from './index.ts'

/** The graph in basic ops, for a target. */
export function lower(graph: Graph, target: LoweringTarget): Graph {
  const isBasic = (node: Node): boolean => !isDerived(node.op) && (target.fma || node.op !== 'fma')

  const rewritten = (current: Graph): Graph =>
    rebuild(current, {
      value(value: Value, operands, b) {
        if (value.op === 'fma' && !target.fma) return softwareFma(b, operands)
        return isDerived(value.op) ? lowerings[value.op](b, operands, target, value.type) : undefined
      },
    })

  // Lowerings may use derived ops of their own; a last round drops what they made and the graph does not need.
  let current = graph
  while (![...walk(current.body)].every(isBasic)) current = rewritten(current)
  return rebuild(current)
}
