// Which registered kernel serves a call. The match is exact: a kernel is chosen when the arrays are what it was registered for, and
// nothing is converted to make one fit.
import type { BoundOperand } from './bindings.ts'
import type { DType } from './dtypes.ts'
import { DispatchError } from './errors.ts'
import { type Kernel, type Operation, describeSignature } from './registry.ts'
import { type BackendKind, DEVICE_BACKENDS, HOST_BACKENDS } from './vocabulary.ts'

/** The backends to search, in order: the one asked for, else by where the arrays are. */
export function backendOrder(bound: readonly BoundOperand[], asked: BackendKind | undefined): readonly BackendKind[] {
  if (asked !== undefined) return [asked]
  return bound.some(({ location }) => location !== 'host') ? DEVICE_BACKENDS : HOST_BACKENDS
}

/**
 * The kernel of an operation for these arrays and compute dtypes on the first backend that has one; E_NO_KERNEL says what was looked for and what
 * there is. Among several that match, one with fewer operands of contiguity `any` comes first, then one that is exact on an earlier
 * operand, then one whose layouts come earlier in the arrays' own lists, again from the first operand on.
 */
export function findKernel(
  operation: Operation,
  kernels: readonly Kernel[],
  bound: readonly BoundOperand[],
  computeDtypes: readonly DType[],
  backends: readonly BackendKind[],
): Kernel {
  for (const backend of backends) {
    const ranked = kernels
      .filter((kernel) => kernel.backend === backend)
      .map((kernel) => ({ kernel, rank: matchRank(kernel, bound, computeDtypes) }))
      .filter((candidate): candidate is { kernel: Kernel; rank: number[] } => candidate.rank !== null)
      .sort((left, right) => compareRanks(left.rank, right.rank))
    if (ranked[0] !== undefined) return ranked[0].kernel
  }
  const registered = kernels.map(
    ({ label, backend, operands }) => `\n  ${label}: ${describeSignature(backend, operands)}`,
  )
  throw new DispatchError(
    'E_NO_KERNEL',
    `${operation.name}: no kernel for ${derivedSignature(backends, bound, computeDtypes)}; ` +
      (registered.length === 0 ? 'none is registered' : `registered:${registered.join('')}`),
    { operation: operation.name },
  )
}

/** How far down the list of preferences a kernel is, as numbers to be compared in order; null when it does not match. */
function matchRank(kernel: Kernel, bound: readonly BoundOperand[], computeDtypes: readonly DType[]): number[] | null {
  const exactness: number[] = []
  const layouts: number[] = []
  for (const [place, operand] of kernel.operands.entries()) {
    const array = bound[place]!
    const layout = array.layouts.indexOf(operand.layout)
    const matches =
      layout >= 0 &&
      operand.dtype === array.dtype &&
      operand.computeDtype === computeDtypes[place] &&
      operand.location === array.location &&
      (operand.contiguity === 'any' || array.contiguous)
    if (!matches) return null
    exactness.push(operand.contiguity === 'any' ? 1 : 0)
    layouts.push(layout)
  }
  return [exactness.reduce((sum, any) => sum + any, 0), ...exactness, ...layouts]
}

function compareRanks(left: readonly number[], right: readonly number[]): number {
  const place = left.findIndex((value, index) => value !== right[index])
  return place < 0 ? 0 : left[place]! - right[place]!
}

function derivedSignature(
  backends: readonly BackendKind[],
  bound: readonly BoundOperand[],
  computeDtypes: readonly DType[],
): string {
  return describeSignature(
    backends.join(' or '),
    bound.map(({ role, dtype, location, layouts, contiguous }, place) => ({
      role,
      dtype,
      computeDtype: computeDtypes[place]!,
      location,
      layout: layouts.join('/'),
      contiguity: contiguous ? 'contiguous' : 'not contiguous',
    })),
  )
}
