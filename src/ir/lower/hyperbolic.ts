// sinh, cosh: |x| = n·log 2 + r, 2 cosh x = 2ⁿ·((1 + t)·cosh r + (1 − t)·sinh r) with t = 4⁻ⁿ, and sinh with the signs of t exchanged;
// cosh r and sinh r by even and odd polynomials (4 and 5 terms in f64, 2 and 3 in f32): no quotient. Below 0.83 ULP (0.9 in f32).
// tanh: (e²ˣ − 1)/(e²ˣ + 1) from one reduced exponential as a quotient of pairs, in f64; in f32 a polynomial
// of 8 terms below 1 and 1 − 2/(e²ˣ + 1) above. Below 0.9 ULP (0.95 in f32).
// asinh, acosh, atanh: the logarithm of a pair that holds 1 + … to twice the precision. Below 0.88 ULP.
import { coshTailF32, coshTailF64, expTailF32, sinhTailF32, sinhTailF64, tanhTailF32 } from './coefficients.ts'
import type { Value } from '../graph.ts'
import { expm1Parts, reduceByLn2 } from './exponential.ts'
import { createKit, type Kit, type Lowering, type Pair } from './kit.ts'
import { logOfPair } from './logarithm.ts'
import { rootPair } from './roots.ts'

/** Above this sinh and cosh overflow. */
const OVERFLOW: Record<Kit['type'], number> = { f64: 710.4758600739439, f32: 89.41598629223294 }
/** Below this 4⁻ⁿ is a normal number. */
const NORMAL: Record<Kit['type'], number> = { f64: 350, f32: 42 }

/** a·cosh r + c·sinh r halved and scaled by 2ⁿ, for |x| = n·log 2 + r: a = 1 ∓ t, c = 1 ± t with t = 4⁻ⁿ. */
function combine(kit: Kit, x: Value, isOdd: boolean): Value {
  const { b, k, mad } = kit
  const wide = kit.type === 'f64'
  const magnitude = b.abs(x)
  const { bits, high, low } = reduceByLn2(kit, magnitude)
  const r = b.add(high, low)
  const z = b.mul(r, r)
  const even = mad(b.mul(z, z), kit.polynomial(wide ? coshTailF64 : coshTailF32, z), b.mul(z, k(0.5)))
  const odd = mad(b.mul(r, z), kit.polynomial(wide ? sinhTailF64 : sinhTailF32, z), low)
  const scaled = (scale: Kit['scale']) => {
    const t = scale(k(1), b.neg(b.add(bits, bits)))
    const one = k(1)
    const plus = b.add(one, t)
    const minus = b.sub(one, t)
    const [a, c] = isOdd ? [minus, plus] : [plus, minus]
    const aLow = isOdd ? b.sub(b.sub(one, a), t) : b.add(b.sub(one, a), t)
    // a + c·high exactly, but for the rest of c.
    const linear = kit.product(c, high)
    const top = kit.quickSum(a, linear.high)
    const rest = mad(a, even, mad(c, odd, b.add(b.add(top.low, aLow), linear.low)))
    // Halved before it is scaled: of a subnormal sum, whose scale is 1, that is exact.
    return scale(b.mul(b.add(top.high, rest), k(0.5)), bits)
  }
  return kit.ordinaryOr(
    b.lt(magnitude, k(NORMAL[kit.type])),
    () => scaled(kit.scaleNormal),
    () => b.select(b.gt(magnitude, k(OVERFLOW[kit.type])), k(Infinity), scaled(kit.scale)),
  )
}

export const cosh: Lowering = (b, [x], target) => combine(createKit(b, x!.type, target), x!, false)

export const sinh: Lowering = (b, [x], target) => {
  const kit = createKit(b, x!.type, target)
  return kit.withSign(combine(kit, x!, true), x!)
}

/** offset + offsetLow + (high + half + low) as a normalised pair. */
function addParts(kit: Kit, offset: Value, offsetLow: Value, parts: { high: Value; half: Value; low: Value }): Pair {
  const { b } = kit
  const linear = kit.quickSum(offset, parts.high)
  const top = kit.quickSum(linear.high, parts.half)
  return kit.quickSum(top.high, b.add(b.add(linear.low, top.low), b.add(offsetLow, parts.low)))
}

/** f32: below 1 x + x³·P(x²), from there on 1 − 2/(e²ˣ + 1), whose subtrahend is at most 0.24: no pairs. */
function narrowTanh(kit: Kit, x: Value): Value {
  const { b, k, mad } = kit
  const magnitude = b.abs(x)
  const z = b.mul(magnitude, magnitude)
  // The first term is added last, so that only one rounding is of its size.
  const [first, ...others] = tanhTailF32
  const slope = mad(z, kit.polynomial(others, z), k(first))
  const small = mad(magnitude, b.mul(z, slope), magnitude)
  const bounded = b.select(b.gt(magnitude, k(10)), k(10), magnitude)
  const { bits, high, low } = reduceByLn2(kit, b.add(bounded, bounded))
  const r = b.add(high, low)
  const e = b.add(k(1), b.add(high, mad(b.mul(r, r), kit.polynomial(expTailF32, r), low)))
  const large = b.sub(k(1), b.div(k(2), b.add(kit.scaleNormal(e, bits), k(1))))
  return kit.withSign(b.select(b.ge(magnitude, k(1)), large, small), x)
}

