// The arithmetic that lowerings share: multiply-add with or without FMA, polynomials, and pairs (unevaluated sums of two floats).
// Invariant: without FMA no `fma` node is made; error-free transformations then use Veltkamp's splitting by bit masks and Dekker's product.
// Sources: T. J. Dekker, "A floating-point technique for extending the available precision" (1971); D. E. Knuth, TAOCP 2, 4.2.2.
import { HarrierError } from '../../errors.ts'
import type { Builder } from '../build.ts'
import type { Value } from '../graph.ts'
import { isFloat, type FloatType, type Type } from '../types.ts'

/** What the target of a lowering has. */
export interface LoweringTarget {
  /** A fused multiply-add instruction. Without it the lowerings use forms that need none, with the same error bounds. */
  readonly fma: boolean
  /** An instruction that multiplies by any power of two. Without it the lowerings add to the exponent's bits wherever that is exact. */
  readonly scaling: boolean
}

/**
 * Builds the value of a derived op from basic ops, or from other derived ops, which are lowered in turn.
 * @param type the type of the value, for ops whose operands do not say it
 */
export type Lowering = (b: Builder, operands: readonly Value[], target: LoweringTarget, type: Type) => Value

/** An unevaluated sum; `low` is small against `high`. */
export interface Pair {
  readonly high: Value
  readonly low: Value
}

export interface Kit {
  readonly b: Builder
  readonly type: FloatType
  readonly target: LoweringTarget
  /** A literal of the kit's float type, rounded to it. */
  k(x: number): Value
  /** a·b + c, fused where the target can. */
  mad(a: Value, b: Value, c: Value): Value
  /** c − a·b, fused where the target can. */
  nmad(a: Value, b: Value, c: Value): Value
  /** Σ coefficients[i]·x^i by Estrin's scheme: long chains of dependent operations would bound the speed. */
  polynomial(coefficients: readonly number[], x: Value): Value
  /** a + b exactly, for |a| ≥ |b| or a = 0. */
  quickSum(a: Value, b: Value): Pair
  /** a + b exactly. */
  sum(a: Value, b: Value): Pair
  /** a·b exactly, but for products whose error term underflows. */
  product(a: Value, b: Value): Pair
  /** c − a·b where that is representable, as a residual is: exact but for underflow. */
  residual(a: Value, b: Value, c: Value): Value
  /** Magnitude of x with the sign of y. */
  withSign(x: Value, y: Value): Value
  /** x with its sign flipped where y is negative. */
  flipSign(x: Value, y: Value): Value
  /**
   * The whole number nearest to x·factor: as a float, and in the low 32 bits of an integer of equal width. For magnitudes up to 2^31
   * (f64) or 2^22 (f32); beyond, any number.
   */
  nearest(x: Value, factor: number): { readonly whole: Value; readonly bits: Value }
  /** 1/d to 12 % by negating the exponent in the bits of d: enough for the rest of a rounded quotient. For normal d and 1/d. */
  reciprocalGuess(d: Value): Value
  /** x·2^n rounded once, for n in the low bits of `bits`, as from `nearest`. */
  scale(x: Value, bits: Value): Value
  /** The same where x and the result are normal numbers. */
  scaleNormal(x: Value, bits: Value): Value
  /**
   * The general value, by a shortcut where `isOrdinary` holds, which scales normal numbers to normal numbers by {@link scaleNormal}:
   * without an instruction that scales, the general way takes as long as all the rest of an exponential.
   */
  ordinaryOr(isOrdinary: Value, quick: () => Value, general: () => Value): Value
  /** Float bits as an integer of equal width, and back. */
  toBits(x: Value): Value
  fromBits(x: Value): Value
  /** A literal of the integer type of equal width. */
  bitsConst(x: bigint): Value
}

/** Adding 1.5·2^(p−1) leaves a whole number in the low bits of the significand. */
const SHIFTER: Record<FloatType, number> = { f64: 1.5 * 2 ** 52, f32: 1.5 * 2 ** 23 }
const SHIFTER_BITS_F32 = 0x4b400000n
const RECIPROCAL_GUESS: Record<FloatType, bigint> = { f64: 0x7fde623822fc16e6n, f32: 0x7ef311c7n }
const SIGN: Record<FloatType, bigint> = { f64: -(2n ** 63n), f32: -(2n ** 31n) }
/** Keeps the upper half of a significand. */
const UPPER_HALF: Record<FloatType, bigint> = { f64: ~0x7ffffffn, f32: ~0xfffn }

