// asin, acos: for |x| ≤ ½ asin x = x + x³·R(x²), else through z = (1 − |x|)/2 and s = √z, acos |x| = 2·(s + s·z·R(z)); R has 13 terms in
// f64, 5 in f32. The root carries its rest, and constants are pairs added exactly: below 0.75 ULP.
// atan, atan2: the quotient t = n/d of the smaller by the larger magnitude, above ½ the quotient (n − d)/(n + d) and π/4; the angle is
// k·π/4 ± (t + t³·A(t²)), 12 terms in f64, 6 in f32, t as a pair: below 0.75 ULP (atan2 0.83). Coefficients: `asinTail…`, `atanTail…`.
import {
  asinTailF32,
  asinTailF64,
  atanTailF32,
  atanTailF64,
  halfPi,
  halfPiF32,
  quarterPi,
  quarterPiF32,
} from './coefficients.ts'
import type { Value } from '../graph.ts'
import { createKit, type Kit, type Lowering } from './kit.ts'
import { rootPair } from './roots.ts'

/** What asin and acos share: the root or the argument itself, and what the series adds to it. */
function arcCore(kit: Kit, x: Value) {
  const { b, k } = kit
  const magnitude = b.abs(x)
  const isSteep = b.gt(magnitude, k(0.5))
  const z = b.select(isSteep, kit.mad(magnitude, k(-0.5), k(0.5)), b.mul(x, x))
  const root = rootPair(kit, z)
  const base = b.select(isSteep, root.high, magnitude)
  const series = kit.polynomial(kit.type === 'f64' ? asinTailF64 : asinTailF32, z)
  const rest = kit.mad(b.mul(base, z), series, b.select(isSteep, root.low, k(0)))
  return { isSteep, base, rest }
}

const halfPiOf = (kit: Kit) => (kit.type === 'f64' ? halfPi : halfPiF32)

export const asin: Lowering = (b, [x], target) => {
  const kit = createKit(b, x!.type, target)
  const { k } = kit
  const { isSteep, base, rest } = arcCore(kit, x!)
  const [high, low] = halfPiOf(kit)
  // π/2 − 2·(base + rest), the first difference exactly.
  const steep = kit.quickSum(k(high), b.mul(base, k(-2)))
  const steepRest = b.add(steep.low, kit.mad(rest, k(-2), k(low)))
  const value = b.add(b.select(isSteep, steep.high, base), b.select(isSteep, steepRest, rest))
  return kit.withSign(value, x!)
}

export const acos: Lowering = (b, [x], target) => {
  const kit = createKit(b, x!.type, target)
  const { k } = kit
  const { isSteep, base, rest } = arcCore(kit, x!)
  const isNegative = b.lt(x!, k(0))
  const [high, low] = halfPiOf(kit)
  // Steep: 2·(base + rest), for negative x π minus it. Else π/2 ∓ (base + rest).
  const twice = b.mul(base, k(2))
  const offset = b.select(isSteep, b.select(isNegative, k(2 * high), k(0)), k(high))
  const offsetLow = b.select(isSteep, b.select(isNegative, k(2 * low), k(0)), k(low))
  const isSubtracted = b.ne(isSteep, b.not(isNegative))
  const signed = (value: Value) => b.select(isSubtracted, b.neg(value), value)
  const amount = b.select(isSteep, twice, base)
  const amountRest = b.select(isSteep, b.mul(rest, k(2)), rest)
  const top = kit.quickSum(offset, signed(amount))
  return b.add(top.high, b.add(top.low, b.add(offsetLow, signed(amountRest))))
}

/**
 * Angle in [0, π/2] of the quotient smaller/larger, mirrored at π/4 where `isSwapped`, and at π/2 where `isBackward`. Operands are not
 * negative; larger is not 0.
 */
