// The types of symbolic values, as a kernel body sees them. Types only: what they do at run time stands in value.ts and in one file a form
// (scalar.ts, vector.ts, matrix.ts, quaternion.ts).
// Every value type carries two type-only marks, its element type and its shape; results of operations follow from the marks by lookup, so
// that the checker does little work a call.
import type { STATE } from './brands.ts'

declare const ELEMENT: unique symbol
declare const SHAPE: unique symbol

/** Element types; `number` is a float or an integer, where only the value of a plain number decides. */
export type Element = 'float' | 'integer' | 'condition' | 'number'

/** One number, a quaternion, a vector's [W], a matrix's [R, C]. */
export type Shape = 'number' | 'quat' | readonly [number] | readonly [number, number]

/** What every symbolic value is to an operation that takes it. */
export interface SymbolicValue<E extends Element = Element, S extends Shape = Shape> {
  readonly [ELEMENT]: E
  readonly [SHAPE]: S
  readonly [STATE]: unknown
}

// Operands ---------------------------------------------------------------------------------------------------------------------------

/** One number or condition: plain or symbolic. */
export type ScalarOperand = number | boolean | SymbolicValue<Element, 'number'>
/** A number that an operation takes as float: plain or symbolic. */
export type NumberOperand = number | SymbolicValue<'float' | 'integer' | 'number', 'number'>
/** A whole number or an int32 value. */
export type IndexOperand = number | SymbolicValue<'integer' | 'number', 'number'>
/** A condition, or the outcome that it always has. */
export type ConditionOperand = boolean | SymbolicValue<'condition', 'number'>
/** Anything that element-wise operations take. */
export type Operand = number | boolean | SymbolicValue
/** What can stand beside an operand of shape S: the same shape, or one number. Beside one number everything can. */
export type Beside<S extends Shape> = S extends 'number' ? Operand : ScalarOperand | SymbolicValue<Element, S>

/** How a plain number or a value enters the promotion table. */
export type ElementOf<A> =
  A extends SymbolicValue<infer E>
    ? E
    : A extends boolean
      ? 'condition'
      : A extends number
        ? number extends A
          ? 'literal'
          : `${A}` extends `${bigint}`
            ? 'whole'
            : 'fraction'
        : never

export type ShapeOf<A> = A extends SymbolicValue<Element, infer S> ? S : 'number'

/** bool < i32 < float; a whole literal beside an integer is an integer, every other literal is a float. */
interface Promotion {
  float: { [K in Element | Literal]: 'float' }
  integer: {
    float: 'float'
    integer: 'integer'
    condition: 'integer'
    number: 'number'
    whole: 'integer'
    fraction: 'float'
    literal: 'number'
  }
  condition: {
    float: 'float'
    integer: 'integer'
    condition: 'integer'
    number: 'number'
    whole: 'float'
    fraction: 'float'
    literal: 'float'
  }
  number: { [K in Exclude<Element | Literal, 'float' | 'fraction'>]: 'number' } & { float: 'float'; fraction: 'float' }
  whole: {
    float: 'float'
    integer: 'integer'
    condition: 'float'
    number: 'number'
    whole: 'float'
    fraction: 'float'
    literal: 'float'
  }
  fraction: { [K in Element | Literal]: 'float' }
  literal: { [K in Exclude<Element | Literal, 'integer' | 'number'>]: 'float' } & {
    integer: 'number'
    number: 'number'
  }
}
type Literal = 'whole' | 'fraction' | 'literal'

export type Promote<A extends Element | Literal, B extends Element | Literal> = Promotion[A][B]
/** Of two conditions, what selecting or comparing them keeps. */
type Unify<A extends Element | Literal, B extends Element | Literal> = A extends 'condition'
  ? B extends 'condition'
    ? 'condition'
    : Promote<A, B>
  : Promote<A, B>

type JoinShape<S extends Shape, T extends Shape> = S extends 'number' ? T : S

