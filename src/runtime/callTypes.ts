// The types of a call: which arrays it takes by position and by name, and what comes back for what the body returned.
// Each overload set ends with the by-name form, as compilers print only the complaint about the last one.
import type { Kind, Role } from '../trace/kinds.ts'
import type { NameMark } from '../trace/named.ts'
import type { Parameters } from '../trace/types.ts'
import type { Element, Reduce, SymbolicValue } from '../trace/values.ts'
import type { AsyncOptions, Callable } from './callable.ts'
import type { Interleaved, SamplesMark } from './markers.ts'
import type { NdArray } from './ndarray.ts'
import type { CallOptions } from './options.ts'
import type { Bound } from './session.ts'

// Arrays -----------------------------------------------------------------------------------------------------------------------------

interface Arrays {
  Float64Array: Float64Array
  Float32Array: Float32Array
  Int32Array: Int32Array
  Uint8Array: Uint8Array
}
type ArrayName = keyof Arrays

/** The float type of a call, as the name of its array class. */
export type FloatName = 'Float64Array' | 'Float32Array'
/** What a call computes in: the arrays of its float planes, or plain numbers. */
type Mode = FloatName | 'number'

/** A typed array, told apart by its name: the same class over any kind of buffer. */
interface ArrayNamed<N extends string> {
  readonly [Symbol.toStringTag]: N
  readonly length: number
  readonly buffer: ArrayBufferLike
}

/** An array with a shape: ours, or one with the same two fields. */
interface Shaped<N extends string> {
  readonly data: ArrayNamed<N>
  readonly shape: ArrayLike<number>
}

type AnyArray<N extends string> = ArrayNamed<N> | Shaped<N>
/** Any array that a plane of one type binds. */
export type PlaneArgument<N extends string> = AnyArray<N> | SamplesMark<AnyArray<N>> | Interleaved<AnyArray<N>>

type ArrayNameOf<E extends Element, F extends ArrayName> = E extends 'float' | 'number'
  ? F
  : E extends 'integer'
    ? 'Int32Array'
    : 'Uint8Array'

// Arguments --------------------------------------------------------------------------------------------------------------------------

/** Roles with one entry a sample that are inputs: where all of them are numbers, numbers come back. */
type SampleRole = 'per_sample' | 'vec_in' | 'mat_in'

/** A plain number where one sample is one number. */
type NumberArgument<V> = V extends SymbolicValue<Element, 'number'> ? number : never

type Argument<K, M extends Mode> =
  K extends Kind<infer R extends Role, infer V extends SymbolicValue>
    ? R extends 'uniform'
      ? number
      : V extends SymbolicValue<infer E>
        ? M extends FloatName
          ? PlaneArgument<ArrayNameOf<E, M>>
          : R extends SampleRole
            ? NumberArgument<V> extends never
              ? PlaneArgument<ArrayNameOf<E, 'Float64Array'>>
              : number
            : PlaneArgument<ArrayNameOf<E, 'Float64Array'>>
        : never
    : never

type NamesWithRole<P extends Parameters, R extends Role> = {
  [K in keyof P]: P[K] extends Kind<infer Found> ? (Found extends R ? K : never) : never
}[keyof P]

type SlotName<S> = S extends readonly [infer N extends string, unknown] ? N : never
type SlotValue<S> = S extends readonly [string, infer V] ? V : never

/** Pairs of the name and the type of each output slot with a key or `named`. */
type NamedSlots<R, Prefix extends string = ''> = R extends NameMark<infer N> ? [N, R] : SlotUnder<R, Prefix>

type SlotUnder<R, Prefix extends string> =
  R extends Reduce<SymbolicValue>
    ? never
    : R extends SymbolicValue | number | boolean
      ? Prefix extends ''
        ? never
        : [Prefix, R]
      : R extends readonly unknown[]
        ? NamedSlots<R[number]>
        : R extends object
          ? { [K in keyof R & string]: NamedSlots<R[K], Prefix extends '' ? K : `${Prefix}_${K}`> }[keyof R & string]
          : never

type OutputName<V, F extends ArrayName> =
  V extends SymbolicValue<infer E> ? ArrayNameOf<E, F> : V extends boolean ? 'Uint8Array' : F

/** Arrays of the caller's own for outputs, by the names of slots and by their positional names. */
type OutputArguments<R, F extends FloatName> = {
  readonly [S in NamedSlots<R> as SlotName<S>]?: PlaneArgument<OutputName<SlotValue<S>, F>>
} & {
  readonly out?: PlaneArgument<F | 'Int32Array' | 'Uint8Array'>
} & { readonly [slot in `out${number}`]?: PlaneArgument<F | 'Int32Array' | 'Uint8Array'> }

type FloatOf<M extends Mode> = M extends FloatName ? M : 'Float64Array'

