// log, log2, log10, log1p: x = 2ᵉ·m with m in [√½, √2), f = m − 1, s = f/(2 + f),
// log m = f − (f²/2 − s·(f²/2 + R(s²))) with R(z) = 2z/3 + 2z²/5 + … (the form of fdlibm): 7 terms of R in f64, 3 in f32.
// e·log 2 + f is added exactly, other bases multiply by a pair, so that one large rounding is left: below 0.8 ULP (0.87 in f32).
// log1p carries the rest of 1 + x. Coefficients: `logTail…` in coefficients.ts.
import {
  ln2F32,
  ln2F64,
  log10E,
  log10EF32,
  log10Of2F32,
  log10Of2F64,
  log2E,
  log2EF32,
  logTailF32,
  logTailF64,
} from './coefficients.ts'
import type { Value } from '../graph.ts'
import { createKit, type Kit, type Lowering, type Pair } from './kit.ts'
import type { FloatType } from '../types.ts'

/** Layout of a float: bits of √½, of the fraction and the exponent's bias; smallest normal number; power of two that lifts subnormals. */
export const LAYOUT: Record<
  FloatType,
  { fraction: number; bias: number; sqrtHalf: bigint; smallest: number; lift: number }
> = {
  f64: { fraction: 52, bias: 1023, sqrtHalf: 0x3fe6a09e667f3bcdn, smallest: 2 ** -1022, lift: 54 },
  f32: { fraction: 23, bias: 127, sqrtHalf: 0x3f3504f3n, smallest: 2 ** -126, lift: 25 },
}

/** Splits a positive finite x: x = 2^exponent·(1 + fraction), 1 + fraction in [√½, √2). `exponent` is a float. Exact. */
export function splitExponent(kit: Kit, x: Value) {
  const { b, k, bitsConst } = kit
  const { fraction, bias, sqrtHalf, smallest, lift } = LAYOUT[kit.type]
  const isSubnormal = b.lt(x, k(smallest))
  const normal = b.select(isSubnormal, b.mul(x, k(2 ** lift)), x)
  // Bits of x with the exponent counted from √½: the upper part is e + bias, the lower one tells m from √½.
  const one = BigInt(bias) << BigInt(fraction)
  const moved = b.add(kit.toBits(normal), bitsConst(one - sqrtHalf))
  const biased = b.shrUnsigned(moved, bitsConst(BigInt(fraction)))
  // A small whole number or-ed below 2^p is the float 2^p + number.
  const anchor = kit.type === 'f64' ? 2 ** 52 : 2 ** 23
  const anchorBits = kit.type === 'f64' ? 0x4330000000000000n : 0x4b000000n
  const offset = b.select(isSubnormal, k(anchor + bias + lift), k(anchor + bias))
  const exponent = b.sub(kit.fromBits(b.or(biased, bitsConst(anchorBits))), offset)
  const mantissa = b.add(b.and(moved, bitsConst((1n << BigInt(fraction)) - 1n)), bitsConst(sqrtHalf))
  return { exponent, fraction: b.sub(kit.fromBits(mantissa), k(1)), biased }
}

/** Infinity and NaN give themselves, ±0 gives −Infinity, negative numbers NaN. */
export function logarithmSpecials({ b, k }: Kit, x: Value, inside: Value): Value {
  const belowOrZero = b.select(b.eq(x, k(0)), k(-Infinity), k(NaN))
  return b.select(b.lt(x, k(Infinity)), b.select(b.gt(x, k(0)), inside, belowOrZero), x)
}

/** f²/2 and s·(f²/2 + R(s²)): log(1 + f) is f − the first + the second. */
function seriesOf(kit: Kit, f: Value) {
  const { b, k, mad } = kit
  const s = b.div(f, b.add(f, k(2)))
  const z = b.mul(s, s)
  const halfSquare = b.mul(b.mul(f, k(0.5)), f)
  const tail = kit.polynomial(kit.type === 'f64' ? logTailF64 : logTailF32, z)
  return { s, halfSquare, inner: mad(z, tail, halfSquare) }
}

