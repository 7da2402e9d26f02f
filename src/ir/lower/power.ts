// pow: 2ᵉ·m with m in [√½, √2), log m = 2s + s·z·(2/3 + z·Q(z)), s = (m − 1)/(m + 1) and z = s² as pairs, Q with 7 terms, so that log x is
// known to 2^-65; y·log x as a pair, then the exponential of a pair. Below 0.75 ULP. f32 goes through f64, where the plain logarithm and
// a shorter exponential suffice: below 0.51 ULP. Special cases follow C99 Annex F.
import { expTailShort, ln2F64, logTailShort, powerLogTail, twoThirds } from './coefficients.ts'
import type { Builder } from '../build.ts'
import type { Value } from '../graph.ts'
import { clampRange, EXP_NORMAL, expOfPair, reduceByLn2, scaleWithin } from './exponential.ts'
import { createKit, type Kit, type Lowering, type Pair } from './kit.ts'
import { splitExponent } from './logarithm.ts'

/** log x to about 2^-65 for a positive finite x; + low/x for a rest `low` that is small against x. */
export function logToPair(kit: Kit, x: Value): Pair {
  const { b, k, mad } = kit
  const { exponent, fraction: f } = splitExponent(kit, x)
  // s = f/(2 + f) with its rest.
  const d = kit.quickSum(k(2), f)
  const reciprocal = b.div(k(1), d.high)
  const s = b.mul(f, reciprocal)
  const sLow = b.mul(kit.nmad(s, d.low, kit.residual(s, d.high, f)), reciprocal)
  const square = kit.product(s, s)
  const z = square.high
  const zLow = mad(b.add(s, s), sLow, square.low)
  // 2/3 + z·Q, times z, times s.
  const factor = kit.quickSum(k(twoThirds[0]), b.mul(z, kit.polynomial(powerLogTail, z)))
  const factorLow = b.add(factor.low, k(twoThirds[1]))
  const scaled = kit.product(z, factor.high)
  const scaledLow = mad(zLow, factor.high, mad(z, factorLow, scaled.low))
  const cubic = kit.product(s, scaled.high)
  const cubicLow = mad(sLow, scaled.high, mad(s, scaledLow, cubic.low))
  const double = b.add(s, s)
  const doubleLow = b.add(sLow, sLow)
  const mantissa = kit.quickSum(double, cubic.high)
  const top = kit.quickSum(b.mul(exponent, k(ln2F64[0])), mantissa.high)
  const rest = b.add(b.add(mantissa.low, top.low), b.add(cubicLow, mad(exponent, k(ln2F64[1]), doubleLow)))
  return kit.quickSum(top.high, rest)
}

/** Beyond these, e^t is infinite or 0; inside, scaling decides. */
const RANGE = { over: 710, under: -746 }

/** |x|^y for finite operands and x > 0; its logarithm for x = 0 and Infinity is infinite. */
function magnitude(kit: Kit, x: Value, y: Value): Value {
  const { b, k } = kit
  const log = logToPair(kit, x)
  const isOrdinary = b.and(b.gt(x, k(0)), b.lt(x, k(Infinity)))
  const logHigh = b.select(isOrdinary, log.high, b.select(b.gt(x, k(0)), x, b.select(b.eq(x, k(0)), k(-Infinity), x)))
  const t = kit.product(y, logHigh)
  const { mantissa, bits } = expOfPair(kit, t.high, kit.mad(y, log.low, t.low))
  return scaleWithin(kit, mantissa, bits, { argument: t.high, normal: EXP_NORMAL.f64, range: RANGE })
}

/** The same for f32 operands in f64: log x to 2^-44, e^t to 2^-38. */
function shortMagnitude(kit: Kit, x: Value, y: Value): Value {
  const { b, k, mad } = kit
  const { exponent, fraction: f } = splitExponent(kit, x)
  const s = b.div(f, b.add(f, k(2)))
  const z = b.mul(s, s)
  const log = mad(s, mad(z, kit.polynomial(logTailShort, z), k(2)), b.mul(exponent, k(Math.LN2)))
  const isOrdinary = b.and(b.gt(x, k(0)), b.lt(x, k(Infinity)))
  const t = b.mul(y, b.select(isOrdinary, log, b.select(b.gt(x, k(0)), x, b.select(b.eq(x, k(0)), k(-Infinity), x))))
  const reduced = reduceByLn2(kit, t)
  const r = b.add(reduced.high, reduced.low)
  const value = mad(b.mul(r, r), kit.polynomial(expTailShort, r), b.add(k(1), r))
  return kit.ordinaryOr(
    b.lt(b.abs(t), k(EXP_NORMAL.f64)),
    () => kit.scaleNormal(value, reduced.bits),
    () => clampRange(kit, t, kit.scale(value, reduced.bits), RANGE),
  )
}

/** Signs and the cases that no logarithm covers. */
function withSpecials(b: Builder, kit: Kit, x: Value, y: Value, value: Value): Value {
  const { k } = kit
  const half = b.mul(y, k(0.5))
  const isWhole = b.eq(b.trunc(y), y)
  const isOdd = b.and(isWhole, b.ne(b.trunc(half), half))
  const isNegative = b.lt(kit.toBits(x), kit.bitsConst(0n))
  const signed = b.select(b.and(isNegative, isOdd), b.neg(value), value)
  // A negative base other than −0 and −Infinity has a power for whole exponents only.
  const isUndefined = b.and(b.and(b.lt(x, k(0)), b.gt(x, k(-Infinity))), b.not(isWhole))
  // (±1)^±Infinity is 1; 1 to any power and any base to 0 are 1, NaN included.
  const isUnit = b.and(b.eq(b.abs(x), k(1)), b.eq(b.abs(y), k(Infinity)))
  const isOne = b.or(b.or(b.eq(x, k(1)), b.eq(y, k(0))), isUnit)
  return b.select(isOne, k(1), b.select(isUndefined, k(NaN), signed))
}

export const pow: Lowering = (b, [x, y], target) => {
  const kit = createKit(b, 'f64', target)
  const isNarrow = x!.type === 'f32'
  const base = b.convert(x!, 'f64')
  const exponent = b.convert(y!, 'f64')
  const size = b.abs(base)
  const value = isNarrow ? shortMagnitude(kit, size, exponent) : magnitude(kit, size, exponent)
  return b.convert(withSpecials(b, kit, base, exponent, value), x!.type)
}
