// What each polynomial of the elementary functions approximates: target, interval, weight and number of terms.
// Every target is the tail that is left after the leading terms, which the lowering adds in exact or paired arithmetic.
import {
  asin,
  atan,
  cos,
  div,
  erf,
  erfcx,
  exp,
  LN2,
  log,
  logGamma,
  mul,
  ONE,
  PI,
  sin,
  sqrt,
  whole,
  type Fixed,
} from './fixed.ts'
import type { Problem } from './remez.ts'

export interface Table {
  readonly meaning: string
  readonly problem: Problem
}

const upTo = (count: number, first = 0): number[] => Array.from({ length: count }, (_, i) => i + first)
const square = (x: Fixed): Fixed => mul(x, x)
const F64 = [53]
const F32 = [24]

/** A tail T(x) of a function g(x) = … + s(x)·T(x), weighted so that the error is relative to g. */
const tail = (
  meaning: string,
  from: number,
  to: number,
  count: number,
  bits: readonly number[],
  target: (x: Fixed) => Fixed,
  weight: (x: Fixed) => Fixed,
  fixed: Readonly<Record<number, Fixed>> = {},
): Table => ({ meaning, problem: { target, weight, from, to, powers: upTo(count), bits, fixed } })

const expTarget = (x: Fixed): Fixed => div(exp(x) - ONE - x, square(x))
const expWeight = (x: Fixed): Fixed => div(square(x), exp(x))

/** (bˣ − 1 − x·log b)/x² for the bases 2 and 10. */
const powerTarget =
  (logarithm: Fixed) =>
  (x: Fixed): Fixed =>
    div(exp(mul(x, logarithm)) - ONE - mul(x, logarithm), square(x))
const powerWeight =
  (logarithm: Fixed) =>
  (x: Fixed): Fixed =>
    div(square(x), exp(mul(x, logarithm)))
const LN10 = log(whole(10))

const coshTarget = (z: Fixed): Fixed => {
  const e = exp(sqrt(z))
  return div((e + div(ONE, e)) / 2n - ONE - z / 2n, square(z))
}
const sinhTarget = (z: Fixed): Fixed => {
  const x = sqrt(z)
  const e = exp(x)
  return div(div((e - div(ONE, e)) / 2n, x) - ONE, z)
}

/** (1 − e)^(−1/3), the factor that mends a guess r of x^(−1/3) with e = 1 − x·r³. */
const tanhTarget = (z: Fixed): Fixed => {
  const x = sqrt(z)
  const e = exp(2n * x)
  return div(div(div(e - ONE, e + ONE), x) - ONE, z)
}

const cubeRootTarget = (e: Fixed): Fixed => exp(-log(ONE - e) / 3n)

/** 2 atanh(s) = 2s + s·z·(2/3 + z·Q(z)). */
const powerLogTarget = (z: Fixed): Fixed => div(logTarget(z) - whole(2) / 3n, z)

/** log(1 + f) = f − f²/2 + s·(f²/2 + R(s²)), s = f/(2 + f): R(z) = 2z/3 + 2z²/5 + … over z. */
const logTarget = (z: Fixed): Fixed => {
  const s = sqrt(z)
  const atanh2 = log(div(ONE + s, ONE - s))
  return div(div(atanh2, s) - whole(2), z)
}
const logWeight = (z: Fixed): Fixed => z / 2n

const sinTarget = (z: Fixed): Fixed => div(div(sin(sqrt(z)), sqrt(z)) - ONE, z)
const cosTarget = (z: Fixed): Fixed => div(cos(sqrt(z)) - ONE + z / 2n, square(z))
const tanTarget = (z: Fixed): Fixed => {
  const x = sqrt(z)
  return div(div(div(sin(x), cos(x)), x) - ONE, z)
}
const asinTarget = (z: Fixed): Fixed => div(div(asin(sqrt(z)), sqrt(z)) - ONE, z)
const atanTarget = (z: Fixed): Fixed => div(div(atan(sqrt(z)), sqrt(z)) - ONE, z)

