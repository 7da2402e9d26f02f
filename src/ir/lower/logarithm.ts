// log, log2, log10, log1p: x = 2ᵉ·m with m in [√½, √2), f = m − 1, s = f/(2 + f),
// log m = f − (f²/2 − s·(f²/2 + R(s²))) with R(z) = 2z/3 + 2z²/5 + … (the form of fdlibm, W. Kahan's idea): degree 7 in s², 3 in f32.
// e·log 2 + f is added exactly, so that one large rounding is left: below 0.7 ULP. Coefficients: `logTail…` in coefficients.ts.
import { ln2F32, ln2F64, logTailF32, logTailF64 } from './coefficients.ts'
import type { Value } from '../graph.ts'
import { createKit, type Kit, type Lowering } from './kit.ts'
import type { FloatType } from '../types.ts'

/** Layout of a float: bits of √½ (rounded down to the upper word), of the smallest normal number, of the fraction. */
const LAYOUT: Record<FloatType, { fraction: number; bias: number; sqrtHalf: bigint; smallest: number; lift: number }> =
  {
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
  return { exponent, fraction: b.sub(kit.fromBits(mantissa), k(1)) }
}

/** Infinity and NaN give themselves, ±0 gives −Infinity, negative numbers NaN. */
export function logarithmSpecials({ b, k }: Kit, x: Value, inside: Value): Value {
  const belowOrZero = b.select(b.eq(x, k(0)), k(-Infinity), k(NaN))
  return b.select(b.lt(x, k(Infinity)), b.select(b.gt(x, k(0)), inside, belowOrZero), x)
}

export const log: Lowering = (b, [x], target) => {
  const kit = createKit(b, x!.type, target)
  const { k, mad } = kit
  const { exponent, fraction: f } = splitExponent(kit, x!)
  const s = b.div(f, b.add(f, k(2)))
  const z = b.mul(s, s)
  const halfSquare = b.mul(b.mul(f, k(0.5)), f)
  const tail = kit.polynomial(kit.type === 'f64' ? logTailF64 : logTailF32, z)
  const [first, second] = kit.type === 'f64' ? ln2F64 : ln2F32
  const { high, low } = kit.quickSum(b.mul(exponent, k(first)), f)
  // s·(f²/2 + z·T) + e·(rest of log 2) − f²/2 is small against e·log 2 + f.
  const correction = mad(s, mad(z, tail, halfSquare), mad(exponent, k(second), low))
  const inside = b.add(high, b.sub(correction, halfSquare))
  return logarithmSpecials(kit, x!, inside)
}
