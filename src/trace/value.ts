// What stands behind a symbolic value at run time: a frozen object whose prototype is that of its form and whose state is reached through a
// symbol. Aggregates exist only here: a vector is a list of SSA values, one a component, a matrix the same row by row.
// Invariant: a component is asked for when it is used, so that a mutable gives its content of that moment and unused planes are not loaded.
import type { Value } from '../ir/graph.ts'
import { HarrierError } from '../errors.ts'
import { STATE } from './brands.ts'
import type { ConditionRecord } from './conditions.ts'
import { isCurrent, refusal, type Scope, type Trace } from './context.ts'
import { headOf, type ElementType, type Head } from './kinds.ts'

export interface ValueState {
  readonly sort: 'value'
  readonly trace: Trace
  readonly scope: Scope
  readonly head: Head
  /** The expression that made it, shortened, for messages: `x`, `x.mul(2)`. */
  readonly label: string
  /** Component number k, row-major. */
  component(k: number): Value
  /** Set where the value is a parameter's own. */
  readonly parameter?: string
  /** Set by `named`. */
  readonly outputName?: string
  /** Set for a condition that a call made and that must be used. */
  readonly condition?: ConditionRecord
}

/** A parameter that is no value: a table, accumulator, reduction or mask. */
export interface HandleState {
  readonly sort: 'handle'
  readonly trace: Trace
  readonly parameter: string
  readonly label: string
  /** As in a definition: `Table(Scalar)`. */
  readonly text: string
  /** How the body uses it: `t.at(i)`. */
  readonly usage: string
  /** Plane of a reduction, which the body may return. */
  readonly reduction?: { readonly plane: number; readonly head: Head }
}

export interface Traced {
  readonly [STATE]: ValueState
}
export interface Handle {
  readonly [STATE]: HandleState
}

const stateOf = (value: unknown): ValueState | HandleState | undefined =>
  typeof value === 'object' && value !== null ? (value as { [STATE]?: ValueState | HandleState })[STATE] : undefined

export const isTraced = (value: unknown): value is Traced => stateOf(value)?.sort === 'value'
export const isHandle = (value: unknown): value is Handle => stateOf(value)?.sort === 'handle'

export type Form = 'scalar' | 'vector' | 'quaternion' | 'matrix'

export const formOf = ({ shape, quaternion }: Head): Form =>
  quaternion ? 'quaternion' : shape.length === 0 ? 'scalar' : shape.length === 1 ? 'vector' : 'matrix'

/** The prototype of each form for a head; the files of the forms fill this in. */
const prototypes = new Map<Form, (head: Head) => object>()

export const setPrototype = (form: Form, prototype: (head: Head) => object): void =>
  void prototypes.set(form, prototype)

type ValueParts = Omit<ValueState, 'sort' | 'scope'>

/** Makes a value in the region that is open. `extra` are own members, as a mutable has. */
export function makeValue(parts: ValueParts, extra: Readonly<Record<string, unknown>> = {}): Traced {
  const state: ValueState = { sort: 'value', scope: parts.trace.scope, ...parts }
  const prototype = prototypes.get(formOf(parts.head))!(parts.head)
  const value: Traced = Object.assign(Object.create(prototype) as object, extra, { [STATE]: state })
  return Object.freeze(value)
}

/** Makes a value of known components. */
export const makeFromComponents = (
  trace: Trace,
  head: Head,
  components: readonly Value[],
  label: string,
  condition?: ConditionRecord,
): Traced =>
  makeValue({
    trace,
    head,
    label,
    component: (k) => components[k]!,
    ...(condition ? { condition } : {}),
  })

export const makeScalar = (trace: Trace, value: Value, label: string): Traced =>
  makeFromComponents(trace, headOf(value.type as ElementType, []), [value], label)

/** The state of a value, in reach of where `call` stands. */
export function reach(value: Traced, call: string): ValueState {
  const state = value[STATE]
  const { trace, scope } = state
  if (scope.isOpen && isCurrent(trace)) return state
  if (scope.construct === undefined || !isCurrent(trace)) {
    throw new HarrierError(
      'E_DEFINITION',
      `${call}: ${state.label} belongs to kernel '${trace.kernel}'; a traced value exists only inside the body that made it`,
    )
  }
  throw refusal(
    trace,
    'E_CONTROL_FLOW',
    `${call}: ${state.label} was made inside ${scope.construct}() and does not exist outside; return it from the function given to ${scope.construct}() to carry it out`,
  )
}

/** The state of a value that an operation consumes. */
export function use(value: Traced, call: string): ValueState {
  const state = reach(value, call)
  if (state.condition) state.condition.isUsed = true
  return state
}

export const componentsOf = ({ head, component }: ValueState): readonly Value[] =>
  Array.from({ length: head.components }, (_, k) => component(k))

// Words for messages -----------------------------------------------------------------------------------------------------------------

const ELEMENT_TEXT: Record<ElementType, readonly [one: string, many: string]> = {
  f64: ['Scalar', ''],
  i32: ['Index', ' of integers'],
  bool: ['condition', ' of conditions'],
}

/** What a head is called: `Scalar`, `Vector(3)`, `Matrix(2, 2) of conditions`. */
export function headText({ type, shape, quaternion }: Head): string {
  if (quaternion) return 'Quat'
  const [one, many] = ELEMENT_TEXT[type]
  return shape.length === 0 ? one : `${shape.length === 1 ? 'Vector' : 'Matrix'}(${shape.join(', ')})${many}`
}

/** With its article: `a Scalar`, `an Index`. */
export const withArticle = (noun: string): string => `${/^[AEIOU]/.test(noun) ? 'an' : 'a'} ${noun}`

/** What a message calls any operand. */
export function show(value: unknown): string {
  const state = stateOf(value)
  if (state)
    return state.sort === 'value' ? `${state.label} (${headText(state.head)})` : `${state.label} (${state.text})`
  if (typeof value === 'string') return `the string '${value}'`
  if (typeof value === 'function') return value.name === '' ? 'a function' : `the function ${value.name}`
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'bigint') return `the BigInt ${value}n`
  if (typeof value !== 'object' || value === null) return String(value)
  const { constructor } = value
  return constructor === Object || constructor === undefined ? 'an object' : `a ${constructor.name}`
}

const LONGEST_LABEL = 32

/** How an operand is written inside a longer expression. */
export function labelOf(value: unknown): string {
  const label = isTraced(value)
    ? value[STATE].label
    : typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : '…'
  return label.length > LONGEST_LABEL ? '…' : label
}

/** The text of a call as method of its first operand, or as function. */
export function callLabel(name: string, operands: readonly unknown[], asMethod: boolean): string {
  const labels = operands.map(labelOf)
  if (!asMethod) return `${name}(${labels.join(', ')})`
  const [receiver, ...rest] = labels
  return `${receiver === '…' ? '(…)' : receiver}.${name}(${rest.join(', ')})`
}