/** e^(x²)·erfc(x) for x > 0; the continued fraction is slow below 1. */
const scaledErfc = (x: Fixed): Fixed => (x < ONE ? mul(exp(square(x)), ONE - erf(x)) : erfcx(x))
const erfTarget = (z: Fixed): Fixed => div(erf(sqrt(z)), sqrt(z)) - ONE

/** log erfcx(x), x = 15/16 + t: erf x = 1 − exp(this − x²). Its error counts with erfc/erf. */
const ERF_SPLIT = whole(15) / 16n
const erfLogTarget = (t: Fixed): Fixed => log(scaledErfc(ERF_SPLIT + t))
const erfLogWeight = (t: Fixed): Fixed => {
  const x = ERF_SPLIT + t
  return div(mul(scaledErfc(x), exp(-square(x))), erf(x))
}

/** (2 + 3x)·erfcx(x), whose slope vanishes near ½, where q is least exact, as a function of q = (x − 3)/(x + 3) */
const erfcTarget = (q: Fixed): Fixed => {
  const x = div(3n * (ONE + q), ONE - q)
  return mul(2n * ONE + 3n * x, scaledErfc(x))
}
const erfcWeight = (q: Fixed): Fixed => div(ONE, erfcTarget(q))

/** The tail of Stirling's series, (log Γ(y) − (y − ½)·log y + y − ½·log 2π)·y as a function of w = 1/y². */
const stirlingTarget = (w: Fixed): Fixed => {
  const y = div(ONE, sqrt(w))
  return mul(logGamma(y) - mul(y - ONE / 2n, log(y)) + y - log(2n * PI) / 2n, y)
}

/** log Γ(1 + t)/t and log Γ(2 + t)/t. */
const logGammaTarget =
  (root: number) =>
  (t: Fixed): Fixed =>
    div(logGamma(whole(root) + t), t)

const TINY = 2 ** -40
const HALF_LN2 = 0.34658
const QUARTER_PI_SQUARED = 0.6169
const LOG_SQUARE = 0.02944

