// `named`: gives a returned value its output name wherever it stands.
import { currentTrace, refusal } from './context.ts'
import { headOf } from './kinds.ts'
import { isIdentifier } from './names.ts'
import { constantOf } from './promote.ts'
import { componentsOf, isTraced, makeFromComponents, makeValue, reach, show, type Traced } from './value.ts'
import type { ElementOf, Make, ShapeOf, SymbolicValue } from './values.ts'

declare const NAME: unique symbol

/** The mark, in types only, that a value has an output name. */
export interface NameMark<N extends string> {
  readonly [NAME]: N
}

/** A value that carries its output name in its type. */
export type Named<N extends string, V> = V & NameMark<N>

/** The value, to be called `name` where it is returned: `return [named('up', x.add(1)), x.mul(2)]`. */
export function named<const N extends string, V extends SymbolicValue | number | boolean>(
  name: N,
  value: V,
): Named<N, V extends SymbolicValue ? V : Make<ElementOf<V> extends 'condition' ? 'condition' : 'float', ShapeOf<V>>>
export function named(name: unknown, value: unknown): Traced {
  const trace = currentTrace('named()')
  if (typeof name !== 'string' || !isIdentifier(name)) {
    const found = typeof name === 'string' ? `'${name}'` : show(name)
    throw refusal(
      trace,
      'E_NAME',
      `named: ${found} is no valid name; names are letters, digits and _, not starting with a digit`,
    )
  }
  if (isTraced(value)) {
    const state = reach(value, 'named')
    const components = componentsOf(state)
    return makeValue({
      trace,
      head: state.head,
      label: state.label,
      component: (k) => components[k]!,
      outputName: name,
      ...(state.condition ? { condition: state.condition } : {}),
    })
  }
  if (typeof value === 'number' || typeof value === 'boolean') {
    const type = typeof value === 'boolean' ? 'bool' : 'f64'
    const constant = makeFromComponents(trace, headOf(type, []), [constantOf(trace, value, type)], String(value))
    return named(name, constant as unknown as SymbolicValue) as unknown as Traced
  }
  throw refusal(trace, 'E_TYPE', `named('${name}', …): found ${show(value)}, expected one traced value or number`)
}
