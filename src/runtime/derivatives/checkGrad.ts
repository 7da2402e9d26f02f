// `checkGrad`: compares the derivatives of a kernel, at the caller's planes, with what is no derivative: forward mode with central
// differences of the kernel itself, reverse mode with forward mode by the identity ⟨Jv, w⟩ = ⟨v, Jᵀw⟩.
// Invariants: it runs in f64 on copies, the caller's arrays stay as they are; the direction v and the weights w are the same each time.
import type { PlaneArray } from '../../backends/backend.ts'
import { HarrierError } from '../../errors.ts'
import { jvp as forwardDerivative } from '../../diff/jvp.ts'
import { planesFor, type Derivative, type Purpose } from '../../diff/planes.ts'
import { vjp as reverseDerivative } from '../../diff/vjp.ts'
import type { TracedKernel, TracedOutput } from '../../trace/traced.ts'
import { createCallable } from '../callable.ts'
import { INTERNALS, type HasInternals } from '../internals.ts'
import { NdArray } from '../ndarray.ts'
import { isTypedArray, viewOf } from '../view.ts'
import { derivedKernel } from './derivedKernel.ts'
import { graphOptions, OPTION_RULES, tracedOf } from './transforms.ts'
import { winnerFinder, type NamedPlanes } from './winners.ts'

export interface CheckGradOptions {
  /** Names of the float inputs to move; absent: all. */
  readonly wrt?: readonly string[]
  /** Largest error of an entry that passes; absent: 1e-6, which suits smooth kernels of moderate scale. */
  readonly tolerance?: number
}

/** One entry of one output. */
export interface CheckedEntry {
  /** Name of the output. */
  readonly name: string
  /** Element of its array. */
  readonly index: number
  /** The tangent by forward mode. */
  readonly found: number
  /** The central difference. */
  readonly expected: number
  /** |found − expected| / max(|expected|, 0.1). */
  readonly error: number
}

export interface GradientReport {
  /** Both comparisons are within their tolerance. */
  readonly ok: boolean
  /** The entry that differs most from its central difference; undefined where no output has entries. */
  readonly worst: CheckedEntry | undefined
  /** Both sides of the identity, and their difference relative to the sum of the magnitudes of their terms; at most 1e-12 passes. */
  readonly identity: { readonly forward: number; readonly reverse: number; readonly error: number }
}

/** A step of 1e-5 leaves an error of about 1e-10 times the third derivative, and as much from rounding. */
const STEP = 1e-5
const TOLERANCE = 1e-6
const IDENTITY_TOLERANCE = 1e-12

/** Numbers in (−1, 1), the same each time, by the generator of D. H. Lehmer with the multiplier 48271. */
function createRandom(): () => number {
  let state = 20_011
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return (2 * state) / 2_147_483_647 - 1
  }
}

/** A plane that a call takes or gives: a number, a typed array, or an array with data and shape. */
type AnyPlane = unknown

const arrayOf = (plane: AnyPlane): PlaneArray | undefined => viewOf(plane)?.array
const dataOf = (plane: AnyPlane): ArrayLike<number> | undefined =>
  typeof plane === 'number' ? [plane] : arrayOf(plane)

/** A plane of the same form with other numbers. */
function withNumbers(plane: AnyPlane, numbers: ArrayLike<number>): AnyPlane {
  if (typeof plane === 'number') return numbers[0]
  if (isTypedArray(plane)) return numbers
  if (plane instanceof NdArray) return new NdArray(Float64Array.from(numbers), plane.shape, plane.strides, plane.offset)
  return { ...(plane as object), data: numbers }
}

const mapNumbers = (plane: AnyPlane, change: (x: number, k: number) => number): AnyPlane =>
  withNumbers(plane, Float64Array.from(dataOf(plane)!, change))

/** A copy, floats in f64. */
function copyPlane(plane: AnyPlane): AnyPlane {
  const data = arrayOf(plane)
  if (!data) return plane
  return withNumbers(plane, data instanceof Float32Array ? Float64Array.from(data) : data.slice())
}

const mapPlanes = (planes: NamedPlanes, change: (plane: AnyPlane, name: string) => AnyPlane): NamedPlanes =>
  Object.fromEntries(Object.entries(planes).map(([name, plane]) => [name, change(plane, name)]))

/** The kernel with its reductions given back beside what it returns, all by name. */
function withAllOutputs(traced: TracedKernel): TracedKernel {
  const reductions = traced.parameters.flatMap(({ name, kind, plane }): TracedOutput[] =>
    kind.role === 'reduce' && !traced.outputs.some((output) => output.plane === plane)
      ? [{ name, positionalName: name, positionalNameTaken: true, head: kind.head, plane, isParameter: true }]
      : [],
  )
  const outputs = [...traced.outputs, ...reductions]
  const entries = outputs.map(({ name }, slot) => [name, { form: 'slot', slot }] as const)
  return { ...traced, outputs, returned: { form: 'object', entries } }
}

/** Planes of a derivative of one purpose: their names, and those of the planes of the primal that they belong to. */
const ofPurpose = (traced: TracedKernel, derivative: Derivative, purpose: Purpose) =>
  planesFor(derivative, purpose).map(({ name, of }) => ({ name, of: traced.graph.planes[of]!.name }))

