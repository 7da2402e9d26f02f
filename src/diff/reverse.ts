// The reverse sweep over a region: first its values again (`forward`), then from its last node to its first the adjoints of what each
// node uses (`backward`). Loops stand in reverse-loop.ts.
// Invariants: the values that a backward sweep refers to were emitted in the same region or in one around it; adjoints of values from
// outside a region leave it as results of its construct; effects of the primal on planes are not repeated unless asked for.
import {
  isConstruct,
  isEffect,
  walk,
  type Construct,
  type CustomValue,
  type Effect,
  type Node,
  type PlaneEffect,
  type Region,
  type Value,
} from '../ir/graph.ts'
import type { ValueSet } from './activity.ts'
import { createCopier, type Copier, type CopierParts } from './copier.ts'
import { customDerivative } from './custom.ts'
import { materialise, product, sum, type Flow } from './product.ts'
import { createLoopReversal, type LoopSchedule } from './reverse-loop.ts'
import { rules } from './rules.ts'
import { createValueMap, type ValueMap } from './value-map.ts'

/** Adjoints of the values of one region, and of those from outside that it uses. */
export type Adjoints = ValueMap<Value>

export interface ReverseParts extends CopierParts {
  /** Name of the primal; for messages. */
  readonly kernel: string
  readonly active: ValueSet
  readonly schedule: LoopSchedule
  /** Tape that holds the adjoints of a tape of the primal. */
  readonly adjointTape: (tape: number) => number
  /** The adjoint that an effect of the primal starts, from its rebuilt operands. */
  readonly seed: (effect: PlaneEffect, operands: readonly Value[]) => Flow
  /** Takes the adjoint of a leaf that reads an input, with its rebuilt operands. */
  readonly deliver: (leaf: Value, operands: readonly Value[], adjoint: Value) => void
}

/** What the sweeps of regions and of loops use of each other. */
export interface Sweep extends ReverseParts, Copier {
  /** Emits the values of a region so that `backward` can follow in the same region. */
  forward(region: Region): void
  /** Emits the adjoints; `adjoints` holds those of the results of the region, and takes those of everything that it uses. */
  backward(region: Region, adjoints: Adjoints): void
  add(adjoints: Adjoints, value: Value, flow: Flow): void
  /** Active values that a construct uses and does not define. */
  freeValues(construct: Construct): readonly Value[]
  /** Whether anything in a construct takes part in the derivative. */
  isInvolved(construct: Construct): boolean
}

