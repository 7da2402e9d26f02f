// Turns the arguments of a call into named ones: positional ones in declared order, then at most one object of named ones.
import type { Signature } from './signature.ts'
import { refuseCall } from './bind.ts'
import { isPlaneLike } from './view.ts'

/** An object literal: its prototype is Object.prototype or null. */
const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** The object of named arguments, if the last argument is one. */
export const isNamedArguments = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isPlainObject(value) && !isPlaneLike(value)

/** @throws E_BINDING for too many positional arguments and for a name given both ways */
export function nameArguments(signature: Signature, args: readonly unknown[]): ReadonlyMap<string, unknown> {
  const last = args.at(-1)
  const named = isNamedArguments(last) ? last : {}
  const positional = isNamedArguments(last) ? args.slice(0, -1) : args
  const { positional: parameters, kernel } = signature
  if (positional.length > parameters.length) {
    const takes = parameters.map(({ name }) => name).join(', ')
    refuseCall(kernel, [
      `${positional.length} positional arguments were given, but it takes ${parameters.length}: (${takes}); outputs of your own are passed by name`,
    ])
  }
  const given = new Map<string, unknown>()
  positional.forEach((argument, k) => given.set(parameters[k]!.name, argument))
  const twice = Object.keys(named).filter((name) => given.has(name))
  if (twice.length > 0)
    refuseCall(
      kernel,
      twice.map((name) => `'${name}' was given twice, by position and by name`),
    )
  for (const [name, argument] of Object.entries(named)) if (argument !== undefined) given.set(name, argument)
  return given
}
