// What each computed basic op does to plain numbers: one row an op. Constant folding and the interpreter both evaluate through
// these rows, so that a folded and an interpreted program cannot disagree. Every backend agrees with them bit for bit.
// Invariant: a rule gives a literal of the result type (types.ts): an i32 is never −0, an f32 is always rounded.
import { bitsOf, fromBits, fusedMultiplyAdd, roundInteger, scale } from './exact.ts'
import type { ComputedOp, OpName } from './ops.ts'
import { isFloat, type FloatType, type IntegerType, type Literal, type Type } from './types.ts'

/** Evaluates an op on literals. A rule of fewer than three operands ignores the rest, whatever is passed. */
export type Evaluate = (a: Literal, b: Literal, c: Literal) => Literal

/** The rule of an op for a type of its operands (T of the signature) and a result type. */
type Row = (operand: Type, result: Type) => Evaluate

type FloatRule = (a: number, b: number, c: number) => number
/** On i32 and u32 alike: what it gives is taken modulo 2^32. */
type WordRule = (a: number, b: number) => number
/** On i64: what it gives is taken modulo 2^64. */
type WideRule = (a: bigint, b: bigint) => bigint

/** A rule for literals of one JavaScript type; the op table guarantees that no others arrive. */
const on = <L extends Literal>(rule: (a: L, b: L, c: L) => Literal): Evaluate => rule as Evaluate

/** Rounding a double to f32 after +, −, ×, ÷ and √ of f32 operands gives the f32 result exactly. */
const onFloats = (type: FloatType, rule: FloatRule): Evaluate =>
  type === 'f64' ? on(rule) : on<number>((a, b, c) => Math.fround(rule(a, b, c)))

const onIntegers = (type: IntegerType, word: WordRule, wide: WideRule): Evaluate => {
  switch (type) {
    case 'i32':
      return on<number>((a, b) => word(a, b) | 0)
    case 'u32':
      return on<number>((a, b) => word(a, b) >>> 0)
    case 'i64':
      return on<bigint>((a, b) => BigInt.asIntN(64, wide(a, b)))
  }
}

const arithmetic =
  (float: FloatRule, word: WordRule, wide: WideRule): Row =>
  (type) =>
    isFloat(type) ? onFloats(type, float) : onIntegers(type as IntegerType, word, wide)

const floatOnly =
  (rule: FloatRule): Row =>
  (type) =>
    onFloats(type as FloatType, rule)

const integerOnly =
  (word: WordRule, wide: WideRule): Row =>
  (type) =>
    onIntegers(type as IntegerType, word, wide)

const bitwise =
  (logic: (a: boolean, b: boolean) => boolean, word: WordRule, wide: WideRule): Row =>
  (type) =>
    type === 'bool' ? on(logic) : onIntegers(type as IntegerType, word, wide)

const always =
  (rule: Evaluate): Row =>
  () =>
    rule

function roundHalfEven(x: number): number {
  if (!(Math.abs(x) < 2 ** 52)) return x
  // Adding 2^52 pushes the fraction out of the significand, rounding it to nearest even.
  return x < 0 || Object.is(x, -0) ? -(-x + 2 ** 52 - 2 ** 52) : x + 2 ** 52 - 2 ** 52
}

/** Float to integer: truncates, saturates, 0 for NaN. Adding 0 turns −0 into 0. */
const SATURATE: Record<IntegerType, (x: number) => Literal> = {
  i32: (x) => (Number.isNaN(x) ? 0 : Math.trunc(Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, x))) + 0),
  u32: (x) => (Number.isNaN(x) ? 0 : Math.trunc(Math.max(0, Math.min(2 ** 32 - 1, x))) + 0),
  i64(x) {
    if (Math.abs(x) < 2 ** 63) return BigInt(Math.trunc(x))
    return Number.isNaN(x) ? 0n : x > 0 ? 2n ** 63n - 1n : -(2n ** 63n)
  },
}

function conversion(from: Type, to: Type): Evaluate {
  if (from === to) return (x) => x
  if (to === 'bool') return from === 'i64' ? on<bigint>((x) => x !== 0n) : on<number>((x) => x !== 0)
  if (from === 'bool') return to === 'i64' ? on<boolean>((x) => (x ? 1n : 0n)) : on<boolean>((x) => (x ? 1 : 0))
  if (isFloat(from)) return isFloat(to) ? onFloats(to, (x) => x) : on(SATURATE[to])
  if (isFloat(to)) return from === 'i64' ? on<bigint>((x) => roundInteger(x, to)) : onFloats(to, (x) => x)
  if (to === 'i64') return on<number>((x) => BigInt(x))
  if (from === 'i64') return on<bigint>((x) => Number(to === 'i32' ? BigInt.asIntN(32, x) : BigInt.asUintN(32, x)))
  return onIntegers(
    to,
    (x) => x,
    (x) => x,
  )
}

