// The element-wise functions, free: each takes plain numbers and traced values, also vectors and matrices, component by component.
// What each computes, and in which type, stands in elementwise.ts and in the op table; here are their public names, types and documentation.
import { applyRule, type RuleName } from './elementwise.ts'
import type {
  Arithmetic,
  Beside,
  ConditionOf,
  ConditionOf2,
  ConditionOperand,
  Element,
  FloatOf,
  FloatOf2,
  IntegerOf2,
  Make,
  Operand,
  Selection,
  Shape,
  ShapeOf,
  Signed,
  SymbolicValue,
} from './values.ts'

/** One operand, a float for each component. */
export type FloatFunction = <A extends Operand>(x: A) => FloatOf<A>
/** Two operands, a float for each component. */
export type FloatFunction2 = <A extends Operand, B extends Beside<ShapeOf<A>>>(x: A, y: B) => FloatOf2<A, B>
/** Two operands, the promoted type of both. */
export type ArithmeticFunction = <A extends Operand, B extends Beside<ShapeOf<A>>>(a: A, b: B) => Arithmetic<A, B>
/** Two operands, a condition for each component. */
export type Comparison = <A extends Operand, B extends Beside<ShapeOf<A>>>(a: A, b: B) => ConditionOf2<A, B>
/** One operand, a condition for each component. */
export type Classification = <A extends Operand>(x: A) => ConditionOf<A>
/** One operand, its own type. */
export type SignedFunction = <A extends Operand>(x: A) => Signed<A>
/** Integers and conditions; floats are refused. */
type IntegerLike<S extends Shape = Shape> = number | boolean | SymbolicValue<'integer' | 'condition' | 'number', S>
/** Two integers, an integer for each component. */
export type IntegerFunction2 = <
  A extends IntegerLike,
  B extends (ShapeOf<A> extends 'number' ? IntegerLike : IntegerLike<'number'> | IntegerLike<ShapeOf<A>>),
>(
  a: A,
  b: B,
) => IntegerOf2<A, B>
type ConditionLike = ConditionOperand | SymbolicValue<'condition'>
/** Two conditions. */
export type Connective = <A extends ConditionLike, B extends ConditionLike>(a: A, b: B) => ConditionOf2<A, B>

function free<F>(name: RuleName): F {
  const entry = (...operands: unknown[]) => applyRule(name, operands, entry, false)
  return entry as F
}

// Arithmetic -------------------------------------------------------------------------------------------------------------------------

/** a + b; integers wrap. */
export const add = free<ArithmeticFunction>('add')
/** a − b; integers wrap. */
export const sub = free<ArithmeticFunction>('sub')
/** a · b; integers wrap. */
export const mul = free<ArithmeticFunction>('mul')
/** Real quotient a / b, of integers too; ±Infinity or NaN for b = 0. */
export const div = free<FloatFunction2>('div')
/** −x. */
export const neg = free<SignedFunction>('neg')
/** Magnitude of x. */
export const abs = free<SignedFunction>('abs')
/** x to the y: pow(1, NaN) = pow(NaN, 0) = 1; NaN for x < 0 and y not whole. */
export const pow = free<FloatFunction2>('pow')
/** The smaller of two; NaN if either is NaN, −0 is below +0. */
export const min = free<ArithmeticFunction>('min')
/** The larger of two; NaN if either is NaN, +0 is above −0. */
export const max = free<ArithmeticFunction>('max')
/** min(max(x, low), high): x inside the bounds, else the bound. */
export const clip =
  free<
    <A extends Operand, L extends Beside<ShapeOf<A>>, H extends Beside<ShapeOf<A>>>(
      x: A,
      low: L,
      high: H,
    ) => Arithmetic<Arithmetic<A, L>, H>
  >('clip')
/** max(x − y, +0); NaN if either is NaN. */
export const fdim = free<FloatFunction2>('fdim')
/** −1, 0 or 1; keeps −0 and NaN. */
export const sign = free<FloatFunction>('sign')
/** Magnitude of x with the sign bit of y. */
export const copysign = free<FloatFunction2>('copysign')
/** a·b + c with one rounding, exact on every backend. */
export const fma =
  free<
    <A extends Operand, B extends Beside<ShapeOf<A>>, C extends Beside<ShapeOf<A>>>(
      a: A,
      b: B,
      c: C,
    ) => FloatOf2<FloatOf2<A, B>, C>
  >('fma')

// Comparison and choice --------------------------------------------------------------------------------------------------------------

/** a < b. */
export const lt = free<Comparison>('lt')
/** a ≤ b. */
export const le = free<Comparison>('le')
/** a > b. */
export const gt = free<Comparison>('gt')
/** a ≥ b. */
export const ge = free<Comparison>('ge')
/** a = b; false if either is NaN. */
export const eq = free<Comparison>('eq')
/** a ≠ b; true if either is NaN. */
export const ne = free<Comparison>('ne')
/** Both conditions hold. */
export const and = free<Connective>('and')
/** At least one condition holds. */
export const or = free<Connective>('or')
/** The condition does not hold. */
export const not = free<<A extends ConditionLike>(c: A) => ConditionOf<A>>('not')
/** a where the condition holds, else b; both are evaluated, but the one not taken never leaks a NaN. A vector of conditions selects component by component. */
export const where =
  free<
    <C extends ConditionLike, A extends Operand, B extends Beside<ShapeOf<A>>>(
      condition: C,
      a: A,
      b: B,
    ) => ShapeOf<C> extends 'number'
      ? Selection<A, B>
      : Selection<A, B> extends SymbolicValue<infer E extends Element>
        ? Make<E, ShapeOf<C>>
        : never
  >('where')
