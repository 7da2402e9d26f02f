// The types of derivatives: what comes back for which input of a kernel. Arguments are checked when a call runs.
import type { Kind, Role } from '../../trace/kinds.ts'
import type { Parameters } from '../../trace/types.ts'
import type { Reduce, SymbolicValue } from '../../trace/values.ts'
import type { FloatName } from '../callTypes.ts'
import type { Callable } from '../callable.ts'
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

/** The derivative by one input: like the input, one number for a `Param`. */
export type InputResult<K, F extends FloatName> =
  K extends Kind<infer R extends Role, infer V>
    ? R extends 'uniform'
      ? number
      : NonNullable<V> extends SymbolicValue<'float', infer S>
        ? S extends 'number'
          ? FloatArrays[F]
          : NdArray<FloatArrays[F]>
        : never
    : never

/** Arguments of the primal: by position, by name, or both. */
type Arguments = readonly unknown[]

/** The derivative as a kernel, its results keyed by name. */
export interface DerivativeKernel<Names extends string = string> extends Omit<Callable, 'with'> {
  <F extends FloatName = 'Float64Array'>(...planes: Arguments): { [name in Names]: DerivativeValue<F> }
  /** The same derivative with call options set. */
  with(...options: globalThis.Parameters<Callable['with']>): DerivativeKernel<Names>
}

/** Gradients by the names of inputs. */
export interface Gradient<P extends Parameters, W extends FloatInputs<P>> {
  <F extends FloatName = 'Float64Array'>(...planes: Arguments): { [K in W]: InputResult<P[K], F> }
}

/** What the differentiated output of a kernel is: one plane, or one number for a reduction. */
type OutputValue<R, F extends FloatName> =
  R extends Reduce<SymbolicValue> ? number : R extends SymbolicValue ? FloatArrays[F] : FloatArrays[F] | number

/** A value with its gradients. */
export interface ValueAndGradient<P extends Parameters, R, W extends FloatInputs<P>> {
  <F extends FloatName = 'Float64Array'>(
    ...planes: Arguments
  ): { value: OutputValue<R, F>; grad: { [K in W]: InputResult<P[K], F> } }
}

/** Products of the Hessian with directions, by the names of inputs. */
export interface HessianProduct<P extends Parameters, W extends FloatInputs<P>> {
  <F extends FloatName = 'Float64Array'>(
    planes: Readonly<Record<string, unknown>>,
    directions: { readonly [K in W]: unknown },
  ): { [K in W]: InputResult<P[K], F> }
}
