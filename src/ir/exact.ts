// Exact floating-point arithmetic that JavaScript has no operator for: fused multiply-add, scaling by a power of two and
// integer to float conversion, each with exactly one rounding to nearest even, in f64 and f32.
import type { FloatType } from './types.ts'

const words = new DataView(new ArrayBuffer(8))

/** The bits of a double as an unsigned 64-bit integer. */
export function bitsOf(x: number): bigint {
  words.setFloat64(0, x)
  return words.getBigUint64(0)
}

/** The double with the given bits. */
export function fromBits(bits: bigint): number {
  words.setBigUint64(0, bits)
  return words.getFloat64(0)
}

/** Significant bits and smallest exponent (of the last bit of a subnormal) of each float type. */
const FORMAT: Record<FloatType, { precision: number; lowest: number; highest: number }> = {
  f64: { precision: 53, lowest: -1074, highest: 1024 },
  f32: { precision: 24, lowest: -149, highest: 128 },
}

const bitLength = (magnitude: bigint): number => magnitude.toString(2).length

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
  if (bitLength(magnitude) + unit > highest) return negative ? -Infinity : Infinity
  // At most 53 significant bits now, so the conversion is exact; the two factors avoid an intermediate underflow.
  const value = unit < -1000 ? Number(magnitude) * 2 ** -600 * 2 ** (unit + 600) : scaleExact(Number(magnitude), unit)
  return negative ? -value : value
}

const scaleExact = (x: number, exponent: number): number =>
  exponent > 900 ? x * 2 ** 900 * 2 ** (exponent - 900) : x * 2 ** exponent

/** An integer rounded once to a float type. */
export const roundInteger = (integer: bigint, type: FloatType): number => roundScaled(integer, 0, type)

/** x·2^count with one rounding, for any integer count. */
export function scale(x: number, count: number, type: FloatType): number {
  if (x === 0 || !Number.isFinite(x)) return x
  const { integer, exponent } = decompose(x)
  // Beyond ±2300 the result is 0 or infinite whatever x is; the clamp keeps the exponent small.
  return roundScaled(integer, exponent + Math.max(-2300, Math.min(2300, count)), type)
}

/** a·b + c with one rounding. */
export function fusedMultiplyAdd(a: number, b: number, c: number, type: FloatType): number {
  const product = a * b
  if (!Number.isFinite(a) || !Number.isFinite(b)) return product + c
  // A product that overflows when rounded is still finite here, so that c alone decides.
  if (!Number.isFinite(c)) return c
  if (a === 0 || b === 0) return product + c
  if (type === 'f32') return Math.fround(addRoundingToOdd(product, c))
  return isEasy(a) && isEasy(b) && isEasy(c) ? fusedByErrorTerms(a, b, c, product) : fusedExactly(a, b, c)
}

/** Magnitudes for which no error term below can underflow or overflow. */
const isEasy = (x: number): boolean => {
  const magnitude = Math.abs(x)
  return magnitude > 1e-120 && magnitude < 1e120
}

/** Sum of two doubles with its rounding error, exactly (Knuth). */
function twoSum(a: number, b: number): readonly [number, number] {
  const sum = a + b
  const partB = sum - a
  return [sum, a - (sum - partB) + (b - partB)]
}

/** Rounding error of a product of two doubles (Veltkamp, Dekker). */
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
  const [sum, error] = twoSum(a, b)
  if (error === 0 || !Number.isFinite(sum)) return sum
  const bits = bitsOf(sum)
  if (bits & 1n) return sum
  return fromBits(error > 0 === sum > 0 ? bits + 1n : bits - 1n)
}

/** S. Boldo, G. Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd" (2008). */
function fusedByErrorTerms(a: number, b: number, c: number, product: number): number {
  const [sumLow, errorLow] = twoSum(c, productError(a, b, product))
  const [sum, error] = twoSum(product, sumLow)
  return sum + addRoundingToOdd(errorLow, error)
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