interface NumberTypes {
  float: Scalar
  integer: Index
  condition: Condition
  number: Numeric<'number'>
}

/** The value type of an element type and a shape. */
export type Make<E extends Element, S extends Shape> = S extends 'number'
  ? NumberTypes[E]
  : S extends 'quat'
    ? Quat
    : S extends readonly [infer R extends number, infer C extends number]
      ? Matrix<R, C, E>
      : S extends readonly [infer W extends number]
        ? Vector<W, E>
        : never

// Results of element-wise operations -------------------------------------------------------------------------------------------------

export type Arithmetic<A, B> = Make<Promote<ElementOf<A>, ElementOf<B>>, JoinShape<ShapeOf<A>, ShapeOf<B>>>
export type Selection<A, B> = Make<Unify<ElementOf<A>, ElementOf<B>>, JoinShape<ShapeOf<A>, ShapeOf<B>>>
export type Signed<A> = Make<Promote<ElementOf<A>, ElementOf<A>>, ShapeOf<A>>
export type FloatOf<A> = Make<'float', ShapeOf<A>>
export type FloatOf2<A, B> = Make<'float', JoinShape<ShapeOf<A>, ShapeOf<B>>>
export type IntegerOf2<A, B> = Make<'integer', JoinShape<ShapeOf<A>, ShapeOf<B>>>
export type ConditionOf<A> = Make<'condition', ShapeOf<A>>
export type ConditionOf2<A, B> = Make<'condition', JoinShape<ShapeOf<A>, ShapeOf<B>>>

/** Methods that scalars, vectors and matrices share; element by element. */
export interface Elementwise<E extends Element, S extends Shape> {
  /** Sum; integers wrap. */
  add<B extends Beside<S>>(other: B): Make<Promote<E, ElementOf<B>>, JoinShape<S, ShapeOf<B>>>
  /** Difference; integers wrap. */
  sub<B extends Beside<S>>(other: B): Make<Promote<E, ElementOf<B>>, JoinShape<S, ShapeOf<B>>>
  /** Product; integers wrap. */
  mul<B extends Beside<S>>(other: B): Make<Promote<E, ElementOf<B>>, JoinShape<S, ShapeOf<B>>>
  /** Real quotient, of integers too. */
  div<B extends Beside<S>>(other: B): Make<'float', JoinShape<S, ShapeOf<B>>>
  /** Power. */
  pow<B extends Beside<S>>(exponent: B): Make<'float', JoinShape<S, ShapeOf<B>>>
  /** Sign change. */
  neg(): Make<Promote<E, E>, S>
  /** Magnitude. */
  abs(): Make<Promote<E, E>, S>
  /** Below. */
  lt<B extends Beside<S>>(other: B): Make<'condition', JoinShape<S, ShapeOf<B>>>
  /** Below or equal. */
  le<B extends Beside<S>>(other: B): Make<'condition', JoinShape<S, ShapeOf<B>>>
  /** Above. */
  gt<B extends Beside<S>>(other: B): Make<'condition', JoinShape<S, ShapeOf<B>>>
  /** Above or equal. */
  ge<B extends Beside<S>>(other: B): Make<'condition', JoinShape<S, ShapeOf<B>>>
  /** Equal. */
  eq<B extends Beside<S>>(other: B): Make<'condition', JoinShape<S, ShapeOf<B>>>
  /** Not equal. */
  ne<B extends Beside<S>>(other: B): Make<'condition', JoinShape<S, ShapeOf<B>>>
}