export function createSweep(parts: ReverseParts): Sweep {
  const { kernel, b, active, adjointTape, seed, deliver } = parts
  const copier = createCopier(parts)
  const { primalOf, emit, copyConstruct } = copier

  function add(adjoints: Adjoints, value: Value, flow: Flow): void {
    if (!flow || !active.has(value)) return
    adjoints.set(value, sum(b, adjoints.get(value), b.convert(flow, value.type))!)
  }

  const freeOf = new Map<Construct, readonly Value[]>()
  function freeValues(construct: Construct): readonly Value[] {
    const known = freeOf.get(construct)
    if (known) return known
    const defined = createValueMap<true>()
    const used = createValueMap<Value>()
    const use = (value: Value) => active.has(value) && !used.has(value) && used.set(value, value)
    const define = ({ parameters }: Region) => parameters.forEach((parameter) => defined.set(parameter, true))
    const bodies = regionsWithAdjoints(construct)
    for (const region of bodies) {
      define(region)
      region.results.forEach(use)
      for (const node of walk(region)) {
        node.operands.forEach(use)
        if (isConstruct(node)) {
          node.types.forEach((_, k) => defined.setResult(node, k, true))
          for (const inner of node.regions) {
            define(inner)
            inner.results.forEach(use)
          }
        } else if (!isEffect(node)) defined.set(node, true)
      }
    }
    const free = used.values().filter((value) => !defined.has(value))
    freeOf.set(construct, free)
    return free
  }

  const isInvolved = (construct: Construct): boolean =>
    construct.types.some((_, k) => active.hasResult(construct, k)) ||
    regionsWithAdjoints(construct).some((region) => [...walk(region)].some(takesPart))
  const takesPart = (node: Node): boolean =>
    isConstruct(node) ? false : isEffect(node) ? carriesAdjoint(node) : active.has(node)
  const carriesAdjoint = (effect: Effect): boolean => active.has(effect.operands.at(-1)!)

  const forward = (region: Region): void =>
    emit(region, (construct) =>
      construct.op === 'loop' && isInvolved(construct) ? loops.forward(construct) : copyConstruct(construct),
    )

  function backward({ nodes }: Region, adjoints: Adjoints): void {
    const firstOutputs = firstOfEachCall(nodes)
    for (const node of nodes.toReversed()) {
      if (isConstruct(node)) backwardConstruct(node, adjoints)
      else if (isEffect(node)) backwardEffect(node, adjoints)
      else if (node.op === 'custom') {
        const call = firstOutputs.get(node)
        if (call) backwardCall(call, adjoints)
      } else {
        const adjoint = adjoints.get(node)
        if (adjoint) backwardValue(node, adjoint, adjoints)
      }
    }
  }

  function backwardValue(value: Value, adjoint: Value, adjoints: Adjoints): void {
    const operands = value.operands.map(primalOf)
    if (value.op === 'load' || value.op === 'uniform' || value.op === 'gather') return deliver(value, operands, adjoint)
    if (value.op === 'recall') {
      const tape = adjointTape(value.tape)
      b.record(tape, operands[0]!, b.add(b.recall(tape, operands[0]!), adjoint))
      return
    }
    const rule = rules[value.op]
    if (rule.kind !== 'partials') return
    const result = primalOf(value)
    rule.partials.forEach((partial, k) => {
      const operand = value.operands[k]!
      if (partial && active.has(operand)) add(adjoints, operand, product(b, partial({ b, operands, result }), adjoint))
    })
  }

  /** The adjoints of all outputs of a call are known once the sweep has passed the first of them. */
  function backwardCall(outputs: readonly CustomValue[], adjoints: Adjoints): void {
    const known = new Map<number, Value>()
    for (const output of outputs) {
      const adjoint = adjoints.get(output)
      if (adjoint) known.set(output.output, adjoint)
    }
    if (known.size === 0) return
    const inputs = outputs[0]!.operands.slice(1)
    const flows = customDerivative(outputs[0]!, 'vjp', kernel)(b, inputs.map(primalOf), known)
    inputs.forEach((input, k) => add(adjoints, input, flows[k]))
  }

  function backwardEffect(effect: Effect, adjoints: Adjoints): void {
    if (!carriesAdjoint(effect)) return
    const operands = effect.operands.map(primalOf)
    const value = effect.operands.at(-1)!
    if (effect.op !== 'record') return add(adjoints, value, seed(effect, operands))
    // What was in the slot before has no influence beyond this record.
    const tape = adjointTape(effect.tape)
    add(adjoints, value, b.recall(tape, operands[0]!))
    b.record(tape, operands[0]!, b.zero(value.type))
  }

  function backwardConstruct(construct: Construct, adjoints: Adjoints): void {
    if (!isInvolved(construct)) return
    const results = construct.types.map((_, k) => adjoints.getResult(construct, k))
    if (construct.op === 'loop') return loops.backward(construct, results, adjoints)
    const free = freeValues(construct)
    const sides = construct.regions.map((region) => () => {
      forward(region)
      const inner = createValueMap<Value>()
      region.results.forEach((value, k) => add(inner, value, results[k]))
      backward(region, inner)
      return free.map((value) => materialise(b, inner.get(value), value))
    })
    const made = b.sides(construct.op, primalOf(construct.operands[0]!), sides)
    free.forEach((value, k) => add(adjoints, value, made[k]))
  }

  const sweep: Sweep = {
    ...parts,
    ...copier,
    forward,
    backward,
    add,
    freeValues,
    isInvolved,
  }
  const loops = createLoopReversal(sweep)
  return sweep
}

/** Regions whose values have adjoints: not the condition of a loop. */
const regionsWithAdjoints = ({ op, regions }: Construct): readonly Region[] =>
  op === 'loop' ? regions.slice(0, 1) : regions

/** The outputs of each call of a function with a rule of its own, under the output that comes first. */
function firstOfEachCall(nodes: readonly Node[]): ReadonlyMap<Node, readonly CustomValue[]> {
  const calls = new Map<string, CustomValue[]>()
  for (const node of nodes) {
    if (isConstruct(node) || isEffect(node) || node.op !== 'custom') continue
    const key = `${node.rule}(${node.operands
      .slice(1)
      .map(({ id }) => id)
      .join(',')})`
    calls.set(key, [...(calls.get(key) ?? []), node])
  }
  return new Map([...calls.values()].map((outputs) => [outputs[0]!, outputs]))
}
