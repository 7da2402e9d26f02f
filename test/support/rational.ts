// Exact arithmetic on fractions of big integers, and rounding them to a float type: the oracle for everything that rounds once.
// Invariant: nothing here goes through floating-point arithmetic but the last, exact step that makes the number.
import type { FloatType } from '../../src/ir/types.ts'

export interface Fraction {
  readonly numerator: bigint
  /** Above 0. */
  readonly denominator: bigint
}

const FORMAT: Record<FloatType, { precision: bigint; lowest: bigint; highest: bigint }> = {
  f64: { precision: 53n, lowest: -1074n, highest: 1024n },
  f32: { precision: 24n, lowest: -149n, highest: 128n },
}

const view = new DataView(new ArrayBuffer(8))

/** A finite double as a fraction. */
export function fraction(x: number): Fraction {
  view.setFloat64(0, x)
  const bits = view.getBigUint64(0)
  const field = (bits >> 52n) & 0x7ffn
  const magnitude = (bits & 0xf_ffff_ffff_ffffn) | (field === 0n ? 0n : 1n << 52n)
  const signed = bits >> 63n ? -magnitude : magnitude
  const exponent = (field === 0n ? 1n : field) - 1075n
  return exponent < 0n
    ? { numerator: signed, denominator: 1n << -exponent }
    : { numerator: signed << exponent, denominator: 1n }
}

export const plus = (x: Fraction, y: Fraction): Fraction => ({
  numerator: x.numerator * y.denominator + y.numerator * x.denominator,
  denominator: x.denominator * y.denominator,
})

export const times = (x: Fraction, y: Fraction): Fraction => ({
  numerator: x.numerator * y.numerator,
  denominator: x.denominator * y.denominator,
})

/** The largest whole number not above. */
export function floorOf({ numerator, denominator }: Fraction): bigint {
  const quotient = numerator / denominator
  return numerator < 0n && quotient * denominator !== numerator ? quotient - 1n : quotient
}

const bitsOf = (x: bigint): bigint => BigInt(x.toString(2).length)

/** The nearest number of a float type, ties to even; +0 for 0. */
export function round({ numerator, denominator }: Fraction, type: FloatType): number {
  if (numerator === 0n) return 0
  const { precision, lowest, highest } = FORMAT[type]
  const isNegative = numerator < 0n
  const magnitude = isNegative ? -numerator : numerator
  // The unit of the last place: a guess from the lengths, one too small at most.
  const guess = bitsOf(magnitude) - bitsOf(denominator) - precision
  let exponent = guess < lowest ? lowest : guess
  const scaled = (unit: bigint): Fraction =>
    unit < 0n
      ? { numerator: magnitude << -unit, denominator }
      : { numerator: magnitude, denominator: denominator << unit }
  if (floorOf(scaled(exponent)) >= 1n << precision) exponent++
  const { numerator: n, denominator: d } = scaled(exponent)
  let significand = n / d
  const twice = 2n * (n - significand * d)
  if (twice > d || (twice === d && significand % 2n === 1n)) significand++
  if (significand * 2n ** (exponent < 0n ? 0n : exponent) >= 2n ** highest) return isNegative ? -Infinity : Infinity
  // Assembled from its bits: exact by construction.
  if (significand === 1n << precision) {
    significand >>= 1n
    exponent++
  }
  return (isNegative ? -1 : 1) * assemble(significand, exponent)
}

function assemble(significand: bigint, exponent: bigint): number {
  // As bits of a double: normalised, then the exponent field, or the significand alone below the normal range.
  let [high, unit] = [significand, exponent]
  while (high !== 0n && high < 1n << 52n && unit > -1074n) {
    high <<= 1n
    unit--
  }
  view.setBigUint64(0, high < 1n << 52n ? high : ((unit + 1075n) << 52n) | (high & 0xf_ffff_ffff_ffffn))
  return view.getFloat64(0)
}
