// Random points of every function against MPFR: uniform on the interval that matters, all bit patterns, all scales, and beside multiples
// of π/2. 2,000 a set in the normal run, half a million with HARRIER_TEST_LONG=1, where it makes two million a function.
import { describe, expect, test } from 'vitest'
import type { PlainOp } from '../../src/ir/ops.ts'
import type { FloatType } from '../../src/ir/types.ts'
import { backendFor, TARGETS } from '../llvm/support/targets.ts'
import { precise } from '../support/precise.ts'
import { random, type Random } from '../support/values.ts'
import { throughBackend } from './support/evaluate.ts'
import { INTERVALS } from './support/functions.ts'

const COUNT = process.env['HARRIER_TEST_LONG'] === '1' ? 500_000 : 2_000
const evaluator = precise()
const words = new DataView(new ArrayBuffer(8))

function anyBits(next: Random): number {
  words.setUint32(0, Math.floor(next() * 2 ** 32))
  words.setUint32(4, Math.floor(next() * 2 ** 32))
  return words.getFloat64(0)
}

function neighbour(x: number, steps: number): number {
  words.setFloat64(0, x)
  words.setBigInt64(0, words.getBigInt64(0) + BigInt(steps))
  return words.getFloat64(0)
}

/** Sets of arguments, by name. */
const SETS: Record<string, (next: Random, interval: readonly [number, number]) => number> = {
  uniform: (next, [from, to]) => from + (to - from) * next(),
  bits: anyBits,
  scales: (next, [from]) => 2 ** (-40 + 50 * next()) * (from < 0 && next() < 0.5 ? -1 : 1),
  turns: (next) => neighbour(Math.floor(2 ** (50 * next())) * (Math.PI / 2), Math.floor(5 * next()) - 2),
}

const functions = Object.keys(INTERVALS) as PlainOp[]
const isBinary = (op: PlainOp): boolean => ['pow', 'atan2', 'hypot', 'fmod', 'remainder'].includes(op)

/**
 * lgamma has an absolute bound only around its zeros between the negative whole numbers, and MPFR gives Infinity for the reciprocal
 * root of −0, where IEEE 754 and ops.ts give −Infinity: both are tried for x ≥ 0, and −0 in the table of special values.
 */
const argument = (op: PlainOp, x: number): number => (op === 'lgamma' || op === 'rsqrt' ? Math.abs(x) : x)

function pointsOf(op: PlainOp, next: Random): readonly Float64Array[] {
  const draw = () =>
    Float64Array.from(
      Object.values(SETS).flatMap((set) =>
        Array.from({ length: COUNT }, () => argument(op, set(next, INTERVALS[op]!))),
      ),
    )
  return isBinary(op) ? [draw(), draw()] : [draw()]
}

if ('missing' in evaluator) console.warn(`random points are not compared: ${evaluator.missing}`)

describe.skipIf('missing' in evaluator)('below 1 ULP of MPFR', () => {
  const { measure } = evaluator as Extract<typeof evaluator, { measure: unknown }>

  test('a wrong result is seen', () => {
    expect(measure('exp', 'f64', [1], undefined, [Math.E]).worst).toBeLessThan(1)
    expect(measure('exp', 'f64', [1], undefined, [Math.E * (1 + 2 ** -51)]).worst).toBeGreaterThan(1)
    expect(measure('sin', 'f32', [-0], undefined, [0]).worst).toBeGreaterThan(1)
  })

  test.each(
    TARGETS.flatMap((target) => (['f64', 'f32'] as const).map((type) => ({ target, type, name: target.name }))),
  )(
    '$name, $type',
    { timeout: 3_600_000 },
    ({ target, type }: { target: (typeof TARGETS)[number]; type: FloatType }) => {
      const next = random(target.name.length)
      const narrow = (x: Float64Array) => (type === 'f32' ? Float32Array.from(x) : x)
      const applications = functions.map((op) => ({ op, operands: pointsOf(op, next).map(narrow) }))
      const got = throughBackend(backendFor(target))(applications, type)
      const wrong = applications.flatMap(({ op, operands: [x, y] }, k) => {
        const { worst, at } = measure(op, type, x!, y, got[k]!)
        return worst < 1 ? [] : [`${op}(${x![at]}${y ? `, ${y[at]}` : ''}) = ${got[k]![at]}: ${worst} ULP`]
      })
      expect(wrong).toEqual([])
    },
  )
})
