// Vectors: components by name, number and destructuring, `vec`, `dot`, `cross`, `norm`, `outer`.
import type { Builder } from '../ir/build.ts'
import type { Value } from '../ir/graph.ts'
import { STATE } from './brands.ts'
import { refusal, type Trace } from './context.ts'
import { headOf, type ElementType } from './kinds.ts'
import { dotProduct } from './linearAlgebra.ts'
import { componentsAs, operation, requireValue, type OperationInput } from './operation.ts'
import { commonType, componentAs, readOperands, type Item } from './promote.ts'
import { elementwiseMethods } from './scalar.ts'
import {
  callLabel,
  labelOf,
  makeFromComponents,
  makeScalar,
  setPrototype,
  use,
  type Traced,
  type ValueState,
} from './value.ts'
import type {
  Element,
  ElementOf,
  Make,
  Matrix,
  Promote,
  Scalar,
  ScalarOperand,
  SymbolicValue,
  Vector,
} from './values.ts'

// Components -------------------------------------------------------------------------------------------------------------------------

/** Component k as it is now, also of a mutable. */
export function componentOf(value: Traced, k: number, member: string): Traced {
  const state = use(value, member)
  const receiver = labelOf(value)
  const label = /^[0-9]+$/.test(member) ? `${receiver}[${member}]` : `${receiver}.${member}`
  return makeScalar(state.trace, state.component(k), label)
}

/** The candidate whose number the index is; NaN, 0 or false where it is none. */
export function selectByIndex(b: Builder, index: Value, candidates: readonly Value[]): Value {
  const { type } = candidates[0]!
  const outside = type === 'f64' ? b.const('f64', NaN) : b.zero(type)
  return candidates.reduceRight(
    (rest, candidate, k) => b.select(b.eq(index, b.const('i32', k)), candidate, rest),
    outside,
  )
}

/** A plain index, checked against its range, or an int32 value. */
export function readIndex(trace: Trace, call: string, index: Item, extent: number, what: string): number | Value {
  const { literal } = index
  if (literal === undefined) {
    commonType(trace, call, [index], 'integer')
    return componentAs(trace, index, 0, 'i32')
  }
  if (typeof literal === 'number' && Number.isInteger(literal) && literal >= 0 && literal < extent) return literal
  throw refusal(trace, 'E_TYPE', `${call}: there is no ${what} ${literal}; they are numbered 0 to ${extent - 1}`)
}

export const requireOneNumber = (input: OperationInput, item: Item, expected: string): Item => {
  if (item.state) requireValue(input, item, ({ head }) => head.shape.length === 0, expected)
  return item
}

const at = operation('at', 2, (input) => {
  const { trace, name, label, items } = input
  const [vector, index] = items as [Item, Item]
  const state = requireValue(input, vector, ({ head }) => head.shape.length === 1, 'a vector')
  requireOneNumber(input, index, 'one index')
  const k = readIndex(trace, name, index, state.head.components, 'component')
  const value =
    typeof k === 'number'
      ? state.component(k)
      : selectByIndex(trace.builder, k, componentsAs(trace, state, state.head.type))
  return makeScalar(trace, value, label)
})

/** Members for reaching `width` components by number, by `names` (those beyond the width are refused) and by iteration. */
export function componentMembers(width: number, names: readonly string[]): object {
  const members = { ...elementwiseMethods, at: at.method, dot: dotOperation.method, norm: normOperation.method }
  const getter = (k: number, member: string): PropertyDescriptor => ({
    get(this: Traced) {
      if (k < width) return componentOf(this, k, member)
      const { trace, label } = this[STATE]
      throw refusal(trace, 'E_TYPE', `${label}.${member}: ${label} has ${width} component${width === 1 ? '' : 's'}`)
    },
  })
  const accessors = Object.fromEntries([
    ...Array.from({ length: width }, (_, k) => [k, getter(k, String(k))] as const),
    ...names.map((name, k) => [name, getter(k, name)] as const),
  ])
  return Object.create(members, {
    ...accessors,
    length: { value: width },
    [Symbol.iterator]: {
      *value(this: Traced) {
        for (let k = 0; k < width; k++) yield componentOf(this, k, String(k))
      },
    },
  }) as object
}

// Products ---------------------------------------------------------------------------------------------------------------------------

const isList = ({ head }: ValueState): boolean => head.shape.length === 1

/** Two vectors of one width, their components in the common type. */
function vectorPair(input: OperationInput, fits: (state: ValueState) => boolean, expected: string) {
  const { trace, items, name } = input
  const [x, y] = items.map((item) => requireValue(input, item, fits, expected)) as [ValueState, ValueState]
  if (x.head.components !== y.head.components || x.head.quaternion !== y.head.quaternion) {
    throw refusal(
      trace,
      'E_TYPE',
      `${name}: ${x.label} has ${x.head.components} components and ${y.label} ${y.head.components}; they must be equally many`,
    )
  }
  return bothAs(trace, name, x, y)
}

