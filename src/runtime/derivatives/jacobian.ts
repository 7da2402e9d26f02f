// `jacobian`: all partial derivatives of one output by one input, sample by sample.
import { jacobian as jacobianOfGraph } from '../../diff/jacobian.ts'
import { planesFor } from '../../diff/planes.ts'
import type { Parameters } from '../../trace/types.ts'
import type { Kernel } from '../callTypes.ts'
import { createCallable } from '../callable.ts'
import { INTERNALS, type HasInternals } from '../internals.ts'
import { derivedKernel } from './derivedKernel.ts'
import { graphOptions, OPTION_RULES, tracedOf } from './transforms.ts'
import type { DerivativeValue, FloatInputs } from './types.ts'

export interface JacobianOptions<W extends string = string> {
  /** Name of an output with values of each sample; its positional name does, too. */
  readonly of: string
  /** Name of a float input: values of each sample, or a `Param`. */
  readonly wrt: W
}

/**
 * The Jacobian of an output by an input: a function that takes what the kernel takes and gives a plane whose sample holds
 * ∂output[r]/∂input[c]. Its shape is that of the output's sample, then one axis over the components of the input (none for a number),
 * then the samples. Meant for a few components: it costs one forward sweep for each component of the input.
 * @throws E_DERIVATIVE where the output or the input is none, or is shared by samples
 */
export function jacobian<P extends Parameters, R, const W extends FloatInputs<P>>(
  kernel: Kernel<P, R>,
  options: JacobianOptions<W>,
): (...planes: readonly unknown[]) => DerivativeValue
export function jacobian(kernel: HasInternals, options: JacobianOptions): unknown {
  const named = { fits: (value: unknown) => typeof value === 'string', expected: 'a name' }
  const traced = tracedOf('jacobian', kernel, options, { of: OPTION_RULES.of, wrt: named })
  const { of, wrt } = options
  const slot = traced.outputs.find(
    ({ positionalName, positionalNameTaken }) => !positionalNameTaken && positionalName === of,
  )
  const output = slot?.name ?? of
  const { mutables } = graphOptions(traced, {})
  const derivative = jacobianOfGraph(traced.graph, {
    kernel: traced.name,
    output,
    wrt,
    ...(mutables ? { mutables } : {}),
  })
  const { name } = planesFor(derivative, 'jacobian')[0]!
  const returned = (slotOf: (name: string) => { form: 'slot'; slot: number }) => slotOf(name)
  return createCallable(
    derivedKernel(traced, derivative, { name: `${traced.name}_jacobian`, returned }),
    kernel[INTERNALS].options,
  )
}
