// Exact floating-point arithmetic that JavaScript has no operator for: fused multiply-add, scaling by a power of two and
// integer to float conversion, each with exactly one rounding to nearest even, in f64 and f32.
// Each has a short path for common operands, taken only where it provably gives what the integer arithmetic below it gives.
import type { FloatType } from './types.ts'

const float = new Float64Array(1)
const quad = new BigUint64Array(float.buffer)
const words = new Uint32Array(float.buffer)
/** Which word of a double holds its sign and exponent, on this machine. */
const HIGH = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 1 : 0

/** The bits of a double as an unsigned 64-bit integer. */
export function bitsOf(x: number): bigint {
  float[0] = x
  return quad[0]!
}

/** The double with the given bits. */
export function fromBits(bits: bigint): number {
  quad[0] = bits
  return float[0]!
}

/** 2^exponent for an exponent of a normal double, −1022 … 1023. */
function powerOfTwo(exponent: number): number {
  words[HIGH] = (exponent + 1023) << 20
  words[1 - HIGH] = 0
  return float[0]!
}

/** Significant bits and smallest exponent (of the last bit of a subnormal) of each float type. */
const FORMAT: Record<FloatType, { precision: number; lowest: number; highest: number }> = {
  f64: { precision: 53, lowest: -1074, highest: 1024 },
  f32: { precision: 24, lowest: -149, highest: 128 },
}

/** Bits of a positive integer. */
function bitLength(magnitude: bigint): number {
  const digits = magnitude.toString(16)
  return 4 * digits.length - (Math.clz32(Number.parseInt(digits[0]!, 16)) - 28)
}

/** A finite double as integer · 2^exponent, exactly. */
function decompose(x: number): { integer: bigint; exponent: number } {
  const bits = bitsOf(x)
  const biased = Number((bits >> 52n) & 0x7ffn)
  const fraction = bits & 0xfffffffffffffn
  const magnitude = biased === 0 ? fraction : fraction | 0x10000000000000n
  return { integer: bits >> 63n ? -magnitude : magnitude, exponent: Math.max(biased, 1) - 1075 }
}

/** integer · 2^exponent rounded once to nearest even. A zero integer gives +0. */
export function roundScaled(integer: bigint, exponent: number, type: FloatType): number {
  if (integer === 0n) return 0
  const { precision, lowest, highest } = FORMAT[type]
  const negative = integer < 0n
  let magnitude = negative ? -integer : integer
  const top = bitLength(magnitude) + exponent
  const unit = Math.max(top - precision, lowest)
  const shift = unit - exponent
  if (shift > 0) {
    const half = 1n << BigInt(shift - 1)
    const rest = magnitude & ((1n << BigInt(shift)) - 1n)
    magnitude >>= BigInt(shift)
    if (rest > half || (rest === half && magnitude & 1n)) magnitude += 1n
  } else magnitude <<= BigInt(-shift)
  if (magnitude === 0n) return negative ? -0 : 0
  if (bitLength(magnitude) + unit > highest) return negative ? -Infinity : Infinity
  // At most 53 significant bits now, so the product is exact; the two factors avoid an intermediate underflow.
  const value =
    unit < -1000 ? Number(magnitude) * powerOfTwo(-600) * powerOfTwo(unit + 600) : Number(magnitude) * powerOfTwo(unit)
  return negative ? -value : value
}

/** An integer rounded once to a float type. */
export const roundInteger = (integer: bigint, type: FloatType): number =>
  // JavaScript's own conversion of a bigint rounds to nearest even.
  type === 'f64' ? Number(integer) : roundScaled(integer, 0, type)

/** x·2^count with one rounding, for any integer count. */
export function scale(x: number, count: number, type: FloatType): number {
  // The factor is exact, so the product is rounded once; for f32 it is exact in f64.
  if (type === 'f64' && count >= -1022 && count <= 1023) return x * powerOfTwo(count)
  if (type === 'f32' && count >= -800 && count <= 800) return Math.fround(x * powerOfTwo(count))
  if (x === 0 || !Number.isFinite(x)) return x
  const { integer, exponent } = decompose(x)
  // Beyond ±2300 the result is 0 or infinite whatever x is; the clamp keeps the exponent small.
  return roundScaled(integer, exponent + Math.max(-2300, Math.min(2300, count)), type)
}

/** a·b + c with one rounding. */
export function fusedMultiplyAdd(a: number, b: number, c: number, type: FloatType): number {
  const product = a * b
  // f32: the product of two f32 is exact in f64, and infinite and NaN operands pass through the sum.
  if (type === 'f32') return Math.fround(addRoundingToOdd(product, c))
  const magnitude = Math.abs(product)
  // Then no term of the product underflows (its last bit is above 2^−1074) and no sum or splitting overflows.
  if (
    magnitude > 2 ** -960 &&
    magnitude < 2 ** 1020 &&
    Math.abs(a) < 2 ** 990 &&
    Math.abs(b) < 2 ** 990 &&
    Math.abs(c) < 2 ** 1020
  ) {
    return fusedByErrorTerms(a, b, c, product)
  }
  if (!Number.isFinite(a) || !Number.isFinite(b) || a === 0 || b === 0) return product + c
  // A product that overflows when rounded is still finite here, so that c alone decides.
  if (!Number.isFinite(c)) return c
  return fusedExactly(a, b, c)
}

/** Rounding error of sum = a + b, exactly (Knuth). NaN where the sum is not finite. */
function sumError(a: number, b: number, sum: number): number {
  const partB = sum - a
  return a - (sum - partB) + (b - partB)
}

/** Rounding error of product = a · b, exactly (Veltkamp, Dekker). */
function productError(a: number, b: number, product: number): number {
  const splitA = 134217729 * a
  const highA = splitA - (splitA - a)
  const lowA = a - highA
  const splitB = 134217729 * b
  const highB = splitB - (splitB - b)
  const lowB = b - highB
  return lowA * lowB - (product - highA * highB - lowA * highB - highA * lowB)
}

/** The sum rounded to odd: truncated, with the last bit set when inexact, so that rounding it once more to fewer bits is exact. */
function addRoundingToOdd(a: number, b: number): number {
  const sum = a + b
  const error = sumError(a, b, sum)
  if (error === 0 || Number.isNaN(error)) return sum
  float[0] = sum
  const low = words[1 - HIGH]!
  if (low & 1) return sum
  if (error > 0 === sum > 0) words[1 - HIGH] = low + 1
  else {
    // One below an even magnitude; the borrow reaches the high word where the low one is 0.
    if (low === 0) words[HIGH] = words[HIGH]! - 1
    words[1 - HIGH] = low - 1
  }
  return float[0]!
}

/** S. Boldo, G. Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd" (2008). */
function fusedByErrorTerms(a: number, b: number, c: number, product: number): number {
  const errorOfProduct = productError(a, b, product)
  const low = c + errorOfProduct
  const sum = product + low
  return sum + addRoundingToOdd(sumError(c, errorOfProduct, low), sumError(product, low, sum))
}

function fusedExactly(a: number, b: number, c: number): number {
  const x = decompose(a)
  const y = decompose(b)
  const z = decompose(c)
  const exponent = Math.min(x.exponent + y.exponent, z.exponent)
  const integer =
    ((x.integer * y.integer) << BigInt(x.exponent + y.exponent - exponent)) +
    (z.integer << BigInt(z.exponent - exponent))
  // An exact zero here is x + (−x): +0 in round to nearest.
  return roundScaled(integer, exponent, 'f64')
}
