// Reduction of angles: x = n·π/2 + (high + low), |high + low| ≤ π/4 and a little, exact to far more than the float type holds.
// Up to 2^20 in f64 and 2^8 in f32 by pieces of π/2 (Cody and Waite); beyond, by multiplication with the bits of 2/π in integers
// (M. H. Payne, R. N. Hanek, "Radian reduction for trigonometric functions", 1983), which vectors without such lanes skip.
import { halfPi, halfPiFused, halfPiFusedF32, halfPiPieces, twoOverPi, twoOverPiWords } from './coefficients.ts'
import type { Value } from '../graph.ts'
import { createKit, type Kit, type Pair } from './kit.ts'

/** Largest magnitude that the pieces of π/2 serve: n stays below 2^20 (f64), 2^8 (f32). */
const COMMON_LIMIT: Record<Kit['type'], number> = { f64: 2 ** 20, f32: 2 ** 8 }

export interface Reduced {
  readonly reduced: Pair
  /** Integer of the kit's width whose two low bits are n mod 4. */
  readonly quadrant: Value
}

const reduceCommon = (kit: Kit, x: Value, scale: number): Reduced =>
  kit.target.fma ? reduceFused(kit, x, scale) : reduceUnfused(kit, x, scale)

/** The first where a condition holds, else the second. */
function either({ b }: Kit, condition: Value, first: Reduced, second: Reduced): Reduced {
  const choose = (part: 'high' | 'low') => b.select(condition, first.reduced[part], second.reduced[part])
  return {
    reduced: { high: choose('high'), low: choose('low') },
    quadrant: b.select(condition, first.quadrant, second.quadrant),
  }
}

const isCommon = ({ b, k, type }: Kit, x: Value): Value => b.le(b.abs(x), k(COMMON_LIMIT[type]))

/** Any f64 angle. */
function reduceAny(kit: Kit, x: Value, scale: number): Reduced {
  const { b, k } = kit
  const { reduced, quadrant } = reduceLarge(kit, x)
  const large = { reduced: { high: b.mul(reduced.high, k(scale)), low: b.mul(reduced.low, k(scale)) }, quadrant }
  return either(kit, isCommon(kit, x), reduceCommon(kit, x, scale), large)
}

/** An f32 angle that may need f64, where it is common or any. */
function reduceNarrow(kit: Kit, x: Value, scale: number, inDouble: (wide: Kit, x: Value) => Reduced): Reduced {
  const { b } = kit
  const wide = createKit(b, 'f64', kit.target)
  const { reduced, quadrant } = inDouble(wide, b.convert(x, 'f64'))
  const high = b.convert(reduced.high, 'f32')
  const low = b.convert(b.add(b.sub(reduced.high, b.convert(high, 'f64')), reduced.low), 'f32')
  const cut = { reduced: { high, low }, quadrant: b.convert(quadrant, 'i32') }
  return either(kit, isCommon(kit, x), reduceCommon(kit, x, scale), cut)
}

/**
 * What is made of a reduced angle. It is made for each kind of reduction, so that vectors without large angles have one stretch of code,
 * in which nothing waits in memory for a choice.
 * @param scale 1, or ½ for half the reduced angle (the pieces of π/2 take the factor)
 */
export function withReduced(
  kit: Kit,
  x: Value,
  scale: 1 | 0.5,
  make: (angle: Reduced) => readonly Value[],
): readonly Value[] {
  const { b, k, type } = kit
  const common = () => make(reduceCommon(kit, x, scale))
  if (type === 'f64') return b.shortcut(isCommon(kit, x), common, () => make(reduceAny(kit, x, scale)))
  const narrow = (reduce: typeof reduceAny) => () =>
    make(reduceNarrow(kit, x, scale, (wide, angle) => reduce(wide, angle, scale)))
  return b.shortcut(isCommon(kit, x), common, () =>
    b.shortcut(b.le(b.abs(x), k(COMMON_LIMIT.f64)), narrow(reduceCommon), narrow(reduceAny)),
  )
}

/**
 * Three pieces with FMA: x − n·first is exact (a multiple of the last place of x below 1), the next step has an error that one more
 * FMA gives exactly because n·second is exact.
 */
function reduceFused(kit: Kit, x: Value, scale: number): Reduced {
  const { b, k, nmad } = kit
  const pieces = kit.type === 'f64' ? halfPiFused : halfPiFusedF32
  const [first, second, third] = [pieces[0] * scale, pieces[1] * scale, pieces[2] * scale]
  const { whole, bits } = kit.nearest(x, twoOverPi)
  const start = nmad(whole, k(first), b.mul(x, k(scale)))
  const high = nmad(whole, k(second), start)
  const error = nmad(whole, k(second), b.sub(start, high))
  return { reduced: { high, low: nmad(whole, k(third), error) }, quadrant: bits }
}

/** Four pieces whose products with n are exact without FMA; the error of each subtraction is kept. */
function reduceUnfused(kit: Kit, x: Value, scale: number): Reduced {
  const { b, k } = kit
  const [first, second, third, fourth] = halfPiPieces.map((piece) => piece * scale) as [number, number, number, number]
  const { whole, bits } = kit.nearest(x, twoOverPi)
  const start = b.sub(b.mul(x, k(scale)), b.mul(whole, k(first)))
  const one = kit.sum(start, b.mul(whole, k(-second)))
  const two = kit.sum(one.high, b.mul(whole, k(-third)))
  const rest = b.sub(b.add(one.low, two.low), b.mul(whole, k(fourth)))
  return { reduced: kit.quickSum(two.high, rest), quadrant: bits }
}