/** True for NaN only. */
export const isnan = free<Classification>('isnan')
/** True for ±Infinity only. */
export const isinf = free<Classification>('isinf')
/** False for ±Infinity and NaN. */
export const isfinite = free<Classification>('isfinite')

// Exponentials and logarithms --------------------------------------------------------------------------------------------------------

/** e to the x. */
export const exp = free<FloatFunction>('exp')
/** 2 to the x. */
export const exp2 = free<FloatFunction>('exp2')
/** 10 to the x. */
export const exp10 = free<FloatFunction>('exp10')
/** eˣ − 1 without cancellation near 0. */
export const expm1 = free<FloatFunction>('expm1')
/** Natural logarithm; −Infinity at 0, NaN below. */
export const log = free<FloatFunction>('log')
/** Logarithm to base 2, exact for powers of two. */
export const log2 = free<FloatFunction>('log2')
/** Logarithm to base 10. */
export const log10 = free<FloatFunction>('log10')
/** log(1 + x) without cancellation near 0. */
export const log1p = free<FloatFunction>('log1p')

// Roots ------------------------------------------------------------------------------------------------------------------------------

/** Square root, correctly rounded; NaN below 0. */
export const sqrt = free<FloatFunction>('sqrt')
/** 1/√x; ±Infinity at ±0. */
export const rsqrt = free<FloatFunction>('rsqrt')
/** Cube root, odd. */
export const cbrt = free<FloatFunction>('cbrt')
/** √(x² + y²) without overflow or underflow in between. */
export const hypot = free<FloatFunction2>('hypot')

// Trigonometric and hyperbolic functions ---------------------------------------------------------------------------------------------

/** Sine of an angle in radians, exactly reduced whatever its size. */
export const sin = free<FloatFunction>('sin')
/** Cosine of an angle in radians, exactly reduced whatever its size. */
export const cos = free<FloatFunction>('cos')
/** Tangent of an angle in radians, exactly reduced whatever its size. */
export const tan = free<FloatFunction>('tan')
/** Arc sine in [−π/2, π/2]; NaN outside [−1, 1]. */
export const asin = free<FloatFunction>('asin')
/** Arc cosine in [0, π]; NaN outside [−1, 1]. */
export const acos = free<FloatFunction>('acos')
/** Arc tangent in [−π/2, π/2]. */
export const atan = free<FloatFunction>('atan')
/** Angle in [−π, π] of the point with ordinate y (first) and abscissa x (second). */
export const atan2 = free<FloatFunction2>('atan2')
/** Hyperbolic sine. */
export const sinh = free<FloatFunction>('sinh')
/** Hyperbolic cosine. */
export const cosh = free<FloatFunction>('cosh')
/** Hyperbolic tangent. */
export const tanh = free<FloatFunction>('tanh')
/** Inverse hyperbolic sine. */
export const asinh = free<FloatFunction>('asinh')
/** Inverse hyperbolic cosine; NaN below 1. */
export const acosh = free<FloatFunction>('acosh')
/** Inverse hyperbolic tangent; ±Infinity at ±1, NaN outside [−1, 1]. */
export const atanh = free<FloatFunction>('atanh')

// Special functions ------------------------------------------------------------------------------------------------------------------

/** Error function. */
export const erf = free<FloatFunction>('erf')
/** 1 − erf(x) without cancellation for large x. */
export const erfc = free<FloatFunction>('erfc')
/** log |Γ(x)|. */
export const lgamma = free<FloatFunction>('lgamma')
/** Γ(x). */
export const gamma = free<FloatFunction>('gamma')

// Rounding, remainders, conversion ---------------------------------------------------------------------------------------------------

/** Largest whole number not above x, as a float. */
export const floor = free<FloatFunction>('floor')
/** Smallest whole number not below x, as a float. */
export const ceil = free<FloatFunction>('ceil')
/** Whole part of x, towards zero, as a float. */
export const trunc = free<FloatFunction>('trunc')
/** Nearest whole number, ties to even, as a float. */
export const rint = free<FloatFunction>('rint')
/** Nearest whole number, ties away from zero, as a float. */
export const round = free<FloatFunction>('round')
/** Remainder of x / y with the sign of x, exact. */
export const fmod = free<FloatFunction2>('fmod')
/** IEEE 754 remainder: x − n·y with n = x/y rounded to even, exact. */
export const remainder = free<FloatFunction2>('remainder')
/** Remainder with the sign of the divisor, of floats or of integers (0 for an integer divisor of 0). */
export const mod = free<ArithmeticFunction>('mod')
/** Integer quotient towards zero; 0 for a divisor of 0. */
export const idiv = free<IntegerFunction2>('idiv')
/** Integer quotient towards −Infinity; 0 for a divisor of 0. */
export const floorDiv = free<IntegerFunction2>('floorDiv')
/** Whole part as an int32: truncates, saturates, 0 for NaN; a condition gives 0 or 1. */
export const toInt = free<<A extends Operand>(x: A) => Make<'integer', ShapeOf<A>>>('toInt')
/** The value as a float; a condition gives 0 or 1. */
export const toFloat = free<FloatFunction>('toFloat')

// Derivatives ------------------------------------------------------------------------------------------------------------------------

/** x, but a constant to derivatives: no gradient flows through it. */
export const stopGradient = free<FloatFunction>('stopGradient')
