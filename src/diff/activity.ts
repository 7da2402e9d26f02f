// Which values take part in a derivative: `varied` ones depend on an input that is differentiated, `useful` ones influence an output.
// Both follow values through carries, results, branches and tapes.
// Invariant: only float values are ever varied or useful; a condition, an index or a count passes no derivative on.
import {
  isConstruct,
  isEffect,
  walk,
  type Construct,
  type Effect,
  type Graph,
  type Region,
  type Value,
} from '../ir/graph.ts'
import { isFloat } from '../ir/types.ts'
import { rules } from './rules.ts'
import { createValueMap } from './value-map.ts'

/** Operands through which a derivative flows into a value. */
export function differentiableOperands(value: Value): readonly Value[] {
  if (!isFloat(value.type)) return []
  const rule = rules[value.op]
  const operands =
    value.op === 'custom'
      ? value.operands.slice(1)
      : rule.kind === 'partials'
        ? value.operands.filter((_, k) => rule.partials[k])
        : []
  return operands.filter(({ type }) => isFloat(type))
}

export interface ValueSet {
  has(value: Value): boolean
  /** Whether result `index` of a construct is in it. */
  hasResult(source: Construct, index: number): boolean
}

interface GrowingSet extends ValueSet {
  add(value: Value): void
  addResult(source: Construct, index: number): void
  readonly size: number
}

/** An empty set, into which only floats go. */
function createSet(): GrowingSet {
  const members = createValueMap<true>()
  return {
    has: (value) => members.has(value),
    hasResult: (source, index) => members.hasResult(source, index),
    add: (value) => isFloat(value.type) && members.set(value, true),
    addResult: (source, index) => isFloat(source.types[index]!) && members.setResult(source, index, true),
    get size() {
      return members.size
    },
  }
}

/** Values that depend on the leaves for which `isInput` holds. */
export function variedValues(graph: Graph, isInput: (leaf: Value) => boolean): ValueSet {
  const varied = createSet()
  const variedTapes = new Set<number>()
  const isVaried = (value: Value) => varied.has(value)

  function visitConstruct(construct: Construct): void {
    const [body] = construct.regions
    if (construct.op === 'loop') {
      construct.types.forEach((_, k) => {
        if (isVaried(construct.operands[k + 1]!) || isVaried(body!.results[k]!)) varied.add(body!.parameters[k + 1]!)
      })
    }
    construct.regions.forEach(visit)
    construct.types.forEach((_, k) => {
      const sources = construct.regions.map(({ results }) => results[k]!)
      const givers = construct.op === 'loop' ? [body!.results[k]!, construct.operands[k + 1]!] : sources
      if (givers.some(isVaried)) varied.addResult(construct, k)
    })
  }

  function visit({ nodes }: Region): void {
    for (const node of nodes) {
      if (isConstruct(node)) visitConstruct(node)
      else if (isEffect(node)) {
        if (node.op === 'record' && isVaried(node.operands[1]!)) variedTapes.add(node.tape)
      } else if (node.op === 'recall' ? variedTapes.has(node.tape) : isInput(node)) varied.add(node)
      else if (differentiableOperands(node).some(isVaried)) varied.add(node)
    }
  }

  // A carry or a tape can pass variation back to an earlier node, so that one pass may not see everything.
  for (let before = -1; before < varied.size + variedTapes.size;) {
    before = varied.size + variedTapes.size
    visit(graph.body)
  }
  return varied
}

/** Values that influence the effects for which `isOutput` holds. */
export function usefulValues(graph: Graph, isOutput: (effect: Effect) => boolean): ValueSet {
  const useful = createSet()
  const carriedBy = new Map<Value, { loop: Construct; carry: number }>()
  const recorded = new Map<number, Value[]>()
  const pending: Value[] = []
  for (const node of walk(graph.body)) {
    if (isConstruct(node) && node.op === 'loop') {
      node.regions[0]!.parameters.forEach((parameter, k) => carriedBy.set(parameter, { loop: node, carry: k - 1 }))
    } else if (node.op === 'record') recorded.set(node.tape, [...(recorded.get(node.tape) ?? []), node.operands[1]!])
    else if (isEffect(node) && isOutput(node)) pending.push(node.operands.at(-1)!)
  }
  const needResult = (construct: Construct, index: number) => {
    pending.push(...construct.regions.flatMap(({ results }) => results[index] ?? []))
    if (construct.op === 'loop')
      pending.push(construct.operands[index + 1]!, construct.regions[0]!.parameters[index + 1]!)
  }
  for (let value = pending.pop(); value; value = pending.pop()) {
    if (useful.has(value) || !isFloat(value.type)) continue
    useful.add(value)
    pending.push(...differentiableOperands(value))
    if (value.op === 'result') needResult(value.source, value.index)
    if (value.op === 'recall') pending.push(...(recorded.get(value.tape) ?? []))
    const carried = carriedBy.get(value)
    if (carried && carried.carry >= 0) needResult(carried.loop, carried.carry)
  }
  return useful
}
