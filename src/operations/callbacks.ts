// Callbacks and validators written in JavaScript: they see the caller's own objects, they are synchronous, and what they throw
// reaches the caller as it is.
import type { Bindings } from './bindings.ts'
import { CallbackError } from './errors.ts'
import type { Implementation, Kernel, KernelCall, Operation } from './registry.ts'
import { roleMap } from './roles.ts'
import { show } from './show.ts'
import { type CallbackKernelSpec, type Invocation, type Validator, draftCallbackKernel } from './specs.ts'

/** A callback as an implementation; a call raises E_ASYNC_CALLBACK when it returns a promise. */
export function implementCallback(spec: CallbackKernelSpec): Implementation {
  const draft = draftCallbackKernel(spec)
  const callback: (invocation: Invocation) => unknown = spec.callback
  const run: Kernel['run'] = (call) => {
    const result = callback(invocationOf(call))
    if (isThenable(result)) refusePromise(call.operation.name, `the callback of kernel '${call.kernel.label}'`, result)
  }
  return { draft, implementation: { origin: { kind: 'callback' }, run, lock: null } }
}

/** Runs a validator for one call; E_ASYNC_CALLBACK when it returns a promise, E_VALIDATOR_RESULT when anything else. */
export function runValidator(validator: Validator): Operation['validators'][number] {
  const run: (bindings: Bindings) => unknown = validator
  return ({ operation: { name: operation }, bindings }) => {
    const result = run(bindings)
    const subject = `the validator '${validator.name || 'anonymous'}'`
    if (isThenable(result)) refusePromise(operation, subject, result)
    if (result !== undefined) {
      throw new CallbackError(
        'E_VALIDATOR_RESULT',
        `${operation}: ${subject} returned ${show(result)}; a validator throws to reject a call and returns nothing`,
        { operation },
      )
    }
  }
}

function invocationOf({
  operation,
  kernel,
  bindings,
  operands,
  computeDtypes,
  cudaDevice,
  stream,
}: KernelCall): Invocation {
  return Object.freeze({
    operation: operation.name,
    backend: kernel.backend,
    bindings,
    computeDtypes: roleMap(operands.map(({ role }, place) => [role, computeDtypes[place]!] as const)),
    cudaDevice,
    stream,
  })
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

function refusePromise(operation: string, subject: string, promise: PromiseLike<unknown>): never {
  // The caller learns of the mistake from the error below; without a handler a later rejection would end the process as well.
  if (promise instanceof Promise) promise.catch(() => {})
  throw new CallbackError(
    'E_ASYNC_CALLBACK',
    `${operation}: ${subject} returned a promise; callbacks and validators finish all their work before they return`,
    { operation },
  )
}
