// The only list of ops. Every per-op table of the library is a Record over the names below, so that a missing row is a compile error.
// An op is *basic* (the interpreter and every backend implement it) or *derived* (src/ir/lower rewrites it to basic ops).
// Every op is total: no operand makes it trap, and the sentence beside it fixes the corner cases.
import type { Type, TypeClass } from './types.ts'

/** A type in a signature: a fixed type, or `T`, the type that all operands marked `T` share. */
export type SignatureType = Type | 'T'

export interface OpDefinition {
  /** value: gives one SSA value; effect: writes to a plane or a tape; construct: owns regions and gives its results through `result`. */
  readonly kind: 'value' | 'effect' | 'construct'
  /** leaf and structural ops carry attributes (see graph.ts) and have builder methods of their own. */
  readonly form: 'plain' | 'leaf' | 'structural'
  readonly basic: boolean
  readonly operands: readonly SignatureType[]
  /** The type of the value; absent where an attribute or the regions give it. */
  readonly result?: SignatureType
  /** Which types `T` ranges over. */
  readonly T?: TypeClass
  /** Operands 0 and 1 can change places without changing the result. */
  readonly commutative?: true
  /** More operands, of any types, may follow those listed. */
  readonly variadic?: true
  /** The defining sentence, corner cases included. */
  readonly meaning: string
}

const unary = (T: TypeClass, meaning: string) =>
  ({ kind: 'value', form: 'plain', basic: true, operands: ['T'], result: 'T', T, meaning }) as const
const binary = (T: TypeClass, meaning: string) =>
  ({ kind: 'value', form: 'plain', basic: true, operands: ['T', 'T'], result: 'T', T, meaning }) as const
const symmetric = (T: TypeClass, meaning: string) => ({ ...binary(T, meaning), commutative: true }) as const
const comparison = (T: TypeClass, meaning: string) =>
  ({ kind: 'value', form: 'plain', basic: true, operands: ['T', 'T'], result: 'bool', T, meaning }) as const
const derivedUnary = (meaning: string) => ({ ...unary('float', meaning), basic: false }) as const
const derivedBinary = (meaning: string) => ({ ...binary('float', meaning), basic: false }) as const
const classification = (meaning: string) =>
  ({ kind: 'value', form: 'plain', basic: false, operands: ['T'], result: 'bool', T: 'float', meaning }) as const
const integerDivision = (meaning: string) =>
  ({ kind: 'value', form: 'plain', basic: false, operands: ['i32', 'i32'], result: 'i32', meaning }) as const
const leaf = (meaning: string) => ({ kind: 'value', form: 'leaf', basic: true, operands: [], meaning }) as const
const effect = (operands: readonly SignatureType[], T: TypeClass, meaning: string) =>
  ({ kind: 'effect', form: 'structural', basic: true, operands, T, meaning }) as const
const construct = (operands: readonly SignatureType[], meaning: string) =>
  ({ kind: 'construct', form: 'structural', basic: true, operands, meaning }) as const

