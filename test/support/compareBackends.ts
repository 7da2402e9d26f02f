// Runs one graph on two executables over the same inputs and compares every byte that either may have written.
// Invariants: expected and actual start from equal memory; the elements around each array are compared too, so that a write outside
// is seen; equal means bit for bit, but any NaN equals any NaN.
import type { Executable, LaunchRange, PlaneArray } from '../../src/backends/backend.ts'
import type { Graph, Plane } from '../../src/ir/graph.ts'
import { print } from '../../src/ir/print.ts'
import type { PlaneType } from '../../src/ir/types.ts'
import { element, planeArray, random, sameBits, showNumber, type Random } from './values.ts'

export interface Comparison {
  /** What both executables were built from; with the strides that they were built for. */
  readonly graph: Graph
  readonly sampleStrides?: readonly number[]
  readonly expected: Executable
  readonly actual: Executable
  /** Numbers of samples of the whole problem. */
  readonly sizes: readonly number[]
  /** Elements by which every array is moved from an aligned start; absent: 0 and 1. */
  readonly offsets?: readonly number[]
  /** Parts of the problem to run, from its size; absent: all of it. */
  readonly ranges?: (size: number) => readonly Pick<LaunchRange, 'begin' | 'end'>[]
  readonly threads?: number
  /** Entries of tables and accumulators; absent: 5. */
  readonly entries?: number
  readonly seed?: number
}

/** Elements around each array that nothing may touch. */
const GUARD = 8

interface Bound {
  readonly plane: Plane
  readonly number: number
  /** The array with its guards. */
  readonly whole: PlaneArray
  readonly array: PlaneArray
  readonly pitch: number
  readonly length: number
}

const isPerSample = ({ role }: Plane): boolean => role === 'sample' || role === 'mask'

function bindings(
  { graph, sampleStrides, entries = 5 }: Comparison,
  size: number,
  offset: number,
  next: Random,
): readonly Bound[] {
  return graph.planes.flatMap((plane, number): readonly Bound[] => {
    if (plane.role === 'uniform') return []
    const stride = sampleStrides?.[number] ?? 1
    const length = plane.role === 'reduction' ? 1 : isPerSample(plane) ? size : entries
    // A pitch beyond the length: components need not touch.
    const pitch = plane.role === 'reduction' ? 1 : length + (stride === 1 ? 2 : 0)
    const elements = stride === 1 ? plane.components * pitch : length * stride
    const whole = planeArray(plane.type as PlaneType, elements + 2 * GUARD, next, offset)
    if (plane.role === 'mask') whole.forEach((x, k) => (whole[k] = x === 1 && next() < 0.3 ? 1 : 0))
    return [{ plane, number, whole, array: whole.subarray(GUARD, GUARD + elements), pitch, length }]
  })
}

function run(executable: Executable, graph: Graph, bound: readonly Bound[], range: LaunchRange, next: Random): void {
  const launch = executable.launch()
  for (const { number, array, pitch, length } of bound) launch.bind(number, array, pitch, length)
  graph.planes.forEach(({ role, type }, number) => {
    if (role === 'uniform') launch.set(number, element(type as PlaneType, next))
  })
  launch.run(range)
  launch.release()
}

/** The first element in which two runs differ, in words. */
function difference(expected: readonly Bound[], actual: readonly Bound[]): string | undefined {
  for (const [k, { plane, whole }] of expected.entries()) {
    const other = actual[k]!.whole
    for (let i = 0; i < whole.length; i++) {
      if (sameBits(whole[i]!, other[i]!)) continue
      const values = `expected ${showNumber(whole[i]!)}, got ${showNumber(other[i]!)}`
      const isGuard = i < GUARD || i >= whole.length - GUARD
      return `${plane.role} plane '${plane.name}'${isGuard ? ', outside its array' : ''}, element ${i - GUARD}: ${values}`
    }
  }
  return undefined
}

/** Throws with the place of the first difference and the text of the graph. */
export function compareBackends(comparison: Comparison): void {
  const { graph, expected, actual, sizes, offsets = [0, 1], ranges, threads, seed = 1 } = comparison
  for (const size of sizes) {
    for (const offset of offsets) {
      for (const { begin, end } of ranges?.(size) ?? [{ begin: 0, end: size }]) {
        const range: LaunchRange = { sampleCount: size, begin, end, ...(threads !== undefined && { threads }) }
        const outcomes = [expected, actual].map((executable) => {
          const next = random(seed + size)
          const bound = bindings(comparison, size, offset, next)
          run(executable, graph, bound, range, next)
          return bound
        }) as [readonly Bound[], readonly Bound[]]
        const found = difference(...outcomes)
        if (found === undefined) continue
        const where = `samples ${begin} to ${end} of ${size}, arrays moved by ${offset}, seed ${seed}`
        throw new Error(`${actual.backend} differs from ${expected.backend}: ${found} (${where})\n${print(graph)}`)
      }
    }
  }
}
