// Forward mode: a graph whose outputs are the tangents dot_<output>, from the primal inputs and their tangents dot_<input>.
// Invariants: the primal is recomputed, its outputs are not written; a tangent that is zero whatever the inputs are costs nothing;
// tangents take the same path through loops and branches as the values.
import { HarrierError } from '../errors.ts'
import { createBuilder } from '../ir/build.ts'
import { copyEffect, copyValue, type Renaming } from '../ir/copy.ts'
import { isConstruct, isEffect, type Construct, type Effect, type Graph, type Region, type Value } from '../ir/graph.ts'
import { rebuild } from '../ir/rebuild.ts'
import { variedValues } from './activity.ts'
import { customDerivative } from './custom.ts'
import {
  chooseInputs,
  createDerivedPlanes,
  declareWinners,
  differentiableOutputs,
  gatherOrZero,
  hasWon,
  primalPlanes,
  TANGENT_PREFIX,
  type Derivative,
  type DerivativeOptions,
} from './planes.ts'
import { materialise, product, sum, type Flow } from './product.ts'
import { rules } from './rules.ts'
import { createValueMap, type ValueMap } from './value-map.ts'

/**
 * The forward derivative of a graph.
 * Planes: the inputs of the primal, `<name>_at` for each max or min reduction, `dot_<input>` for each input of `wrt`, then
 * `dot_<output>` for each float output (`dot_<name>_out` for a mutable), each with the role of its primal.
 * @throws HarrierError E_DERIVATIVE where `wrt` names no float input, a name is taken, or there is no rule
 */
export function jvp(graph: Graph, options: DerivativeOptions = {}): Derivative {
  const planes = primalPlanes(graph, options.mutables)
  const wrt = chooseInputs('jvp', planes, options)
  const outputs = differentiableOutputs('jvp', planes, options)
  const b = createBuilder()
  const derived = createDerivedPlanes('jvp', b, options)
  planes.filter(({ isInput }) => isInput).forEach(derived.declarePrimal)
  const winners = declareWinners(outputs, derived.declare)
  const tangentPlanes = new Map(
    wrt.map((plane) => {
      const { role, type, components } = plane
      return [
        plane.number,
        derived.declare('tangent', plane, { name: TANGENT_PREFIX + plane.name, role, type, components }),
      ]
    }),
  )
  const outputPlanes = new Map(
    outputs.map((plane) => {
      const { role, type, components, outputName } = plane
      const reduce = role === 'reduction' ? { reduce: 'sum' as const } : {}
      const name = TANGENT_PREFIX + outputName
      return [plane.number, derived.declare('outputTangent', plane, { name, role, type, components, ...reduce })]
    }),
  )
  const mask = planes.find(({ role }) => role === 'mask')
  const finished = mask && b.load(derived.primalNumber(mask.number), 0)

  const varied = variedValues(
    graph,
    (leaf) => (leaf.op === 'load' || leaf.op === 'gather' || leaf.op === 'uniform') && tangentPlanes.has(leaf.plane),
  )
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
  const renaming: Renaming = {
    type: (same) => same,
    plane: derived.primalNumber,
    tape: (tape) => tapes[tape]!,
  }
  /** The tangent of a leaf; a finished sample has none. */
  const seed = (tangent: Value): Value => (finished ? b.select(finished, b.zero(tangent.type), tangent) : tangent)

  function tangent(value: Value, result: Value): Flow {
    switch (value.op) {
      case 'load':
        return seed(b.load(tangentPlanes.get(value.plane)!, value.component))
      case 'uniform':
        return seed(b.uniform(tangentPlanes.get(value.plane)!))
      case 'gather':
        return seed(gatherOrZero(b, tangentPlanes.get(value.plane)!, value.component, primalOf(value.operands[0]!)))
      case 'recall':
        return b.recall(tangentTapes[value.tape]!, primalOf(value.operands[0]!))
      case 'custom': {
        const inputs = value.operands.slice(1)
        const flows = inputs.map((input) => materialise(b, tangentOf(input), primalOf(input)))
        return customDerivative(value, 'jvp')(b, inputs.map(primalOf), flows)[value.output]
      }
    }
    const rule = rules[value.op]
    if (rule.kind !== 'partials') return undefined
    const operands = value.operands.map(primalOf)
    return rule.partials.reduce<Flow>((total, partial, k) => {
      const flow = tangentOf(value.operands[k]!)
      if (!partial || !flow) return total
      const contribution = product(b, partial({ b, operands, result }), flow)
      return sum(b, total, contribution && b.convert(contribution, value.type))
    }, undefined)
  }

  function emitEffect(effect: Effect): void {
    const value = effect.operands.at(-1)!
    if (effect.op === 'record') {
      copyEffect(b, effect, effect.operands.map(primalOf), renaming)
      const slot = primalOf(effect.operands[0]!)
      b.record(tangentTapes[effect.tape]!, slot, materialise(b, tangentOf(value), value))
      return
    }
    const plane = outputPlanes.get(effect.plane)
    if (plane === undefined) return
    const flow = tangentOf(value)
    if (effect.op === 'store') b.store(plane, effect.component, materialise(b, flow, value))
    else if (effect.op === 'scatterAdd') {
      if (flow) b.scatterAdd(plane, effect.component, primalOf(effect.operands[0]!), flow)
    } else if (effect.op === 'contribute') {
      const winner = winners.get(effect.plane)
      const contribution = materialise(b, flow, value)
      const chosen =
        winner === undefined
          ? contribution
          : b.select(hasWon(b, winner, effect.component), contribution, b.zero(value.type))
      b.contribute(plane, effect.component, chosen)
    }
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
  const yields = (values: readonly Value[], withTangent: readonly Value[]) => [
    ...values.map(primalOf),
    ...withTangent.map((value) => materialise(b, tangentOf(value), value)),
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

  function emitConstruct(construct: Construct): void {
    const { op, operands, regions } = construct
    const selector = primalOf(operands[0]!)
    if (op !== 'loop') {
      const hasTangent = construct.types.map((_, k) => varied.hasResult(construct, k))
      const sides = regions.map((region) => () => {
        emit(region)
        return yields(
          region.results,
          region.results.filter((_, k) => hasTangent[k]),
        )
      })
      const made = op === 'branch' ? b.branch(selector, sides[0]!, sides[1]!) : b.dispatch(selector, sides)
      bind(construct, hasTangent, made)
      return
    }
    const [body, condition] = regions as readonly [Region, Region]
    const initial = operands.slice(1)
    const hasTangent = initial.map((_, k) => varied.has(body.parameters[k + 1]!))
    const enter = (region: Region, iteration: Value, carries: readonly Value[]) => {
      primal.set(region.parameters[0]!, iteration)
      bind(region.parameters.slice(1), hasTangent, carries)
    }
    const made = b.loop({
      count: selector,
      initial: yields(
        initial,
        initial.filter((_, k) => hasTangent[k]),
      ),
      body(iteration, carries) {
        enter(body, iteration, carries)
        emit(body)
        return yields(
          body.results,
          body.results.filter((_, k) => hasTangent[k]),
        )
      },
      condition(iteration, carries) {
        enter(condition, iteration, carries)
        emit(condition)
        return primalOf(condition.results[0]!)
      },
    })
    bind(construct, hasTangent, made)
  }

  emit(graph.body)
  return { graph: rebuild(b.finishGraph()), planes: derived.planes }
}
