// The types that lead from a definition to its body and its result: what the body gets for its parameters, what it may return.
import type { Kind } from './kinds.ts'
import type { Accum, Mutable, Reduce, SymbolicValue, Table, Terminated } from './values.ts'

/** Parameter names and their kinds. */
export type Parameters = Readonly<Record<string, Kind>>

/** What the body gets for each role of a kind whose entries are of type V. */
interface ValueByRole<V extends SymbolicValue, A> {
  per_sample: V
  vec_in: V
  mat_in: V
  uniform: V
  mutable: Mutable<V>
  lookup: Table<V, A>
  accum_out: Accum<V>
  reduce: Reduce<V>
  terminated: Terminated
}

type ParameterValue<K> = K extends Kind<infer R, infer V extends SymbolicValue, infer A> ? ValueByRole<V, A>[R] : never

/** The one argument of a body. */
export type BodyArgument<P extends Parameters> = { readonly [K in keyof P]: ParameterValue<P[K]> }

/** What a body may return: values, plain numbers and booleans as constants, reductions, any nesting of them, or nothing. */
export type Returnable =
  | SymbolicValue
  | Reduce<SymbolicValue>
  | number
  | boolean
  | readonly Returnable[]
  | { readonly [key: string]: Returnable }
  | void
