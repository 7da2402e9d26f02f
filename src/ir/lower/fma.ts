// The op `fma` for targets without the instruction: basic ops that give the same bits for every operand, as exact.ts does.
// f32: the product is exact in f64; the sum is rounded to odd there, so that rounding it to f32 is the only rounding.
// f64: the product becomes two terms, the sum with the addend three, and rounding the smaller two to odd lets one last addition round
// the whole once (S. Boldo, G. Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd",
// 2008). Operands for which a term could underflow or overflow are scaled to magnitudes near 1 first, in a branch that vectors of
// common operands skip.
import type { Builder } from '../build.ts'
import type { Value } from '../graph.ts'

/** Veltkamp's constant, 2^27 + 1: splits a double into two halves whose products are exact. */
const SPLITTER = 134217729

interface Sum {
  readonly sum: Value
  /** What rounding took away; exact, NaN where the sum is not finite. */
  readonly error: Value
}

function twoSum(b: Builder, x: Value, y: Value): Sum {
  const sum = b.add(x, y)
  const part = b.sub(sum, x)
  return { sum, error: b.add(b.sub(x, b.sub(sum, part)), b.sub(y, part)) }
}

function twoProduct(b: Builder, x: Value, y: Value): Sum {
  const split = (z: Value) => {
    const scaled = b.mul(b.const('f64', SPLITTER), z)
    const high = b.sub(scaled, b.sub(scaled, z))
    return { high, low: b.sub(z, high) }
  }
  const sum = b.mul(x, y)
  const [p, q] = [split(x), split(y)]
  const rest = b.sub(b.sub(b.sub(sum, b.mul(p.high, q.high)), b.mul(p.low, q.high)), b.mul(p.high, q.low))
  return { sum, error: b.sub(b.mul(p.low, q.low), rest) }
}

/** x + y truncated, with the last bit set where that is inexact: rounding it once more, to fewer bits, is as rounding x + y once. */
function addRoundingToOdd(b: Builder, x: Value, y: Value): Value {
  const zero = b.const('f64', 0)
  const { sum, error } = twoSum(b, x, y)
  // Both comparisons are false for the NaN of a sum that is not finite, which stays as it is.
  const isInexact = b.or(b.lt(error, zero), b.gt(error, zero))
  const isRoundedUp = b.ne(b.lt(error, zero), b.lt(sum, zero))
  // Towards zero is one below in the bits of an even magnitude; an odd one is odd again once its last bit is set.
  const truncated = b.sub(b.bitcast(sum, 'i64'), b.convert(isRoundedUp, 'i64'))
  return b.select(isInexact, b.bitcast(b.or(truncated, b.const('i64', 1n)), 'f64'), sum)
}

/** x·y + z as two terms: their sum, rounded once, is the result. No term may underflow or overflow. */
function sumOfThree(b: Builder, x: Value, y: Value, z: Value): Sum {
  const product = twoProduct(b, x, y)
  const low = twoSum(b, z, product.error)
  const high = twoSum(b, product.sum, low.sum)
  return { sum: high.sum, error: addRoundingToOdd(b, low.error, high.error) }
}

/** A finite number other than 0 as mantissa · 2^exponent with a mantissa in ±[1, 2). */
function normalise(b: Builder, x: Value): { mantissa: Value; exponent: Value } {
  const isSubnormal = b.lt(b.abs(x), b.const('f64', 2 ** -1022))
  const bits = b.bitcast(b.select(isSubnormal, b.mul(x, b.const('f64', 2 ** 54)), x), 'i64')
  const field = b.convert(b.and(b.shrUnsigned(bits, b.const('i64', 52n)), b.const('i64', 0x7ffn)), 'i32')
  const fraction = b.and(bits, b.const('i64', BigInt.asIntN(64, 0x800fffffffffffffn)))
  return {
    mantissa: b.bitcast(b.or(fraction, b.const('i64', 1023n << 52n)), 'f64'),
    exponent: b.sub(field, b.select(isSubnormal, b.const('i32', 1023 + 54), b.const('i32', 1023))),
  }
}

