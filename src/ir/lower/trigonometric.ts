// sin, cos, tan: x = n·π/2 + r, |r| ≤ π/4, kept as a pair (angleReduction.ts); sin r = r + r³·S(r²) and cos r = 1 − r²/2 + r⁴·C(r²),
// 6 terms each in f64, 3 in f32; the low bits of n choose the function and the sign. sin and cos of one x share all but the last choice.
// tan comes from t = tan(r/2), 9 terms in f64, 4 in f32, as a quotient of pairs with one correction step. Below 0.9 ULP (0.91 for tan in f32).
import { cosTailF32, cosTailF64, sinTailF32, sinTailF64, tanTailF32, tanTailF64 } from './coefficients.ts'
import type { Value } from '../graph.ts'
import { createKit, type Kit, type Lowering, type Pair } from './kit.ts'
import { withReduced, type Reduced } from './angleReduction.ts'

/** Sine and cosine of a reduced argument, whose rest may be absent: the high parts plus small rests. */
export function sineAndCosine(kit: Kit, r: Value, low?: Value): { readonly sine: Pair; readonly cosine: Pair } {
  const { b, mad } = kit
  const wide = kit.type === 'f64'
  const z = b.mul(r, r)
  const sineTail = kit.polynomial(wide ? sinTailF64 : sinTailF32, z)
  const cosineTail = kit.polynomial(wide ? cosTailF64 : cosTailF32, z)
  const { top, error } = oneLessHalfSquare(kit, r, z)
  const cube = b.mul(r, z)
  return {
    sine: { high: r, low: low ? mad(cube, sineTail, low) : b.mul(cube, sineTail) },
    cosine: { high: top, low: mad(b.mul(z, z), cosineTail, low ? kit.nmad(r, low, error) : error) },
  }
}

/** 1 − r²/2 as the rounded difference and its error: all of it with FMA, without all but that of z = r², at most a quarter of an ULP. */
function oneLessHalfSquare(kit: Kit, r: Value, z: Value): { readonly top: Value; readonly error: Value } {
  const { b, k } = kit
  if (kit.target.fma) {
    const half = b.mul(r, k(0.5))
    const top = kit.nmad(half, r, k(1))
    return { top, error: kit.residual(half, r, b.sub(k(1), top)) }
  }
  const half = b.mul(z, k(0.5))
  const top = b.sub(k(1), half)
  return { top, error: b.sub(b.sub(k(1), top), half) }
}

const collapse = ({ b }: Kit, { high, low }: Pair): Value => b.add(high, low)

/** Bit 0 of the quadrant chooses between sine and cosine, bit 1 the sign. */
function inQuadrant(kit: Kit, quadrant: Value, even: Value, odd: Value): Value {
  const { b, bitsConst } = kit
  const isOdd = b.ne(b.and(quadrant, bitsConst(1n)), bitsConst(0n))
  const signShift = kit.type === 'f64' ? 62n : 30n
  const sign = b.shl(b.and(quadrant, bitsConst(2n)), bitsConst(signShift))
  return kit.fromBits(b.xor(kit.toBits(b.select(isOdd, odd, even)), sign))
}

/** Below this magnitude, a little under π/4, the argument is its own reduction. */
const REDUCED = 0.785

/**
 * Sine and cosine of any argument, but for the sign of zero. Vectors of small arguments skip the reduction and the choice between the
 * two, which take more time than the polynomial. Both are results of one construct, which a kernel that uses both shares.
 */
function sineAndCosineOf(kit: Kit, x: Value): readonly Value[] {
  const { b, k, bitsConst } = kit
  return b.shortcut(
    b.lt(b.abs(x), k(REDUCED)),
    () => {
      const { sine, cosine } = sineAndCosine(kit, x)
      return [collapse(kit, sine), collapse(kit, cosine)]
    },
    () =>
      withReduced(kit, x, 1, ({ reduced, quadrant }) => {
        const parts = sineAndCosine(kit, reduced.high, reduced.low)
        const [sine, cosine] = [collapse(kit, parts.sine), collapse(kit, parts.cosine)]
        const next = b.add(quadrant, bitsConst(1n))
        return [inQuadrant(kit, quadrant, sine, cosine), inQuadrant(kit, next, sine, cosine)]
      }),
  )
}

export const sin: Lowering = (b, [x], target) => {
  const kit = createKit(b, x!.type, target)
  const [sine] = sineAndCosineOf(kit, x!)
  return b.select(b.eq(x!, kit.k(0)), x!, sine!)
}

export const cos: Lowering = (b, [x], target) => {
  const [, cosine] = sineAndCosineOf(createKit(b, x!.type, target), x!)
  return cosine!
}

/** tan r from t = tan(r/2): 2t/(1 − t²), or for an odd quadrant −(1 − t²)/2t. */
export const tan: Lowering = (b, [x], target) => {
  const kit = createKit(b, x!.type, target)
  const { k } = kit
  const [value] = withReduced(kit, x!, 0.5, (angle) => [tangentOf(kit, angle)])
  // Below this the tangent is x to half a unit in the last place, and halving a subnormal number would lose its last bit.
  const isTiny = b.lt(b.abs(x!), k(kit.type === 'f64' ? 2 ** -27 : 2 ** -13))
  return b.select(isTiny, x!, value!)
}

/** From half the reduced angle. */
function tangentOf(kit: Kit, { reduced, quadrant }: Reduced): Value {
  const { b, k } = kit
  const h = reduced.high
  const z = b.mul(h, h)
  const tail = kit.polynomial(kit.type === 'f64' ? tanTailF64 : tanTailF32, z)
  const t = kit.quickSum(h, kit.mad(b.mul(h, z), tail, reduced.low))
  // 1 − t² as the rounded difference and its rest.
  const flat = kit.nmad(t.high, t.high, k(1))
  const flatLow = kit.residual(t.high, t.high, b.sub(k(1), flat))
  const double = b.add(t.high, t.high)
  const doubleLow = b.add(t.low, t.low)
  const flatRest = kit.nmad(double, t.low, flatLow)
  const isOdd = b.ne(b.and(quadrant, kit.bitsConst(1n)), kit.bitsConst(0n))
  const top = b.select(isOdd, flat, double)
  const topLow = b.select(isOdd, flatRest, doubleLow)
  const bottom = b.select(isOdd, b.neg(double), flat)
  const bottomLow = b.select(isOdd, b.neg(doubleLow), flatRest)
  const quotient = b.div(top, bottom)
  const rest = b.add(kit.residual(quotient, bottom, top), kit.nmad(quotient, bottomLow, topLow))
  return kit.mad(rest, kit.reciprocalGuess(bottom), quotient)
}