export const polynomials: Record<string, Table> = {
  expTailF64: tail('(eˣ − 1 − x)/x²', -HALF_LN2, HALF_LN2, 10, F64, expTarget, expWeight, { 0: ONE / 2n }),
  expTailF32: tail('(eˣ − 1 − x)/x²', -HALF_LN2, HALF_LN2, 5, F32, expTarget, expWeight, { 0: ONE / 2n }),
  exp2TailF64: tail('(2ˣ − 1 − x·log 2)/x²', -0.5, 0.5, 10, F64, powerTarget(LN2), powerWeight(LN2)),
  exp2TailF32: tail('(2ˣ − 1 − x·log 2)/x²', -0.5, 0.5, 5, F32, powerTarget(LN2), powerWeight(LN2)),
  exp10TailF64: tail('(10ˣ − 1 − x·log 10)/x²', -0.15052, 0.15052, 10, F64, powerTarget(LN10), powerWeight(LN10)),
  exp10TailF32: tail('(10ˣ − 1 − x·log 10)/x²', -0.15052, 0.15052, 5, F32, powerTarget(LN10), powerWeight(LN10)),
  expTailLong: tail('(eˣ − 1 − x)/x²', -HALF_LN2, HALF_LN2, 11, F64, expTarget, expWeight, { 0: ONE / 2n }),
  expTailShort: tail('(eˣ − 1 − x)/x²', -HALF_LN2, HALF_LN2, 7, F64, expTarget, expWeight),
  coshTailF64: tail('(cosh(√z) − 1 − z/2)/z²', TINY, 0.1202, 4, F64, coshTarget, square),
  coshTailF32: tail('(cosh(√z) − 1 − z/2)/z²', TINY, 0.1202, 2, F32, coshTarget, square),
  sinhTailF64: tail('(sinh(√z)/√z − 1)/z', TINY, 0.1202, 5, F64, sinhTarget, (z) => z),
  sinhTailF32: tail('(sinh(√z)/√z − 1)/z', TINY, 0.1202, 3, F32, sinhTarget, (z) => z),
  tanhTailF32: tail('(tanh(√z)/√z − 1)/z', TINY, 1, 8, F32, tanhTarget, (z) => z),
  cubeRootFactorF64: tail('(1 − e)^(−1/3)', -0.104, 0.104, 5, F64, cubeRootTarget, () => ONE),
  cubeRootFactorF32: tail('(1 − e)^(−1/3)', -0.104, 0.104, 4, F32, cubeRootTarget, () => ONE),
  powerLogTail: tail(
    '((2 atanh(√z)/√z − 2)/z − 2/3)/z',
    TINY,
    LOG_SQUARE,
    7,
    F64,
    powerLogTarget,
    (z) => square(z) / 2n,
  ),
  logTailShort: tail('(2 atanh(√z)/√z − 2)/z', TINY, LOG_SQUARE, 5, F64, logTarget, logWeight),
  logTailF64: tail('(2 atanh(√z)/√z − 2)/z', TINY, LOG_SQUARE, 7, F64, logTarget, logWeight),
  logTailF32: tail('(2 atanh(√z)/√z − 2)/z', TINY, LOG_SQUARE, 3, F32, logTarget, logWeight),
  sinTailF64: tail('(sin(√z)/√z − 1)/z', TINY, QUARTER_PI_SQUARED, 6, F64, sinTarget, (z) => z),
  sinTailF32: tail('(sin(√z)/√z − 1)/z', TINY, QUARTER_PI_SQUARED, 3, F32, sinTarget, (z) => z),
  cosTailF64: tail('(cos(√z) − 1 + z/2)/z²', TINY, QUARTER_PI_SQUARED, 6, F64, cosTarget, square),
  cosTailF32: tail('(cos(√z) − 1 + z/2)/z²', TINY, QUARTER_PI_SQUARED, 3, F32, cosTarget, square),
  tanTailF64: tail('(tan(√z)/√z − 1)/z', TINY, QUARTER_PI_SQUARED / 4, 9, F64, tanTarget, (z) => z),
  tanTailF32: tail('(tan(√z)/√z − 1)/z', TINY, QUARTER_PI_SQUARED / 4, 4, F32, tanTarget, (z) => z),
  asinTailF64: tail('(asin(√z)/√z − 1)/z', TINY, 0.25, 13, F64, asinTarget, (z) => z),
  asinTailF32: tail('(asin(√z)/√z − 1)/z', TINY, 0.25, 5, F32, asinTarget, (z) => z),
  atanTailF64: tail('(atan(√z)/√z − 1)/z', TINY, 0.25, 12, F64, atanTarget, (z) => z),
  atanTailF32: tail('(atan(√z)/√z − 1)/z', TINY, 0.25, 6, F32, atanTarget, (z) => z),
  erfTailF64: tail('erf(√z)/√z − 1', TINY, 0.879, 12, [106, 53], erfTarget, () => ONE),
  erfTailF32: tail('erf(√z)/√z − 1', TINY, 0.879, 7, [48, 24], erfTarget, () => ONE),
  erfLogF64: tail('log erfcx(15/16 + t)', 0, 5.07, 20, F64, erfLogTarget, erfLogWeight),
  erfLogF32: tail('log erfcx(15/16 + t)', 0, 3.07, 8, F32, erfLogTarget, erfLogWeight),
  erfcScaled: tail('(2 + 3x)·erfcx(x), x = 3·(1 + q)/(1 − q)', -0.7143, 0.803, 22, [106, 53], erfcTarget, erfcWeight),
  stirlingTail: tail(
    '(log Γ(y) − (y − ½)·log y + y − ½·log 2π)·y, w = 1/y²',
    2 ** -30,
    0.01,
    8,
    F64,
    stirlingTarget,
    () => ONE / 100n,
  ),
  logGammaAtOne: tail('log Γ(1 + t)/t', -0.3, 0.5, 23, [106, 106, 106, 53], logGammaTarget(1), (t) =>
    div(ONE, logGammaTarget(1)(t)),
  ),
  logGammaAtTwo: tail('log Γ(2 + t)/t', -0.5, 0.6, 20, [106, 106, 106, 53], logGammaTarget(2), (t) =>
    div(ONE, logGammaTarget(2)(t)),
  ),
}
