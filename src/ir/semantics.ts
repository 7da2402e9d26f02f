// What each computed basic op does to plain numbers: one row an op. Constant folding and the interpreter both evaluate through
// these rows, so that a folded and an interpreted program cannot disagree. Every backend agrees with them bit for bit.
import { bitsOf, fromBits, fusedMultiplyAdd, roundInteger, scale } from './exact.ts'
import type { ComputedOp } from './ops.ts'
import type { FloatType, IntegerType, Literal, Type } from './types.ts'

/** Evaluates an op on literals of type `operand`, giving a literal of type `result`. */
export type Evaluate = (operands: readonly Literal[], operand: Type, result: Type) => Literal

const number = (x: Literal | undefined): number => x as number
const integer = (x: Literal | undefined): bigint => BigInt(x as number | bigint)
const condition = (x: Literal | undefined): boolean => x as boolean

/** A float result in its type. Rounding a double to f32 after +, −, ×, ÷ and √ of f32 operands gives the f32 result exactly. */
const roundTo = (x: number, type: Type): number => (type === 'f32' ? Math.fround(x) : x)

/** A wide integer reduced to its type, as a literal. */
const wrap: Record<IntegerType, (x: bigint) => Literal> = {
  i32: (x) => Number(BigInt.asIntN(32, x)),
  u32: (x) => Number(BigInt.asUintN(32, x)),
  i64: (x) => BigInt.asIntN(64, x),
}
const isIntegerType = (type: Type): type is IntegerType => type in wrap

type FloatRule = (a: number, b: number) => number
type IntegerRule = (a: bigint, b: bigint) => bigint

/** An op on floats or integers alike, each by its own rule. */
const arithmetic =
  (float: FloatRule, whole: IntegerRule): Evaluate =>
  ([a, b], type) =>
    isIntegerType(type) ? wrap[type](whole(integer(a), integer(b ?? 0))) : roundTo(float(number(a), number(b)), type)

const floatOnly =
  (rule: FloatRule): Evaluate =>
  ([a, b], type) =>
    roundTo(rule(number(a), number(b)), type)

const compare =
  (rule: (a: Literal, b: Literal) => boolean): Evaluate =>
  ([a, b]) =>
    rule(a!, b!)

const bitwise =
  (logic: (a: boolean, b: boolean) => boolean, whole: IntegerRule): Evaluate =>
  ([a, b], type) =>
    isIntegerType(type) ? wrap[type](whole(integer(a), integer(b ?? 0))) : logic(condition(a), condition(b))

const shift =
  (rule: (x: bigint, count: bigint, width: number) => bigint): Evaluate =>
  ([x, count], type) => {
    const width = type === 'i64' ? 64 : 32
    return wrap[type as IntegerType](rule(integer(x), BigInt.asUintN(width, integer(count)) % BigInt(width), width))
  }

function roundHalfEven(x: number): number {
  if (!(Math.abs(x) < 2 ** 52)) return x
  // Adding 2^52 pushes the fraction out of the significand, rounding it to nearest even.
  const whole = x < 0 || Object.is(x, -0) ? -(-x + 2 ** 52 - 2 ** 52) : x + 2 ** 52 - 2 ** 52
  return whole
}

const LIMITS: Record<IntegerType, readonly [bigint, bigint]> = {
  i32: [-(2n ** 31n), 2n ** 31n - 1n],
  u32: [0n, 2n ** 32n - 1n],
  i64: [-(2n ** 63n), 2n ** 63n - 1n],
}

function floatToInteger(x: number, type: IntegerType): Literal {
  const [lowest, highest] = LIMITS[type]
  if (Number.isNaN(x)) return wrap[type](0n)
  if (x <= Number(lowest)) return wrap[type](lowest)
  if (x >= Number(highest)) return wrap[type](highest)
  return wrap[type](BigInt(Math.trunc(x)))
}

function convert(x: Literal, from: Type, to: Type): Literal {
  if (to === 'bool') return typeof x === 'boolean' ? x : typeof x === 'bigint' ? x !== 0n : x !== 0
  if (isIntegerType(to)) {
    if (from === 'f64' || from === 'f32') return floatToInteger(number(x), to)
    return wrap[to](integer(typeof x === 'boolean' ? Number(x) : x))
  }
  if (from === 'bool') return x ? 1 : 0
  return isIntegerType(from) ? roundInteger(integer(x), to as FloatType) : roundTo(number(x), to)
}

const words = new DataView(new ArrayBuffer(4))

function bitcast(x: Literal, from: Type, to: Type): Literal {
  if (from === to) return x
  if (from === 'f64') return BigInt.asIntN(64, bitsOf(number(x)))
  if (to === 'f64') return fromBits(BigInt.asUintN(64, integer(x)))
  if (from === 'f32') words.setFloat32(0, number(x))
  else words.setUint32(0, number(x) >>> 0)
  return to === 'f32' ? words.getFloat32(0) : to === 'i32' ? words.getInt32(0) : words.getUint32(0)
}

/** The row of each computed op. */
export const semantics: Record<ComputedOp, Evaluate> = {
  add: arithmetic(
    (a, b) => a + b,
    (a, b) => a + b,
  ),
  sub: arithmetic(
    (a, b) => a - b,
    (a, b) => a - b,
  ),
  mul: arithmetic(
    (a, b) => a * b,
    (a, b) => a * b,
  ),
  div: floatOnly((a, b) => a / b),
  neg: arithmetic(
    (a) => -a,
    (a) => -a,
  ),
  abs: arithmetic(Math.abs, (a) => (a < 0n ? -a : a)),
  min: arithmetic(Math.min, (a, b) => (a < b ? a : b)),
  max: arithmetic(Math.max, (a, b) => (a > b ? a : b)),
  fma: ([a, b, c], type) => fusedMultiplyAdd(number(a), number(b), number(c), type as FloatType),
  sqrt: floatOnly(Math.sqrt),
  floor: floatOnly(Math.floor),
  ceil: floatOnly(Math.ceil),
  trunc: floatOnly(Math.trunc),
  rint: floatOnly(roundHalfEven),
  ldexp: ([x, count], type) => scale(number(x), number(count), type as FloatType),

  eq: compare((a, b) => a === b),
  ne: compare((a, b) => a !== b),
  lt: compare((a, b) => a < b),
  le: compare((a, b) => a <= b),
  and: bitwise(
    (a, b) => a && b,
    (a, b) => a & b,
  ),
  or: bitwise(
    (a, b) => a || b,
    (a, b) => a | b,
  ),
  xor: bitwise(
    (a, b) => a !== b,
    (a, b) => a ^ b,
  ),
  not: bitwise(
    (a) => !a,
    (a) => ~a,
  ),
  shl: shift((x, count) => x << count),
  shrSigned: shift((x, count, width) => BigInt.asIntN(width, x) >> count),
  shrUnsigned: shift((x, count, width) => BigInt.asUintN(width, x) >> count),
  select: ([c, a, b]) => (c ? a! : b!),

  convert: ([x], from, to) => convert(x!, from, to),
  bitcast: ([x], from, to) => bitcast(x!, from, to),
}
