// `vjp` and `jvp` of a kernel: the graph transforms of src/diff as kernels like any other.
import { HarrierError } from '../../errors.ts'
import { jvp as forwardDerivative } from '../../diff/jvp.ts'
import { vjp as reverseDerivative, type VjpOptions as GraphOptions } from '../../diff/vjp.ts'
import type { TracedKernel } from '../../trace/traced.ts'
import type { Parameters } from '../../trace/types.ts'
import type { Kernel } from '../callTypes.ts'
import { createCallable } from '../callable.ts'
import { INTERNALS, isKernel, type HasInternals } from '../internals.ts'
import { derivedKernel } from './derivedKernel.ts'
import type { Adjoints, DerivativeKernel, FloatInputs, Results } from './types.ts'

export interface JvpOptions {
  /** Names of the float inputs to differentiate by; absent: all. */
  readonly wrt?: readonly string[]
  /** Name of the derivative, for messages, logs and artifacts; absent: `<kernel>_vjp` or `<kernel>_jvp`. */
  readonly name?: string
}

export interface VjpOptions extends JvpOptions {
  /** Gives the contribution of each sample to the adjoint of a `Param`, a plane, instead of their sum. */
  readonly perSample?: boolean
  /**
   * How loops remember the values that the adjoints need: every iteration ('full'), or about 2·√iterations of them while the body runs
   * once more ('checkpoints'). Absent: checkpoints for loops of more than 256 iterations.
   */
  readonly tape?: 'full' | 'checkpoints'
}

interface OptionRule {
  readonly fits: (value: unknown) => boolean
  readonly expected: string
}

/** What each option of a derivative takes. */
export const OPTION_RULES: Record<keyof VjpOptions | 'of', OptionRule> = {
  of: { fits: (value) => typeof value === 'string', expected: 'the name of an output' },
  wrt: {
    fits: (value) => Array.isArray(value) && value.every((name) => typeof name === 'string'),
    expected: "an array of names, as in ['x']",
  },
  name: { fits: (value) => typeof value === 'string' && value !== '', expected: 'a name' },
  perSample: { fits: (value) => typeof value === 'boolean', expected: 'true or false' },
  tape: { fits: (value) => value === 'full' || value === 'checkpoints', expected: "'full' or 'checkpoints'" },
}

/** Checks what a caller gave, and gives the record of the kernel. */
export function tracedOf(
  call: string,
  kernel: unknown,
  options: object,
  known: Readonly<Record<string, OptionRule>>,
): TracedKernel {
  if (!isKernel(kernel)) {
    throw new HarrierError('E_DERIVATIVE', `${call}: expected a kernel, as kernel() gives it, found ${String(kernel)}`)
  }
  const { traced } = kernel[INTERNALS]
  for (const [name, value] of Object.entries(options)) {
    const rule = Object.hasOwn(known, name) ? known[name] : undefined
    const problem = !rule
      ? `there is no option '${name}'; the options are ${Object.keys(known).join(', ')}`
      : value === undefined || rule.fits(value)
        ? undefined
        : `option ${name} is ${String(value)}, expected ${rule.expected}`
    if (problem) throw new HarrierError('E_OPTION', `${call} of kernel '${traced.name}': ${problem}`)
  }
  return traced
}

/** What src/diff asks for, from what the user asked for. */
export function graphOptions(
  traced: TracedKernel,
  { wrt, perSample, tape }: Pick<VjpOptions, 'wrt' | 'perSample' | 'tape'>,
): GraphOptions {
  return {
    kernel: traced.name,
    mutables: traced.parameters.filter(({ kind }) => kind.role === 'mutable').map(({ name }) => name),
    ...(wrt === undefined ? {} : { wrt }),
    ...(perSample === undefined ? {} : { perSample }),
    ...(tape === undefined ? {} : { tape }),
  }
}

/**
 * The reverse derivative (vector-Jacobian product) of a kernel, as a kernel.
 * It takes every input of the kernel in declared order (those that its graph does not read may be left out), `<name>_at` for each max or
 * min reduction, then a seed `bar_<slot>` for each float output (`bar_<name>_out` for a mutable; one number for a reduction; a table for
 * an accumulator). It gives `{ bar_<input>: … }`: a plane like the input, the sum over samples for a `Param`, and for a `Table` an
 * accumulator as long as it, that contributions are added to.
 * @throws E_DERIVATIVE where `wrt` names no float input, there is no rule, or a loop has no bound
 */
export function vjp(kernel: DerivativeKernel<Results>, options?: VjpOptions): DerivativeKernel
export function vjp<
  P extends Parameters,
  R,
  const W extends FloatInputs<P> = FloatInputs<P>,
  PerSample extends boolean = false,
>(
  kernel: Kernel<P, R>,
  options?: VjpOptions & { readonly wrt?: readonly W[]; readonly perSample?: PerSample },
): DerivativeKernel<Adjoints<P, W, PerSample>>
export function vjp(kernel: HasInternals, options?: VjpOptions): DerivativeKernel
export function vjp(kernel: HasInternals, options: VjpOptions = {}): unknown {
  const { wrt, name: named, perSample, tape } = OPTION_RULES
  const traced = tracedOf('vjp', kernel, options, { wrt, name: named, perSample, tape })
  const derivative = reverseDerivative(traced.graph, graphOptions(traced, options))
  const name = options.name ?? `${traced.name}_vjp`
  return createCallable(derivedKernel(traced, derivative, { name }), kernel[INTERNALS].options)
}

/**
 * The forward derivative (Jacobian-vector product) of a kernel, as a kernel.
 * It takes every input of the kernel in declared order, then `dot_<input>` for each input of `wrt`, and gives `{ dot_<output>: … }`
 * (`dot_<name>_out` for a mutable). The tangent of an accumulator is an accumulator of the caller's, `dot_<name>`.
 * @throws E_DERIVATIVE where `wrt` names no float input, or there is no rule
 */
export function jvp(kernel: HasInternals, options: JvpOptions = {}): DerivativeKernel {
  const { wrt, name: named } = OPTION_RULES
  const traced = tracedOf('jvp', kernel, options, { wrt, name: named })
  const derivative = forwardDerivative(traced.graph, graphOptions(traced, options))
  const name = options.name ?? `${traced.name}_jvp`
  return createCallable(derivedKernel(traced, derivative, { name }), kernel[INTERNALS].options) as DerivativeKernel
}