export const OPS = {
  // Leaves
  const: leaf('A literal.'),
  load: leaf(
    'Component of a sample plane at this sample, as it was at launch; stores of the same launch are not seen.',
  ),
  uniform: leaf('A number that all samples share.'),
  sampleIndex: { ...leaf('Number of this sample in the whole problem, whatever the partition.'), result: 'i32' },
  sampleCount: { ...leaf('Number of samples in the whole problem, whatever the partition.'), result: 'i32' },
  parameter: leaf('An argument of the region that holds it: iteration number or carried value of a loop.'),
  result: leaf('One result of a construct.'),
  gather: {
    kind: 'value',
    form: 'leaf',
    basic: true,
    operands: ['i32'],
    meaning:
      'Component of a table at an index; outside 0 … length − 1 it gives NaN, 0 for integers, false for conditions.',
  },
  entryCount: { ...leaf('Number of entries of a table.'), result: 'i32' },
  recall: {
    kind: 'value',
    form: 'leaf',
    basic: true,
    operands: ['i32'],
    meaning:
      'What this sample last recorded in a slot of a tape. The slot is in 0 … capacity − 1 and was recorded before by this sample; never moved, shared or evaluated on a side not taken.',
  },

  // Arithmetic
  add: symmetric('number', 'Sum; integers wrap.'),
  sub: binary('number', 'Difference; integers wrap.'),
  mul: symmetric('number', 'Product; integers wrap.'),
  div: binary('float', 'IEEE 754 quotient; x/0 is ±Infinity, 0/0 NaN.'),
  neg: unary('number', 'Sign change; −0 for 0, integers wrap (−MIN is MIN).'),
  abs: unary('number', 'Magnitude; +0 for −0, integers wrap (|MIN| is MIN).'),
  // Not marked commutative: their values are, but at a tie the derivative goes to the first operand.
  min: binary('number', 'Smaller operand; NaN if either is NaN, −0 is below +0.'),
  max: binary('number', 'Larger operand; NaN if either is NaN, +0 is above −0.'),
  fma: {
    kind: 'value',
    form: 'plain',
    basic: true,
    operands: ['T', 'T', 'T'],
    result: 'T',
    T: 'float',
    commutative: true,
    meaning: 'a·b + c with one rounding, exact on every backend.',
  },
  sqrt: unary('float', 'Square root, correctly rounded; −0 for −0, NaN below 0.'),
  floor: unary('float', 'Largest whole number not above; keeps −0, infinities and NaN.'),
  ceil: unary('float', 'Smallest whole number not below; −0 for values in (−1, −0].'),
  trunc: unary('float', 'Whole part, towards zero; keeps the sign of zero.'),
  rint: unary('float', 'Nearest whole number, ties to even; keeps the sign of zero.'),
  ldexp: {
    kind: 'value',
    form: 'plain',
    basic: true,
    operands: ['T', 'i32'],
    result: 'T',
    T: 'float',
    meaning: 'x·2ⁱ with one rounding, also into the subnormal range; any i.',
  },

  // Comparison and logic
  eq: { ...comparison('any', 'Equal; false if either is NaN, −0 equals +0.'), commutative: true },
  ne: { ...comparison('any', 'Not equal; true if either is NaN.'), commutative: true },
  lt: comparison('number', 'Below; false if either is NaN.'),
  le: comparison('number', 'Below or equal; false if either is NaN.'),
  and: symmetric('bits', 'Bitwise and; conjunction of conditions.'),
  or: symmetric('bits', 'Bitwise or; disjunction of conditions.'),
  xor: symmetric('bits', 'Bitwise exclusive or.'),
  not: unary('bits', 'Bitwise complement; negation of conditions.'),
  shl: binary('integer', 'Left shift; the count is taken modulo the width.'),
  shrSigned: binary('integer', 'Right shift filling with the top bit; the count is taken modulo the width.'),
  shrUnsigned: binary('integer', 'Right shift filling with zeros; the count is taken modulo the width.'),
  select: {
    kind: 'value',
    form: 'plain',
    basic: true,
    operands: ['bool', 'T', 'T'],
    result: 'T',
    T: 'any',
    meaning: 'The second operand where the first is true, else the third.',
  },

  // Conversion; the result type is an attribute
  convert: {
    kind: 'value',
    form: 'leaf',
    basic: true,
    operands: ['T'],
    T: 'any',
    meaning:
      'Value in another type: to float rounds to nearest even; float to integer truncates, saturates and gives 0 for NaN; integer to integer wraps; true is 1; to bool is "not 0" (NaN is true).',
  },
  bitcast: {
    kind: 'value',
    form: 'leaf',
    basic: true,
    operands: ['T'],
    T: 'number',
    meaning: 'The same bits in another type of equal width; the bits of a NaN are unspecified.',
  },

  // Derived: exponential and logarithmic
  exp: derivedUnary('e to the x.'),
  exp2: derivedUnary('2 to the x.'),
  exp10: derivedUnary('10 to the x.'),
  expm1: derivedUnary('eˣ − 1 without cancellation; keeps −0.'),
  log: derivedUnary('Natural logarithm; −Infinity at ±0, NaN below 0.'),
  log2: derivedUnary('Logarithm to base 2; exact for powers of two.'),
  log10: derivedUnary('Logarithm to base 10.'),
  log1p: derivedUnary('log(1 + x) without cancellation; keeps −0, −Infinity at −1.'),
  pow: derivedBinary('x to the y, C99 Annex F: pow(1, NaN) = pow(NaN, 0) = 1; NaN for x < 0 and y not whole.'),

  // Derived: roots
  rsqrt: derivedUnary('1/√x; ±Infinity at ±0.'),
  cbrt: derivedUnary('Cube root, odd.'),
  hypot: {
    ...derivedBinary('√(x² + y²) without overflow; Infinity if either is infinite, also beside NaN.'),
    commutative: true,
  },

  // Derived: trigonometric
  sin: derivedUnary('Sine; NaN at ±Infinity, reduced exactly up to the largest number.'),
  cos: derivedUnary('Cosine; NaN at ±Infinity, reduced exactly up to the largest number.'),
  tan: derivedUnary('Tangent; NaN at ±Infinity, reduced exactly up to the largest number.'),
  asin: derivedUnary('Arc sine in [−π/2, π/2]; NaN outside [−1, 1].'),
  acos: derivedUnary('Arc cosine in [0, π]; NaN outside [−1, 1].'),
  atan: derivedUnary('Arc tangent in [−π/2, π/2].'),
  atan2: derivedBinary('Angle of the point (x = second, y = first), C99 Annex F: atan2(±0, −0) = ±π.'),

  // Derived: hyperbolic
  sinh: derivedUnary('Hyperbolic sine.'),
  cosh: derivedUnary('Hyperbolic cosine.'),
  tanh: derivedUnary('Hyperbolic tangent.'),
  asinh: derivedUnary('Inverse hyperbolic sine.'),
  acosh: derivedUnary('Inverse hyperbolic cosine; NaN below 1.'),
  atanh: derivedUnary('Inverse hyperbolic tangent; ±Infinity at ±1, NaN outside [−1, 1].'),

  // Derived: special
  erf: derivedUnary('Error function.'),
  erfc: derivedUnary('1 − erf(x) without cancellation.'),
  lgamma: derivedUnary('log |Γ(x)|; Infinity at 0 and at negative whole numbers.'),
  gamma: derivedUnary('Γ(x); ±Infinity at ±0, NaN at negative whole numbers and −Infinity.'),

  // Derived: rounding, sign, remainders
  round: derivedUnary('Nearest whole number, ties away from zero; keeps the sign of zero.'),
  sign: derivedUnary('−1, 0 or 1; keeps −0 and NaN.'),
  copysign: derivedBinary('Magnitude of the first operand with the sign bit of the second.'),
  fdim: derivedBinary('max(x − y, +0); NaN if either is NaN.'),
  fmod: derivedBinary('Remainder with the sign of the first operand, exact; NaN for y = 0 or infinite x.'),
  remainder: derivedBinary('IEEE 754 remainder x − n·y with n = x/y rounded to even, exact.'),
  mod: derivedBinary(
    'x − y·⌊x/y⌋ with the sign of the second operand; a zero result has the sign of the second operand.',
  ),
  isnan: classification('True for NaN only.'),
  isinf: classification('True for ±Infinity only.'),
  isfinite: classification('False for ±Infinity and NaN.'),
  idiv: integerDivision('Integer quotient towards zero; 0 for division by 0, MIN for MIN/−1.'),
  floorDiv: integerDivision('Integer quotient towards −Infinity; 0 for division by 0, MIN for MIN/−1.'),
  floorMod: integerDivision('Integer remainder with the sign of the second operand; 0 for division by 0.'),

  // Derived: random numbers, and ops that derivatives are made of
  random: {
    kind: 'value',
    form: 'leaf',
    basic: false,
    operands: ['i32', 'i32', 'i32'],
    meaning:
      'Uniform number in [0, 1), never 1, by Philox4x32-10 of (seed, sample, counter): 53 random bits in f64, 24 in f32.',
  },
  guardedMul: derivedBinary(
    'x·y, but 0 where y is ±0, whatever x is: a zero adjoint or tangent y contributes nothing, also past a partial x that is not finite.',
  ),
  stopGradient: { ...unary('any', 'Its operand; derivatives through it are zero.'), basic: false },
  custom: {
    kind: 'value',
    form: 'leaf',
    basic: false,
    variadic: true,
    operands: ['T'],
    T: 'float',
    meaning:
      'Its first operand, one output of a function with a derivative rule of its own; the operands after it are the inputs of that function. Derivatives follow the rule instead of the first operand.',
  },

  // Effects: the writes of a sample, in program order
  store: effect(['T'], 'any', 'Writes component of a sample plane at this sample.'),
  scatterAdd: effect(
    ['i32', 'T'],
    'number',
    'Adds to component of an accumulator at an index, in ascending sample order and, within a sample, in program order; outside 0 … length − 1 it is dropped.',
  ),
  contribute: effect(['T'], 'any', 'Folds a value into a reduction, in the one order of reductions.'),
  finish: effect(['bool'], 'any', 'Marks this sample as finished where the operand is true; the mask is set-only.'),
  record: effect(['i32', 'T'], 'any', 'Writes a slot of a tape for this sample; the slot is in 0 … capacity − 1.'),

  // Constructs: ops with regions
  loop: construct(
    ['i32'],
    'Regions body(i, carries…) → next carries and condition(i, carries…) → bool: from i = 0, while i < count and the condition holds, for each sample by itself. Operands: count, initial carries. Results: last carries.',
  ),
  branch: construct(
    ['bool'],
    'Regions then() and else(), results of equal types: the results of the side that the condition takes; the other side is not evaluated.',
  ),
  shortcut: construct(
    ['bool'],
    'Regions quick() and general(), results of equal types, made by lowerings: the results of general, which quick gives bit for bit where the condition holds; quick is evaluated where it holds in all lanes that run together.',
  ),
  dispatch: construct(
    ['i32'],
    'Regions case0(), case1(), …, results of equal types: the results of the case whose number is the index, clamped to the range.',
  ),
} as const satisfies Record<string, OpDefinition>

