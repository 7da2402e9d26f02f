// gamma, lgamma: for y = |x|, raised by recurrence to Y ≥ 10 (P = y·(y + 1)·…, a pair), Stirling's series
// T = (Y − ½)·log Y − Y + ½·log 2π + S(1/Y²)/Y as a pair, S with 8 terms; Γ(y) = eᵀ/P and log Γ(y) = T − log P; negative x by reflection,
// Γ(−y) = −π/(y·sin πy·Γ(y)). gamma: below 0.9 ULP. lgamma: between 0.7 and 2.6, around its zeros 1 and 2, (x − zero) times a
// polynomial (23 and 20 terms); below 0.8 ULP for x > 0. For x < 0 the error is below 0.8 ULP where |lgamma| > 2^-5, and below 2^-58
// absolutely around the zeros between the negative whole numbers. All in f64, also for f32.
import { halfLog2Pi, logGammaAtOne, logGammaAtTwo, logPi, piPair, stirlingTail } from './coefficients.ts'
import type { Value } from '../graph.ts'
import { expOfPair } from './exponential.ts'
import { createKit, type Kit, type Lowering, type Pair } from './kit.ts'
import { logToPair } from './power.ts'
import { sineAndCosine } from './trigonometric.ts'

const STIRLING_FROM = 10

/** Products and quotients of pairs, to about twice the precision. */
function multiply(kit: Kit, p: Pair, q: Pair): Pair {
  const product = kit.product(p.high, q.high)
  return kit.quickSum(product.high, kit.mad(p.high, q.low, kit.mad(p.low, q.high, product.low)))
}

function add(kit: Kit, p: Pair, q: Pair): Pair {
  const { b } = kit
  const total = kit.sum(p.high, q.high)
  return kit.quickSum(total.high, b.add(total.low, b.add(p.low, q.low)))
}

const negate = ({ b }: Kit, { high, low }: Pair): Pair => ({ high: b.neg(high), low: b.neg(low) })
const literal = ({ k }: Kit, [high, low]: readonly [number, number]): Pair => ({ high: k(high), low: k(low) })
const choose = ({ b }: Kit, condition: Value, p: Pair, q: Pair): Pair => ({
  high: b.select(condition, p.high, q.high),
  low: b.select(condition, p.low, q.low),
})

function logarithm(kit: Kit, { high, low }: Pair): Pair {
  const log = logToPair(kit, high)
  return { high: log.high, low: kit.b.add(log.low, kit.b.div(low, high)) }
}

/** y raised to at least 10 and the product of the steps; y is positive. */
function raise(kit: Kit, y: Value): { raised: Pair; product: Pair } {
  const { b, k } = kit
  const [high, low, productHigh, productLow] = b.loop({
    count: b.const('i32', STIRLING_FROM),
    initial: [y, k(0), k(1), k(0)],
    condition: (_, [current]) => b.lt(current!, k(STIRLING_FROM)),
    body: (_, [current, currentLow, p, pLow]) => {
      const product = multiply(kit, { high: p!, low: pLow! }, { high: current!, low: currentLow! })
      const next = kit.sum(current!, k(1))
      const raised = kit.quickSum(next.high, b.add(next.low, currentLow!))
      return [raised.high, raised.low, product.high, product.low]
    },
  })
  return { raised: { high: high!, low: low! }, product: { high: productHigh!, low: productLow! } }
}

/** log Γ(Y) for Y ≥ 10 by Stirling's series. */
function stirling(kit: Kit, y: Pair): Pair {
  const { b, k } = kit
  const inverse = b.div(k(1), y.high)
  const log = logToPair(kit, y.high)
  const logLow = kit.mad(y.low, inverse, log.low)
  const half = kit.quickSum(y.high, k(-0.5))
  const product = multiply(kit, { high: half.high, low: b.add(half.low, y.low) }, { high: log.high, low: logLow })
  const base = add(kit, product, negate(kit, y))
  const tail = b.mul(kit.polynomial(stirlingTail, b.mul(inverse, inverse)), inverse)
  const [constant, constantLow] = halfLog2Pi
  return add(kit, base, { high: k(constant), low: b.add(tail, k(constantLow)) })
}

/** |sin πy| of y ≥ 0 as a pair. */
function sineOfTurns(kit: Kit, y: Value): Pair {
  const { b, k } = kit
  const rest = b.abs(b.sub(y, b.rint(y)))
  // sin πr = cos π(½ − r), both differences exact.
  const isUpper = b.gt(rest, k(0.25))
  const turn = b.select(isUpper, b.sub(k(0.5), rest), rest)
  const angle = multiply(kit, { high: turn, low: k(0) }, literal(kit, piPair))
  const { sine, cosine } = sineAndCosine(kit, angle.high, angle.low)
  const chosen = choose(kit, isUpper, cosine, sine)
  return kit.quickSum(chosen.high, chosen.low)
}

const isNegativeWhole = ({ b, k }: Kit, x: Value): Value => b.and(b.lt(x, k(0)), b.eq(b.floor(x), x))

