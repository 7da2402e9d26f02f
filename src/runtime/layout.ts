// Decides how an array lies in memory for a plane, and whether it can be bound there without a copy. Head: the shape of one sample,
// [] for a scalar, [3] for a Vector(3), [R, C] for a matrix, which is also accepted flat, [R·C].
// Invariant: nothing is read or written here; a placement only says where component c of sample i lies: array[c·pitch + i·sampleStride].
import type { PlaneArray } from '../backends/backend.ts'
import { isInterleaved, isSamplesMark, SAMPLES_AXIS, type Interleaved, type Layout } from './markers.ts'
import { describeArgument, viewOf, type View } from './view.ts'

export interface Placement {
  readonly layout: 'native' | 'transposed' | 'interleaved' | 'single'
  /** Starts at component 0 of sample 0. */
  readonly array: PlaneArray
  /** Elements from one component to the next. */
  readonly pitch: number
  /** Elements from one sample to the next: 1, or for interleaved storage the numbers a sample takes. */
  readonly sampleStride: number
  readonly samples: number
  /** Shape that the caller gave, for messages. */
  readonly shape: readonly number[]
  readonly readOnly: boolean
}

/** Why an array cannot be bound, as the end of a sentence that starts with the argument's name, with the way out. */
export interface Refusal {
  readonly layout: 'ambiguous' | 'refused'
  readonly problem: string
  /** The batch that a copy would make bindable, for calls that allow one. */
  readonly copyable?: { readonly view: View; readonly axis: 'first' | 'last' }
}

export const isRefusal = (placement: Placement | Refusal): placement is Refusal => 'problem' in placement

export const formatShape = (shape: readonly number[]): string => `(${shape.join(', ')}${shape.length === 1 ? ',' : ''})`
const count = (shape: readonly number[]): number => shape.reduce((product, extent) => product * extent, 1)
const isSame = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((extent, k) => extent === b[k])
const refuse = (problem: string): Refusal => ({ layout: 'refused', problem })

/** The forms in which one sample may be written: its head, and for a matrix also its entries in a row. */
const headForms = (head: readonly number[]): readonly (readonly number[])[] =>
  head.length === 2 ? [head, [count(head)]] : [head]

/** The head of a batch with samples along the last or first axis; undefined when the shape is no such batch. */
function headOfBatch(
  shape: readonly number[],
  head: readonly number[],
  axis: 'first' | 'last',
): readonly number[] | undefined {
  const rest = axis === 'last' ? shape.slice(0, -1) : shape.slice(1)
  return shape.length === 0 ? undefined : headForms(head).find((form) => isSame(form, rest))
}

/** Elements between components when they lie evenly in row-major order; undefined when they do not. */
function evenPitch(shape: readonly number[], strides: readonly number[]): number | undefined {
  const last = strides.at(-1)
  if (last === undefined) return 1
  let expected = last
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    if (shape[axis]! > 1 && strides[axis] !== expected) return undefined
    expected *= shape[axis]!
  }
  return last
}

function fits({ array, shape, strides, offset }: View): boolean {
  if (shape.includes(0)) return true
  const reach = shape.reduce((at, extent, axis) => at + (extent - 1) * strides[axis]!, offset)
  return strides.every((stride) => stride >= 0) && offset >= 0 && reach < array.length
}

const startOf = ({ array, offset }: View): PlaneArray => (offset === 0 ? array : array.subarray(offset))

/** Places a batch without a copy, or gives undefined when it would need one. */
function placeBatch(view: View, axis: 'first' | 'last'): Placement | undefined {
  const { shape, strides, readOnly } = view
  const at = axis === 'last' ? shape.length - 1 : 0
  const samples = shape[at]!
  const headShape = shape.toSpliced(at, 1)
  const pitch = evenPitch(headShape, strides.toSpliced(at, 1))
  const components = count(headShape)
  if (samples > 1 && strides[at] !== 1) return undefined
  if (pitch === undefined || (components > 1 && samples > 0 && pitch < samples)) return undefined
  return {
    layout: axis === 'last' ? 'native' : 'transposed',
    array: startOf(view),
    pitch: components > 1 ? pitch : samples,
    sampleStride: 1,
    samples,
    shape,
    readOnly,
  }
}

function placeSingle(view: View): Placement | undefined {
  const pitch = evenPitch(view.shape, view.strides)
  return pitch === undefined
    ? undefined
    : {
        layout: 'single',
        array: startOf(view),
        pitch,
        sampleStride: 1,
        samples: 1,
        shape: view.shape,
        readOnly: view.readOnly,
      }
}