/** Components of two values in their common type. */
export function bothAs(trace: Trace, call: string, x: ValueState, y: ValueState) {
  const type = commonType(trace, call, [{ state: x }, { state: y }], 'number')
  return { type, x: componentsAs(trace, x, type), y: componentsAs(trace, y, type) }
}

const dotOperation = operation<
  <
    A extends SymbolicValue<Element, readonly [number] | 'quat'>,
    B extends SymbolicValue<Element, A extends SymbolicValue<Element, infer S> ? S : never>,
  >(
    a: A,
    b: B,
  ) => Make<Promote<ElementOf<A>, ElementOf<B>>, 'number'>
>('dot', 2, (input) => {
  const { x, y } = vectorPair(input, isList, 'a vector')
  return makeScalar(input.trace, dotProduct(input.trace.builder, x, y), input.label)
})

const crossOperation = operation<
  <A extends SymbolicValue<Element, readonly [3]>, B extends SymbolicValue<Element, readonly [3]>>(
    a: A,
    b: B,
  ) => Vector<3, Promote<ElementOf<A>, ElementOf<B>>>
>('cross', 2, (input) => {
  const b = input.trace.builder
  const isThree = (state: ValueState) => isList(state) && !state.head.quaternion && state.head.components === 3
  const { type, x, y } = vectorPair(input, isThree, 'a Vector(3)')
  const component = (i: number, j: number) => b.sub(b.mul(x[i]!, y[j]!), b.mul(x[j]!, y[i]!))
  return makeFromComponents(
    input.trace,
    headOf(type, [3]),
    [component(1, 2), component(2, 0), component(0, 1)],
    input.label,
  )
})

const normOperation = operation<(v: SymbolicValue<Element, readonly [number] | 'quat'>) => Scalar>(
  'norm',
  1,
  (input) => {
    const { trace, label } = input
    const b = trace.builder
    const state = requireValue(input, input.items[0]!, isList, 'a vector')
    const x = componentsAs(trace, state, 'f64')
    const square = dotProduct(b, x, x)
    // Taking the root only of what is above 0 gives the zero vector the gradient 0; 0 and NaN are their own roots.
    const root = b.select(b.lt(b.const('f64', 0), square), b.sqrt(square), square)
    return makeScalar(trace, root, label)
  },
)

const outerOperation = operation<
  <R extends number, C extends number, E extends Element, F extends Element>(
    a: SymbolicValue<E, readonly [R]>,
    b: SymbolicValue<F, readonly [C]>,
  ) => Matrix<R, C, Promote<E, F>>
>('outer', 2, (input) => {
  const { trace, label, items } = input
  const [left, right] = items.map((item) => requireValue(input, item, isList, 'a vector')) as [ValueState, ValueState]
  const { type, x, y } = bothAs(trace, input.name, left, right)
  const rows = x.map((value) => y.map((other) => trace.builder.mul(value, other)))
  return makeFromComponents(trace, headOf(type, [x.length, y.length]), rows.flat(), label)
})

/** Scalar product of two vectors of one width, or of two quaternions as 4-vectors. */
export const dot = dotOperation.free

/** Vector product of two 3-vectors. */
export const cross = crossOperation.free

/** Euclidean length √Σx², of a quaternion too; its gradient at the zero vector is 0. */
export const norm = normOperation.free

/** Matrix of all products a[r]·b[c]. */
export const outer = outerOperation.free

// Building ---------------------------------------------------------------------------------------------------------------------------

type ElementOfAll<C extends readonly ScalarOperand[]> = [ElementOf<C[number]>] extends ['condition']
  ? 'condition'
  : Promote<ElementOf<C[number]>, ElementOf<C[number]>>

/** A vector of its components, in their common type: `vec(1, x, i)`. */
export function vec<const C extends readonly [ScalarOperand, ...ScalarOperand[]]>(
  ...components: C
): Vector<C['length'], ElementOfAll<C>>
export function vec(...components: unknown[]): unknown {
  const { trace, items } = readOperands('vec', components)
  if (items.length === 0) throw refusal(trace, 'E_TYPE', 'vec: a vector has at least one component, as in vec(x, y, 0)')
  const label = callLabel('vec', components, false)
  for (const item of items) requireOneNumber({ trace, items, name: 'vec', label }, item, 'one number a component')
  const type: ElementType = commonType(trace, 'vec', items, 'any')
  return makeFromComponents(
    trace,
    headOf(type, [items.length]),
    items.map((item) => componentAs(trace, item, 0, type)),
    label,
  )
}

const NAMES = ['x', 'y', 'z', 'w'] as const
const vectorMembers = new Map<number, object>()

/** The prototype of vectors of one width. */
function vectorPrototype(width: number): object {
  const known = vectorMembers.get(width)
  if (known) return known
  const made = Object.create(componentMembers(width, NAMES), {
    cross: { value: crossOperation.method },
  }) as object
  vectorMembers.set(width, made)
  return made
}

setPrototype('vector', ({ components }) => vectorPrototype(components))
