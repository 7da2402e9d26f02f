// An n-dimensional view of a typed array: shape, strides and offset in elements, never a copy. Results with more than one number a
// sample come back as these; arrays of other libraries that have the same fields bind the same way (see view.ts).
import { HarrierError } from '../errors.ts'
import type { PlaneArray } from '../backends/backend.ts'

/** Nested plain arrays, as `toNested` gives them. */
export type Nested = number | readonly Nested[]

/** Strides of a row-major array without gaps. */
export function rowMajorStrides(shape: readonly number[]): readonly number[] {
  const strides: number[] = []
  let stride = 1
  for (const extent of [...shape].reverse()) {
    strides.unshift(stride)
    stride *= extent
  }
  return strides
}

export class NdArray<Data extends PlaneArray = PlaneArray> {
  readonly data: Data
  readonly shape: readonly number[]
  /** Elements from one entry to the next along each axis. */
  readonly strides: readonly number[]
  /** Element of `data` at which the first entry lies. */
  readonly offset: number

  /**
   * @param shape extents, outermost first; `[]` holds one number
   * @param strides elements between entries along each axis; row-major without gaps when left out
   * @throws E_BINDING where an entry would lie outside `data`
   */
  constructor(data: Data, shape: readonly number[], strides: readonly number[] = rowMajorStrides(shape), offset = 0) {
    this.data = data
    this.shape = shape
    this.strides = strides
    this.offset = offset
    const last = shape.reduce((at, extent, axis) => at + (extent - 1) * (strides[axis] ?? 0), offset)
    const isEmpty = shape.includes(0)
    if (strides.length !== shape.length || (!isEmpty && (offset < 0 || last >= data.length || last < 0))) {
      throw new HarrierError(
        'E_BINDING',
        `NdArray: shape [${shape.join(', ')}] with strides [${strides.join(', ')}] at offset ${offset} does not fit ${data.length} elements`,
      )
    }
  }

  /** The same entries with the axes reversed. */
  get T(): NdArray<Data> {
    return new NdArray(this.data, this.shape.toReversed(), this.strides.toReversed(), this.offset)
  }

  /** Entry i of the first axis: for a component-major plane, component i of all samples. */
  row(i: number): NdArray<Data> {
    const extent = this.shape[0] ?? 0
    if (!Number.isInteger(i) || i < 0 || i >= extent) {
      throw new HarrierError('E_BINDING', `NdArray.row(${i}): the first axis has ${extent} entries`)
    }
    return new NdArray(this.data, this.shape.slice(1), this.strides.slice(1), this.offset + i * this.strides[0]!)
  }

  /** One entry, by its index along every axis. */
  at(...indices: readonly number[]): number {
    const isInside =
      indices.length === this.shape.length &&
      this.shape.every((extent, axis) => indices[axis]! >= 0 && indices[axis]! < extent)
    if (!isInside)
      throw new HarrierError('E_BINDING', `NdArray.at(${indices.join(', ')}): the shape is [${this.shape.join(', ')}]`)
    return this.data[indices.reduce((at, index, axis) => at + index * this.strides[axis]!, this.offset)]!
  }

  /** Nested plain arrays of the entries, outermost axis first; a number for shape `[]`. */
  toNested(): Nested {
    return this.shape.length === 0
      ? this.data[this.offset]!
      : Array.from({ length: this.shape[0]! }, (_, i) => this.row(i).toNested())
  }
}

/** A view of a typed array as an n-dimensional array: `ndarray(new Float64Array(12), [3, 4])`. */
export function ndarray<Data extends PlaneArray>(
  data: Data,
  shape: readonly number[],
  strides?: readonly number[],
  offset?: number,
): NdArray<Data> {
  return new NdArray(data, shape, strides, offset)
}
