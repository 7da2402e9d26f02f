// The forward sweep: every value of a graph once more, and beside it the tangent of each that depends on an input in motion.
// Invariants: a tangent that is zero whatever the inputs are costs nothing; tangents take the same path through loops and branches as
// the values; the tangents that tapes hold stand on tapes of their own.
import { HarrierError } from '../errors.ts'
import type { Builder } from '../ir/build.ts'
import { copyEffect, copyValue, type Renaming } from '../ir/copy.ts'
import {
  isConstruct,
  isEffect,
  type Construct,
  type Effect,
  type Graph,
  type PlaneEffect,
  type Region,
  type Value,
} from '../ir/graph.ts'
import { isFloat } from '../ir/types.ts'
import { variedValues } from './activity.ts'
import { customDerivative } from './custom.ts'
import { materialise, product, sum, type Flow } from './product.ts'
import { rules } from './rules.ts'
import { createValueMap, type ValueMap } from './value-map.ts'

export interface ForwardParts {
  /** Name of the primal; for messages. */
  readonly kernel: string
  readonly b: Builder
  /** The number in the derivative of a plane that the primal reads. */
  readonly plane: (plane: number) => number
  /** Whether a leaf reads an input in motion. */
  readonly moves: (leaf: Value) => boolean
  /** The tangent of such a leaf, given its rebuilt operands. */
  readonly seed: (leaf: Value, operands: readonly Value[]) => Flow
  /** Takes an effect of the primal on a plane, with its rebuilt operands and the tangent of what it writes. */
  readonly effect: (effect: PlaneEffect, operands: readonly Value[], tangent: Flow) => void
}

/** Emits the values and tangents of a graph. */
export function sweepForward(graph: Graph, { kernel, b, plane, moves, seed, effect: takeEffect }: ForwardParts): void {
  const varied = variedValues(graph, moves)
  const primal = createValueMap<Value>()
  const tangents = createValueMap<Flow>()
  const primalOf = (value: Value): Value => {
    const known = primal.get(value)
    if (known) return known
    if (value.op !== 'const') throw new HarrierError('E_INTERNAL', `jvp: value ${value.id} is used before it is made`)
    return b.const(value.type, value.literal)
  }
  const tangentOf = (value: Value): Flow => tangents.get(value)

  const tapes = graph.tapes.map((tape) => b.tape(tape))
  const tangentTapes = graph.tapes.map((tape) => b.tape(tape))
  const renaming: Renaming = { type: (same) => same, plane, tape: (tape) => tapes[tape]! }

  function tangent(value: Value, result: Value): Flow {
    const operands = value.operands.map(primalOf)
    if (moves(value)) return seed(value, operands)
    if (value.op === 'recall') return b.recall(tangentTapes[value.tape]!, operands[0]!)
    if (value.op === 'custom') {
      const inputs = value.operands.slice(1)
      const flows = inputs.map((input) => tangentOf(input) ?? b.zero(isFloat(input.type) ? input.type : value.type))
      return customDerivative(value, 'jvp', kernel)(b, operands.slice(1), flows)[value.output]
    }
    const rule = rules[value.op]
    if (rule.kind !== 'partials') return undefined
    return rule.partials.reduce<Flow>((total, partial, k) => {
      const flow = tangentOf(value.operands[k]!)
      if (!partial || !flow) return total
      const contribution = product(b, partial({ b, operands, result }), flow)
      return sum(b, total, contribution && b.convert(contribution, value.type))
    }, undefined)
  }

  function emitEffect(effect: Effect): void {
    const value = effect.operands.at(-1)!
    const operands = effect.operands.map(primalOf)
    if (effect.op !== 'record') return takeEffect(effect, operands, tangentOf(value))
    copyEffect(b, effect, operands, renaming)
    b.record(tangentTapes[effect.tape]!, operands[0]!, materialise(b, tangentOf(value), value))
  }

  function emit({ nodes }: Region): void {
    for (const node of nodes) {
      if (isConstruct(node)) emitConstruct(node)
      else if (isEffect(node)) emitEffect(node)
      else {
        const result = copyValue(b, node, node.operands.map(primalOf), renaming)
        primal.set(node, result)
        if (varied.has(node)) tangents.set(node, tangent(node, result))
      }
    }
  }

  /** Values of a region's results, then the tangents of those that have one. */
  const yields = (values: readonly Value[], hasTangent: readonly boolean[]) => [
    ...values.map(primalOf),
    ...values.filter((_, k) => hasTangent[k]).map((value) => materialise(b, tangentOf(value), value)),
  ]

  /** Enters values, followed by the tangents of those that have one, for region parameters or the results of a construct. */
  function bind(target: readonly Value[] | Construct, hasTangent: readonly boolean[], made: readonly Value[]): void {
    const enter = (map: ValueMap<Value> | ValueMap<Flow>, k: number, value: Value) =>
      'op' in target ? map.setResult(target, k, value) : map.set(target[k]!, value)
    let next = hasTangent.length
    hasTangent.forEach((flows, k) => {
      enter(primal, k, made[k]!)
      if (flows) enter(tangents, k, made[next++]!)
    })
  }

  function emitLoop(loop: Construct): void {
    const [body, condition] = loop.regions as readonly [Region, Region]
    const hasTangent = loop.types.map((_, k) => varied.has(body.parameters[k + 1]!))
    const enter = (region: Region, iteration: Value, carries: readonly Value[]) => {
      primal.set(region.parameters[0]!, iteration)
      bind(region.parameters.slice(1), hasTangent, carries)
    }
    const made = b.loop({
      count: primalOf(loop.operands[0]!),
      initial: yields(loop.operands.slice(1), hasTangent),
      body(iteration, carries) {
        enter(body, iteration, carries)
        emit(body)
        return yields(body.results, hasTangent)
      },
      condition(iteration, carries) {
        enter(condition, iteration, carries)
        emit(condition)
        return primalOf(condition.results[0]!)
      },
    })
    bind(loop, hasTangent, made)
  }

  function emitConstruct(construct: Construct): void {
    if (construct.op === 'loop') return emitLoop(construct)
    const hasTangent = construct.types.map((_, k) => varied.hasResult(construct, k))
    const sides = construct.regions.map((region) => () => {
      emit(region)
      return yields(region.results, hasTangent)
    })
    const made = b.sides(construct.op, primalOf(construct.operands[0]!), sides)
    bind(construct, hasTangent, made)
  }

  emit(graph.body)
}