/**
 * Beyond this many powers of two between the product, which has at most 106 bits, and the addend, the smaller of them decides
 * nothing but the direction of the rest, so that its exponent may be raised to this distance.
 */
const FAR = 120

/** x·y + z rounded once, for finite operands of which x and y are not 0. */
function fusedByScaling(b: Builder, x: Value, y: Value, z: Value): Value {
  const zero = b.const('f64', 0)
  const [p, q, addend] = [normalise(b, x), normalise(b, y), normalise(b, z)]
  const productExponent = b.add(p.exponent, q.exponent)
  const distance = b.sub(addend.exponent, productExponent)
  const near = b.max(b.min(distance, b.const('i32', FAR)), b.const('i32', -FAR))
  // 2^exponent is the unit of the scaled sum: that of the product, or of the addend where the product is far below.
  const isAddendFar = b.gt(distance, b.const('i32', FAR))
  const exponent = b.select(isAddendFar, b.sub(addend.exponent, b.const('i32', FAR)), productExponent)
  const isZero = b.eq(z, zero)
  const scaledAddend = b.select(isZero, z, b.ldexp(addend.mantissa, near))
  const three = sumOfThree(b, p.mantissa, q.mantissa, scaledAddend)
  const { sum, error } = twoSum(b, three.sum, three.error)
  const unit = b.select(isZero, productExponent, exponent)
  const rounded = b.ldexp(sum, unit)

  // In the subnormal range scaling rounds again. It then drops at least one bit of the sum, of which the error is at most half of the
  // last, so that the error can only decide a tie. (Above that range nothing is dropped, and a sum is no tie.)
  const dropped = b.sub(sum, b.ldexp(rounded, b.neg(unit)))
  const half = b.ldexp(b.const('f64', 1), b.sub(b.const('i32', -1075), unit))
  const isTooLow = b.and(b.eq(dropped, half), b.gt(error, zero))
  const isTooHigh = b.and(b.eq(dropped, b.neg(half)), b.lt(error, zero))
  const smallest = b.const('f64', 2 ** -1074)
  return b.select(isTooLow, b.add(rounded, smallest), b.select(isTooHigh, b.sub(rounded, smallest), rounded))
}

function fusedF64(b: Builder, x: Value, y: Value, z: Value): Value {
  const product = b.mul(x, y)
  const within = (value: Value, limit: number) => b.lt(b.abs(value), b.const('f64', limit))
  const conditions = [
    b.gt(b.abs(product), b.const('f64', 2 ** -960)),
    within(product, 2 ** 1020),
    within(x, 2 ** 990),
    within(y, 2 ** 990),
    within(z, 2 ** 1020),
  ]
  const isCommon = conditions.reduce((all, condition) => b.and(all, condition))
  const [result] = b.branch(
    isCommon,
    () => {
      const { sum, error } = sumOfThree(b, x, y, z)
      return [b.add(sum, error)]
    },
    () => {
      const zero = b.const('f64', 0)
      const isFinite = (value: Value) => within(value, Infinity)
      const isProper = b.and(b.and(isFinite(x), isFinite(y)), b.and(b.ne(x, zero), b.ne(y, zero)))
      // A product that overflows when rounded is still finite, so that an infinite or NaN addend alone decides.
      return [b.select(isProper, b.select(isFinite(z), fusedByScaling(b, x, y, z), z), b.add(product, z))]
    },
  )
  return result!
}

/** a·b + c with one rounding, without the op `fma`. */
export function softwareFma(b: Builder, operands: readonly Value[]): Value {
  const [x, y, z] = operands as readonly [Value, Value, Value]
  if (x.type === 'f64') return fusedF64(b, x, y, z)
  const wide = (value: Value) => b.convert(value, 'f64')
  return b.convert(addRoundingToOdd(b, b.mul(wide(x), wide(y)), wide(z)), 'f32')
}
