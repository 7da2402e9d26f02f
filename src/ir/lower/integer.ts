// Integer quotients and remainders through f64: every i32 is exact there, and the rounded quotient of two of them is never on the other
// side of a whole number than the exact one, which is at least 1/|y| away from it where it is not whole.
import type { Builder } from '../build.ts'
import type { Value } from '../graph.ts'
import type { Lowering } from './kit.ts'

/** The quotient rounded by `rounding`, MIN for MIN/−1, 0 for division by 0. */
function quotient(b: Builder, x: Value, y: Value, rounding: (quotient: Value) => Value): Value {
  const exact = b.div(b.convert(x, 'f64'), b.convert(y, 'f64'))
  const value = b.convert(rounding(exact), 'i32')
  // −x wraps for MIN, where the conversion would saturate.
  const guarded = b.select(b.eq(y, b.const('i32', -1)), b.neg(x), value)
  return b.select(b.eq(y, b.const('i32', 0)), b.const('i32', 0), guarded)
}

export const idiv: Lowering = (b, [x, y]) => quotient(b, x!, y!, (exact) => exact)
export const floorDiv: Lowering = (b, [x, y]) => quotient(b, x!, y!, (exact) => b.floor(exact))

export const floorMod: Lowering = (b, [x, y], target, type) => {
  const whole = floorDiv(b, [x!, y!], target, type)
  return b.select(b.eq(y!, b.const('i32', 0)), b.const('i32', 0), b.sub(x!, b.mul(whole, y!)))
}
