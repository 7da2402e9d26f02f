// The Jacobian of one output by one input, sample by sample: a graph with a plane of all partial derivatives, by forward sweeps along
// each component of the input that share what they compute of the primal.
import { HarrierError } from '../errors.ts'
import { createBuilder } from '../ir/build.ts'
import type { Graph } from '../ir/graph.ts'
import { rebuild } from '../ir/rebuild.ts'
import { isFloat } from '../ir/types.ts'
import { sweepForward } from './forward.ts'
import { chooseInputs, createDerivedPlanes, primalPlanes, type Derivative, type DerivativeOptions } from './planes.ts'
import { materialise } from './product.ts'

export interface JacobianOptions extends Omit<DerivativeOptions, 'wrt'> {
  /** Name of the output: values of each sample. */
  readonly output: string
  /** Name of the input: values of each sample, or one number for all samples. */
  readonly wrt: string
}

/**
 * Planes: the inputs of the primal, then `d_<output>_d_<input>` with m·n components, component r·n + c being ∂output[r]/∂input[c].
 * @throws HarrierError E_DERIVATIVE where the output or the input is none, or is shared by samples
 */
export function jacobian(graph: Graph, { output, wrt, ...options }: JacobianOptions): Derivative {
  const { kernel = 'kernel' } = options
  const planes = primalPlanes(graph, options.mutables)
  const [input] = chooseInputs('jvp', planes, { ...options, wrt: [wrt] })
  const found = planes.find(
    ({ name, isOutput, role, type }) => name === output && isOutput && role === 'sample' && isFloat(type),
  )
  if (!found || input!.role === 'table') {
    const candidates = planes.filter(({ isOutput, role, type }) => isOutput && role === 'sample' && isFloat(type))
    const problem = found
      ? `wrt '${wrt}' is a table, whose entries samples share; use vjp for it`
      : `'${output}' is no float output of each sample; those are: ${candidates.map(({ name }) => name).join(', ') || 'none'}`
    throw new HarrierError('E_DERIVATIVE', `jacobian of kernel '${kernel}': ${problem}`)
  }
  const b = createBuilder()
  const derived = createDerivedPlanes(b)
  planes.filter(({ isInput }) => isInput).forEach(derived.declarePrimal)
  const [rows, columns] = [found.components, input!.components]
  const plane = derived.declare('jacobian', found, (mark) => `d${mark}_${output}_d_${wrt}`, {
    role: 'sample',
    type: found.type,
    components: rows * columns,
  })
  const mask = planes.find(({ role }) => role === 'mask')
  const finished = mask && b.load(derived.primalNumber(mask.number), 0)
  for (let column = 0; column < columns; column++) {
    sweepForward(graph, {
      kernel,
      b,
      plane: derived.primalNumber,
      moves: (leaf) =>
        (leaf.op === 'uniform' && leaf.plane === input!.number) ||
        (leaf.op === 'load' && leaf.plane === input!.number && leaf.component === column),
      seed: (leaf) => b.const(leaf.type, 1),
      effect(effect, operands, tangent) {
        if (effect.plane !== found.number) return
        const value = materialise(b, tangent, operands[0]!)
        const kept = finished ? b.select(finished, b.zero(value.type), value) : value
        b.store(plane, effect.component * columns + column, kept)
      },
    })
  }
  return { graph: rebuild(b.finishGraph()), planes: derived.planes }
}
