// Operations on whole vectors, matrices and quaternions: one definition gives the free function and the method.
import type { Value } from '../ir/graph.ts'
import { refusal, type Trace } from './context.ts'
import type { ElementType } from './kinds.ts'
import { componentAs, nameItem, readOperands, type Item } from './promote.ts'
import { callLabel, type Traced, type ValueState } from './value.ts'

/** What an operation computes from. */
export interface OperationInput {
  readonly trace: Trace
  readonly items: readonly Item[]
  /** For messages. */
  readonly name: string
  /** For the result. */
  readonly label: string
}

/** F is the public type of the free function; methods have theirs in values.ts. */
export interface Operation<F> {
  readonly free: F
  readonly method: (this: unknown, ...operands: unknown[]) => Traced
}

export function requireArity(trace: Trace, name: string, found: number, arity: number, asMethod: boolean): void {
  if (found === arity) return
  const [takes, given] = asMethod ? [arity - 1, found - 1] : [arity, found]
  throw refusal(trace, 'E_TYPE', `${name}: takes ${takes} operand${takes === 1 ? '' : 's'}, found ${given}`)
}

export function operation<F = unknown>(
  name: string,
  arity: number,
  compute: (input: OperationInput) => Traced,
): Operation<F> {
  const run = (operands: readonly unknown[], asMethod: boolean): Traced => {
    const { trace, items } = readOperands(name, operands)
    requireArity(trace, name, operands.length, arity, asMethod)
    return compute({ trace, items, name, label: callLabel(name, operands, asMethod) })
  }
  const free = (...operands: unknown[]) => run(operands, false)
  return {
    free: free as F,
    method(...operands) {
      return run([this, ...operands], true)
    },
  }
}

/** The operand as a value of an expected form; `expected` says which in the refusal. */
export function requireValue(
  { trace, name }: OperationInput,
  item: Item,
  fits: (state: ValueState) => boolean,
  expected: string,
): ValueState {
  if (item.state && fits(item.state)) return item.state
  throw refusal(trace, 'E_TYPE', `${name}: found ${nameItem(item)}, expected ${expected}`)
}

/** All components of an operand in a type. */
export const componentsAs = (trace: Trace, state: ValueState, type: ElementType): readonly Value[] =>
  Array.from({ length: state.head.components }, (_, k) => componentAs(trace, { state }, k, type))