/**
 * Checks the derivatives of a kernel at a point.
 * @param planes everything that a call of the kernel takes, by name: numbers, typed arrays, or arrays with data and shape
 * @returns a report; `ok` is false near a kink or a jump, where differences mean nothing, as well as for a wrong rule
 * @throws E_DERIVATIVE as vjp and jvp do, E_BINDING as a call of the kernel does
 */
export function checkGrad(kernel: HasInternals, planes: NamedPlanes, options: CheckGradOptions = {}): GradientReport {
  const isPositive = { fits: (value: unknown) => typeof value === 'number' && value > 0, expected: 'a number above 0' }
  const traced = tracedOf('checkGrad', kernel, options, { wrt: OPTION_RULES.wrt, tolerance: isPositive })
  const unreadable = Object.keys(planes).find((name) => dataOf(planes[name]) === undefined)
  if (unreadable !== undefined) {
    throw new HarrierError(
      'E_DERIVATIVE',
      `checkGrad of kernel '${traced.name}': ${unreadable} is neither a number, nor a typed array, nor an array with data and shape`,
    )
  }
  const own = kernel[INTERNALS].options
  const random = createRandom()
  const forward = forwardDerivative(traced.graph, graphOptions(traced, options))
  const reverse = reverseDerivative(traced.graph, graphOptions(traced, options))
  const primal = createCallable(withAllOutputs(traced), own)

  const accumulators = traced.parameters.filter(({ kind }) => kind.role === 'accum_out').map(({ name }) => name)
  const writtenInPlace = traced.parameters
    .filter(({ kind, isWritten }) => isWritten && kind.role !== 'reduce')
    .map(({ name }) => name)
  /** What the derivatives take: every call gets copies, as kernels write to mutables. */
  const inputs = (): NamedPlanes =>
    Object.fromEntries(Object.entries(mapPlanes(planes, copyPlane)).filter(([name]) => !accumulators.includes(name)))

  // The direction moves each number in proportion to its size.
  const directions = new Map(
    ofPurpose(traced, forward, 'tangent').map(({ of, name }) => [
      of,
      { name, plane: mapNumbers(planes[of], (x) => random() * Math.max(1, Math.abs(x))) },
    ]),
  )
  function outputsAt(distance: number): NamedPlanes {
    const moved = mapPlanes(mapPlanes(planes, copyPlane), (plane, name) => {
      const direction = directions.get(name)
      return direction ? mapNumbers(plane, (x, k) => x + distance * dataOf(direction.plane)![k]!) : plane
    })
    const returned = primal(moved) as NamedPlanes
    return { ...returned, ...Object.fromEntries(writtenInPlace.map((name) => [name, moved[name]])) }
  }
  const [above, below] = [outputsAt(STEP), outputsAt(-STEP)]

  const found = winnerFinder(traced, own)?.(inputs()).winners
  const winners = Object.fromEntries(ofPurpose(traced, forward, 'winner').map(({ of, name }) => [name, found?.get(of)]))
  const tangentSums = Object.fromEntries(
    ofPurpose(traced, forward, 'outputTangent')
      .filter(({ of }) => accumulators.includes(of))
      .map(({ of, name }) => [name, mapNumbers(planes[of], () => 0)]),
  )
  const tangents: NamedPlanes = {
    ...(createCallable(
      derivedKernel(traced, forward, { name: `${traced.name}_jvp` }),
      own,
    )({
      ...inputs(),
      ...winners,
      ...tangentSums,
      ...Object.fromEntries([...directions.values()].map(({ name, plane }) => [name, plane])),
    }) as NamedPlanes),
    ...tangentSums,
  }

  let worst: CheckedEntry | undefined
  const seeds: Record<string, AnyPlane> = {}
  let [forwardSum, reverseSum, size] = [0, 0, 0]
  const seedNames = new Map(ofPurpose(traced, reverse, 'seed').map(({ of, name }) => [of, name]))
  for (const { of, name } of ofPurpose(traced, forward, 'outputTangent')) {
    const weights = mapNumbers(tangents[name], random)
    seeds[seedNames.get(of)!] = weights
    Array.from(dataOf(tangents[name])!, (found, index) => {
      const expected = (dataOf(above[of])![index]! - dataOf(below[of])![index]!) / (2 * STEP)
      const error = Math.abs(found - expected) / Math.max(Math.abs(expected), 0.1)
      // Not a number is as wrong as it gets.
      if (!worst || !(error <= worst.error)) worst = { name: of, index, found, expected, error }
      const term = found * dataOf(weights)![index]!
      forwardSum += term
      size += Math.abs(term)
    })
  }

  const adjoints = createCallable(
    derivedKernel(traced, reverse, { name: `${traced.name}_vjp` }),
    own,
  )({
    ...inputs(),
    ...winners,
    ...seeds,
  }) as NamedPlanes
  for (const { of, name } of ofPurpose(traced, reverse, 'adjoint')) {
    const direction = dataOf(directions.get(of)!.plane)!
    Array.from(dataOf(adjoints[name])!, (adjoint, index) => {
      const term = adjoint * direction[index]!
      reverseSum += term
      size += Math.abs(term)
    })
  }

  const identityError = size === 0 ? 0 : Math.abs(forwardSum - reverseSum) / size
  return {
    ok: (worst === undefined || worst.error <= (options.tolerance ?? TOLERANCE)) && identityError <= IDENTITY_TOLERANCE,
    worst,
    identity: { forward: forwardSum, reverse: reverseSum, error: identityError },
  }
}
