// Every op that computes, on its whole value grid: folded, interpreted, and by definitions of its own in exact arithmetic.
import { describe, expect, test } from 'vitest'
import { interpret } from '../../src/ir/interpret.ts'
import type { ComputedOp } from '../../src/ir/ops.ts'
import { isFloat, isInteger, type FloatType, type IntegerType, type Literal, type Type } from '../../src/ir/types.ts'
import { folder, GRID_PROGRAMS } from '../support/gridPrograms.ts'
import { floorOf, fraction, plus, round, times, type Fraction } from '../support/rational.ts'
import { sameBits, showNumber } from '../support/values.ts'

const number = (x: Literal | undefined) => Number(x)
const whole = (x: Literal | undefined) => BigInt(x!)

function wrap(x: bigint, type: IntegerType): Literal {
  if (type === 'i64') return BigInt.asIntN(64, x)
  return Number(type === 'i32' ? BigInt.asIntN(32, x) : BigInt.asUintN(32, x))
}

const isFinite = (...operands: readonly number[]) => operands.every(Number.isFinite)
const isNegative = (x: number) => x < 0 || Object.is(x, -0)
const signedZero = (negative: boolean) => (negative ? -0 : 0)
const negated = ({ numerator, denominator }: Fraction): Fraction => ({ numerator: -numerator, denominator })

/** Rounds a fraction; where it is 0, the zero that the signs of the operands give. */
const rounded = (x: Fraction, type: Type, zero: number) => (x.numerator === 0n ? zero : round(x, type as FloatType))

function sum(a: number, b: number, type: Type): number {
  // Infinities and NaN by their kind alone.
  if (!isFinite(a, b)) return a + b
  return rounded(plus(fraction(a), fraction(b)), type, signedZero(Object.is(a, -0) && Object.is(b, -0)))
}

function product(a: number, b: number, type: Type): number {
  if (!isFinite(a, b)) return a * b
  return rounded(times(fraction(a), fraction(b)), type, signedZero(isNegative(a) !== isNegative(b)))
}

function quotient(a: number, b: number, type: Type): number {
  if (!isFinite(a, b) || b === 0) return a / b
  const { numerator, denominator } = fraction(b)
  const inverse = {
    numerator: numerator < 0n ? -denominator : denominator,
    denominator: numerator < 0n ? -numerator : numerator,
  }
  return rounded(times(fraction(a), inverse), type, signedZero(isNegative(a) !== isNegative(b)))
}

function fused(a: number, b: number, c: number, type: Type): number {
  if (!isFinite(a, b)) return a * b + c
  if (!isFinite(c)) return c
  const zero = signedZero(isNegative(a) !== isNegative(b))
  const isZeroProduct = a === 0 || b === 0
  return rounded(plus(times(fraction(a), fraction(b)), fraction(c)), type, isZeroProduct && c === 0 ? zero + c : 0)
}

function root(x: bigint): bigint {
  if (x < 2n) return x
  let guess = 1n << BigInt(Math.ceil(x.toString(2).length / 2))
  for (;;) {
    const next = (guess + x / guess) / 2n
    if (next >= guess) return guess
    guess = next
  }
}

function squareRoot(x: number, type: Type): number {
  if (x === 0 || Number.isNaN(x) || x === Infinity) return x
  if (x < 0) return NaN
  const { numerator, denominator } = fraction(x)
  // √(n/d) = √(n·d·4^k) / (d·2^k), to far more bits than a float has; between two whole roots any number stands for the rest.
  const shift = 200n
  const square = (numerator * denominator) << (2n * shift)
  const found = root(square)
  const rest = found * found === square ? 0n : 1n
  return round({ numerator: 2n * found + rest, denominator: 2n * (denominator << shift) }, type as FloatType)
}

/** Rounds to a whole number by a rule on fractions, keeping the sign of a zero. */
const toWhole =
  (rule: (x: Fraction) => bigint): Oracle =>
  () =>
  (a) => {
    const x = number(a)
    if (!isFinite(x) || Number.isInteger(x)) return x
    const result = Number(rule(fraction(x)))
    return result === 0 ? signedZero(x < 0) : result
  }