const WORD = 0xffffffffn

/**
 * Payne and Hanek: with x = M·2^e, the words of 2/π from bit e − 62 − 53 on give (x·2/π) mod 4 and 139 bits after the point. NaN for
 * ±Infinity and NaN.
 */
function reduceLarge(kit: Kit, x: Value): Reduced {
  const { b, k } = kit
  const i64 = (n: bigint) => b.const('i64', n)
  const bits = b.and(kit.toBits(x), i64(2n ** 63n - 1n))
  const biased = b.shrUnsigned(bits, i64(52n))
  const significand = b.or(b.and(bits, i64(2n ** 52n - 1n)), i64(2n ** 52n))
  // x = M·2^e, e = biased − 1075 ≥ −32. Bits of 2/π before position e − 2 give multiples of 4 and are dropped.
  const start = b.sub(biased, i64(1075n + 2n))
  const wordIndex = b.shrSigned(start, i64(5n))
  const shift = b.and(start, i64(31n))
  const words = selectWords(kit, wordIndex, 7)
  // Six words from bit `start` on: each joins the tail of one word and the head of the next.
  const aligned = Array.from({ length: 6 }, (_, i) => {
    const joined = b.or(b.shl(words[i]!, i64(32n)), words[i + 1]!)
    return b.and(b.shrUnsigned(b.shl(joined, shift), i64(32n)), i64(WORD))
  })
  // (M · aligned) mod 2^192 in words of 32 bits, least significant first.
  const low = b.and(significand, i64(WORD))
  const high = b.shrUnsigned(significand, i64(32n))
  const limbs: Value[] = []
  let carry = i64(0n)
  let previous: Value | undefined
  for (const word of aligned.toReversed()) {
    // low·word and high·(word before) meet in this place; each product is below 2^64, so their halves are added apart.
    const lower = b.mul(low, word)
    const upper = previous ? b.mul(high, previous) : i64(0n)
    const place = b.add(b.add(b.and(lower, i64(WORD)), b.and(upper, i64(WORD))), carry)
    limbs.push(b.and(place, i64(WORD)))
    carry = b.add(b.add(b.shrUnsigned(lower, i64(32n)), b.shrUnsigned(upper, i64(32n))), b.shrUnsigned(place, i64(32n)))
    previous = word
  }
  const join = (upper: Value, lower: Value) => b.or(b.shl(upper, i64(32n)), lower)
  const top = join(limbs[5]!, limbs[4]!)
  const next = join(limbs[3]!, limbs[2]!)
  return fromFraction(kit, x, top, next, k)
}

/** `count` words of 2/π from a word index on (two words of zeros stand before the first), chosen by the bits of the index. */
function selectWords(kit: Kit, index: Value, count: number): Value[] {
  const { b } = kit
  const i64 = (n: bigint) => b.const('i64', n)
  let row: Value[] = [0, 0, ...twoOverPiWords].map((word) => i64(BigInt(word)))
  const place = b.add(index, i64(2n))
  for (const step of [32, 16, 8, 4, 2, 1]) {
    const isSet = b.ne(b.and(place, i64(BigInt(step))), i64(0n))
    const needed = Math.min(row.length, step - 1 + count)
    row = Array.from({ length: needed }, (_, i) => {
      const kept = row[i]!
      const moved = row[i + step] ?? kept
      return b.select(isSet, moved, kept)
    })
  }
  return row
}

/** A 128-bit fixed-point number of quarter turns, two bits before the point, as quadrant and angle. */
function fromFraction(kit: Kit, x: Value, top: Value, next: Value, k: (x: number) => Value): Reduced {
  const { b } = kit
  const i64 = (n: bigint) => b.const('i64', n)
  // Nearest whole number: add a half, take the two bits on top.
  const quadrant = b.shrUnsigned(b.add(top, i64(2n ** 61n)), i64(62n))
  // The signed fraction in units of 2^-62, then 2^-126: cut so that each part is exact in a double.
  const fraction = b.sub(top, b.shl(quadrant, i64(62n)))
  const coarse = b.and(fraction, i64(~0x7ffn))
  const fine = b.and(fraction, i64(0x7ffn))
  const middle = b.shrUnsigned(next, i64(11n))
  const part = (value: Value, unit: number) => b.mul(b.convert(value, 'f64'), k(unit))
  const first = kit.quickSum(part(coarse, 2 ** -62), part(fine, 2 ** -62))
  const second = kit.quickSum(first.high, b.add(first.low, part(middle, 2 ** -115)))
  // Times π/2 as a pair.
  const product = kit.product(second.high, k(halfPi[0]))
  const low = b.add(product.low, kit.mad(second.high, k(halfPi[1]), b.mul(second.low, k(halfPi[0]))))
  const angle = kit.quickSum(product.high, low)
  const isNegative = b.lt(x, k(0))
  const signed = (value: Value) => b.select(isNegative, b.neg(value), value)
  const isFinite = b.lt(b.abs(x), k(Infinity))
  return {
    reduced: { high: b.select(isFinite, signed(angle.high), k(NaN)), low: signed(angle.low) },
    quadrant: b.select(isNegative, b.neg(quadrant), quadrant),
  }
}
