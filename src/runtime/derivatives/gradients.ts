// `grad` and `valueAndGrad`: the reverse derivative of one scalar output, with the adjoint 1 built in.
import { HarrierError } from '../../errors.ts'
import { planesFor, primalPlanes } from '../../diff/planes.ts'
import { vjp as reverseDerivative } from '../../diff/vjp.ts'
import { isFloat } from '../../ir/types.ts'
import type { Parameters } from '../../trace/types.ts'
import type { Returned, TracedKernel } from '../../trace/traced.ts'
import type { Kernel } from '../callTypes.ts'
import { createCallable } from '../callable.ts'
import { INTERNALS, type HasInternals } from '../internals.ts'
import { signatureOf } from '../signature.ts'
import { derivedKernel } from './derivedKernel.ts'
import { graphOptions, OPTION_RULES, tracedOf } from './transforms.ts'
import type { FloatInputs, Gradient, ValueAndGradient } from './types.ts'
import { inputsByName, winnerFinder } from './winners.ts'

export interface GradientOptions<W extends string = string> {
  /** Names of the float inputs to differentiate by; absent: all. */
  readonly wrt?: readonly W[]
  /** Name of the scalar output to differentiate; absent: the only one. */
  readonly of?: string
  /** How loops remember; see vjp. */
  readonly tape?: 'full' | 'checkpoints'
}

/** The plane name of the scalar output that a caller means. @throws E_DERIVATIVE where it is none, or there are several */
export function scalarOutput(call: string, traced: TracedKernel, of: string | undefined): string {
  const { mutables } = graphOptions(traced, {})
  const outputs = primalPlanes(traced.graph, mutables).filter(({ isOutput, type }) => isOutput && isFloat(type))
  const scalars = outputs.filter(({ components, role }) => components === 1 && role !== 'accumulator')
  const names = scalars.map(({ name }) => name).join(', ') || 'none'
  const refuse = (problem: string) =>
    new HarrierError(
      'E_DERIVATIVE',
      `${call} of kernel '${traced.name}': ${problem}; its scalar float outputs are: ${names}`,
    )
  if (of === undefined) {
    if (scalars.length === 1 && outputs.length === 1) return scalars[0]!.name
    throw refuse(
      `it has ${outputs.length === 1 ? 'one output, which is no scalar' : `${outputs.length} float outputs`}: name one with { of: … }, or use vjp`,
    )
  }
  const slot = traced.outputs.find(
    ({ name, positionalName, positionalNameTaken }) => name === of || (!positionalNameTaken && positionalName === of),
  )
  const found = scalars.find(({ name }) => name === (slot?.name ?? of))
  if (found) return found.name
  const isWide = outputs.some(({ name }) => name === (slot?.name ?? of))
  throw refuse(isWide ? `'${of}' is no scalar: use vjp or jacobian` : `'${of}' is no output`)
}

/** A function over the arguments of the primal that runs the gradient kernel. */
function gradientCall(call: string, kernel: HasInternals, options: GradientOptions, withValue: boolean) {
  const { of: output, wrt, tape } = OPTION_RULES
  const traced = tracedOf(call, kernel, options, { wrt, tape, of: output })
  const own = kernel[INTERNALS].options
  const of = scalarOutput(call, traced, options.of)
  const derivative = reverseDerivative(traced.graph, { ...graphOptions(traced, options), output: of, withValue })
  const adjoints = planesFor(derivative, 'adjoint')
  const [value] = planesFor(derivative, 'value')
  const returned = (slotOf: (name: string) => Returned): Returned => {
    const gradients: Returned = {
      form: 'object',
      entries: adjoints.map(({ name, of: input }) => [traced.graph.planes[input]!.name, slotOf(name)] as const),
    }
    if (!value) return gradients
    return { form: 'object', entries: [['value', slotOf(value.name)] as const, ['grad', gradients] as const] }
  }
  const gradient = createCallable(derivedKernel(traced, derivative, { name: `${traced.name}_${call}`, returned }), own)
  const [winner] = planesFor(derivative, 'winner')
  const find = winner && winnerFinder(traced, own)
  if (!winner || !find) return gradient
  const signature = signatureOf(traced)
  return (...args: readonly unknown[]) => {
    const planes = inputsByName(signature, args)
    return gradient({ ...planes, [winner.name]: find(planes).winners.get(of) })
  }
}

/**
 * The gradient of a scalar output: a function that takes what the kernel takes and gives `{ <input>: … }`, a plane for each input with one
 * entry a sample, the sum over samples for a `Param`, an array as long as the table for a `Table`.
 * Of an output with one value a sample it is that of each value by the inputs of its sample; of a `Reduce`, that of the one number.
 * @throws E_DERIVATIVE where the output is none or no scalar, where `wrt` names no float input, or as vjp does
 */
export function grad<P extends Parameters, R, const W extends FloatInputs<P> = FloatInputs<P>>(
  kernel: Kernel<P, R>,
  options?: GradientOptions<W>,
): Gradient<P, W>
export function grad(kernel: HasInternals, options: GradientOptions = {}): unknown {
  return gradientCall('grad', kernel, options, false)
}

/**
 * The value of a scalar output and its gradient in one pass: a function that takes what the kernel takes and gives
 * `{ value, grad: { <input>: … } }`.
 * @throws E_DERIVATIVE as grad does
 */
export function valueAndGrad<P extends Parameters, R, const W extends FloatInputs<P> = FloatInputs<P>>(
  kernel: Kernel<P, R>,
  options?: GradientOptions<W>,
): ValueAndGradient<P, R, W>
export function valueAndGrad(kernel: HasInternals, options: GradientOptions = {}): unknown {
  return gradientCall('valueAndGrad', kernel, options, true)
}