function angle(kit: Kit, smaller: Value, larger: Value, isSwapped: Value, isBackward?: Value): Value {
  const { b, k } = kit
  // Above ½ the difference below is exact.
  const isNear = b.gt(smaller, b.mul(larger, k(0.5)))
  const total = kit.quickSum(larger, smaller)
  const n = b.select(isNear, b.sub(smaller, larger), smaller)
  const d = b.select(isNear, total.high, larger)
  const dLow = b.select(isNear, total.low, k(0))
  const t = b.div(n, d)
  const guess = kit.reciprocalGuess(d)
  const correction = b.mul(kit.nmad(t, dLow, kit.residual(t, d, n)), guess)
  // A quotient this small is its own angle, correctly rounded; its rest could underflow. (That of atan is exact there.)
  const isTiny = isBackward && b.and(b.lt(t, k(kit.type === 'f64' ? 2 ** -200 : 2 ** -20)), b.not(isNear))
  const tLow = isTiny ? b.select(isTiny, k(0), correction) : correction
  const z = b.mul(t, t)
  const series = kit.polynomial(kit.type === 'f64' ? atanTailF64 : atanTailF32, z)
  const rest = kit.mad(b.mul(t, z), series, tLow)
  // Number of quarter turns of π/4 and the sign of the series, after the mirrors.
  const near = b.select(isNear, k(1), k(0))
  const swapped = b.select(isSwapped, b.sub(k(2), near), near)
  const quarters = isBackward ? b.select(isBackward, b.sub(k(4), swapped), swapped) : swapped
  const isSubtracted = isBackward ? b.xor(isSwapped, isBackward) : isSwapped
  const signed = (value: Value) => b.select(isSubtracted, b.neg(value), value)
  const [high, low] = kit.type === 'f64' ? quarterPi : quarterPiF32
  const top = kit.quickSum(b.mul(quarters, k(high)), signed(t))
  return b.add(top.high, b.add(top.low, kit.mad(quarters, k(low), signed(rest))))
}

export const atan: Lowering = (b, [x], target) => {
  const kit = createKit(b, x!.type, target)
  const { k } = kit
  // Beyond the limit the angle is π/2 to the last place; it keeps the quotient's rest finite.
  const limit = k(kit.type === 'f64' ? 2 ** 60 : 2 ** 30)
  const magnitude = b.abs(x!)
  const bounded = b.select(b.gt(magnitude, limit), limit, magnitude)
  const isSwapped = b.gt(bounded, k(1))
  const value = angle(kit, b.select(isSwapped, k(1), bounded), b.select(isSwapped, bounded, k(1)), isSwapped)
  return kit.withSign(value, x!)
}

export const atan2: Lowering = (b, [y, x], target) => {
  const kit = createKit(b, y!.type, target)
  const { k } = kit
  const up = b.abs(y!)
  const across = b.abs(x!)
  const isSwapped = b.gt(up, across)
  const larger = b.select(isSwapped, up, across)
  const smaller = b.select(isSwapped, across, up)
  // Two infinities count as equal, one as the direction of its axis; 0/0 is the angle of (0, 1). NaN passes through the products.
  const isInfinite = b.eq(larger, k(Infinity))
  const bothInfinite = b.eq(smaller, k(Infinity))
  const isZero = b.eq(larger, k(0))
  const d = b.select(b.or(isInfinite, isZero), k(1), larger)
  const n = b.select(isInfinite, b.select(bothInfinite, k(1), b.mul(smaller, k(0))), smaller)
  // Small operands are lifted, so that the rest of the quotient does not underflow, and great ones lowered, so that 1/d does not.
  const [tiny, great, lift] = kit.type === 'f64' ? [2 ** -500, 2 ** 900, 2 ** 500] : [2 ** -40, 2 ** 100, 2 ** 80]
  const factor = b.select(b.lt(d, k(tiny)), k(lift), b.select(b.gt(d, k(great)), k(1 / lift), k(1)))
  // The sign bit tells −0 from 0.
  const isBackward = b.lt(kit.toBits(x!), kit.bitsConst(0n))
  return kit.withSign(angle(kit, b.mul(n, factor), b.mul(d, factor), isSwapped, isBackward), y!)
}
