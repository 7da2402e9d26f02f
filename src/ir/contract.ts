// `{ math: 'contract' }`: fuses a product that is used once with the sum that uses it, in the graph, so that every target that has
// FMA gives the same bits. A product used elsewhere too is kept, as fusing would compute it twice.
import { isConstruct, walk, type Graph, type Value } from './graph.ts'
import { rebuild } from './rebuild.ts'

export function contract(graph: Graph): Graph {
  const uses = new Map<Value, number>()
  const count = (values: readonly Value[]) => values.forEach((value) => uses.set(value, (uses.get(value) ?? 0) + 1))
  for (const node of walk(graph.body)) {
    count(node.operands)
    if (isConstruct(node)) for (const { results } of node.regions) count(results)
  }
  const isFusable = (original: Value, made: Value) =>
    original.op === 'mul' && uses.get(original) === 1 && made.op === 'mul'

  const fused = rebuild(graph, {
    value(value, [left, right], b) {
      if ((value.op !== 'add' && value.op !== 'sub') || (value.type !== 'f64' && value.type !== 'f32')) return undefined
      const subtracts = value.op === 'sub'
      if (isFusable(value.operands[0]!, left!)) {
        const [x, y] = left!.operands
        return b.fma(x!, y!, subtracts ? b.neg(right!) : right!)
      }
      if (!isFusable(value.operands[1]!, right!)) return undefined
      const [x, y] = right!.operands
      return b.fma(subtracts ? b.neg(x!) : x!, y!, left!)
    },
  })
  // Drops the products that went into sums.
  return rebuild(fused)
}
