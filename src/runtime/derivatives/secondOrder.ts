// `hvp`: the Hessian of a scalar output times a direction, by forward mode over reverse mode.
import { jvp as forwardDerivative } from '../../diff/jvp.ts'
import { vjp as reverseDerivative } from '../../diff/vjp.ts'
import type { Parameters } from '../../trace/types.ts'
import type { Returned } from '../../trace/traced.ts'
import type { Kernel } from '../callTypes.ts'
import { createCallable } from '../callable.ts'
import { INTERNALS, type HasInternals } from '../internals.ts'
import { derivedKernel } from './derivedKernel.ts'
import { scalarOutput, type GradientOptions } from './gradients.ts'
import { graphOptions, OPTION_RULES, tracedOf } from './transforms.ts'
import type { FloatInputs, HessianProduct } from './types.ts'
import { winnerFinder, type NamedPlanes } from './winners.ts'

/**
 * Products of the Hessian of a scalar output with a direction: a function `(planes, directions)`, both by name, that gives
 * `{ <input>: … }`. `directions` holds one entry, like the input, for each input of `wrt`.
 * @throws E_DERIVATIVE as grad does
 */
export function hvp<P extends Parameters, R, const W extends FloatInputs<P> = FloatInputs<P>>(
  kernel: Kernel<P, R>,
  options?: GradientOptions<W>,
): HessianProduct<P, W>
export function hvp(kernel: HasInternals, options: GradientOptions = {}): unknown {
  const { of: output, wrt, tape } = OPTION_RULES
  const traced = tracedOf('hvp', kernel, options, { wrt, tape, of: output })
  const own = kernel[INTERNALS].options
  const of = scalarOutput('hvp', traced, options.of)
  const first = reverseDerivative(traced.graph, { ...graphOptions(traced, options), output: of })
  const gradient = derivedKernel(traced, first, { name: `${traced.name}_grad` })
  const names = first.planes.flatMap(({ purpose, of: plane }) =>
    purpose === 'adjoint' ? [traced.graph.planes[plane]!.name] : [],
  )
  const second = forwardDerivative(first.graph, { kernel: gradient.name, mutables: [], wrt: names })
  const returned = (slotOf: (name: string) => Returned): Returned => ({
    form: 'object',
    entries: names.map((name) => [name, slotOf(`dot_bar_${name}`)] as const),
  })
  const product = createCallable(derivedKernel(gradient, second, { name: `${traced.name}_hvp`, returned }), own)
  const isSelecting = first.planes.some(({ purpose }) => purpose === 'winner')
  const find = isSelecting ? winnerFinder(traced, own) : undefined
  return (planes: NamedPlanes, directions: NamedPlanes) => {
    const tangents = Object.fromEntries(Object.entries(directions).map(([name, plane]) => [`dot_${name}`, plane]))
    const winner = find ? { [`${of}_at`]: find(planes)[`${of}_at`] } : {}
    return product({ ...planes, ...winner, ...tangents })
  }
}
