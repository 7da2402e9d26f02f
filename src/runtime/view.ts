// Reads any array that a caller may hand in as one form: typed array, shape, strides, offset. Fields are read by name, also from
// prototypes, so that scijs, stdlib and plain `{ data, shape }` objects bind like our own NdArray.
import type { PlaneArray } from '../backends/backend.ts'
import type { Type } from '../ir/types.ts'
import { SAMPLES_AXIS } from './markers.ts'
import { rowMajorStrides } from './ndarray.ts'

export interface View {
  readonly array: PlaneArray
  readonly shape: readonly number[]
  readonly strides: readonly number[]
  /** Element of `array` at which the first entry lies. */
  readonly offset: number
  /** The array refuses writes, as far as it says so. */
  readonly readOnly: boolean
}

/** Array class of each type that planes have; a condition is one byte. */
export const ARRAY_CLASSES = {
  f64: Float64Array,
  f32: Float32Array,
  i32: Int32Array,
  bool: Uint8Array,
} as const satisfies Partial<Record<Type, unknown>>

export type PlaneType = keyof typeof ARRAY_CLASSES

export const isTypedArray = (value: unknown): value is ArrayBufferView & { readonly length: number } =>
  ArrayBuffer.isView(value) && !(value instanceof DataView)

/** The plane type of an array, or undefined for an array class that no plane has. */
export function planeTypeOf(array: unknown): PlaneType | undefined {
  if (array instanceof Float64Array) return 'f64'
  if (array instanceof Float32Array) return 'f32'
  if (array instanceof Int32Array) return 'i32'
  return array instanceof Uint8Array ? 'bool' : undefined
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
const isNumbers = (value: unknown): value is ArrayLike<number> =>
  (Array.isArray(value) || isTypedArray(value)) && Array.prototype.every.call(value, (entry) => Number.isInteger(entry))

/** An array with a shape: ours, scijs', stdlib's, or a plain object. */
const isShaped = (value: unknown): value is { data: unknown; shape: ArrayLike<number> } =>
  isObject(value) && 'data' in value && 'shape' in value && isTypedArray(value.data) && isNumbers(value.shape)

/** What a call takes as the array or number of a parameter, as opposed to an object of named arguments. */
export const isPlaneLike = (value: unknown): boolean =>
  typeof value === 'number' ||
  isTypedArray(value) ||
  (isObject(value) && (SAMPLES_AXIS in value || Symbol.for('harrier.interleaved') in value)) ||
  isShaped(value)

/** The name of what was handed in, for messages: `Float64Array(4)`, `Array(3)`, `Point`, `undefined`. */
export function describeArgument(value: unknown): string {
  if (isTypedArray(value)) return `${value.constructor.name}(${value.length})`
  if (isShaped(value))
    return `an array of shape (${Array.from(value.shape).join(', ')}) over ${describeArgument(value.data)}`
  if (Array.isArray(value)) return `a plain Array(${value.length})`
  if (isObject(value)) return `an object of class ${value.constructor?.name ?? 'null'}`
  if (typeof value === 'bigint') return `the bigint ${value}n`
  return typeof value === 'string' ? `the string '${value}'` : String(value)
}

/** Reads an argument as a view; undefined where it is no array that a plane can bind. */
export function viewOf(value: unknown): View | undefined {
  if (isTypedArray(value)) {
    return planeTypeOf(value)
      ? { array: value as PlaneArray, shape: [value.length], strides: [1], offset: 0, readOnly: false }
      : undefined
  }
  if (!isShaped(value) || !planeTypeOf(value.data)) return undefined
  const shape = Array.from(value.shape)
  const given = 'strides' in value ? value.strides : 'stride' in value ? value.stride : undefined
  const offset = 'offset' in value && typeof value.offset === 'number' ? value.offset : 0
  const flags = 'flags' in value && isObject(value.flags) ? value.flags : {}
  const readOnly = 'READONLY' in flags && flags.READONLY === true
  const strides = isNumbers(given) ? Array.from(given) : rowMajorStrides(shape)
  return { array: value.data as PlaneArray, shape, strides, offset, readOnly }
}
