// `kernel()`: traces a body and makes the record callable. The named form comes last, as compilers print only the complaint about the
// last overload.
import { trace, type TraceOptions } from '../trace/trace.ts'
import type { BodyArgument, Parameters, Returnable } from '../trace/types.ts'
import type { Kernel } from './callTypes.ts'
import { createCallable } from './callable.ts'

/**
 * Defines a kernel: what to do with one sample.
 * The body runs once, here, on symbolic values; numbers that it captures are constants from then on.
 * @param name for messages, logs and artifacts; left out: the name of the body function, else `kernel`
 * @param params the kind of each parameter, by name
 * @param body gets an object with a value for each parameter and returns the outputs, in any nesting
 * @throws what the definition breaks: E_DEFINITION, E_RETURN, E_NAME, E_TYPE, E_CONTROL_FLOW, E_COERCION, E_UNUSED_CONDITION
 */
export function kernel<const P extends Parameters, const R extends Returnable>(
  params: P,
  body: (parameters: BodyArgument<P>) => R,
  options?: TraceOptions,
): Kernel<P, R>
export function kernel<const P extends Parameters, const R extends Returnable>(
  name: string,
  params: P,
  body: (parameters: BodyArgument<P>) => R,
  options?: TraceOptions,
): Kernel<P, R>
export function kernel(...args: readonly unknown[]): unknown {
  const [name, params, body, options] = typeof args[0] === 'string' ? args : [undefined, ...args]
  return createCallable(trace(name as string | undefined, params, body, options))
}