function placeInterleaved({ array: given, components }: Interleaved, head: readonly number[]): Placement | Refusal {
  const wanted = count(head)
  const view = viewOf(given)
  if (!view)
    return refuse(
      `interleaved(…) was given ${describeArgument(given)}; pass a Float64Array, a Float32Array or an Int32Array`,
    )
  if (components !== undefined && components !== wanted) {
    return refuse(
      `interleaved(…, ${components}) holds ${components} numbers a sample, but one sample has ${wanted}; write interleaved(…, ${wanted})`,
    )
  }
  const isFlat = view.shape.length === 1
  const isBatch = headOfBatch(view.shape, head, 'first') !== undefined && evenPitch(view.shape, view.strides) === 1
  if (!(isFlat ? view.strides[0] === 1 && view.shape[0]! % wanted === 0 : isBatch) || !fits(view)) {
    return refuse(
      `interleaved(…) has shape ${formatShape(view.shape)}, which is not whole samples of ${wanted} numbers side by side`,
    )
  }
  const samples = isFlat ? view.shape[0]! / wanted : view.shape[0]!
  return {
    layout: 'interleaved',
    array: startOf(view),
    pitch: 1,
    sampleStride: wanted,
    samples,
    shape: view.shape,
    readOnly: view.readOnly,
  }
}

/**
 * Where an argument lies for a plane with this head.
 * @param layout the call's word for square arrays, which read both ways
 */
export function place(argument: unknown, head: readonly number[], layout?: Layout): Placement | Refusal {
  if (isInterleaved(argument)) return placeInterleaved(argument, head)
  const mark = isSamplesMark(argument) ? argument[SAMPLES_AXIS] : undefined
  const view = viewOf(isSamplesMark(argument) ? argument.array : argument)
  if (!view) {
    const way = Array.isArray(argument)
      ? 'copy it into a typed array, for example Float64Array.from(…)'
      : 'pass a typed array'
    return refuse(
      `is ${describeArgument(isSamplesMark(argument) ? argument.array : argument)}, which cannot be bound by address; ${way}`,
    )
  }
  const { shape } = view
  const native = formatBatch(head, 'N', 'last')
  const isSingle = headForms(head).some((form) => isSame(form, shape))
  if (!fits(view)) {
    return refuse(
      `has shape ${formatShape(shape)}, strides ${formatShape(view.strides)} and offset ${view.offset}, which reach outside its ${view.array.length} elements or run backwards`,
    )
  }
  const readings = (['last', 'first'] as const).filter((axis) => headOfBatch(shape, head, axis))
  const [reading, other] = readings
  if (mark && !readings.includes(mark) && !isSingle) {
    return refuse(
      `is marked samples${mark === 'first' ? 'First' : 'Last'}, but its shape ${formatShape(shape)} has no such reading; expected ${formatBatch(head, 'N', mark)}`,
    )
  }
  if (reading === undefined) {
    if (!isSingle)
      return refuse(
        `has shape ${formatShape(shape)}, expected ${native}${head.length > 0 ? ` for a batch or ${formatShape(head)} for one sample` : ''}`,
      )
    return (
      placeSingle(view) ??
      refuse(
        `is one sample of shape ${formatShape(shape)} with gaps (strides ${formatShape(view.strides)}); binding by address would need a copy, so pass a contiguous array`,
      )
    )
  }
  const wish = mark ?? (layout && (layout === 'samples_first' ? 'first' : 'last'))
  const isOneMemory = shape.every((extent) => extent === 1)
  if (other !== undefined && head.length > 0 && !wish && !isOneMemory) {
    return {
      layout: 'ambiguous',
      problem: `has shape ${formatShape(shape)}, which reads as ${formatShape(head)} × ${shape[0]} samples both ways: component-major, samples along the last axis, or sample-major, samples along the first; say which with { layout: 'samples_last' } or { layout: 'samples_first' } for the call, or samplesLast(…) or samplesFirst(…) for this array`,
    }
  }
  const axis = other === undefined ? reading : (wish ?? 'last')
  return placeBatch(view, axis) ?? refuseCopy(view, head, axis)
}

function refuseCopy(view: View, head: readonly number[], axis: 'first' | 'last'): Refusal {
  const { shape, strides } = view
  const found = `has shape ${formatShape(shape)} with strides ${formatShape(strides)}`
  if (head.length === 0) {
    return refuse(
      `${found}; samples must lie side by side, as binding by address means that a copy would drop writes or freeze later updates: pass a contiguous array`,
    )
  }
  const wanted = formatBatch(head, (axis === 'last' ? shape.at(-1) : shape[0])!, 'last')
  const problem = `${found}, but is bound by address as component-major ${wanted}, and nothing is copied in secret: pass a component-major copy, allocate it as ${wanted}, or mark it interleaved(…) if the numbers of a sample lie side by side`
  return { layout: 'refused', problem, copyable: { view, axis } }
}

/** The shape of a batch in words: `(3, N)`, or `(N, 3)` with samples first. */
export const formatBatch = (head: readonly number[], samples: number | string, axis: 'first' | 'last'): string => {
  const shape = axis === 'last' ? [...head, samples] : [samples, ...head]
  return `(${shape.join(', ')}${shape.length === 1 ? ',' : ''})`
}
