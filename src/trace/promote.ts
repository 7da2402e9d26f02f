// Types of operands and literals: bool < i32 < float. An integer literal beside only integers is an i32; every other number literal takes
// the float type, also where only literals meet.
import type { Value } from '../ir/graph.ts'
import { STATE } from './brands.ts'
import { currentTrace, refusal, type Trace } from './context.ts'
import type { ElementType } from './kinds.ts'
import { isHandle, isTraced, show, use, type ValueState } from './value.ts'

/** An operand: a plain number or boolean, or a value in use. */
export type Item =
  | { readonly literal: number | boolean; readonly state?: undefined }
  | { readonly literal?: undefined; readonly state: ValueState }

/**
 * What an operation computes in.
 * number: integers or floats, two conditions as integers; any: conditions too; float, integer, condition: that type only.
 */
export type Domain = 'number' | 'any' | 'float' | 'integer' | 'condition'

/** The trace that operands belong to, and the operands as items. */
export function readOperands(call: string, operands: readonly unknown[]): { trace: Trace; items: readonly Item[] } {
  const trace = operands.find(isTraced)?.[STATE].trace ?? currentTrace(`${call}()`)
  const items = operands.map((operand, k): Item => {
    if (isTraced(operand)) return { state: use(operand, call) }
    if (typeof operand === 'number' || typeof operand === 'boolean') return { literal: operand }
    if (isHandle(operand)) {
      throw refusal(trace, 'E_TYPE', `${call}: ${show(operand)} is no value; use it as ${operand[STATE].usage}`)
    }
    throw refusal(trace, 'E_TYPE', `${call}: operand ${k + 1} is ${show(operand)}, expected a number or a traced value`)
  })
  return { trace, items }
}

const isWhole = (literal: number | boolean): boolean => typeof literal === 'boolean' || Number.isInteger(literal)

const fitsInt32 = (literal: number | boolean): boolean => Number(literal) >= -(2 ** 31) && Number(literal) < 2 ** 31

const typeOf = ({ literal, state }: Item): ElementType | 'literal' =>
  state ? state.head.type : typeof literal === 'boolean' ? 'bool' : 'literal'

/** What a message calls an item. */
export const nameItem = ({ literal, state }: Item): string => (state ? show({ [STATE]: state }) : String(literal))

function numberType(items: readonly Item[]): ElementType {
  const types = items.map(typeOf)
  if (types.includes('f64')) return 'f64'
  if (!types.includes('literal')) return 'i32'
  return types.includes('i32') && items.every(({ literal }) => literal === undefined || isWhole(literal))
    ? 'i32'
    : 'f64'
}

const DOMAIN_TYPE: Record<Domain, (items: readonly Item[]) => ElementType> = {
  number: numberType,
  any: (items) => (items.every((item) => typeOf(item) === 'bool') ? 'bool' : numberType(items)),
  float: () => 'f64',
  integer: () => 'i32',
  condition: () => 'bool',
}

const REFUSED: Record<Domain, (item: Item) => string | undefined> = {
  number: () => undefined,
  any: () => undefined,
  float: () => undefined,
  integer: (item) =>
    typeOf(item) === 'f64'
      ? 'an integer; convert it with toInt()'
      : item.literal !== undefined && !isWhole(item.literal)
        ? 'a whole number'
        : undefined,
  condition: (item) => (typeOf(item) === 'bool' ? undefined : 'a condition, such as x.gt(0) or i.ne(0)'),
}

/** The type that an operation on the items computes in; refuses operands outside its domain. */
export function commonType(trace: Trace, call: string, items: readonly Item[], domain: Domain): ElementType {
  for (const item of items) {
    const expected = REFUSED[domain](item)
    if (expected !== undefined) throw refusal(trace, 'E_TYPE', `${call}: found ${nameItem(item)}, expected ${expected}`)
  }
  const type = DOMAIN_TYPE[domain](items)
  const tooLarge = type === 'i32' && items.find(({ literal }) => literal !== undefined && !fitsInt32(literal))
  if (tooLarge) {
    throw refusal(
      trace,
      'E_TYPE',
      `${call}: ${tooLarge.literal} does not fit an int32, the type of the values beside it; convert those with toFloat() to compute in floats`,
    )
  }
  return type
}

/** A literal as a constant of a type that can hold it. */
export function constantOf(trace: Trace, literal: number | boolean, type: ElementType): Value {
  if (type === 'bool') return trace.builder.const('bool', Boolean(literal))
  // Adding 0 turns −0, which is no integer of its own, into 0.
  return trace.builder.const(type, type === 'i32' ? Number(literal) + 0 : Number(literal))
}

/** Component k of an item in a type; one number stands for every component. */
export function componentAs(trace: Trace, { literal, state }: Item, k: number, type: ElementType): Value {
  if (!state) return constantOf(trace, literal, type)
  return trace.builder.convert(state.component(state.head.shape.length === 0 ? 0 : k), type)
}

/** One int32 value, or a plain whole number as one. */
export function indexValue(call: string, index: unknown): Value {
  const { trace, items } = readOperands(call, [index])
  const item = items[0]!
  if (item.state && item.state.head.shape.length > 0) {
    throw refusal(trace, 'E_TYPE', `${call}: found ${show(index)}, expected one int32 value`)
  }
  commonType(trace, call, items, 'integer')
  return componentAs(trace, item, 0, 'i32')
}
