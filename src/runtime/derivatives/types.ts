// The types of derivatives: what comes back for which input of a kernel. Arguments are checked when a call runs.
import type { Kind, Role } from '../../trace/kinds.ts'
import type { Parameters } from '../../trace/types.ts'
import type { Reduce, SymbolicValue } from '../../trace/values.ts'
import type { FloatName } from '../callTypes.ts'
import type { Callable } from '../callable.ts'
import type { CallOptions } from '../options.ts'
import type { NdArray } from '../ndarray.ts'

interface FloatArrays {
  Float64Array: Float64Array
  Float32Array: Float32Array
}

/** What comes back where the types of a kernel do not say more. */
export type DerivativeValue<F extends FloatName = 'Float64Array'> = FloatArrays[F] | NdArray<FloatArrays[F]> | number

/** Inputs of a kernel that hold floats. */
export type FloatInputs<P extends Parameters> = {
  [K in keyof P & string]: P[K] extends Kind<infer R extends Role, infer V>
    ? R extends 'accum_out' | 'reduce' | 'terminated'
      ? never
      : NonNullable<V> extends SymbolicValue<'float'>
        ? K
        : never
    : never
}[keyof P & string]

/** The derivative by one input: like the input; by a `Param` one number, or its plane of contributions. */
export type InputResult<K, F extends FloatName, PerSample extends boolean = false> =
  K extends Kind<infer R extends Role, infer V>
    ? R extends 'uniform'
      ? PerSample extends true
        ? FloatArrays[F]
        : number
      : NonNullable<V> extends SymbolicValue<'float', infer S>
        ? S extends 'number'
          ? FloatArrays[F]
          : NdArray<FloatArrays[F]>
        : never
    : never

/** Arguments of the primal: by position, by name, or both. */
type Arguments = readonly unknown[]

/** What a derivative gives for each float type of a call. */
export type Results = { readonly [F in FloatName]: object }

/** Results by names that are not known to the types. */
export type AnyResults = { readonly [F in FloatName]: { readonly [name: string]: DerivativeValue<F> } }

/** What the values of mutables after the launch are called. */
type MutableOutputs<P extends Parameters> = {
  [K in keyof P & string]: P[K] extends Kind<'mutable'> ? `${K}_out` : never
}[keyof P & string]

/** The name of an adjoint; one that is taken gets a number. */
type AdjointName<P extends Parameters, K extends string> = `bar_${K}` extends keyof P
  ? `bar${number}_${K}`
  : K extends MutableOutputs<P>
    ? `bar${number}_${K}`
    : `bar_${K}`

/** Adjoints by the names of inputs. */
export type Adjoints<P extends Parameters, W extends FloatInputs<P>, PerSample extends boolean> = {
  readonly [F in FloatName]: { [K in W as AdjointName<P, K>]: InputResult<P[K], F, PerSample> }
}

declare const RESULTS: unique symbol

/** A derivative as a kernel, its results keyed by name. */
export interface DerivativeKernel<R extends Results = AnyResults> extends Omit<Callable, 'with'> {
  /** Exists in types only: tells a derivative from a kernel, whose call has types too deep to compare. */
  readonly [RESULTS]: R
  <F extends FloatName = 'Float64Array'>(...planes: Arguments): R[F]
  /** The same derivative with call options set. */
  with(options: CallOptions): DerivativeKernel<R>
}

/** Gradients by the names of inputs. */
export interface Gradient<P extends Parameters, W extends FloatInputs<P>> {
  <F extends FloatName = 'Float64Array'>(...planes: Arguments): { [K in W]: InputResult<P[K], F> }
}

/** Whether a kernel folds a reduction. */
type HasReduction<P extends Parameters> = true extends {
  [K in keyof P]: P[K] extends Kind<'reduce'> ? true : false
}[keyof P]
  ? true
  : false

/** What the differentiated output of a kernel is: one plane, or one number for a reduction. */
type OutputValue<P extends Parameters, R, F extends FloatName> = [R] extends [void]
  ? HasReduction<P> extends true
    ? number
    : FloatArrays[F]
  : R extends Reduce<SymbolicValue>
    ? number
    : R extends SymbolicValue
      ? FloatArrays[F]
      : FloatArrays[F] | number

/** A value with its gradients. */
export interface ValueAndGradient<P extends Parameters, R, W extends FloatInputs<P>> {
  <F extends FloatName = 'Float64Array'>(
    ...planes: Arguments
  ): { value: OutputValue<P, R, F>; grad: { [K in W]: InputResult<P[K], F> } }
}

/** Products of the Hessian with directions, by the names of inputs. */
export interface HessianProduct<P extends Parameters, W extends FloatInputs<P>> {
  <F extends FloatName = 'Float64Array'>(
    planes: Readonly<Record<string, unknown>>,
    directions: { readonly [K in W]: unknown },
  ): { [K in W]: InputResult<P[K], F> }
}
