// Specifications that many tests start from, and a shorthand for the error that an action raises.
import { type BackendOperandSpec, KernelError, type OperandSpec } from '../../../src/operations/index.ts'

export const unary: readonly OperandSpec[] = [
  { role: 'input0', kind: 'vector' },
  { role: 'output0', kind: 'vector', access: 'write' },
]

/** The operands of a unary kernel with the same further fields on both. */
export function unaryKernel(fields: Partial<BackendOperandSpec> = {}): BackendOperandSpec[] {
  return unary.map((operand) => ({ ...operand, ...fields }))
}

/** What an action throws; fails when it throws nothing. */
export function thrownBy(action: () => unknown): unknown {
  try {
    action()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

/** The error of this layer that an action raises, as plain fields. */
export function refusal(action: () => unknown): { type: string; code: string; message: string } {
  const error = thrownBy(action)
  if (!(error instanceof KernelError)) throw error
  return { type: error.name, code: error.code, message: error.message }
}

/** Something that the types refuse, as callers without types can pass it. */
// oxlint-disable-next-line typescript/no-explicit-any -- the one way to leave the types in a test
export function untyped(value: unknown): any {
  return value
}
