// What tracing hands to the runtime: a plain, immutable record of one kernel. Everything a call needs (planes, names, shape of the result)
// can be read off it without looking into the graph.
// Invariants: plane numbers are those of `graph.planes`: parameters in declared order, then outputs in return order (parameters that
// are returned, as reductions, have no plane of their own); every float of the graph is f64, src/ir/specialise.ts makes the f32 build.
import type { Graph } from '../ir/graph.ts'
import type { Head, Kind, Role } from './kinds.ts'

export interface TracedParameter {
  readonly name: string
  readonly kind: Kind
  readonly plane: number
  /** Whether the graph reads what the caller bound. A plane that is not read is never loaded, its content does not matter. */
  readonly isRead: boolean
  /** Whether the graph writes to it. */
  readonly isWritten: boolean
  /** May be left out of a call: an input that a derivative takes for the sake of its primal and does not read. */
  readonly isOptional?: true
  /** Another name that it answers to: seeds of a derivative, by the positional name of their output. */
  readonly alternativeName?: string
  /** An accumulator that a call makes, as long as the table of this name, unless it is handed in. */
  readonly lengthOf?: string
}

/** One output slot: a returned value, a constant, or a reduction (of a derivative: an accumulator, too) that is returned. */
export interface TracedOutput {
  /** What the slot is called: `argSpec`, `outputs`, by-name arrays, derivatives. */
  readonly name: string
  /** `out` alone, else `out<i>`: answers too, unless `positionalNameTaken`. */
  readonly positionalName: string
  /** Another slot or a parameter has the positional name as its own. */
  readonly positionalNameTaken: boolean
  readonly head: Head
  /** The plane it is written to; where a parameter is returned, its plane. */
  readonly plane: number
  /** A reduction or accumulator that is returned: the parameter of the same name, no plane of its own. */
  readonly isParameter: boolean
}

/** The shape of what the body returned; `slot` numbers index `TracedKernel.outputs`. */
export type Returned =
  | { readonly form: 'nothing' }
  | { readonly form: 'slot'; readonly slot: number }
  | { readonly form: 'array'; readonly items: readonly Returned[] }
  | { readonly form: 'object'; readonly entries: readonly (readonly [key: string, value: Returned])[] }

export type ArgumentSpec = readonly (readonly [role: Role, name: string])[]

export interface TracedKernel {
  readonly name: string
  /** False where the name is that of the body function, or `kernel`: an artifact needs an explicit one. */
  readonly isNamed: boolean
  readonly doc: string | undefined
  readonly math: 'strict' | 'contract'
  readonly graph: Graph
  /** In declared order. */
  readonly parameters: readonly TracedParameter[]
  /** In return order. */
  readonly outputs: readonly TracedOutput[]
  readonly returned: Returned
  /** Canonical order: by role, then by code unit of the name. Returned values have the role `mutable`. */
  readonly argSpec: ArgumentSpec
  /** Names of `outputs`. */
  readonly outputNames: readonly string[]
  /** Plane of the finished mask. */
  readonly finishMask: number | undefined
  /** Names of tables that the graph reads, in declared order. */
  readonly tablesRead: readonly string[]
  /** Names of mutables whose value at launch is read, and of those that are set: the same as in `parameters`. */
  readonly mutablesRead: readonly string[]
  readonly mutablesWritten: readonly string[]
  /** Why some slots have positional names although they might have had the name of a variable; for `explain()`. */
  readonly namingNote: string | undefined
  /** The body uses `sampleIndex()` or `sampleCount()`. */
  readonly usesSampleNumbers: boolean
}