/** The kit of a float type; the op table lets no other type reach a lowering that asks for one. */
export function createKit(b: Builder, type: Type, target: LoweringTarget): Kit {
  const { fma, scaling } = target
  if (!isFloat(type)) throw new HarrierError('E_INTERNAL', `lowering: ${type} is no float type`)
  const k = (x: number) => b.const(type, x)
  const integer = type === 'f64' ? 'i64' : 'i32'
  const toBits = (x: Value) => b.bitcast(x, integer)
  const fromBits = (x: Value) => b.bitcast(x, type)
  const bitsConst = (x: bigint) =>
    b.const(integer, type === 'f64' ? BigInt.asIntN(64, x) : Number(BigInt.asIntN(32, x)))
  const mad = (x: Value, y: Value, z: Value) => (fma ? b.fma(x, y, z) : b.add(b.mul(x, y), z))
  const nmad = (x: Value, y: Value, z: Value) => (fma ? b.fma(b.neg(x), y, z) : b.sub(z, b.mul(x, y)))
  const quickSum = (x: Value, y: Value): Pair => {
    const high = b.add(x, y)
    return { high, low: b.sub(y, b.sub(high, x)) }
  }
  const sum = (x: Value, y: Value): Pair => {
    const high = b.add(x, y)
    const part = b.sub(high, x)
    return { high, low: b.add(b.sub(x, b.sub(high, part)), b.sub(y, part)) }
  }
  const halves = (x: Value): Pair => {
    const high = fromBits(b.and(toBits(x), bitsConst(UPPER_HALF[type])))
    return { high, low: b.sub(x, high) }
  }
  const product = (x: Value, y: Value): Pair => {
    const high = b.mul(x, y)
    if (fma) return { high, low: b.fma(x, y, b.neg(high)) }
    const p = halves(x)
    const q = halves(y)
    const top = b.sub(b.mul(p.high, q.high), high)
    const middle = b.add(b.add(top, b.mul(p.high, q.low)), b.mul(p.low, q.high))
    return { high, low: b.add(middle, b.mul(p.low, q.low)) }
  }
  const residual = (x: Value, y: Value, z: Value) => {
    if (fma) return b.fma(b.neg(x), y, z)
    const { high, low } = product(x, y)
    return b.sub(b.sub(z, high), low)
  }
  const signOf = (x: Value) => b.and(toBits(x), bitsConst(SIGN[type]))
  return {
    b,
    type,
    target,
    k,
    mad,
    nmad,
    polynomial(coefficients, x) {
      // Pairs, then pairs of pairs: the chain of dependent steps is as long as the logarithm of the degree.
      let terms = coefficients.map(k)
      for (let power = x; terms.length > 1; power = b.mul(power, power)) {
        const [current, factor] = [terms, power]
        // Three terms in turn take as long as in pairs, and one power less.
        if (current.length === 3) return mad(mad(current[2]!, factor, current[1]!), factor, current[0]!)
        terms = current.flatMap((term, i) =>
          i % 2 ? [] : i + 1 < current.length ? [mad(current[i + 1]!, factor, term)] : [term],
        )
        if (terms.length === 1) break
      }
      return terms[0]!
    },
    quickSum,
    sum,
    product,
    residual,
    withSign: (x, y) => fromBits(b.or(b.and(toBits(x), bitsConst(~SIGN[type])), signOf(y))),
    flipSign: (x, y) => fromBits(b.xor(toBits(x), signOf(y))),
    nearest(x, factor) {
      const shifted = mad(x, k(factor), k(SHIFTER[type]))
      const bits = toBits(shifted)
      const low = type === 'f64' ? bits : b.sub(bits, bitsConst(SHIFTER_BITS_F32))
      return { whole: b.sub(shifted, k(SHIFTER[type])), bits: low }
    },
    reciprocalGuess: (d) => fromBits(b.sub(bitsConst(RECIPROCAL_GUESS[type]), toBits(d))),
    scale: (x, bits) => b.ldexp(x, type === 'f64' ? b.convert(bits, 'i32') : bits),
    ordinaryOr(isOrdinary, quick, general) {
      if (scaling) return general()
      const [value] = b.shortcut(
        isOrdinary,
        () => [quick()],
        () => [general()],
      )
      return value!
    },
    scaleNormal: (x, bits) => fromBits(b.add(toBits(x), b.shl(bits, bitsConst(type === 'f64' ? 52n : 23n)))),
    toBits,
    fromBits,
    bitsConst,
  }
}
