// Compares the derivatives of a graph with what is no derivative: forward mode with central differences of the primal, reverse mode
// with forward mode by the identity ⟨Jv, w⟩ = ⟨v, Jᵀw⟩.
import { expect } from 'vitest'
import { jvp } from '../../../src/diff/jvp.ts'
import type { Derivative, DerivedPlane } from '../../../src/diff/planes.ts'
import { vjp, type VjpOptions } from '../../../src/diff/vjp.ts'
import type { Graph } from '../../../src/ir/graph.ts'
import { evaluator, type Planes } from './evaluate.ts'

/** Numbers in [-1, 1) from a seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 31 - 1
  }
}

const list = (numbers: readonly number[] | number): readonly number[] =>
  typeof numbers === 'number' ? [numbers] : numbers
const like = (numbers: readonly number[] | number, made: readonly number[]): readonly number[] | number =>
  typeof numbers === 'number' ? made[0]! : made

export interface CheckOptions extends VjpOptions {
  readonly seed?: number
  /** Inputs that the derivative takes beyond those of the primal: the winners of reductions. */
  readonly extra?: Planes
  /** Skips the comparison with differences: at kinks, where they mean nothing. */
  readonly differences?: false
  readonly relative?: number
  readonly absolute?: number
}

/** Values for the planes of one purpose, by plane number of the primal. */
function collect(
  { graph, planes }: Derivative,
  purpose: DerivedPlane['purpose'],
  values: (of: number, length: number) => readonly number[],
  lengthOf: (of: number) => number,
): Planes {
  return Object.fromEntries(
    planes.flatMap((plane, k) => {
      if (plane.purpose !== purpose) return []
      const { name, role } = graph.planes[k]!
      const made = values(plane.of, lengthOf(plane.of))
      return [[name, role === 'uniform' ? made[0]! : made]]
    }),
  )
}

/** Runs every comparison for one graph at one point; fails the test where one does not hold. */
export function expectDerivatives(graph: Graph, inputs: Planes, samples: number, options: CheckOptions = {}): void {
  const random = createRandom(options.seed ?? 1)
  const forward = jvp(graph, options)
  const reverse = vjp(graph, options)
  const primal = evaluator(graph)
  const values = primal(inputs, samples)
  const nameOf = (plane: number) => graph.planes[plane]!.name

  const directions = new Map<number, readonly number[]>()
  const direction = (of: number): readonly number[] => {
    const known = directions.get(of) ?? list(inputs[nameOf(of)]!).map((x) => random() * Math.max(1, Math.abs(x)))
    directions.set(of, known)
    return known
  }
  const tangentsIn = collect(forward, 'tangent', direction, () => 0)
  const forwardResult = evaluator(forward.graph)({ ...inputs, ...options.extra, ...tangentsIn }, samples)
  const tangents = new Map(
    forward.planes.flatMap(({ purpose, of }, k) =>
      purpose === 'outputTangent' ? [[of, forwardResult[forward.graph.planes[k]!.name]!] as const] : [],
    ),
  )

  if (options.differences !== false) {
    const step = 1e-5
    const moved = (sign: number): Planes => ({
      ...inputs,
      ...Object.fromEntries(
        [...directions].map(([of, v]) => {
          const name = nameOf(of)
          const at = list(inputs[name]!).map((x, k) => x + sign * step * v[k]!)
          return [name, like(inputs[name]!, at)]
        }),
      ),
    })
    const [above, below] = [primal(moved(1), samples), primal(moved(-1), samples)]
    for (const [of, tangent] of tangents) {
      const name = nameOf(of)
      tangent.forEach((found, k) => {
        const expected = (above[name]![k]! - below[name]![k]!) / (2 * step)
        const bound = (options.absolute ?? 1e-7) + (options.relative ?? 1e-6) * Math.abs(expected)
        expect(Math.abs(found - expected), `jvp of ${name}[${k}]: ${found}, differences ${expected}`).toBeLessThan(
          bound,
        )
      })
    }
  }

  const seeds = new Map<number, readonly number[]>()
  const seedOf = (of: number): readonly number[] => {
    const known = seeds.get(of) ?? (tangents.get(of) ?? values[nameOf(of)]!).map(() => random())
    seeds.set(of, known)
    return known
  }
  const seedsIn = collect(reverse, 'seed', seedOf, () => 0)
  const reverseResult = evaluator(reverse.graph)({ ...inputs, ...options.extra, ...seedsIn }, samples)
  let left = 0
  let right = 0
  let size = 0
  for (const [of, tangent] of tangents) {
    tangent.forEach((t, k) => {
      const term = t * seedOf(of)[k]!
      left += term
      size += Math.abs(term)
    })
  }
  reverse.planes.forEach(({ purpose, of }, k) => {
    if (purpose !== 'adjoint') return
    const v = direction(of)
    reverseResult[reverse.graph.planes[k]!.name]!.forEach((adjoint, i) => {
      const term = adjoint * (v.length === 1 && v.length !== samples ? v[0]! : v[i]!)
      right += term
      size += Math.abs(term)
    })
  })
  expect(Math.abs(left - right), `⟨Jv, w⟩ = ${left}, ⟨v, Jᵀw⟩ = ${right}`).toBeLessThanOrEqual(1e-12 * size + 1e-300)
}
