// The marks by which the library knows its own objects: `Symbol.for` keys rather than classes, so that two loaded copies recognise each
// other's kinds and values. What the copies share (the trace under way, how many there are) stands in one record on globalThis.
import { warn } from '../warning.ts'

/** Marks a parameter kind. */
export const KIND: unique symbol = Symbol.for('harrier.kind')

/** Marks a symbolic value, and leads to what the tracer knows about it. */
export const STATE: unique symbol = Symbol.for('harrier.value')

const SHARED: unique symbol = Symbol.for('harrier.shared')

interface Shared {
  /** Innermost trace under way, in whichever copy it runs. */
  trace: unknown
  copies: number
}

const holder = globalThis as { [SHARED]?: Shared }

/** The record that all loaded copies share. */
export const shared: Shared = (holder[SHARED] ??= { trace: undefined, copies: 0 })

shared.copies += 1
if (shared.copies === 2) {
  warn(
    'harrier is loaded twice in this process; values and kinds of both copies work together only if their versions are equal. ' +
      'Let every package depend on one version, or load it from one path.',
    'HARRIER_LOADED_TWICE',
  )
}
