// `hvp`: the Hessian of a scalar output times a direction, by forward mode over reverse mode.
import { jvp as forwardDerivative } from '../../diff/jvp.ts'
import { planesFor } from '../../diff/planes.ts'
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
  const adjoints = planesFor(first, 'adjoint')
  const nameOf = (plane: number) => traced.graph.planes[plane]!.name
  const second = forwardDerivative(first.graph, {
    kernel: gradient.name,
    mutables: [],
    wrt: adjoints.map(({ of: input }) => nameOf(input)),
  })
  const products = planesFor(second, 'outputTangent')
  const returned = (slotOf: (name: string) => Returned): Returned => ({
    form: 'object',
    entries: adjoints.map(({ number, of: input }) => {
      const product = products.find(({ of: adjoint }) => adjoint === number)!
      return [nameOf(input), slotOf(product.name)] as const
    }),
  })
  const product = createCallable(derivedKernel(gradient, second, { name: `${traced.name}_hvp`, returned }), own)
  const tangentOf = new Map(
    planesFor(second, 'tangent').map(({ name, of: input }) => [first.graph.planes[input]!.name, name]),
  )
  const [winner] = planesFor(first, 'winner')
  const find = winner && winnerFinder(traced, own)
  return (planes: NamedPlanes, directions: NamedPlanes) => {
    const tangents = Object.fromEntries(
      // A direction of no input keeps the name that its tangent would have, for the call to refuse it by.
      Object.entries(directions).map(([name, plane]) => [tangentOf.get(name) ?? `dot_${name}`, plane]),
    )
    const won = find ? { [winner.name]: find(planes).winners.get(of) } : {}
    return product({ ...planes, ...won, ...tangents })
  }
}