export const tanh: Lowering = (b, [x], target) => {
  const kit = createKit(b, x!.type, target)
  if (kit.type === 'f32') return narrowTanh(kit, x!)
  const { k } = kit
  const limit = k(22)
  const magnitude = b.abs(x!)
  const bounded = b.select(b.gt(magnitude, limit), limit, magnitude)
  // e^(2x) = 2ⁿ·(1 + E): tanh = ((1 − 2⁻ⁿ) + E)/((1 + 2⁻ⁿ) + E).
  const parts = expm1Parts(kit, b.add(bounded, bounded))
  const t = kit.scaleNormal(k(1), b.neg(parts.bits))
  const over = b.sub(k(1), t)
  const under = b.add(k(1), t)
  const n = addParts(kit, over, b.sub(b.sub(k(1), over), t), parts)
  const d = addParts(kit, under, b.add(b.sub(k(1), under), t), parts)
  const reciprocal = b.div(k(1), d.high)
  const quotient = b.mul(n.high, reciprocal)
  const correction = b.add(kit.residual(quotient, d.high, n.high), kit.nmad(quotient, d.low, n.low))
  return kit.withSign(kit.mad(correction, reciprocal, quotient), x!)
}

/** Beyond this the square under the root swallows the 1. */
const LARGE: Record<Kit['type'], number> = { f64: 2 ** 30, f32: 2 ** 14 }

export const asinh: Lowering = (b, [x], target) => {
  const kit = createKit(b, x!.type, target)
  const { k } = kit
  const magnitude = b.abs(x!)
  const isLarge = b.gt(magnitude, k(LARGE[kit.type]))
  const a = b.select(isLarge, k(1), magnitude)
  // asinh a = log(1 + a + w), w = √(1 + a²) − 1; for small a as a²/(1 + √(1 + a²)).
  const square = kit.product(a, a)
  const one = kit.sum(k(1), square.high)
  const root = rootPair(kit, one.high, b.add(one.low, square.low))
  const isSmall = b.lt(a, k(0.5))
  const d = kit.quickSum(root.high, k(1))
  const quotient = b.div(square.high, d.high)
  const missing = kit.nmad(
    quotient,
    b.add(d.low, root.low),
    b.add(kit.residual(quotient, d.high, square.high), square.low),
  )
  const w = b.select(isSmall, quotient, b.sub(root.high, k(1)))
  const wLow = b.select(isSmall, b.mul(missing, kit.reciprocalGuess(d.high)), root.low)
  const f = kit.quickSum(a, w)
  const total = kit.sum(k(1), f.high)
  const low = b.add(total.low, b.add(f.low, wLow))
  const value = logOfPair(
    kit,
    { high: b.select(isLarge, magnitude, total.high), low: b.select(isLarge, k(0), low) },
    b.select(isLarge, k(1), k(0)),
  )
  const isOrdinary = b.and(b.gt(magnitude, k(0)), b.lt(magnitude, k(Infinity)))
  return b.select(isOrdinary, kit.withSign(value, x!), x!)
}

export const acosh: Lowering = (b, [x], target) => {
  const kit = createKit(b, x!.type, target)
  const { k } = kit
  const isLarge = b.gt(x!, k(LARGE[kit.type]))
  const a = b.select(isLarge, k(2), x!)
  // acosh a = log(1 + t + √(t·(2 + t))), t = a − 1.
  const t = b.sub(a, k(1))
  const next = kit.sum(k(2), t)
  const square = kit.product(t, next.high)
  const root = rootPair(kit, square.high, kit.mad(t, next.low, square.low))
  const f = kit.sum(t, root.high)
  const total = kit.sum(k(1), f.high)
  const low = b.add(total.low, b.add(f.low, root.low))
  const value = logOfPair(
    kit,
    { high: b.select(isLarge, x!, total.high), low: b.select(isLarge, k(0), low) },
    b.select(isLarge, k(1), k(0)),
  )
  const inside = b.select(b.lt(x!, k(Infinity)), value, x!)
  return b.select(b.lt(x!, k(1)), k(NaN), inside)
}

export const atanh: Lowering = (b, [x], target) => {
  const kit = createKit(b, x!.type, target)
  const { k } = kit
  const a = b.abs(x!)
  // atanh a = ½ log(1 + 2a/(1 − a)).
  const d = kit.sum(k(1), b.neg(a))
  const reciprocal = b.div(k(1), d.high)
  const double = b.add(a, a)
  const quotient = b.mul(double, reciprocal)
  const rest = b.mul(kit.nmad(quotient, d.low, kit.residual(quotient, d.high, double)), reciprocal)
  const total = kit.sum(k(1), quotient)
  const value = b.mul(logOfPair(kit, { high: total.high, low: b.add(total.low, rest) }), k(0.5))
  const bounded = b.select(b.lt(a, k(1)), value, b.select(b.eq(a, k(1)), k(Infinity), k(NaN)))
  return b.select(b.gt(a, k(0)), kit.withSign(bounded, x!), x!)
}
