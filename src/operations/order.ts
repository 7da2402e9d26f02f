// The order of an array's elements in memory, derived from shape and strides (both in elements).

import type { Layout } from './vocabulary.ts'

export interface ArrayOrder {
  /** Every layout that the array has, the one to try first in front; never empty. */
  readonly layouts: readonly Layout[]
  /** Whether the elements follow each other without holes in one of these layouts. */
  readonly contiguous: boolean
}

const BOTH_MAJOR: readonly Layout[] = ['row-major', 'column-major']

/**
 * An array is row-major when its last axis has stride 1 and each axis before it steps over at least the whole of the next one, as the
 * rows of a matrix inside a wider one do; column-major when the same holds with the axes in reverse. The stride of an axis with one
 * index does not count, so that a vector, a scalar and a matrix of one row or column can be both. What is neither is strided, and is
 * never contiguous.
 */
export function orderOf(shape: readonly number[], strides: readonly number[]): ArrayOrder {
  if (shape.includes(0)) return { layouts: BOTH_MAJOR, contiguous: true }
  const axes = shape.map((extent, axis) => ({ extent, stride: strides[axis]! }))
  const rowMajor = nest(axes.toReversed())
  const columnMajor = nest(axes)
  if (rowMajor !== null && columnMajor !== null) return { layouts: BOTH_MAJOR, contiguous: rowMajor.contiguous }
  if (rowMajor !== null) return { layouts: ['row-major'], contiguous: rowMajor.contiguous }
  if (columnMajor !== null) return { layouts: ['column-major'], contiguous: columnMajor.contiguous }
  return { layouts: ['strided'], contiguous: false }
}

/** Whether axes, given from the innermost outwards, nest without overlapping, and then whether without holes; null when they do not. */
function nest(
  axes: readonly { readonly extent: number; readonly stride: number }[],
): { readonly contiguous: boolean } | null {
  let covered = 1
  let contiguous = true
  for (const [place, { extent, stride }] of axes.entries()) {
    if (extent === 1) continue
    if (place === 0 ? stride !== 1 : stride < covered) return null
    contiguous &&= stride === covered
    covered = stride * extent
  }
  return { contiguous }
}

/** The strides of a row-major array without holes. */
export function packedStrides(shape: readonly number[]): number[] {
  const strides = shape.map(() => 1)
  for (let axis = shape.length - 2; axis >= 0; axis--) strides[axis] = strides[axis + 1]! * shape[axis + 1]!
  return strides
}

/** The lowest and highest element that an array reaches, counted from its first; null when it has no elements. */
export function elementSpan(
  shape: readonly number[],
  strides: readonly number[],
): { lowest: number; highest: number } | null {
  if (shape.includes(0)) return null
  const reach = shape.map((extent, axis) => (extent - 1) * strides[axis]!)
  return {
    lowest: reach.reduce((sum, steps) => sum + Math.min(steps, 0), 0),
    highest: reach.reduce((sum, steps) => sum + Math.max(steps, 0), 0),
  }
}
