// Which sample won each `max` and `min` reduction: a second pass over the samples, that is given what the reductions gave and finds the
// first sample that contributed it. Derivatives of such reductions take its answer as an input.
// Invariant: at a tie the first sample wins; where the result is NaN, the first sample that contributed NaN.
import { createBuilder, type Builder } from '../ir/build.ts'
import type { Renaming } from '../ir/copy.ts'
import type { Graph, Value } from '../ir/graph.ts'
import { rebuild } from '../ir/rebuild.ts'
import { isFloat } from '../ir/types.ts'
import {
  createDerivedPlanes,
  ownName,
  primalPlanes,
  readShared,
  sharedPlane,
  winnerName,
  type Derivative,
  type DerivativeOptions,
  type PrimalPlane,
} from './planes.ts'
import { createCopier, type CopierParts } from './copier.ts'

/** Identity of `min` over sample numbers. */
const NO_SAMPLE = 2 ** 31 - 1

const selectingReductions = (planes: readonly PrimalPlane[]): readonly PrimalPlane[] =>
  planes.filter(({ reduce, type }) => (reduce === 'max' || reduce === 'min') && isFloat(type))

/** The inputs of a graph in a new one, and what repeats its values there. */
function startFrom(graph: Graph, planes: readonly PrimalPlane[]) {
  const b = createBuilder()
  const derived = createDerivedPlanes(b)
  planes.filter(({ isInput }) => isInput).forEach(derived.declarePrimal)
  const mask = planes.find(({ role }) => role === 'mask')
  const finished = mask && b.load(derived.primalNumber(mask.number), 0)
  const tapes = graph.tapes.map((tape) => b.tape(tape))
  const repeat = (keep: NonNullable<CopierParts['keep']>): Derivative => {
    const renaming: Renaming = { type: (same) => same, plane: derived.primalNumber, tape: (tape) => tapes[tape]! }
    createCopier({ b, renaming, keep }).copy(graph.body)
    return { graph: rebuild(b.finishGraph()), planes: derived.planes }
  }
  return { b, derived, finished, repeat }
}

/** The `max` and `min` reductions of a graph and nothing else that it writes, so that running it changes no mutable. */
export function reductionValues(graph: Graph, options: DerivativeOptions = {}): Derivative {
  const planes = primalPlanes(graph, options.mutables)
  const { b, derived, finished, repeat } = startFrom(graph, planes)
  const selecting = selectingReductions(planes)
  selecting.forEach(derived.declareValue)
  return repeat((effect, operands) => {
    const plane = selecting.find(({ number }) => number === effect.plane)
    if (!plane) return
    const value = operands[0]!
    const nothing = b.const(value.type, plane.reduce === 'max' ? -Infinity : Infinity)
    b.contribute(
      derived.primalNumber(plane.number),
      effect.component,
      finished ? b.select(finished, nothing, value) : value,
    )
  })
}

/**
 * The winners of the `max` and `min` reductions of a graph, or undefined where it has none.
 * Planes: the inputs of the primal, `<name>` for each such reduction (its result: an input here), and `<name>_at`, a `min` reduction over
 * sample numbers that is 2³¹ − 1 where no sample contributed the result.
 */
export function winners(graph: Graph, options: DerivativeOptions = {}): Derivative | undefined {
  const planes = primalPlanes(graph, options.mutables)
  const selecting = selectingReductions(planes)
  if (selecting.length === 0) return undefined
  const { b, derived, finished, repeat } = startFrom(graph, planes)
  const results = new Map(
    selecting.map((plane) => [
      plane.number,
      derived.declare('value', plane, ownName(plane), sharedPlane(plane.type, plane.components)),
    ]),
  )
  const found = new Map(
    selecting.map((plane) => {
      const { components } = plane
      const declared = { role: 'reduction', reduce: 'min', type: 'i32', components } as const
      return [plane.number, derived.declare('winner', plane, winnerName(plane), declared)]
    }),
  )
  const nobody = b.const('i32', NO_SAMPLE)
  return repeat((effect, operands) => {
    const result = results.get(effect.plane)
    if (result === undefined) return
    const hasWon = sameNumber(b, operands[0]!, readShared(b, result, effect.component))
    const takesPart = finished ? b.and(hasWon, b.not(finished)) : hasWon
    b.contribute(found.get(effect.plane)!, effect.component, b.select(takesPart, b.sampleIndex(), nobody))
  })
}

const sameNumber = (b: Builder, x: Value, y: Value): Value => b.or(b.eq(x, y), b.and(b.ne(x, x), b.ne(y, y)))
