// What the runtime knows of a kernel: what a call binds and what it gives back. The tracer fills it; nothing here changes afterwards.
import type { PlaneType } from './view.ts'

/** Role of an argument, in the canonical order of `argSpec`. */
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

/** Anything that a call binds by name: a parameter or an output slot. */
export interface Slot {
  readonly name: string
  readonly role: Role
  /** Number of its plane in the graph. */
  readonly plane: number
  /** Type of its numbers; f64 stands for the float type of the call. */
  readonly type: PlaneType
  /** Shape of one sample or entry: [] for a number, [3], [R, C]. */
  readonly head: readonly number[]
  readonly read: boolean
  readonly written: boolean
  /** Entries of a table with named axes; absent where any length fits. */
  readonly length?: number
  /** May be left out of a call: the kernel does not read it. */
  readonly optional?: true
}

export interface OutputSlot extends Slot {
  /** `out` or `out<i>`: answers too, whatever the name. */
  readonly positionalName: string
}

export interface Signature {
  readonly kernel: string
  /** In declared order. */
  readonly parameters: readonly Slot[]
  /** In return order. Reductions that the body returned stand among the parameters, too. */
  readonly outputs: readonly OutputSlot[]
}

/** Planes with one entry a sample: they say how many samples a call has. */
export const isPerSample = ({ role }: Slot): boolean =>
  role === 'per_sample' || role === 'vec_in' || role === 'mat_in' || role === 'mutable' || role === 'terminated'
