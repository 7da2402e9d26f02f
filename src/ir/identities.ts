// Algebraic identities that the builder applies to a node before making it. Each keeps the exact result for all operands, NaN, −0,
// infinities and wrapping integers included, so that a graph means the same before and after; none reassociates.
import type { Builder } from './build.ts'
import { bitsOf } from './exact.ts'
import type { Value } from './graph.ts'
import type { ComputedOp } from './ops.ts'
import { BYTES, isFloat, isInteger, type Literal, type Type } from './types.ts'

type Identity = (operands: readonly Value[], b: Builder, type: Type) => Value | undefined

const isConst = (value: Value | undefined, literal: Literal): value is Value =>
  value?.op === 'const' && Object.is(value.literal, literal)
const isZero = (value: Value): boolean => isConst(value, 0) || isConst(value, 0n)
const isOne = (value: Value): boolean => isConst(value, 1) || isConst(value, 1n)
const isTrue = (value: Value): boolean => isConst(value, true)
const isFalse = (value: Value): boolean => isConst(value, false)

/** 1/divisor where multiplying by it gives the same bits as dividing: a power of two that is normal, as its reciprocal is. */
function exactReciprocal(divisor: Value): number | undefined {
  if (divisor.op !== 'const' || typeof divisor.literal !== 'number') return undefined
  const smallest = divisor.type === 'f32' ? 2 ** -126 : 2 ** -1022
  const reciprocal = 1 / divisor.literal
  const isPowerOfTwo = (bitsOf(divisor.literal) & 0xfffffffffffffn) === 0n
  return isPowerOfTwo && Math.abs(divisor.literal) >= smallest && Math.abs(reciprocal) >= smallest
    ? reciprocal
    : undefined
}

/** Whether a conversion gives the same with and without a step that represents every value of its origin. */
function canSkip(from: Type, through: Type, to: Type): boolean {
  if (from === 'bool') return true
  if (from === 'f32') return through === 'f64'
  // Through f64, an integer that `to` does not hold would saturate; straight to another integer type it wraps.
  const isWord = from === 'i32' || from === 'u32'
  return isWord && (through === 'i64' || (through === 'f64' && (to === from || to === 'i64' || !isInteger(to))))
}

/** The identity of each op; an op without one is listed with none, so that a new op is a decision. */
export const identities: Record<ComputedOp, Identity> = {
  // x + (−0) is x for every x; x + 0 is not, as −0 + 0 is 0.
  add: ([a, b], _, type) => {
    if (isFloat(type)) return isConst(b, -0) ? a : isConst(a, -0) ? b : undefined
    return isZero(b!) ? a : isZero(a!) ? b : undefined
  },
  sub: ([a, b], builder, type) => {
    if (isZero(b!)) return a
    if (isInteger(type) && a === b) return builder.zero(type)
    return isConst(a, -0) && isFloat(type) ? builder.neg(b!) : undefined
  },
  mul: ([a, b], builder, type) => {
    if (isOne(b!)) return a
    if (isOne(a!)) return b
    if (isInteger(type)) return isZero(a!) || isZero(b!) ? builder.zero(type) : undefined
    if (isConst(b, -1)) return builder.neg(a!)
    return isConst(a, -1) ? builder.neg(b!) : undefined
  },
  div: ([a, b], builder, type) => {
    if (isOne(b!)) return a
    const reciprocal = exactReciprocal(b!)
    return reciprocal === undefined ? undefined : builder.mul(a!, builder.const(type, reciprocal))
  },
  neg: ([a]) => (a!.op === 'neg' ? a!.operands[0] : undefined),
  abs: ([a], builder) =>
    a!.op === 'abs' ? a : a!.op === 'neg' && isFloat(a!.type) ? builder.abs(a!.operands[0]!) : undefined,
  min: ([a, b]) => (a === b ? a : undefined),
  max: ([a, b]) => (a === b ? a : undefined),
  fma: ([a, b, c], builder) =>
    isOne(b!)
      ? builder.add(a!, c!)
      : isOne(a!)
        ? builder.add(b!, c!)
        : isConst(c, -0)
          ? builder.mul(a!, b!)
          : undefined,
  sqrt: () => undefined,
  floor: ([a]) => (isWhole(a!) ? a : undefined),
  ceil: ([a]) => (isWhole(a!) ? a : undefined),
  trunc: ([a]) => (isWhole(a!) ? a : undefined),
  rint: ([a]) => (isWhole(a!) ? a : undefined),
  ldexp: ([a, i]) => (isZero(i!) ? a : undefined),
  eq: ([a, b], builder) => (a === b && !isFloat(a!.type) ? builder.const('bool', true) : undefined),
  ne: ([a, b], builder) => (a === b && !isFloat(a!.type) ? builder.const('bool', false) : undefined),
  lt: ([a, b], builder) => (a === b ? builder.const('bool', false) : undefined),
  le: ([a, b], builder) => (a === b && !isFloat(a!.type) ? builder.const('bool', true) : undefined),
  and: ([a, b], builder, type) => {
    if (a === b || isTrue(b!)) return a
    if (isTrue(a!)) return b
    return isFalse(a!) || isFalse(b!) || isZero(a!) || isZero(b!) ? builder.zero(type) : undefined
  },
  or: ([a, b], builder) => {
    if (a === b || isFalse(b!) || isZero(b!)) return a
    if (isFalse(a!) || isZero(a!)) return b
    return isTrue(a!) || isTrue(b!) ? builder.const('bool', true) : undefined
  },
  xor: ([a, b], builder, type) => {
    if (a === b) return builder.zero(type)
    if (isFalse(b!) || isZero(b!)) return a
    if (isFalse(a!) || isZero(a!)) return b
    return isTrue(b!) ? builder.not(a!) : isTrue(a!) ? builder.not(b!) : undefined
  },
  not: ([a]) => (a!.op === 'not' ? a!.operands[0] : undefined),
  shl: ([a, count]) => (isZero(count!) ? a : undefined),
  shrSigned: ([a, count]) => (isZero(count!) ? a : undefined),
  shrUnsigned: ([a, count]) => (isZero(count!) ? a : undefined),
  select: ([c, a, b], builder) => {
    if (a === b || isTrue(c!)) return a
    if (isFalse(c!)) return b
    if (a!.type === 'bool' && isTrue(a!) && isFalse(b!)) return c
    return c!.op === 'not' ? builder.select(c!.operands[0]!, b!, a!) : undefined
  },
  convert: ([a], builder, type) => {
    if (a!.type === type) return a
    if (a!.op !== 'convert') return undefined
    const origin = a!.operands[0]!
    return canSkip(origin.type, a!.type, type) ? builder.convert(origin, type) : undefined
  },
  bitcast: ([a], builder, type) => {
    if (a!.type === type) return a
    // Not through a float: reading back the bits of a NaN is unspecified.
    return a!.op === 'bitcast' && isInteger(a!.type) && BYTES[a!.type] === BYTES[type]
      ? builder.bitcast(a!.operands[0]!, type)
      : undefined
  },
}

/** Already a whole number, an infinity or NaN. */
const isWhole = (value: Value): boolean =>
  value.op === 'floor' ||
  value.op === 'ceil' ||
  value.op === 'trunc' ||
  value.op === 'rint' ||
  (value.op === 'convert' && isInteger(value.operands[0]!.type))
