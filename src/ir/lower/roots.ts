// rsqrt: 1/√x by root and quotient, then one Newton step on the exact residual 1 − x·y². Below 0.6 ULP.
// cbrt: a guess r of |x|^(−1/3) from the bits of x divided by −3 (good to 4 %), one step by a polynomial in e = 1 − x·r³ (degree 4 in f64,
// 3 in f32, to 2^-22 or 2^-18), then y = x·r² with one step on the exact residual x − y³, of third order in f64. Below 0.6 ULP.
// hypot: √(x² + y²) with the squares as pairs and the root's rest, after scaling by a power of two. Below 0.6 ULP (0.8 where it is subnormal).
import { cubeRootFactorF32, cubeRootFactorF64 } from './coefficients.ts'
import type { Value } from '../graph.ts'
import { createKit, type Kit, type Lowering, type Pair } from './kit.ts'

/** 1/√z to 4 % by halving and negating the exponent: enough for the rest of a rounded root. */
const ROOT_GUESS: Record<Kit['type'], bigint> = { f64: 0x5fe6eb50c7b537a9n, f32: 0x5f3759dfn }

/** √(z + zLow) as the rounded root and its rest. */
export function rootPair(kit: Kit, z: Value, zLow?: Value): Pair {
  const { b, k } = kit
  const high = b.sqrt(z)
  const guess = kit.fromBits(
    b.sub(kit.bitsConst(ROOT_GUESS[kit.type]), b.shrUnsigned(kit.toBits(z), kit.bitsConst(1n))),
  )
  const residual = kit.residual(high, high, z)
  return { high, low: b.mul(zLow ? b.add(residual, zLow) : residual, b.mul(guess, k(0.5))) }
}

export const rsqrt: Lowering = (b, [x], target) => {
  const kit = createKit(b, x!.type, target)
  const { k } = kit
  const y = b.div(k(1), b.sqrt(x!))
  const product = kit.product(x!, y)
  const error = kit.nmad(product.low, y, kit.residual(product.high, y, k(1)))
  const mended = kit.mad(b.mul(y, k(0.5)), error, y)
  // At 0 and Infinity the step is NaN and the quotient right; for NaN both are.
  return b.select(b.eq(mended, mended), mended, y)
}

export const cbrt: Lowering = (b, [x], target) => {
  const kit = createKit(b, x!.type, target)
  const { k, mad, nmad } = kit
  const wide = kit.type === 'f64'
  const magnitude = b.abs(x!)
  const { a, lower } = moderate(kit, magnitude)
  const guess = cubeRootGuess(kit, a)
  const error = nmad(b.mul(a, b.mul(guess, guess)), guess, k(1))
  const r = b.mul(guess, kit.polynomial(wide ? cubeRootFactorF64 : cubeRootFactorF32, error))
  const square = b.mul(r, r)
  const y = b.mul(a, square)
  const ySquare = kit.product(y, y)
  const residual = nmad(ySquare.low, y, kit.residual(ySquare.high, y, a))
  // With r = a^(−1/3)·(1 + ρ), y = a^(1/3)·(1 + 2ρ) and the step is w = y·(−2ρ − 8ρ²…): 2·w²/y = 2·w²·r takes the second term away.
  const factor = b.mul(square, k(1 / 3))
  const step = b.mul(residual, factor)
  const root = wide ? b.add(y, mad(b.add(step, step), b.mul(step, r), step)) : mad(residual, factor, y)
  const isOrdinary = b.and(b.gt(magnitude, k(0)), b.lt(magnitude, k(Infinity)))
  return b.select(isOrdinary, kit.withSign(lower(root), x!), x!)
}

/**
 * Small magnitudes times a power of 8, so that the residual x − y³ does not underflow, and without FMA, where y³ is made as a pair,
 * great ones by its inverse, so that it does not overflow; and what takes the factor from the root again.
 */
function moderate(kit: Kit, magnitude: Value): { readonly a: Value; readonly lower: (root: Value) => Value } {
  const { b, k } = kit
  const [tiny, lift, rootOfLift] = kit.type === 'f64' ? [2 ** -700, 2 ** 300, 2 ** 100] : [2 ** -60, 2 ** 90, 2 ** 30]
  const isTiny = b.lt(magnitude, k(tiny))
  const isGreat = kit.target.fma ? undefined : b.gt(magnitude, k(1 / tiny))
  const scaled = (value: Value, up: number): Value => {
    const others = isGreat ? b.select(isGreat, b.mul(value, k(1 / up)), value) : value
    return b.select(isTiny, b.mul(value, k(up)), others)
  }
  return { a: scaled(magnitude, lift), lower: (root) => scaled(root, 1 / rootOfLift) }
}

/** a^(−1/3) to 4 %: the bits of a float are nearly its logarithm, so they are divided by −3. */
function cubeRootGuess(kit: Kit, a: Value): Value {
  const { b } = kit
  const bits = kit.toBits(a)
  if (kit.type === 'f32') {
    // Without its 10 low bits it is exact as a float, and a third of it fits the low bits of a shifted sum.
    const upper = b.convert(b.shrUnsigned(bits, kit.bitsConst(10n)), 'f32')
    const shifted = kit.mad(upper, kit.k(-1 / 3), kit.k(1.5 * 2 ** 23 + (0x54a20000 >> 10)))
    return kit.fromBits(b.shl(kit.toBits(shifted), kit.bitsConst(10n)))
  }
  // The upper word as a double below 2^52, its third subtracted from the constant in the low bits of a shifted sum.
  const upper = b.sub(
    kit.fromBits(b.or(b.shrUnsigned(bits, kit.bitsConst(32n)), kit.bitsConst(0x4330000000000000n))),
    kit.k(2 ** 52),
  )
  const shifted = kit.mad(upper, kit.k(-1 / 3), kit.k(1.5 * 2 ** 52 + 0x553ee880))
  return kit.fromBits(b.shl(kit.toBits(shifted), kit.bitsConst(32n)))
}

export const hypot: Lowering = (b, [x, y], target) => {
  const kit = createKit(b, x!.type, target)
  const { k } = kit
  const p = b.abs(x!)
  const q = b.abs(y!)
  const isSwapped = b.gt(q, p)
  const larger = b.select(isSwapped, q, p)
  const smaller = b.select(isSwapped, p, q)
  // Squares overflow above `great`, and their rests underflow below `tiny`.
  const [great, tiny, shift] = kit.type === 'f64' ? [2 ** 500, 2 ** -400, 2 ** 600] : [2 ** 60, 2 ** -40, 2 ** 90]
  const isGreat = b.gt(larger, k(great))
  const isTiny = b.lt(larger, k(tiny))
  const scale = b.select(isGreat, k(1 / shift), b.select(isTiny, k(shift), k(1)))
  const back = b.select(isGreat, k(shift), b.select(isTiny, k(1 / shift), k(1)))
  const u = b.mul(larger, scale)
  const v = b.mul(smaller, scale)
  const uSquare = kit.product(u, u)
  const vSquare = kit.product(v, v)
  const total = kit.quickSum(uSquare.high, vSquare.high)
  const root = rootPair(kit, total.high, b.add(total.low, b.add(uSquare.low, vSquare.low)))
  const value = b.mul(b.add(root.high, root.low), back)
  const isInfinite = b.or(b.eq(p, k(Infinity)), b.eq(q, k(Infinity)))
  return b.select(isInfinite, k(Infinity), value)
}
