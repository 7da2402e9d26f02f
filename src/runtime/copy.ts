// Copies that a call asked for with `{ copy: 'warn' }`: a sample-major array is copied to a component-major one before the launch
// and, when the kernel writes it, back after it. One warning a kernel and argument; a warning turned into an error leaves nothing half done.
import type { PlaneArray } from '../backends/backend.ts'
import { formatBatch, formatShape, type Placement } from './layout.ts'
import type { Slot } from './signature.ts'
import { ARRAY_CLASSES, planeTypeOf, type PlaneType, type View } from './view.ts'
import { warn } from '../warning.ts'

/** What to do after the launch: bring the written copy home. */
export interface CopyBack {
  readonly slot: Slot
  bring(): void
}

export class LayoutWarning extends Error {
  override readonly name = 'LayoutWarning'
}

const warned = new Set<string>()

/** Calls visit(element of the view, element of the component-major copy) for every number of a batch. */
function pairUp(
  { shape, strides, offset }: View,
  axis: 'first' | 'last',
  visit: (from: number, to: number) => void,
): void {
  const at = axis === 'last' ? shape.length - 1 : 0
  const samples = shape[at]!
  const headShape = shape.toSpliced(at, 1)
  const headStrides = strides.toSpliced(at, 1)
  const components = headShape.reduce((product, extent) => product * extent, 1)
  for (let c = 0; c < components; c++) {
    let rest = c
    let start = offset
    for (let axisOfHead = headShape.length - 1; axisOfHead >= 0; axisOfHead--) {
      start += (rest % headShape[axisOfHead]!) * headStrides[axisOfHead]!
      rest = Math.floor(rest / headShape[axisOfHead]!)
    }
    for (let i = 0; i < samples; i++) visit(start + i * strides[at]!, c * samples + i)
  }
}

export function copyIn(
  kernel: string,
  slot: Slot,
  view: View,
  axis: 'first' | 'last',
): { placement: Placement; copyBack?: CopyBack } {
  const samples = (axis === 'last' ? view.shape.at(-1) : view.shape[0])!
  const key = `${kernel}.${slot.name}`
  if (!warned.has(key)) {
    const back = slot.written ? ' and back after it' : ''
    const warning = new LayoutWarning(
      `kernel '${kernel}': ${slot.name} of shape ${formatShape(view.shape)} is copied to ${formatBatch(slot.head, samples, 'last')} before the launch${back}; allocate it component-major to bind it in place`,
    )
    warn(warning)
    warned.add(key)
  }
  const total = view.shape.reduce((product, extent) => product * extent, 1)
  const copy: PlaneArray = new ARRAY_CLASSES[planeTypeOf(view.array) as PlaneType](total)
  pairUp(view, axis, (from, to) => {
    copy[to] = view.array[from]!
  })
  const placement: Placement = {
    layout: 'native',
    array: copy,
    pitch: samples,
    sampleStride: 1,
    samples,
    shape: view.shape,
    readOnly: view.readOnly,
  }
  if (!slot.written) return { placement }
  const bring = () =>
    pairUp(view, axis, (from, to) => {
      view.array[from] = copy[to]!
    })
  return { placement, copyBack: { slot, bring } }
}
