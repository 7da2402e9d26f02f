// The trace under way: the graph being built, the region that is open, and what is checked when the body has returned.
// Invariants: a value is used only in the trace that made it and only while the region that made it is open; traces nest like calls.
import { HarrierError, type ErrorCode } from '../errors.ts'
import { createBuilder, type Builder } from '../ir/build.ts'
import { shared } from './brands.ts'
import type { ConditionRecord } from './conditions.ts'

/** A side of a branch, a loop body: where values live that only exist while it runs. */
export interface Scope {
  /** What a message calls it: `loop`, `branch`. The body of the kernel itself has none. */
  readonly construct: string | undefined
  isOpen: boolean
  readonly parent: Scope | undefined
}

/** How far an action on a parameter that must happen (setting, contributing, finishing) has come. */
export interface Sink {
  readonly parameter: string
  /** What the body must call. */
  readonly call: string
  isUsed: boolean
}

export interface Trace {
  readonly kernel: string
  readonly builder: Builder
  scope: Scope
  readonly conditions: ConditionRecord[]
  readonly sinks: Sink[]
  usesSampleNumbers: boolean
}

/** @param builder where to build; absent: a new graph */
export const createTrace = (kernel: string, builder: Builder = createBuilder()): Trace => ({
  kernel,
  builder,
  scope: { construct: undefined, isOpen: true, parent: undefined },
  conditions: [],
  sinks: [],
  usesSampleNumbers: false,
})

/** A refusal that names the kernel. */
export const refusal = (trace: Trace, code: ErrorCode, message: string, cause?: unknown): HarrierError =>
  new HarrierError(code, `kernel '${trace.kernel}': ${message}`, cause === undefined ? undefined : { cause })

const current = (): Trace | undefined => shared.trace as Trace | undefined

export const isCurrent = (trace: Trace): boolean => shared.trace === trace

/** The trace under way; `call` names what was called in the refusal outside of one. */
export function currentTrace(call: string): Trace {
  const trace = current()
  if (trace) return trace
  throw new HarrierError(
    'E_DEFINITION',
    `${call} was called outside a kernel body; it records an operation of the kernel that is being defined, so call it inside the function given to kernel()`,
  )
}

/** Runs `body` with `trace` as the trace under way. */
export function withTrace<T>(trace: Trace, body: () => T): T {
  const outer = shared.trace
  shared.trace = trace
  try {
    return body()
  } finally {
    shared.trace = outer
    trace.scope.isOpen = false
  }
}

/** Runs `body` in a region of its own, closing it after. */
export function withScope<T>(trace: Trace, construct: string, body: () => T): T {
  const scope: Scope = { construct, isOpen: true, parent: trace.scope }
  trace.scope = scope
  try {
    return body()
  } finally {
    scope.isOpen = false
    trace.scope = scope.parent!
  }
}

/** Refuses what only the top level of a body may do; `after` says what the user does after the construct instead. */
export function requireTopLevel(trace: Trace, action: string, after: string): void {
  const { construct } = trace.scope
  if (construct === undefined) return
  throw refusal(
    trace,
    'E_CONTROL_FLOW',
    `${action} is called inside ${construct}(), which changes nothing but the values it gives back; return the value from ${construct}() and ${after} after it`,
  )
}
