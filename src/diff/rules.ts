// The derivative row of each op: one partial for each operand, from which both modes follow (forward Σ partial·tangent, reverse
// partial·adjoint). docs/derivatives.md prints this table.
// Invariants: partials are written with the builder, so that they differentiate again; they refer to the primal result where that is
// cheaper; the policy at edges (ties, kinks, 0·∞) is the one of docs/derivatives.md in either mode.
import type { Builder } from '../ir/build.ts'
import type { Value } from '../ir/graph.ts'
import type { ValueOp } from '../ir/ops.ts'
import { digamma } from './digamma.ts'

/** What a partial is written in: the builder, the operands, and the value of the op itself. */
export interface At {
  readonly b: Builder
  readonly operands: readonly Value[]
  readonly result: Value
}

/** One partial derivative; undefined where the operand takes no part. */
export type Partial = ((at: At) => Value) | undefined

export type DerivativeRule =
  /** One partial for each operand. */
  | { readonly kind: 'partials'; readonly partials: readonly Partial[] }
  /** The derivative is zero everywhere (or the value is no float). */
  | { readonly kind: 'zero' }
  /** The op stands for memory, control flow or a rule of the user: the transforms treat it themselves, as the sentence says. */
  | { readonly kind: 'structural'; readonly meaning: string }

const zero: DerivativeRule = { kind: 'zero' }
const structural = (meaning: string): DerivativeRule => ({ kind: 'structural', meaning })
const partials = (...list: Partial[]): DerivativeRule => ({ kind: 'partials', partials: list })

/** A rule for one operand x with result r. */
const unary = (partial: (b: Builder, x: Value, r: Value) => Value): DerivativeRule =>
  partials(({ b, operands, result }) => partial(b, operands[0]!, result))
type BinaryPartial = (b: Builder, x: Value, y: Value, r: Value) => Value
/** A rule for operands x, y with result r. */
const binary = (byX: BinaryPartial, byY: BinaryPartial): DerivativeRule =>
  partials(
    ({ b, operands, result }) => byX(b, operands[0]!, operands[1]!, result),
    ({ b, operands, result }) => byY(b, operands[0]!, operands[1]!, result),
  )

const number = (b: Builder, like: Value, literal: number): Value => b.const(like.type, literal)
const one = (b: Builder, like: Value): Value => number(b, like, 1)
const square = (b: Builder, x: Value): Value => b.mul(x, x)
const reciprocal = (b: Builder, x: Value): Value => b.div(one(b, x), x)
/** 1 where the condition holds, else 0. */
const indicator = (b: Builder, condition: Value, like: Value): Value =>
  b.select(condition, one(b, like), b.zero(like.type))
/** −1, 0 or 1; 0 at −0 and for NaN too. */
const direction = (b: Builder, x: Value): Value =>
  b.select(b.gt(x, b.zero(x.type)), one(b, x), b.select(b.lt(x, b.zero(x.type)), number(b, x, -1), b.zero(x.type)))
/** The value, but 0 where the other is 0: for quotients by a length that is 0 at the origin. */
const unlessZero = (b: Builder, length: Value, value: Value): Value =>
  b.select(b.eq(length, b.zero(length.type)), b.zero(value.type), value)

/** value/(x² + y²), 0 at the origin; by the length, as its square may overflow or underflow. */
function overSquaredLength(b: Builder, x: Value, y: Value, value: Value): Value {
  const length = b.hypot(x, y)
  const inverse = reciprocal(b, length)
  return unlessZero(b, length, b.mul(b.mul(value, inverse), inverse))
}

/** y·x^(y−1), and 0 for y = 0, where the power is constant. */
function powerByBase(b: Builder, x: Value, y: Value): Value {
  if (y.op === 'const') {
    if (y.literal === 0) return y
    if (y.literal === 1) return one(b, x)
    if (y.literal === 2) return b.mul(y, x)
    return b.mul(y, b.pow(x, number(b, x, Number(y.literal) - 1)))
  }
  return unlessZero(b, y, b.mul(y, b.pow(x, b.sub(y, one(b, y)))))
}

/** x^y·log x, and 0 for x = 0 and y > 0, where the power stays 0. */
function powerByExponent(b: Builder, x: Value, y: Value, r: Value): Value {
  const stays = b.and(b.eq(x, b.zero(x.type)), b.gt(y, b.zero(y.type)))
  return b.select(stays, b.zero(x.type), b.mul(r, b.log(x)))
}