const ceilOf = (x: Fraction): bigint => -floorOf(negated(x))

function nearestEven(x: Fraction): bigint {
  const below = floorOf(x)
  const twice = 2n * (x.numerator - below * x.denominator)
  const isAbove = twice > x.denominator || (twice === x.denominator && below % 2n !== 0n)
  return isAbove ? below + 1n : below
}

const RANGE: Record<IntegerType, readonly [bigint, bigint]> = {
  i32: [-(2n ** 31n), 2n ** 31n - 1n],
  u32: [0n, 2n ** 32n - 1n],
  i64: [-(2n ** 63n), 2n ** 63n - 1n],
}

function toInteger(x: number, type: IntegerType): Literal {
  const [lowest, highest] = RANGE[type]
  if (Number.isNaN(x)) return wrap(0n, type)
  if (!isFinite(x)) return wrap(x > 0 ? highest : lowest, type)
  const towardsZero = x < 0 ? ceilOf(fraction(x)) : floorOf(fraction(x))
  return wrap(towardsZero < lowest ? lowest : towardsZero > highest ? highest : towardsZero, type)
}

function converted(x: Literal, from: Type, to: Type): Literal {
  if (to === 'bool') return Number.isNaN(x) || Number(x) !== 0
  if (isInteger(to)) return isFloat(from) ? toInteger(number(x), to) : wrap(whole(x), to)
  if (!isFloat(from)) return round({ numerator: whole(x), denominator: 1n }, to)
  const value = number(x)
  return isFinite(value) && value !== 0 ? round(fraction(value), to) : value
}

const BITS: Record<Exclude<Type, 'bool'>, (buffer: ArrayBuffer) => { [k: number]: number | bigint }> = {
  f64: (buffer) => new Float64Array(buffer),
  f32: (buffer) => new Float32Array(buffer),
  i32: (buffer) => new Int32Array(buffer),
  u32: (buffer) => new Uint32Array(buffer),
  i64: (buffer) => new BigInt64Array(buffer),
}

function reinterpreted(x: Literal, from: Type, to: Type): Literal {
  const buffer = new ArrayBuffer(8)
  BITS[from as keyof typeof BITS](buffer)[0] = x as number | bigint
  return BITS[to as keyof typeof BITS](buffer)[0]!
}

type Oracle = (type: Type, result: Type) => (a: Literal, b: Literal, c: Literal) => Literal

const byKind =
  (float: (a: number, b: number, type: Type) => number, integer: (a: bigint, b: bigint) => bigint): Oracle =>
  (type) =>
  (a, b) =>
    isInteger(type) ? wrap(integer(whole(a), whole(b ?? 0)), type) : float(number(a), number(b), type)

const bitwise =
  (logic: (a: bigint, b: bigint) => bigint): Oracle =>
  (type) =>
  (a, b) => {
    const result = logic(whole(a), whole(b ?? 0))
    return type === 'bool' ? (result & 1n) === 1n : wrap(result, type as IntegerType)
  }

/** Operands as unsigned bits, the count modulo the width. */
const shift =
  (rule: (bits: bigint, count: bigint, width: bigint) => bigint): Oracle =>
  (type) =>
  (a, b) => {
    const width = type === 'i64' ? 64n : 32n
    const modulus = 2n ** width
    const count = ((whole(b) % width) + width) % width
    return wrap(rule(((whole(a) % modulus) + modulus) % modulus, count, width), type as IntegerType)
  }

function smaller(a: number, b: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return NaN
  if (a === 0 && b === 0) return signedZero(isNegative(a) || isNegative(b))
  return a < b ? a : b
}

const order =
  (rule: (below: boolean, equal: boolean) => boolean, unordered: boolean): Oracle =>
  () =>
  (a, b) =>
    Number.isNaN(a) || Number.isNaN(b)
      ? unordered
      : rule(Number(a) < Number(b) || exactlyBelow(a, b), exactlyEqual(a, b))

