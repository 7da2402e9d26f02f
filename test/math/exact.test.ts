// Functions that are exact: rounding, remainders, integer division, each against plain arithmetic on whole numbers or JavaScript's own.
import { expect, test } from 'vitest'
import type { PlainOp } from '../../src/ir/ops.ts'
import { backendFor, TARGETS } from '../llvm/support/targets.ts'
import { GRID, random, sameBits } from '../support/values.ts'
import { throughBackend, throughInterpreter, LOWERING_TARGETS, type Evaluate } from './support/evaluate.ts'

const forms: readonly (readonly [string, Evaluate])[] = [
  ...LOWERING_TARGETS.map(
    (target) => [`the interpreter, ${JSON.stringify(target)}`, throughInterpreter(target)] as const,
  ),
  ...TARGETS.map((target) => [target.name, throughBackend(backendFor(target))] as const),
]

const words = GRID.i32 as readonly number[]
const pairs = words.flatMap((x) => words.map((y) => [x, y] as const))
const next = random(7)
const word = () => Math.floor(next() * 2 ** 32) | 0
const integers = [...pairs, ...Array.from({ length: 4000 }, () => [word(), word() >> Math.floor(31 * next())] as const)]

/** Quotients and remainders in whole numbers, and what division by 0 gives. */
const INTEGER: Partial<Record<PlainOp, (x: bigint, y: bigint) => bigint>> = {
  idiv: (x, y) => (y === 0n ? 0n : x / y),
  floorDiv: (x, y) => (y === 0n ? 0n : x / y - (x % y !== 0n && x < 0n !== y < 0n ? 1n : 0n)),
  floorMod: (x, y) => (y === 0n ? 0n : ((x % y) + y) % y),
}

test.each(forms)('integer division: %s', (_, evaluate) => {
  const ops = Object.keys(INTEGER) as PlainOp[]
  const x = Int32Array.from(integers, ([a]) => a)
  const y = Int32Array.from(integers, ([, b]) => b)
  const got = evaluate(
    ops.map((op) => ({ op, operands: [x, y] })),
    'f64',
  )
  const wrong = ops.flatMap((op, k) =>
    integers.flatMap(([a, b], i) => {
      const expected = Number(BigInt.asIntN(32, INTEGER[op]!(BigInt(a), BigInt(b))))
      return got[k]![i] === expected ? [] : [`${op}(${a}, ${b}) = ${got[k]![i]}, expected ${expected}`]
    }),
  )
  expect(wrong.slice(0, 5)).toEqual([])
})

const floats = GRID.f64 as readonly number[]
const scaled = () => (next() - 0.5) * 2 ** Math.floor(2000 * next() - 1000)
const reals = [
  ...floats.flatMap((x) => floats.map((y) => [x, y] as const)),
  ...Array.from({ length: 2000 }, () => [scaled(), scaled()] as const),
]

/** JavaScript's % is the exact truncated remainder; its Math.round rounds halves up, so ties are told apart. */
const REAL: Partial<Record<PlainOp, (x: number, y: number) => number>> = {
  fmod: (x, y) => x % y,
  mod: (x, y) => {
    const rest = x % y
    if (rest === 0) return y < 0 || Object.is(y, -0) ? -0 : 0
    return rest < 0 === y < 0 ? rest : rest + y
  },
  copysign: (x, y) => (y < 0 || Object.is(y, -0) ? -Math.abs(x) : Math.abs(x)),
  fdim: (x, y) => (x <= y ? 0 : x - y),
}

test.each(forms)('remainders, copysign and fdim: %s', (_, evaluate) => {
  const ops = Object.keys(REAL) as PlainOp[]
  const x = Float64Array.from(reals, ([a]) => a)
  const y = Float64Array.from(reals, ([, b]) => b)
  const got = evaluate(
    ops.map((op) => ({ op, operands: [x, y] })),
    'f64',
  )
  const wrong = ops.flatMap((op, k) =>
    reals.flatMap(([a, b], i) => {
      // The sign bit of a NaN is unspecified.
      if (op === 'copysign' && Number.isNaN(b)) return []
      const expected = REAL[op]!(a, b)
      return sameBits(got[k]![i]!, expected) ? [] : [`${op}(${a}, ${b}) = ${got[k]![i]}, expected ${expected}`]
    }),
  )
  expect(wrong.slice(0, 5)).toEqual([])
})

test.each(forms)('round, ties away from zero: %s', (_, evaluate) => {
  const x = Float64Array.of(
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    0.49999999999999994,
    -0.3,
    4503599627370495.5,
    2 ** 53 + 2,
    -1e300,
  )
  const expected = [1, -1, 2, 3, -3, 0, -0, 4503599627370496, 2 ** 53 + 2, -1e300]
  const [got] = evaluate([{ op: 'round', operands: [x] }], 'f64')
  expect([...got!].every((value, i) => sameBits(value, expected[i]!))).toBe(true)
})