/** Conjunction, disjunction and negation, of conditions only. */
interface Logic<S extends Shape> {
  and<B extends ConditionOperand | SymbolicValue<'condition', S>>(other: B): Make<'condition', JoinShape<S, ShapeOf<B>>>
  or<B extends ConditionOperand | SymbolicValue<'condition', S>>(other: B): Make<'condition', JoinShape<S, ShapeOf<B>>>
  not(): Make<'condition', S>
  eq<B extends Beside<S>>(other: B): Make<'condition', JoinShape<S, ShapeOf<B>>>
  ne<B extends Beside<S>>(other: B): Make<'condition', JoinShape<S, ShapeOf<B>>>
  /**
   * In types only; no value has it. It makes the compiler refuse `if (c)`, `c ? a : b` and `c && x` (TS2801), whose outcome would not
   * depend on the sample. Use `where`, `branch` or a loop's `while`.
   */
  then(fulfilled: (use: 'where() or branch() instead of JavaScript conditions') => void): void
}

// Values -----------------------------------------------------------------------------------------------------------------------------

/** One number whose element type is E. */
export interface Numeric<E extends Element> extends SymbolicValue<E, 'number'>, Elementwise<E, 'number'> {}
/** One float of this sample. */
export interface Scalar extends Numeric<'float'> {}
/** One int32 of this sample. */
export interface Index extends Numeric<'integer'> {}
/** One truth value of this sample. */
export interface Condition extends SymbolicValue<'condition', 'number'>, Logic<'number'> {}

/** A tuple of W entries; an array where W is not one known whole number. */
type TupleOf<T, W extends number> = `${W}` extends `-${string}` | `${string}.${string}`
  ? readonly T[]
  : number extends W
    ? readonly T[]
    : TupleFrom<T, W, readonly []>
type TupleFrom<T, W extends number, A extends readonly T[]> = A['length'] extends W
  ? A
  : TupleFrom<T, W, readonly [...A, T]>

/** Array members that a vector does not have, although it can be indexed and destructured like a tuple. */
type NoArrayMethods = {
  readonly [K in Exclude<keyof (readonly unknown[]), number | 'length' | 'at' | typeof Symbol.iterator>]: never
}

interface OneName<T> {
  readonly x: T
}
interface TwoNames<T> extends OneName<T> {
  readonly y: T
}
interface ThreeNames<T> extends TwoNames<T> {
  readonly z: T
}
interface FourNames<T> extends ThreeNames<T> {
  readonly w: T
}
type ComponentNames<T, W extends number> = W extends 1
  ? OneName<T>
  : W extends 2
    ? TwoNames<T>
    : W extends 3
      ? ThreeNames<T>
      : FourNames<T>

type ElementMethods<E extends Element, S extends Shape> = E extends 'condition' ? Logic<S> : Elementwise<E, S>

interface VectorMethods<W extends number, E extends Element> extends SymbolicValue<E, readonly [W]> {
  /** Component number k: a whole number from 0 to W − 1, or an int32 value (outside: NaN, 0 for integers). */
  at(k: IndexOperand): NumberTypes[E]
  /** Scalar product. */
  dot<B extends SymbolicValue<Element, readonly [W]>>(other: B): NumberTypes[Promote<E, ElementOf<B>>]
  /** Vector product; 3-vectors only. */
  cross<B extends SymbolicValue<Element, readonly [3]>>(
    this: SymbolicValue<E, readonly [3]>,
    other: B,
  ): Vector<3, Promote<E, ElementOf<B>>>
  /** Euclidean length. */
  norm(): Scalar
}

/** W numbers of this sample: `v.x`, `v[0]`, `v.at(k)`, `const [a, b] = v`. */
export type Vector<W extends number = number, E extends Element = 'float'> = VectorMethods<W, E> &
  ElementMethods<E, readonly [W]> &
  ComponentNames<NumberTypes[E], W> &
  TupleOf<NumberTypes[E], W> &
  NoArrayMethods

interface MatrixMethods<R extends number, C extends number, E extends Element> extends SymbolicValue<
  E,
  readonly [R, C]