export type OpName = keyof typeof OPS
type OpsWhere<Condition> = { [O in OpName]: (typeof OPS)[O] extends Condition ? O : never }[OpName]

export type ValueOp = OpsWhere<{ kind: 'value' }>
export type EffectOp = OpsWhere<{ kind: 'effect' }>
/** Effects on planes: what a launch leaves behind. */
export type PlaneEffectOp = Exclude<EffectOp, 'record'>
export type ConstructOp = OpsWhere<{ kind: 'construct' }>
export type BasicOp = OpsWhere<{ basic: true }>
export type DerivedOp = OpsWhere<{ basic: false }>
/** Ops that have operands only: no attribute, no region. Each is a builder method of the same name. */
export type PlainOp = OpsWhere<{ form: 'plain' }>
/** Basic ops whose value follows from their operands alone: what constant folding and the interpreter evaluate. */
export type ComputedOp = Extract<PlainOp, BasicOp> | 'convert' | 'bitcast'

export const OP_NAMES = Object.keys(OPS) as readonly OpName[]

/** The definition of an op, without the literal types of the table. */
export const definition = (op: OpName): OpDefinition => OPS[op]

export const isPlain = (op: OpName): op is PlainOp => OPS[op].form === 'plain'
export const isDerived = (op: OpName): op is DerivedOp => !OPS[op].basic