/** exponent·log 2 + log(1 + f) + rest, for a rest that is small against f. */
function assemble(kit: Kit, exponent: Value, f: Value, rest: Value | undefined): Value {
  const { b, k, mad } = kit
  const { s, halfSquare, inner } = seriesOf(kit, f)
  const [first, second] = kit.type === 'f64' ? ln2F64 : ln2F32
  const { high, low } = kit.quickSum(b.mul(exponent, k(first)), f)
  const correction = mad(s, inner, mad(exponent, k(second), rest ? b.add(low, rest) : low))
  return b.add(high, b.sub(correction, halfSquare))
}

export const log: Lowering = (b, [x], target) => {
  const kit = createKit(b, x!.type, target)
  const { exponent, fraction } = splitExponent(kit, x!)
  return logarithmSpecials(kit, x!, assemble(kit, exponent, fraction, undefined))
}

/** log(high + low) + extra·log 2 of a positive pair; where the pair is close to 1, `low` must hold all that high − 1 lacks. */
export function logOfPair(kit: Kit, { high, low }: Pair, extra?: Value): Value {
  const { b, k } = kit
  const { bias, fraction: width } = LAYOUT[kit.type]
  const { exponent, fraction, biased } = splitExponent(kit, high)
  // 2^−e from the bits of the exponent; for e at the upper end, where `low` says nothing, it is 0.
  const top = kit.bitsConst(BigInt(2 * bias))
  const scale = kit.fromBits(b.shl(b.sub(top, b.min(biased, top)), kit.bitsConst(BigInt(width))))
  const f = kit.quickSum(fraction, b.mul(low, scale))
  // log(1 + f + g) = log(1 + f) + g/(1 + f), and 1 − f is near enough to the quotient.
  const rest = b.mul(f.low, b.sub(k(1), f.high))
  return assemble(kit, extra ? b.add(exponent, extra) : exponent, f.high, rest)
}

export const log1p: Lowering = (b, [x], target) => {
  const kit = createKit(b, x!.type, target)
  const total = kit.sum(kit.k(1), x!)
  const value = logarithmSpecials(kit, total.high, logOfPair(kit, total))
  return b.select(b.eq(x!, kit.k(0)), x!, value)
}

interface Base {
  /** 1/log(base) as a pair. */
  readonly reciprocal: readonly [number, number]
  /** log 2 to this base in two pieces, the first short. */
  readonly two: readonly [number, number]
}

const BASE_2: Record<FloatType, Base> = {
  f64: { reciprocal: log2E, two: [1, 0] },
  f32: { reciprocal: log2EF32, two: [1, 0] },
}
const BASE_10: Record<FloatType, Base> = {
  f64: { reciprocal: log10E, two: log10Of2F64 },
  f32: { reciprocal: log10EF32, two: log10Of2F32 },
}

const toBase =
  (bases: Record<FloatType, Base>): Lowering =>
  (b, [x], target) => {
    const kit = createKit(b, x!.type, target)
    const { k, mad } = kit
    const { reciprocal, two } = bases[kit.type]
    const { exponent, fraction: f } = splitExponent(kit, x!)
    const { s, halfSquare, inner } = seriesOf(kit, f)
    // log m = high + low, then times the pair, then added to the exponent's share.
    const high = b.sub(f, halfSquare)
    const low = mad(s, inner, b.sub(b.sub(f, high), halfSquare))
    const scaled = kit.product(high, k(reciprocal[0]))
    const scaledLow = mad(high, k(reciprocal[1]), mad(low, k(reciprocal[0]), scaled.low))
    const top = kit.quickSum(b.mul(exponent, k(two[0])), scaled.high)
    const rest = two[1] === 0 ? scaledLow : mad(exponent, k(two[1]), scaledLow)
    return logarithmSpecials(kit, x!, b.add(top.high, b.add(top.low, rest)))
  }

export const log2 = toBase(BASE_2)
export const log10 = toBase(BASE_10)
