// Random arguments at which functions are measured: uniform on the interval that matters, all bit patterns, all scales, beside multiples of
// π/2, and at the ends of the normal range.
import type { PlainOp } from '../../../src/ir/ops.ts'
import type { Random } from '../../support/values.ts'
import { INTERVALS } from './functions.ts'

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

/** Exponents of the first and the last binade of normal numbers, in f64 and f32; the first one's neighbour below is subnormal. */
const ENDS = [1023, -1022, -1023, 127, -126, -127]

function atEnd(next: Random): number {
  const significand = next() < 0.5 ? 1 + next() : 2 - 2 ** (-1 - 52 * next())
  const sign = next() < 0.5 ? -1 : 1
  return sign * 2 ** ENDS[Math.floor(ENDS.length * next())]! * significand
}

/** Sets of arguments, by name. */
const SETS: Record<string, (next: Random, interval: readonly [number, number]) => number> = {
  uniform: (next, [from, to]) => from + (to - from) * next(),
  bits: anyBits,
  scales: (next, [from]) => 2 ** (-40 + 50 * next()) * (from < 0 && next() < 0.5 ? -1 : 1),
  turns: (next) => neighbour(Math.floor(2 ** (50 * next())) * (Math.PI / 2), Math.floor(5 * next()) - 2),
  ends: atEnd,
}

/** Sets that {@link pointsOf} draws from. */
export const setCount = Object.keys(SETS).length

export const measuredFunctions = Object.keys(INTERVALS) as PlainOp[]
export const isBinary = (op: PlainOp): boolean => ['pow', 'atan2', 'hypot', 'fmod', 'remainder'].includes(op)

/**
 * lgamma has an absolute bound only around its zeros between the negative whole numbers, and MPFR gives Infinity for the reciprocal
 * root of −0, where IEEE 754 and ops.ts give −Infinity: both are tried for x ≥ 0, and −0 in the table of special values.
 */
const argument = (op: PlainOp, x: number): number => (op === 'lgamma' || op === 'rsqrt' ? Math.abs(x) : x)

/** `count` points of each set, for each operand. */
export function pointsOf(op: PlainOp, next: Random, count: number): readonly Float64Array[] {
  const draw = () =>
    Float64Array.from(
      Object.values(SETS).flatMap((set) =>
        Array.from({ length: count }, () => argument(op, set(next, INTERVALS[op]!))),
      ),
    )
  return isBinary(op) ? [draw(), draw()] : [draw()]
}
