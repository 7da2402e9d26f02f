// Marks that a caller puts on one array to say how it is laid out. A samples-axis mark is any object with the key
// `__raptor_samples_axis__` and `.array`, so that marks of other libraries of this family are understood too.
import type { PlaneArray } from '../backends/backend.ts'
import type { NdArray } from './ndarray.ts'

export const SAMPLES_AXIS = '__raptor_samples_axis__'
const INTERLEAVED = Symbol.for('harrier.interleaved')

export type Layout = 'samples_first' | 'samples_last'

/** An array whose samples lie along a stated axis. */
export interface SamplesMark<A = unknown> {
  readonly [SAMPLES_AXIS]: 'first' | 'last'
  readonly array: A
}

/** Storage in which the numbers of one sample lie together: xyzxyz… */
export interface Interleaved<A = unknown> {
  readonly [INTERLEAVED]: true
  readonly array: A
  /** Numbers a sample; absent: as the parameter says. */
  readonly components: number | undefined
}

/** Says that the first axis counts the samples: shape (N, 3) for a `Vector(3)`. */
export const samplesFirst = <A>(array: A): SamplesMark<A> => ({ [SAMPLES_AXIS]: 'first', array })

/** Says that the last axis counts the samples: shape (3, N) for a `Vector(3)`. */
export const samplesLast = <A>(array: A): SamplesMark<A> => ({ [SAMPLES_AXIS]: 'last', array })

/**
 * Binds xyzxyz… storage in place, as graphics code has it: the kernel is built for that stride.
 * @param array a typed array of N·components numbers, or an (N, components) array
 */
export const interleaved = <A extends PlaneArray | NdArray>(array: A, components?: number): Interleaved<A> => ({
  [INTERLEAVED]: true,
  array,
  components,
})

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

export const isSamplesMark = (value: unknown): value is SamplesMark =>
  isObject(value) &&
  SAMPLES_AXIS in value &&
  'array' in value &&
  (value[SAMPLES_AXIS] === 'first' || value[SAMPLES_AXIS] === 'last')

export const isInterleaved = (value: unknown): value is Interleaved => isObject(value) && INTERLEAVED in value
