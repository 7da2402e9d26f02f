// Parameter kinds: what a caller binds to a name, and what the body sees there. A kind is a frozen record; everything later layers need
// (role, element type, shape of one sample) stands in it, so that nobody asks for a kind by name.
import type { ReduceOp } from '../ir/graph.ts'
import { KIND } from './brands.ts'

/** Roles in the order in which `argSpec` lists them. */
export const ROLES = [
  'mutable',
  'accum_out',
  'reduce',
  'vec_in',
  'mat_in',
  'per_sample',
  'lookup',
  'terminated',
  'uniform',
] as const
export type Role = (typeof ROLES)[number]

/** Element types of the language; floats are traced as f64 and specialised to f32 later. */
export type ElementType = 'f64' | 'i32' | 'bool'

/** What one sample, table entry or reduction holds. */
export interface Head {
  readonly type: ElementType
  /** [] for a number, [W] for a vector or quaternion, [R, C] for a matrix. */
  readonly shape: readonly number[]
  /** Product of the shape. */
  readonly components: number
  /** Four components w, x, y, z with the algebra of quaternions. */
  readonly quaternion: boolean
}

/** One axis of a table with named axes. */
export interface Axis {
  readonly name: string
  readonly extent: number
}

/** A parameter kind. `Symbolic` is what the body gets and `Plane` which arrays a call takes there; both exist in types only. */
export interface Kind {
  readonly [KIND]: true
  readonly role: Role
  readonly head: Head
  /** As written in a definition: `Vector(3)`. */
  readonly text: string
  /** Tables with named axes, outermost first; row-major, so that the last has stride 1. */
  readonly axes?: readonly Axis[]
  /** Reductions. */
  readonly reduce?: ReduceOp
}
