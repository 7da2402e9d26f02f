// What each polynomial of the elementary functions approximates: target, interval, weight and number of terms.
// Every target is the tail that is left after the leading terms, which the lowering adds in exact or paired arithmetic.
import { asin, atan, cos, div, exp, log, LN2, mul, ONE, sin, sqrt, whole, type Fixed } from './fixed.ts'
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
): Table => ({ meaning, problem: { target, weight, from, to, powers: upTo(count), bits } })

const expTarget = (x: Fixed): Fixed => div(exp(x) - ONE - x, square(x))
const expWeight = (x: Fixed): Fixed => div(square(x), exp(x))

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

const TINY = 2 ** -40
const HALF_LN2 = 0.34658
const QUARTER_PI_SQUARED = 0.6169
const LOG_SQUARE = 0.02944

export const polynomials: Record<string, Table> = {
  expTailF64: tail('(eˣ − 1 − x)/x²', -HALF_LN2, HALF_LN2, 11, F64, expTarget, expWeight),
  expTailF32: tail('(eˣ − 1 − x)/x²', -HALF_LN2, HALF_LN2, 5, F32, expTarget, expWeight),
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
}
void LN2