/** The row of each op. */
export const rules: Record<ValueOp, DerivativeRule> = {
  // Leaves
  const: zero,
  load: structural('Its own tangent plane; the adjoint is the plane bar_<name>.'),
  uniform: structural('Its own tangent; the adjoints of all samples are summed.'),
  sampleIndex: zero,
  sampleCount: zero,
  entryCount: zero,
  parameter: structural('A carry: tangents are carried along, adjoints carried back.'),
  result: structural('Follows the region that gives it.'),
  gather: structural('Reads the tangent table at the same index; the adjoint is added to bar_<name> at that index.'),
  recall: structural('Recalls the tangent; the adjoint is added to what was recorded.'),

  // Arithmetic
  add: binary(one, (b, _, y) => one(b, y)),
  sub: binary(one, (b, _, y) => number(b, y, -1)),
  mul: binary(
    (_, __, y) => y,
    (_, x) => x,
  ),
  div: binary(
    (b, _, y) => reciprocal(b, y),
    (b, _, y, r) => b.neg(b.mul(r, reciprocal(b, y))),
  ),
  neg: unary((b, x) => number(b, x, -1)),
  abs: unary(direction),
  min: binary(
    (b, x, y) => indicator(b, b.le(x, y), x),
    (b, x, y) => b.select(b.le(x, y), b.zero(x.type), one(b, x)),
  ),
  max: binary(
    (b, x, y) => indicator(b, b.ge(x, y), x),
    (b, x, y) => b.select(b.ge(x, y), b.zero(x.type), one(b, x)),
  ),
  fma: partials(
    ({ operands }) => operands[1]!,
    ({ operands }) => operands[0]!,
    ({ b, result }) => one(b, result),
  ),
  sqrt: unary((b, x, r) => b.div(number(b, x, 0.5), r)),
  floor: zero,
  ceil: zero,
  trunc: zero,
  rint: zero,
  ldexp: partials(({ b, operands }) => b.ldexp(one(b, operands[0]!), operands[1]!), undefined),

  // Comparison and logic
  eq: zero,
  ne: zero,
  lt: zero,
  le: zero,
  and: zero,
  or: zero,
  xor: zero,
  not: zero,
  shl: zero,
  shrSigned: zero,
  shrUnsigned: zero,
  select: partials(
    undefined,
    ({ b, operands, result }) => indicator(b, operands[0]!, result),
    ({ b, operands, result }) => b.select(operands[0]!, b.zero(result.type), one(b, result)),
  ),

  // Conversion
  convert: unary((b, x) => one(b, x)),
  bitcast: zero,

  // Exponential and logarithmic
  exp: unary((_, __, r) => r),
  exp2: unary((b, x, r) => b.mul(r, number(b, x, Math.LN2))),
  exp10: unary((b, x, r) => b.mul(r, number(b, x, Math.LN10))),
  expm1: unary((b, x, r) => b.add(r, one(b, x))),
  log: unary(reciprocal),
  log2: unary((b, x) => b.div(number(b, x, Math.LOG2E), x)),
  log10: unary((b, x) => b.div(number(b, x, Math.LOG10E), x)),
  log1p: unary((b, x) => reciprocal(b, b.add(one(b, x), x))),
  pow: binary(powerByBase, powerByExponent),

  // Roots
  rsqrt: unary((b, x, r) => b.mul(b.mul(b.mul(number(b, x, -0.5), r), r), r)),
  cbrt: unary((b, x, r) => reciprocal(b, b.mul(number(b, x, 3), square(b, r)))),
  hypot: binary(
    (b, x, _, r) => unlessZero(b, r, b.div(x, r)),
    (b, _, y, r) => unlessZero(b, r, b.div(y, r)),
  ),

  // Trigonometric
  sin: unary((b, x) => b.cos(x)),
  cos: unary((b, x) => b.neg(b.sin(x))),
  tan: unary((b, x, r) => b.add(one(b, x), square(b, r))),
  asin: unary((b, x) => b.rsqrt(b.mul(b.sub(one(b, x), x), b.add(one(b, x), x)))),
  acos: unary((b, x) => b.neg(b.rsqrt(b.mul(b.sub(one(b, x), x), b.add(one(b, x), x))))),
  atan: unary((b, x) => reciprocal(b, b.add(one(b, x), square(b, x)))),
  atan2: binary(
    (b, x, y) => overSquaredLength(b, x, y, y),
    (b, x, y) => overSquaredLength(b, x, y, b.neg(x)),
  ),

  // Hyperbolic
  sinh: unary((b, x) => b.cosh(x)),
  cosh: unary((b, x) => b.sinh(x)),
  tanh: unary((b, x, r) => b.mul(b.sub(one(b, x), r), b.add(one(b, x), r))),
  asinh: unary((b, x) => reciprocal(b, b.hypot(x, one(b, x)))),
  acosh: unary((b, x) => b.rsqrt(b.mul(b.sub(x, one(b, x)), b.add(x, one(b, x))))),
  atanh: unary((b, x) => reciprocal(b, b.mul(b.sub(one(b, x), x), b.add(one(b, x), x)))),

  // Special
  erf: unary((b, x) => b.mul(number(b, x, 2 / Math.sqrt(Math.PI)), b.exp(b.neg(square(b, x))))),
  erfc: unary((b, x) => b.mul(number(b, x, -2 / Math.sqrt(Math.PI)), b.exp(b.neg(square(b, x))))),
  lgamma: unary(digamma),
  gamma: unary((b, x, r) => b.mul(r, digamma(b, x))),

  // Rounding, sign, remainders
  round: zero,
  sign: zero,
  copysign: partials(({ b, operands: [x, y] }) => b.mul(direction(b, x!), b.copysign(one(b, x!), y!)), undefined),
  fdim: binary(
    (b, x, y) => indicator(b, b.gt(x, y), x),
    (b, x, y) => b.select(b.gt(x, y), number(b, x, -1), b.zero(x.type)),
  ),
  fmod: binary(one, (b, x, y) => b.neg(b.trunc(b.div(x, y)))),
  remainder: binary(one, (b, x, y) => b.neg(b.rint(b.div(x, y)))),
  mod: binary(one, (b, x, y) => b.neg(b.floor(b.div(x, y)))),
  isnan: zero,
  isinf: zero,
  isfinite: zero,
  idiv: zero,
  floorDiv: zero,
  floorMod: zero,

  // Random numbers, and ops that derivatives are made of
  random: zero,
  guardedMul: binary(
    (_, __, y) => y,
    (_, x) => x,
  ),
  stopGradient: zero,
  custom: structural('Follows the rule that the user gave, and the rule of that rule when differentiated again.'),
}
