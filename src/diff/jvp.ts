// Forward mode: a graph whose outputs are the tangents dot_<output>, from the primal inputs and their tangents dot_<input>.
// Invariants: the primal is recomputed as far as the tangents need it, its outputs are not written; samples that were finished before
// the launch get exactly zero.
import { createBuilder } from '../ir/build.ts'
import type { Graph, Value } from '../ir/graph.ts'
import { rebuild } from '../ir/rebuild.ts'
import { sweepForward } from './forward.ts'
import {
  chooseInputs,
  createDerivedPlanes,
  declareWinners,
  differentiableOutputs,
  gatherOrZero,
  hasWon,
  primalPlanes,
  tangentName,
  type Derivative,
  type DerivativeOptions,
} from './planes.ts'
import { materialise } from './product.ts'

/**
 * The forward derivative of a graph.
 * Planes: the inputs of the primal, `<name>_at` for each max or min reduction, `dot_<input>` for each input of `wrt`, then
 * `dot_<output>` for each float output (`dot_<name>_out` for a mutable), each with the role of its primal.
 * @throws HarrierError E_DERIVATIVE where `wrt` names no float input, or there is no rule
 */
export function jvp(graph: Graph, options: DerivativeOptions = {}): Derivative {
  const planes = primalPlanes(graph, options.mutables)
  const wrt = chooseInputs('jvp', planes, options)
  const outputs = differentiableOutputs('jvp', planes, options)
  const b = createBuilder()
  const derived = createDerivedPlanes(b)
  planes.filter(({ isInput }) => isInput).forEach(derived.declarePrimal)
  const winners = declareWinners(outputs, derived.declare)
  const tangentPlanes = new Map(
    wrt.map((plane) => {
      const { name, role, type, components } = plane
      return [plane.number, derived.declare('tangent', plane, tangentName(name), { role, type, components })]
    }),
  )
  const outputPlanes = new Map(
    outputs.map((plane) => {
      const { role, type, components, outputName } = plane
      const reduce = role === 'reduction' ? { reduce: 'sum' as const } : {}
      const declared = { role, type, components, ...reduce }
      return [plane.number, derived.declare('outputTangent', plane, tangentName(outputName), declared)]
    }),
  )
  const mask = planes.find(({ role }) => role === 'mask')
  const finished = mask && b.load(derived.primalNumber(mask.number), 0)

  function readTangent(leaf: Value, operands: readonly Value[]): Value | undefined {
    if (leaf.op === 'load') return b.load(tangentPlanes.get(leaf.plane)!, leaf.component)
    if (leaf.op === 'gather') return gatherOrZero(b, tangentPlanes.get(leaf.plane)!, leaf.component, operands[0]!)
    return leaf.op === 'uniform' ? b.uniform(tangentPlanes.get(leaf.plane)!) : undefined
  }

  sweepForward(graph, {
    kernel: options.kernel ?? 'kernel',
    b,
    plane: derived.primalNumber,
    moves: (leaf) =>
      (leaf.op === 'load' || leaf.op === 'gather' || leaf.op === 'uniform') && tangentPlanes.has(leaf.plane),
    seed(leaf, operands) {
      const tangent = readTangent(leaf, operands)
      return tangent && finished ? b.select(finished, b.zero(tangent.type), tangent) : tangent
    },
    effect({ op, plane: of, component }, operands, tangent) {
      const plane = outputPlanes.get(of)
      if (plane === undefined) return
      const value = materialise(b, tangent, operands.at(-1)!)
      if (op === 'store') b.store(plane, component, value)
      else if (op === 'scatterAdd') {
        if (tangent) b.scatterAdd(plane, component, operands[0]!, value)
      } else {
        const winner = winners.get(of)
        const taken = winner === undefined ? value : b.select(hasWon(b, winner, component), value, b.zero(value.type))
        b.contribute(plane, component, taken)
      }
    },
  })
  return { graph: rebuild(b.finishGraph()), planes: derived.planes }
}
