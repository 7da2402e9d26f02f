// round, sign, copysign, fdim and the classifications isnan, isinf, isfinite: a few basic ops each, exact.
import type { Value } from '../graph.ts'
import { createKit, type Lowering } from './kit.ts'

/** Ties away from zero: the whole part, and one more where what it leaves is at least a half (that difference is exact). */
export const round: Lowering = (b, [x], target) => {
  const kit = createKit(b, x!.type, target)
  const whole = b.trunc(x!)
  const rest = b.abs(b.sub(x!, whole))
  const one = kit.withSign(kit.k(1), x!)
  return b.select(b.ge(rest, kit.k(0.5)), b.add(whole, one), whole)
}

export const sign: Lowering = (b, [x], target) => {
  const { k } = createKit(b, x!.type, target)
  return b.select(b.gt(x!, k(0)), k(1), b.select(b.lt(x!, k(0)), k(-1), x!))
}

export const copysign: Lowering = (b, [x, y], target) => createKit(b, x!.type, target).withSign(x!, y!)

export const fdim: Lowering = (b, [x, y], target) => {
  const { k } = createKit(b, x!.type, target)
  // The difference also carries the NaN of unordered operands.
  return b.select(b.le(x!, y!), k(0), b.sub(x!, y!))
}

const infinity = (lowering: (magnitude: Value, infinity: Value) => Value): Lowering => {
  return (b, [x], target) => lowering(b.abs(x!), createKit(b, x!.type, target).k(Infinity))
}

export const isnan: Lowering = (b, [x]) => b.ne(x!, x!)
export const isinf: Lowering = (b, operands, target, type) =>
  infinity((magnitude, limit) => b.eq(magnitude, limit))(b, operands, target, type)
export const isfinite: Lowering = (b, operands, target, type) =>
  infinity((magnitude, limit) => b.lt(magnitude, limit))(b, operands, target, type)
