// Which values are alike in every lane of a vector: they are computed once, as scalars, and what does not depend on the sample at all
// before the loop over samples.
// Invariant: lanes run a loop in lockstep, so that its iteration number is alike in all lanes that still run; a carry is alike only
// where all lanes leave the loop together.
import {
  isConstruct,
  isEffect,
  type Construct,
  type Graph,
  type Node,
  type Region,
  type Value,
} from '../../ir/graph.ts'

export interface Uniformity {
  isUniform(value: Value): boolean
  /** Every lane leaves this loop after the same number of iterations. */
  leavesTogether(loop: Construct): boolean
  /** Whether a node of the body of the graph gives the same for every sample, and writes nothing. */
  isInvariant(node: Node): boolean
  /** Result `index` of a construct is alike in all lanes. */
  isUniformResult(construct: Construct, index: number): boolean
  /** Whether something computed lane by lane uses a uniform value. */
  isSpread(value: Value): boolean
  isSpreadResult(construct: Construct, index: number): boolean
}

/** @param apart a loop whose lanes do not run in lockstep */
export function uniformity(graph: Graph, apart?: Construct): Uniformity {
  const varying = new Set<Value>()
  const varyingLoops = new Set<Construct>()
  const spread = new Set<Value>()
  const spreadResults = new Map<Construct, Set<number>>()
  let changed = true

  const mark = <T>(set: Set<T>, item: T, condition: boolean): void => {
    if (!condition || set.has(item)) return
    set.add(item)
    changed = true
  }
  const varies = (value: Value): boolean =>
    value.op === 'result' ? resultVaries(value.source, value.index) : varying.has(value)

  function resultVaries(construct: Construct, index: number): boolean {
    if (construct.op === 'loop') return varies(construct.regions[0]!.parameters[index + 1]!)
    return varies(construct.operands[0]!) || construct.regions.some(({ results }) => varies(results[index]!))
  }

  function valueVaries(value: Value): boolean {
    switch (value.op) {
      case 'load':
      case 'sampleIndex':
      case 'recall':
        return true
      default:
        return value.operands.some(varies)
    }
  }

  function visitLoop(loop: Construct): void {
    const [body, condition] = loop.regions as readonly [Region, Region]
    mark(varyingLoops, loop, loop === apart || varies(loop.operands[0]!) || varies(condition.results[0]!))
    for (const { parameters } of loop.regions) {
      mark(varying, parameters[0]!, loop === apart)
      parameters.slice(1).forEach((parameter, k) => {
        const isMixed = varies(loop.operands[k + 1]!) || varies(body.results[k]!) || varyingLoops.has(loop)
        mark(varying, parameter, isMixed)
      })
    }
  }

  function visit({ nodes }: Region): void {
    for (const node of nodes) {
      if (isEffect(node)) continue
      if (!isConstruct(node)) mark(varying, node, valueVaries(node))
      else {
        node.regions.forEach(visit)
        if (node.op === 'loop') visitLoop(node)
      }
    }
  }

  while (changed) {
    changed = false
    visit(graph.body)
  }

  const spreadAll = (values: readonly Value[]) => {
    for (const value of values) {
      if (value.op !== 'result') spread.add(value)
      else spreadResults.set(value.source, (spreadResults.get(value.source) ?? new Set()).add(value.index))
    }
  }
  function visitUses({ nodes }: Region): void {
    for (const node of nodes) {
      if (isEffect(node)) spreadAll(node.operands)
      else if (isConstruct(node)) {
        node.regions.forEach(visitUses)
        spreadAll(node.operands)
        for (const { results } of node.regions) spreadAll(results)
      } else if (varies(node)) spreadAll(node.operands)
    }
  }
  visitUses(graph.body)

  const isPure = (node: Node): boolean =>
    isConstruct(node)
      ? node.operands.every((operand) => !varies(operand)) &&
        !varyingLoops.has(node) &&
        node.regions.every(({ nodes, results }) => nodes.every(isPure) && !results.some(varies))
      : !isEffect(node) && !varies(node)

  /** Nodes of the body that belong to each sample: what is not pure, and what uses any of them. */
  const ofSample = new Set<Node>()
  const usesSample = (node: Node): boolean =>
    node.operands.some(isOfSample) ||
    (isConstruct(node) && node.regions.some(({ nodes, results }) => nodes.some(usesSample) || results.some(isOfSample)))
  const isOfSample = (value: Value): boolean => ofSample.has(value.op === 'result' ? value.source : value)
  for (const node of graph.body.nodes) if (!isPure(node) || usesSample(node)) ofSample.add(node)

  return {
    isUniform: (value) => !varies(value),
    leavesTogether: (loop) => !varyingLoops.has(loop),
    isInvariant: (node) => !ofSample.has(node),
    isUniformResult: (construct, index) => !resultVaries(construct, index),
    isSpread: (value) => spread.has(value),
    isSpreadResult: (construct, index) => spreadResults.get(construct)?.has(index) ?? false,
  }
}
