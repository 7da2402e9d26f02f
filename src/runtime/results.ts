// Gives a call's results the shape that the body returned: a plane for each value, numbers for reductions, NdArrays for vectors and
// matrices, and the caller's own array where one was handed in.
import type { TracedKernel, TracedOutput, Returned } from '../trace/traced.ts'
import type { BoundCall, BoundPlane } from './bind.ts'
import { NdArray } from './ndarray.ts'

type Shaped = unknown

function planeResult({ form, handedIn, range }: BoundCall, { slot, array, pitch, length }: BoundPlane): Shaped {
  const own = handedIn.get(slot.name)
  if (own !== undefined) return own
  if (slot.role === 'reduce') {
    // The identity of sums is −0, so that a sum of −0 keeps its sign; a sum of nothing is 0 for the caller.
    if (range.begin === range.end) for (let k = 0; k < array.length; k++) if (array[k] === 0) array[k] = 0
    return slot.components === 1 ? array[0]! : array
  }
  if (slot.role === 'accum_out') return slot.head.length === 0 ? array : new NdArray(array, [...slot.head, length])
  if (form === 'number' && slot.head.length === 0) return array[0]!
  if (form !== 'batch') return new NdArray(array, slot.head)
  return slot.head.length === 0
    ? array
    : new NdArray(array, [...slot.head, range.sampleCount], rowMajorOver(slot.head, pitch))
}

/** Strides of a component-major plane whose components lie `pitch` apart. */
const rowMajorOver = (head: readonly number[], pitch: number): readonly number[] => {
  const strides = [1]
  let stride = pitch
  for (const extent of head.toReversed()) {
    strides.unshift(stride)
    stride *= extent
  }
  return strides
}

/** What `k(…)` gives back. */
export function shapeResults(kernel: TracedKernel, call: BoundCall): Shaped {
  const { returned, outputs } = kernel
  const byPlane = new Map(call.planes.map((plane) => [plane.slot.plane, plane]))
  const valueOf = ({ plane }: TracedOutput): Shaped => planeResult(call, byPlane.get(plane)!)
  const build = (node: Returned): Shaped => {
    switch (node.form) {
      case 'nothing':
        return undefined
      case 'slot':
        return valueOf(outputs[node.slot]!)
      case 'array':
        return node.items.map(build)
      case 'object':
        return Object.fromEntries(node.entries.map(([key, value]) => [key, build(value)]))
    }
  }
  return returned.form === 'nothing' ? reductionResults(kernel, call) : build(returned)
}

/** The reductions of a kernel that returns nothing, or of a `run`, by name; undefined where it has none. */
export function reductionResults(
  { parameters }: TracedKernel,
  call: BoundCall,
): Readonly<Record<string, unknown>> | undefined {
  const names = new Set(parameters.filter(({ kind }) => kind.role === 'reduce').map(({ name }) => name))
  const planes = call.planes.filter(({ slot }) => names.has(slot.name))
  return planes.length === 0
    ? undefined
    : Object.fromEntries(planes.map((plane) => [plane.slot.name, planeResult(call, plane)]))
}
