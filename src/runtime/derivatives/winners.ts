// Which sample won each `max` and `min` reduction: what the derivatives of such reductions take as `<name>_at`.
import { reductionValues, winners as winnersOfGraph } from '../../diff/winners.ts'
import { planesFor } from '../../diff/planes.ts'
import type { TracedKernel } from '../../trace/traced.ts'
import { nameArguments } from '../arguments.ts'
import { createCallable } from '../callable.ts'
import { INTERNALS, type HasInternals } from '../internals.ts'
import type { CallOptions } from '../options.ts'
import { signatureOf, type Signature } from '../signature.ts'
import { derivedKernel } from './derivedKernel.ts'
import { graphOptions, tracedOf } from './transforms.ts'

export type NamedPlanes = Readonly<Record<string, unknown>>

/** What the `max` and `min` reductions of a call gave. */
interface Found {
  /** All of it by the names of slots, as `winners` gives it. */
  readonly named: NamedPlanes
  /** The samples that they came from, by the names of the reductions. */
  readonly winners: ReadonlyMap<string, unknown>
}

/** Finds the winners for arguments by name; undefined where the kernel has no such reduction. */
export function winnerFinder(traced: TracedKernel, options: CallOptions): ((planes: NamedPlanes) => Found) | undefined {
  const derivative = winnersOfGraph(traced.graph, graphOptions(traced, {}))
  if (!derivative) return undefined
  const values = createCallable(
    derivedKernel(traced, reductionValues(traced.graph, graphOptions(traced, {})), { name: `${traced.name}_values` }),
    options,
  )
  const samples = createCallable(derivedKernel(traced, derivative, { name: `${traced.name}_winners` }), options)
  const slots = planesFor(derivative, 'winner')
  return (planes) => {
    const results = values(planes) as NamedPlanes
    const won = samples({ ...planes, ...results }) as NamedPlanes
    return {
      named: { ...results, ...won },
      winners: new Map(slots.map(({ name, of }) => [traced.graph.planes[of]!.name, won[name]])),
    }
  }
}

/** The arguments of a call that the derivatives of its kernel take, by name. */
export const inputsByName = (signature: Signature, args: readonly unknown[]): NamedPlanes =>
  Object.fromEntries(nameArguments(signature, args))

/**
 * The `max` and `min` reductions of a kernel together with the samples that they came from: a function that takes what the kernel takes
 * and gives `{ <name>: …, <name>_at: … }`. `<name>_at` is the number of the first sample that contributed the result.
 * Other outputs are not written, mutables stay as they are.
 * @throws E_DERIVATIVE where there is no kernel
 */
export function winners(kernel: HasInternals): (...planes: readonly unknown[]) => NamedPlanes {
  const traced = tracedOf('winners', kernel, {}, {})
  const find = winnerFinder(traced, kernel[INTERNALS].options)
  const signature = signatureOf(traced)
  return (...args) => find?.(inputsByName(signature, args)).named ?? {}
}