> {
  /** Entry in row r and column c, each a whole number in range or an int32 value (outside: NaN, 0 for integers). */
  at(r: IndexOperand, c: IndexOperand): NumberTypes[E]
  /** Row r, a whole number. */
  row(r: number): Vector<C, E>
  /** Column c, a whole number. */
  col(c: number): Vector<R, E>
  transpose(): Matrix<C, R, E>
  /** Sum of the diagonal of a square matrix. */
  trace(): NumberTypes[E]
  /** Determinant, up to 4×4. */
  det(): Scalar
  /** Inverse, up to 4×4. */
  inverse(): Matrix<R, C>
  /** x with (this)·x = right side, up to 4×4. */
  solve<B extends SymbolicValue<Element, readonly [R] | readonly [R, number]>>(right: B): FloatOf<B>
  /** Matrix times vector, or times matrix. */
  matmul<B extends SymbolicValue<Element, readonly [C] | readonly [C, number]>>(right: B): Product<R, E, B>
}

/** R×C numbers of this sample. */
export type Matrix<R extends number = number, C extends number = number, E extends Element = 'float'> = MatrixMethods<
  R,
  C,
  E
> &
  ElementMethods<E, readonly [R, C]>

/** What multiplying an R×C matrix by a vector or matrix gives. */
export type Product<R extends number, E extends Element, B> =
  B extends SymbolicValue<infer F, infer S>
    ? S extends readonly [number, infer K extends number]
      ? Matrix<R, K, Promote<E, F>>
      : Vector<R, Promote<E, F>>
    : never

interface QuatMethods extends SymbolicValue<'float', 'quat'> {
  readonly w: Scalar
  readonly x: Scalar
  readonly y: Scalar
  readonly z: Scalar
  /** Component number k in the order w, x, y, z. */
  at(k: IndexOperand): Scalar
  add(other: SymbolicValue<Element, 'quat'>): Quat
  sub(other: SymbolicValue<Element, 'quat'>): Quat
  neg(): Quat
  /** Scales all components. For the product of two quaternions use `quatMul`. */
  mul(factor: ScalarOperand): Quat
  /** Scales all components by the reciprocal of a number. */
  div(divisor: ScalarOperand): Quat
  dot(other: SymbolicValue<Element, 'quat'>): Scalar
  norm(): Scalar
}

/** A quaternion of this sample, components in the order w, x, y, z. */
export type Quat = QuatMethods & TupleOf<Scalar, 4> & NoArrayMethods

// Parameters that are no plain values ------------------------------------------------------------------------------------------------

/** What a plane of values of type V can be given: a value that promotes to it, or a plain number. */
export type Assignable<V> =
  V extends SymbolicValue<infer E, infer S>
    ? | (S extends 'number' ? (E extends 'condition' ? boolean : number) : never)
      | SymbolicValue<E extends 'float' ? Element : E extends 'integer' ? 'integer' | 'condition' | 'number' : E, S>
    : never

/** A value that is read and written in place: reads give the value at launch until the first `set`, then the one set last. */
export type Mutable<V extends SymbolicValue> = V & {
  /** Makes `value` the content of the cell, for later reads and for the caller's plane. */
  set(value: Assignable<V>): void
}

/** A shared lookup, positional or with named axes. */
export interface Table<V extends SymbolicValue, Axes = undefined> {
  readonly [STATE]: unknown
  /** The entry at an index; NaN (0 for integers) outside the table or outside the range of an axis. */
  at(
    index: Axes extends Readonly<Record<string, number>> ? { readonly [K in keyof Axes]: IndexOperand } : IndexOperand,
  ): V
}

/** A plane that is added to. */
export interface Accum<V extends SymbolicValue> {
  readonly [STATE]: unknown
  /** Adds to the entry of this sample or, with an index, to that entry; an index outside is dropped. */
  add(value: Assignable<V>, index?: IndexOperand): void
}

/** Folds contributions of all samples to one value. */
export interface Reduce<V extends SymbolicValue> {
  readonly [STATE]: unknown
  contribute(value: Assignable<V>): void
}

/** The finished mask. */
export interface Terminated {
  readonly [STATE]: unknown
  /** Marks this sample as finished where the condition holds. Once, at top level. */
  when(condition: ConditionOperand): void
}