// Numbers of one type compare as bigints where they are whole, so that i64 is compared exactly.
const exactlyBelow = (a: Literal, b: Literal) => typeof a === 'bigint' && typeof b === 'bigint' && b - a > 0n
const exactlyEqual = (a: Literal, b: Literal) =>
  typeof a === 'bigint' ? a - whole(b) === 0n : Number(a) - Number(b) === 0 || Object.is(a, b)

const ORACLES: Record<ComputedOp, Oracle> = {
  add: byKind(sum, (a, b) => a + b),
  sub: byKind(
    (a, b, type) => sum(a, -b, type),
    (a, b) => a - b,
  ),
  mul: byKind(product, (a, b) => a * b),
  div: (type) => (a, b) => quotient(number(a), number(b), type),
  neg: byKind(
    (a) => (Number.isNaN(a) ? NaN : a === 0 ? signedZero(!isNegative(a)) : 0 - a),
    (a) => -a,
  ),
  abs: byKind(
    (a) => (isNegative(a) ? 0 - a : a),
    (a) => (a < 0n ? -a : a),
  ),
  min: byKind(smaller, (a, b) => (a - b < 0n ? a : b)),
  max: byKind(
    (a, b) => -smaller(-a, -b),
    (a, b) => (a - b > 0n ? a : b),
  ),
  fma: (type) => (a, b, c) => fused(number(a), number(b), number(c), type),
  sqrt: (type) => (a) => squareRoot(number(a), type),
  floor: toWhole(floorOf),
  ceil: toWhole(ceilOf),
  trunc: toWhole((x) => (x.numerator < 0n ? ceilOf(x) : floorOf(x))),
  rint: toWhole(nearestEven),
  ldexp: (type) => (a, count) => {
    const [x, i] = [number(a), Math.max(-5000, Math.min(5000, number(count)))]
    if (!isFinite(x) || x === 0) return x
    const { numerator, denominator } = fraction(x)
    const power = 2n ** BigInt(Math.abs(i))
    const scaled =
      i < 0 ? { numerator, denominator: denominator * power } : { numerator: numerator * power, denominator }
    return round(scaled, type as FloatType)
  },
  eq: order((_, equal) => equal, false),
  ne: order((_, equal) => !equal, true),
  lt: order((below) => below, false),
  le: order((below, equal) => below || equal, false),
  and: bitwise((a, b) => a & b),
  or: bitwise((a, b) => a | b),
  xor: bitwise((a, b) => a ^ b),
  not: bitwise((a) => -1n - a),
  shl: shift((bits, count) => bits * 2n ** count),
  shrSigned: shift((bits, count, width) =>
    floorOf({ numerator: BigInt.asIntN(Number(width), bits), denominator: 2n ** count }),
  ),
  shrUnsigned: shift((bits, count) => bits / 2n ** count),
  select: () => (c, a, b) => [b, a][Number(c)]!,
  convert: (from, to) => (a) => converted(a, from, to),
  bitcast: (from, to) => (a) => reinterpreted(a, from, to),
}

describe('folded, interpreted and in exact arithmetic', () => {
  test.each(GRID_PROGRAMS.map((program) => ({ name: program.name, program })))('$name', ({ program }) => {
    const { op, operandTypes, resultType, graph, samples } = program
    const shared = op === 'select' ? operandTypes[1]! : operandTypes[0]!
    const oracle = ORACLES[op](shared, resultType)
    const planes = program.planes()
    const range = { sampleCount: samples.length, begin: 0, end: samples.length }
    interpret(
      graph,
      planes.map((array) => ({ array, pitch: samples.length, length: samples.length })),
      range,
    )
    const fold = folder(program)
    const wrong = samples.flatMap((operands, sample) => {
      const [a, b = a, c = a] = operands as [Literal, Literal?, Literal?]
      const expected = oracle(a, b, c)
      const found = { folded: fold(operands), interpreted: program.result(planes, sample) }
      if (sameBits(found.folded, expected) && sameBits(found.interpreted, expected)) return []
      const texts = [expected, found.folded, found.interpreted].map(showNumber)
      return [
        `${op}(${operands.map(showNumber).join(', ')}) is ${texts[0]}, folded ${texts[1]}, interpreted ${texts[2]}`,
      ]
    })
    expect(wrong.slice(0, 5)).toEqual([])
  })
})
