// `kernel()`: traces a body and makes the record callable.
import { trace, type Body, type Parameters, type TraceOptions } from '../trace/trace.ts'
import { createCallable, type Callable } from './callable.ts'

export function kernel(params: Parameters, body: Body, options?: TraceOptions): Callable
export function kernel(name: string, params: Parameters, body: Body, options?: TraceOptions): Callable
export function kernel(...args: readonly unknown[]): Callable {
  const [name, params, body, options] = typeof args[0] === 'string' ? args : [undefined, ...args]
  return createCallable(trace(name as string | undefined, params, body, options))
}
