// erf: below 15/16 x + x·Q(x²), 12 terms in f64, 7 in f32; above 1 − exp(g(x − 15/16) − x²) with g = log erfcx, 20 terms in f64, 8 in
// f32, whose error counts by erfc/erf < 0.23 only. Below 0.95 ULP.
// erfc: below ½ in magnitude 1 − erf; above exp(−x²)·p(q)/(2 + 3x) with q = (x − 3)/(x + 3) and p = (2 + 3x)·erfcx(x), 22 terms, every
// factor as a pair; for negative x 2 minus it. In f64, also for f32. Below 0.95 ULP. Coefficients: `erf…` in coefficients.ts.
import { erfcScaled, erfLogF32, erfLogF64, erfTailF32, erfTailF64, expTailF32, expTailF64 } from './coefficients.ts'
import type { Value } from '../graph.ts'
import { expOfPair, reduceByLn2 } from './exponential.ts'
import { createKit, type Kit, type Lowering } from './kit.ts'

/** Below this erf is a polynomial, from here on 1 minus an exponential. */
const SPLIT = 15 / 16

/** x + x·Q(x²) below the split: the second term of Q keeps its rest, as Q loses half of its first two terms to cancellation. */
function centralErf(kit: Kit, x: Value): Value {
  const { b, k } = kit
  const [[first, firstLow], second, ...others] = kit.type === 'f64' ? erfTailF64 : erfTailF32
  const z = b.mul(x, x)
  const slope = kit.quickSum(k(second), b.mul(z, kit.polynomial(others, z)))
  const tail = b.add(kit.mad(z, slope.high, k(first)), kit.mad(z, slope.low, k(firstLow)))
  if (kit.target.fma) return b.fma(x, tail, x)
  // Small arguments are lifted, so that the rest of the product does not underflow.
  const [tiny, lift] = [2 ** -900, 2 ** 200]
  const isTiny = b.lt(b.abs(x), k(tiny))
  const lifted = b.select(isTiny, b.mul(x, k(lift)), x)
  const product = kit.product(lifted, tail)
  const total = kit.quickSum(lifted, product.high)
  const value = b.add(total.high, b.add(total.low, product.low))
  return b.select(isTiny, b.mul(value, k(1 / lift)), value)
}

/** 1 − exp(g(x − split) − x²) for x from the split on. */
function outerErf(kit: Kit, x: Value): Value {
  const { b, k } = kit
  // From here on erf rounds to 1.
  const limit = k(kit.type === 'f64' ? 6 : 4)
  const bounded = b.select(b.gt(x, limit), limit, x)
  const log = kit.polynomial(kit.type === 'f64' ? erfLogF64 : erfLogF32, b.sub(bounded, k(SPLIT)))
  const square = kit.product(bounded, bounded)
  const power = kit.quickSum(b.neg(square.high), log)
  const { high, low, bits } = reduceByLn2(kit, power.high)
  const rest = b.add(low, b.sub(power.low, square.low))
  const r = b.add(high, rest)
  const tail = kit.polynomial(kit.type === 'f64' ? expTailF64 : expTailF32, r)
  const top = kit.quickSum(k(1), high)
  const complement = kit.quickSum(k(1), b.neg(kit.scaleNormal(top.high, bits)))
  const unit = kit.scaleNormal(k(1), bits)
  const small = b.add(top.low, kit.mad(b.mul(r, r), tail, rest))
  return b.add(complement.high, kit.nmad(small, unit, complement.low))
}

export const erf: Lowering = (b, [x], target) => {
  const kit = createKit(b, x!.type, target)
  const magnitude = b.abs(x!)
  const isOuter = b.ge(magnitude, kit.k(SPLIT))
  return kit.withSign(b.select(isOuter, outerErf(kit, magnitude), centralErf(kit, magnitude)), x!)
}

export const erfc: Lowering = (b, [narrow], target) => {
  const kit = createKit(b, 'f64', target)
  const { k, mad } = kit
  const x = b.convert(narrow!, 'f64')
  const magnitude = b.abs(x)
  // 1 − x − x·Q(x²).
  const centre = kit.quickSum(k(1), b.neg(x))
  const z = b.mul(x, x)
  const [[centreFirst], ...centreOthers] = erfTailF64
  const central = b.add(centre.high, kit.nmad(x, kit.polynomial([centreFirst, ...centreOthers], z), centre.low))
  // Beyond 28 the result is 0 whatever else.
  const a = b.select(b.gt(magnitude, k(28)), k(28), magnitude)
  const q = b.div(b.sub(a, k(3)), b.add(a, k(3)))
  const [[first, firstLow], ...others] = erfcScaled
  const p = kit.quickSum(k(first), b.mul(q, kit.polynomial(others, q)))
  const pLow = b.add(p.low, k(firstLow))
  const square = kit.product(a, a)
  const { mantissa, bits } = expOfPair(kit, b.neg(square.high), b.neg(square.low))
  const top = kit.product(mantissa.high, p.high)
  const topLow = mad(mantissa.high, pLow, mad(mantissa.low, p.high, top.low))
  const triple = kit.quickSum(b.add(a, a), a)
  const whole = kit.sum(triple.high, k(2))
  const bottom = { high: whole.high, low: b.add(whole.low, triple.low) }
  const reciprocal = b.div(k(1), bottom.high)
  const quotient = b.mul(top.high, reciprocal)
  const rest = b.add(kit.residual(quotient, bottom.high, top.high), kit.nmad(quotient, bottom.low, topLow))
  const outer = kit.scale(mad(rest, reciprocal, quotient), bits)
  const tail = b.select(b.lt(x, k(0)), b.sub(k(2), outer), outer)
  return b.convert(b.select(b.lt(magnitude, k(0.5)), central, tail), narrow!.type)
}
