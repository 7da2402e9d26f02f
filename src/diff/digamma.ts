// The digamma function ψ = Γ′/Γ, which the partials of lgamma and gamma need and no op gives.
// Method: reflection ψ(x) = ψ(1 − x) − π/tan(πx) below ½, then ψ(y) = ψ(y + 8) − Σ 1/(y + k), k = 0 … 7, and the asymptotic series
// (Abramowitz and Stegun 6.3.7, 6.3.5, 6.3.18). From 8.5 on the first term left out is below 2·10⁻¹⁶ of ψ.
import type { Builder } from '../ir/build.ts'
import type { Value } from '../ir/graph.ts'

const SHIFT = 8

/** B₂ₖ/(2k) for k = 1 … 7, B the Bernoulli numbers. */
const SERIES = [1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12]

/** ψ(x); NaN or infinite at 0 and at negative whole numbers. */
export function digamma(b: Builder, x: Value): Value {
  const number = (literal: number) => b.const(x.type, literal)
  const isReflected = b.lt(x, number(0.5))
  const y = b.select(isReflected, b.sub(number(1), x), x)
  const shifted = b.add(y, number(SHIFT))
  const reciprocal = b.div(number(1), shifted)
  const square = b.mul(reciprocal, reciprocal)
  const series = SERIES.toReversed().reduce<Value | undefined>(
    (rest, coefficient) => (rest ? b.add(b.mul(rest, square), number(coefficient)) : number(coefficient)),
    undefined,
  )!
  const asymptotic = b.sub(b.sub(b.log(shifted), b.mul(number(0.5), reciprocal)), b.mul(series, square))
  const steps = Array.from({ length: SHIFT }, (_, k) => b.div(number(1), b.add(y, number(k))))
  const atY = b.sub(
    asymptotic,
    steps.reduce((left, right) => b.add(left, right)),
  )
  // tan(πx) has period 1 in x: the distance to the nearest whole number keeps the argument small and exact.
  const reflection = b.div(number(Math.PI), b.tan(b.mul(number(Math.PI), b.sub(x, b.rint(x)))))
  return b.select(isReflected, b.sub(atY, reflection), atY)
}