export const gamma: Lowering = (b, [narrow], target) => {
  const kit = createKit(b, 'f64', target)
  const { k } = kit
  const x = b.convert(narrow!, 'f64')
  const size = b.abs(x)
  // Γ overflows above 171.7 and is 0 below −184; near 0 it is 1/x.
  const isTiny = b.lt(size, k(2 ** -60))
  const y = b.select(isTiny, k(1), b.select(b.gt(size, k(200)), k(200), size))
  const { raised, product } = raise(kit, y)
  const log = stirling(kit, raised)
  const { mantissa, bits } = expOfPair(kit, log.high, log.low)
  const isNegative = b.lt(x, k(0))
  const reflected = multiply(kit, multiply(kit, { high: y, low: k(0) }, sineOfTurns(kit, size)), mantissa)
  const top = choose(kit, isNegative, multiply(kit, literal(kit, piPair), product), mantissa)
  const bottom = choose(kit, isNegative, reflected, product)
  const quotient = b.div(top.high, bottom.high)
  const rest = b.add(kit.residual(quotient, bottom.high, top.high), kit.nmad(quotient, bottom.low, top.low))
  const value = kit.scale(b.add(quotient, b.div(rest, bottom.high)), b.select(isNegative, b.neg(bits), bits))
  // Γ is negative between −1 and 0, −3 and −2, …
  const half = b.mul(b.floor(size), k(0.5))
  const isBelow = b.and(isNegative, b.eq(b.floor(half), half))
  const signed = b.select(isBelow, b.neg(value), value)
  const defined = b.select(isNegativeWhole(kit, x), k(NaN), signed)
  return b.convert(b.select(isTiny, b.div(k(1), x), defined), narrow!.type)
}

/** t·(c₀ + t·(c₁ + t·(c₂ + t·R(t)))), all but R as pairs: the terms cancel down to a third on the way to the minimum of log Γ. */
function aroundZero(kit: Kit, t: Value, coefficients: typeof logGammaAtOne | typeof logGammaAtTwo): Value {
  const { b } = kit
  const [first, second, third, ...others] = coefficients
  let sum: Pair = { high: kit.polynomial(others, t), low: kit.k(0) }
  for (const coefficient of [third, second, first]) {
    const product = kit.product(t, sum.high)
    sum = add(kit, literal(kit, coefficient), { high: product.high, low: kit.mad(t, sum.low, product.low) })
  }
  const product = kit.product(t, sum.high)
  return b.add(product.high, kit.mad(t, sum.low, product.low))
}

export const lgamma: Lowering = (b, [narrow], target) => {
  const kit = createKit(b, 'f64', target)
  const { k } = kit
  const x = b.convert(narrow!, 'f64')
  const size = b.abs(x)
  const nearOne = aroundZero(kit, b.sub(x, k(1)), logGammaAtOne)
  const nearTwo = aroundZero(kit, b.sub(x, k(2)), logGammaAtTwo)
  const isNear = b.and(b.gt(x, k(0.7)), b.lt(x, k(2.6)))
  // Above 2^70 log Γ(y) is y·(log y − 1).
  const isHuge = b.gt(size, k(2 ** 70))
  // Near 0 it is −log |x|.
  const isTiny = b.lt(size, k(2 ** -60))
  const y = b.select(b.or(isNear, b.or(isHuge, isTiny)), k(20), size)
  const { raised, product } = raise(kit, y)
  const positive = add(kit, stirling(kit, raised), negate(kit, logarithm(kit, product)))
  const sine = multiply(kit, { high: y, low: k(0) }, sineOfTurns(kit, size))
  const reflected = add(kit, add(kit, literal(kit, logPi), negate(kit, logarithm(kit, sine))), negate(kit, positive))
  const isNegative = b.lt(x, k(0))
  const pair = choose(kit, isNegative, reflected, positive)
  const sizeLog = logToPair(kit, size)
  // Scaled, so that the product's rest stays finite up to where the result overflows.
  const less = kit.quickSum(sizeLog.high, k(-1))
  const scaled = b.mul(size, k(2 ** -100))
  const hugeTop = kit.product(scaled, less.high)
  const hugeLow = kit.mad(scaled, b.add(less.low, sizeLog.low), hugeTop.low)
  const huge = b.mul(b.add(hugeTop.high, hugeLow), k(2 ** 100))
  const extreme = b.select(isHuge, huge, b.neg(sizeLog.high))
  const common = b.select(b.or(isHuge, isTiny), extreme, b.add(pair.high, pair.low))
  const value = b.select(isNear, b.select(b.lt(x, k(1.5)), nearOne, nearTwo), common)
  const isPole = b.or(b.eq(x, k(0)), isNegativeWhole(kit, x))
  const isInfinite = b.or(isPole, b.eq(size, k(Infinity)))
  return b.convert(b.select(isInfinite, k(Infinity), value), narrow!.type)
}