const word = new DataView(new ArrayBuffer(4))

/** Reads and writes the 32-bit types as bits. */
const WORD_BITS: Record<'f32' | 'i32' | 'u32', { write: (x: number) => void; read: () => number }> = {
  f32: { write: (x) => word.setFloat32(0, x), read: () => word.getFloat32(0) },
  i32: { write: (x) => word.setInt32(0, x), read: () => word.getInt32(0) },
  u32: { write: (x) => word.setUint32(0, x), read: () => word.getUint32(0) },
}

function reinterpretation(from: Type, to: Type): Evaluate {
  if (from === to) return (x) => x
  if (from === 'f64') return on<number>((x) => BigInt.asIntN(64, bitsOf(x)))
  if (to === 'f64') return on<bigint>((x) => fromBits(BigInt.asUintN(64, x)))
  const { write } = WORD_BITS[from as 'f32' | 'i32' | 'u32']
  const { read } = WORD_BITS[to as 'f32' | 'i32' | 'u32']
  return on<number>((x) => {
    write(x)
    return read()
  })
}

/** The row of each computed op. */
export const semantics: Record<ComputedOp, Row> = {
  add: arithmetic(
    (a, b) => a + b,
    (a, b) => a + b,
    (a, b) => a + b,
  ),
  sub: arithmetic(
    (a, b) => a - b,
    (a, b) => a - b,
    (a, b) => a - b,
  ),
  mul: arithmetic(
    (a, b) => a * b,
    Math.imul,
    (a, b) => a * b,
  ),
  div: floatOnly((a, b) => a / b),
  neg: arithmetic(
    (a) => -a,
    (a) => -a,
    (a) => -a,
  ),
  abs: arithmetic(
    (a) => Math.abs(a),
    (a) => Math.abs(a),
    (a) => (a < 0n ? -a : a),
  ),
  min: arithmetic(
    (a, b) => Math.min(a, b),
    (a, b) => Math.min(a, b),
    (a, b) => (a < b ? a : b),
  ),
  max: arithmetic(
    (a, b) => Math.max(a, b),
    (a, b) => Math.max(a, b),
    (a, b) => (a > b ? a : b),
  ),
  fma: (type) => on<number>((a, b, c) => fusedMultiplyAdd(a, b, c, type as FloatType)),
  sqrt: floatOnly((x) => Math.sqrt(x)),
  floor: floatOnly((x) => Math.floor(x)),
  ceil: floatOnly((x) => Math.ceil(x)),
  trunc: floatOnly((x) => Math.trunc(x)),
  rint: floatOnly(roundHalfEven),
  ldexp: (type) => on<number>((x, count) => scale(x, count, type as FloatType)),

  eq: always((a, b) => a === b),
  ne: always((a, b) => a !== b),
  lt: always((a, b) => a < b),
  le: always((a, b) => a <= b),
  and: bitwise(
    (a, b) => a && b,
    (a, b) => a & b,
    (a, b) => a & b,
  ),
  or: bitwise(
    (a, b) => a || b,
    (a, b) => a | b,
    (a, b) => a | b,
  ),
  xor: bitwise(
    (a, b) => a !== b,
    (a, b) => a ^ b,
    (a, b) => a ^ b,
  ),
  not: bitwise(
    (a) => !a,
    (a) => ~a,
    (a) => ~a,
  ),
  // JavaScript's own shifts of numbers take the count modulo 32.
  shl: integerOnly(
    (x, count) => x << count,
    (x, count) => x << BigInt.asUintN(6, count),
  ),
  shrSigned: integerOnly(
    (x, count) => x >> count,
    (x, count) => x >> BigInt.asUintN(6, count),
  ),
  shrUnsigned: integerOnly(
    (x, count) => x >>> count,
    (x, count) => BigInt.asUintN(64, x) >> BigInt.asUintN(6, count),
  ),
  select: always((c, a, b) => (c ? a : b)),

  convert: conversion,
  bitcast: reinterpretation,
}

export const isComputed = (op: OpName): op is ComputedOp => op in semantics
