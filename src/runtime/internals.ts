// What a callable kernel is inside, for the parts of the library that work on kernels: derivatives, runs until done, operations.
import type { TracedKernel } from '../trace/traced.ts'
import type { Builds } from './executables.ts'
import type { CallOptions } from './options.ts'
import type { Session } from './session.ts'

/** Leads from a callable to its insides; a `Symbol.for` key, so that two loaded copies know each other's kernels. */
export const INTERNALS: unique symbol = Symbol.for('harrier.kernel')

export interface Internals {
  readonly traced: TracedKernel
  readonly builds: Builds
  readonly options: CallOptions
  readonly session: Session
}

export interface HasInternals {
  readonly [INTERNALS]: Internals
}

export const isKernel = (value: unknown): value is HasInternals => typeof value === 'function' && INTERNALS in value
