// `run` and `planeLayout`: the binding layer as functions of their own.
import type { Kind } from '../trace/kinds.ts'
import { INTERNALS, type HasInternals } from './internals.ts'
import { place, type Placement, type Refusal } from './layout.ts'
import { checkOptions, type CallOptions } from './options.ts'
import { createSession } from './session.ts'

/**
 * Binds and launches once. Never allocates: every output must be handed in, and is written in place.
 * @param planes every plane and number, by name
 * @returns the reductions of the kernel by name, or undefined where it has none
 * @throws E_BINDING listing every problem of the call, E_OPTION
 */
export function run(kernel: HasInternals, planes: Readonly<Record<string, unknown>>, options?: CallOptions): unknown {
  const { traced, builds, options: own, session } = kernel[INTERNALS]
  if (!options) return session.run(planes)
  return createSession(traced, builds, { ...own, ...checkOptions(traced.name, options) }).run(planes)
}

/** How an array would be bound for a kind: in place as it is, as a transposed view, … or why not. */
export function planeLayout(kind: Kind, array: unknown): Placement['layout'] | Refusal['layout'] {
  return place(array, kind.head.shape).layout
}