/** All arguments of a call, by name. */
export type NamedArguments<P extends Parameters, R, M extends Mode> = {
  readonly [K in Exclude<keyof P, NamesWithRole<P, 'reduce'>>]: Argument<P[K], M>
} & {
  readonly [K in NamesWithRole<P, 'reduce'>]?: Argument<P[K], FloatOf<M>>
} & OutputArguments<R, FloatOf<M>>

/** What a call takes at any of its places: key order is not in the type system, so order and count are checked when it runs. */
export type PositionalArgument<P extends Parameters, M extends Mode> = { [K in keyof P]: Argument<P[K], M> }[keyof P]

/** What the compiler shows where a call mixes float types: its float type is then the union of both. */
interface OneFloatType {
  readonly 'all float arrays of one call have one type': never
}
type OneOf<F extends FloatName> = [FloatName] extends [F] ? OneFloatType : unknown

// Results ----------------------------------------------------------------------------------------------------------------------------

type LeafResult<E extends Element, S, M extends Mode> = S extends 'number'
  ? M extends 'number'
    ? number
    : Arrays[ArrayNameOf<E, FloatOf<M>>] | (E extends 'number' ? Int32Array : never)
  : NdArray<Arrays[ArrayNameOf<E, FloatOf<M>>] | (E extends 'number' ? Int32Array : never)>

type ReductionResult<V, M extends Mode> =
  V extends SymbolicValue<infer E, infer S> ? (S extends 'number' ? number : Arrays[ArrayNameOf<E, FloatOf<M>>]) : never

/** What a call gives back for what the body returned. */
export type Result<R, M extends Mode> =
  R extends Reduce<infer V>
    ? ReductionResult<V, M>
    : R extends SymbolicValue<infer E, infer S>
      ? LeafResult<E, S, M>
      : R extends boolean
        ? LeafResult<'condition', 'number', M>
        : R extends number
          ? LeafResult<'float', 'number', M>
          : { -readonly [K in keyof R]: Result<R[K], M> }

/** Reductions by name, of a body that returns nothing and of `run`. */
export type Reductions<P extends Parameters, M extends Mode = 'Float64Array'> =
  NamesWithRole<P, 'reduce'> extends never
    ? undefined
    : {
        [K in NamesWithRole<P, 'reduce'>]: P[K] extends Kind<Role, infer V> ? ReductionResult<NonNullable<V>, M> : never
      }

type CallResult<P extends Parameters, R, M extends Mode> = [R] extends [void] ? Reductions<P, M> : Result<R, M>

// Kernels ----------------------------------------------------------------------------------------------------------------------------

/** A call in plain numbers exists where some input has one entry a sample. */
type NumberMode<P extends Parameters> = NamesWithRole<P, SampleRole> extends never ? never : 'number'

/** The call itself: by position, by position and then by name, by name. */
export interface Call<P extends Parameters, R> {
  (...planes: readonly (NumberMode<P> extends never ? never : number)[]): CallResult<P, R, 'number'>
  <F extends FloatName = 'Float64Array'>(...planes: readonly PositionalArgument<P, F>[]): CallResult<P, R, F>
  (
    ...planes: readonly (NumberMode<P> extends never ? never : PositionalArgument<P, 'number'>)[]
  ): CallResult<P, R, 'number'>
  <F extends FloatName = 'Float64Array'>(
    ...planes: readonly [PositionalArgument<P, F>, ...PositionalArgument<P, F>[], Partial<NamedArguments<P, R, F>>]
  ): CallResult<P, R, F>
  (planes: NumberMode<P> extends never ? never : NamedArguments<P, R, 'number'>): CallResult<P, R, 'number'>
  <F extends FloatName = 'Float64Array'>(planes: NamedArguments<P, R, F> & OneOf<F>): CallResult<P, R, F>
}

/** The call off the event loop; the last argument may be `{ signal }`. */
export interface AsyncCall<P extends Parameters, R> {
  <F extends FloatName = 'Float64Array'>(...planes: readonly PositionalArgument<P, F>[]): Promise<CallResult<P, R, F>>
  <F extends FloatName = 'Float64Array'>(
    ...planes: readonly [
      PositionalArgument<P, F>,
      ...PositionalArgument<P, F>[],
      Partial<NamedArguments<P, R, F>> | AsyncOptions,
    ]
  ): Promise<CallResult<P, R, F>>
  <F extends FloatName = 'Float64Array'>(
    planes: NamedArguments<P, R, F>,
    options?: AsyncOptions,
  ): Promise<CallResult<P, R, F>>
}

/** A kernel: callable, and what it tells about itself. */
export interface Kernel<P extends Parameters = Parameters, R = unknown>
  extends Call<P, R>, Omit<Callable, 'with' | 'bound' | 'async'> {
  /** The same kernel with options set; they never stand among the planes. */
  with(options: CallOptions): Kernel<P, R>
  /** A call bound once, to be launched many times; every output must be handed in. */
  bound<F extends FloatName = 'Float64Array'>(planes: NamedArguments<P, R, F>, options?: CallOptions): Bound
  /** The call off the event loop; arrays are held until it settles. */
  readonly async: AsyncCall<P, R>
}
