// Binds the arguments of a call to the planes of a kernel: checks names, types, layouts, lengths and overlaps, and lists every
// problem of the call in one error. Invariants: nothing is written when a call is refused; nothing is copied unless the call says so.
import type { Backend, LaunchRange, PlaneArray } from '../backends/backend.ts'
import { HarrierError } from '../errors.ts'
import type { FloatType } from '../ir/types.ts'
import { STATE } from '../trace/brands.ts'
import { isHandle, isTraced } from '../trace/value.ts'
import { copyIn, type CopyBack } from './copy.ts'
import { formatShape, isRefusal, place, type Placement } from './layout.ts'
import type { CallOptions } from './options.ts'
import { findOverlaps, type Extent } from './overlap.ts'
import { isPerSample, type Signature, type Slot } from './signature.ts'
import { ARRAY_CLASSES, describeArgument, isTypedArray, planeTypeOf, type PlaneType } from './view.ts'

/** One argument, placed in memory. */
export interface BoundPlane {
  readonly slot: Slot
  readonly array: PlaneArray
  readonly pitch: number
  readonly sampleStride: number
  readonly length: number
}

export interface BoundCall {
  readonly floatType: FloatType
  readonly planes: readonly BoundPlane[]
  readonly uniforms: readonly { readonly slot: Slot; readonly value: number }[]
  /** By plane number; what a build depends on. */
  readonly sampleStrides: readonly number[]
  readonly range: LaunchRange
  /** batch; single: one sample in arrays of its head's shape; number: one sample, given as plain numbers. */
  readonly form: 'batch' | 'single' | 'number'
  /** What the caller handed in, by slot name; for an output the call gives it back. */
  readonly handedIn: ReadonlyMap<string, unknown>
  readonly copiesBack: readonly CopyBack[]
}

/** Raises one error for all problems of a call. */
export function refuseCall(kernel: string, problems: readonly string[]): never {
  const list = problems.length === 1 ? ` ${problems[0]}` : problems.map((problem) => `\n- ${problem}`).join('')
  throw new HarrierError(
    'E_BINDING',
    `kernel '${kernel}':${problems.length === 1 ? '' : ` ${problems.length} problems with this call:`}${list}`,
  )
}

/** A view whose buffer was transferred, or no longer reaches it. Typed-array methods throw on those and on nothing else. */
function isDetached(array: PlaneArray): boolean {
  // The buffer is asked as well: once compiled code has met a resizable buffer, V8 11 gives the old length of a detached array.
  if (array.length > 0 && array.buffer.byteLength > 0) return false
  try {
    array.fill(0)
    return false
  } catch {
    return true
  }
}

const nameOfType: Record<PlaneType, string> = {
  f64: 'Float64Array',
  f32: 'Float32Array',
  i32: 'Int32Array',
  bool: 'Uint8Array',
}

/** What is wrong with the class of an array, given the float type of the call. */
function typeProblem(slot: Slot, array: PlaneArray, floatType: FloatType, decidedBy: string): string | undefined {
  const found = planeTypeOf(array)
  const wanted = slot.type === 'f64' ? floatType : slot.type
  if (found === wanted) return undefined
  if (slot.type === 'f64') {
    const reason = decidedBy === slot.name ? '' : `, as this call runs ${floatType} (${decidedBy})`
    return `${slot.name} is ${describeArgument(array)}, expected a ${nameOfType[wanted]}${reason}; convert one with ${nameOfType[wanted]}.from(…)`
  }
  const what = slot.type === 'i32' ? 'integers are bound as' : 'conditions are bound as one byte each, a'
  return `${slot.name} is ${describeArgument(array)}; ${what} ${nameOfType[wanted]}: convert it with ${nameOfType[wanted]}.from(…)`
}

interface Placed {
  readonly slot: Slot
  readonly placement: Placement
  readonly copyBack?: CopyBack
}

/**
 * Binds named arguments.
 * @param given arguments by parameter or slot name
 * @param allocate makes the outputs that were not handed in; absent: every output must be handed in
 * @throws E_BINDING listing every problem
 */
export function bind(
  signature: Signature,
  given: ReadonlyMap<string, unknown>,
  options: CallOptions,
  allocate?: Backend['allocate'],
): BoundCall {
  const problems: string[] = []
  const { slots } = signature
  const handedIn = argumentsBySlot(signature, given, problems)
  const placed: Placed[] = []
  const uniforms: { slot: Slot; value: number }[] = []
  const numbers: { slot: Slot; value: number }[] = []

  for (const slot of slots) {
    const argument = handedIn.get(slot.name)
    if (argument === undefined) {
      const isNeeded = slot.isOutput ? allocate === undefined && slot.role !== 'reduce' : !slot.optional
      if (isNeeded) problems.push(missing(slot))
    } else if (slot.role === 'uniform') {
      if (typeof argument === 'number') uniforms.push({ slot, value: argument })
      else problems.push(`${slot.name} is ${describeArgument(argument)}; a Param is one number for all samples`)
    } else if (typeof argument === 'number') {
      if (!isPerSample(slot) || slot.written || allocate === undefined) {
        problems.push(
          `${slot.name} is the number ${argument}, which has no address to bind; pass an array, for one sample of shape ${formatShape(slot.head)}`,
        )
      } else if (slot.head.length > 0) {
        problems.push(`${slot.name} is the number ${argument}, but one sample has shape ${formatShape(slot.head)}`)
      } else if (slot.type === 'i32' && (argument | 0) !== argument) {
        problems.push(`${slot.name} is the number ${argument}; an Index is a whole number from −2³¹ to 2³¹ − 1`)
      } else numbers.push({ slot, value: argument })
    } else placeArgument(signature.kernel, slot, argument, options, placed, problems)
  }

  const { floatType, decidedBy } = chooseFloatType(placed, options)
  for (const { slot, placement } of placed) {
    const problem = typeProblem(slot, placement.array, floatType, decidedBy)
    if (problem) problems.push(problem)
    else if (isDetached(placement.array))
      problems.push(
        `${slot.name} is a detached or out-of-bounds array: its buffer was transferred or shrunk; pass a live array`,
      )
    else if (slot.written && placement.readOnly)
      problems.push(`${slot.name} is read-only, but the kernel writes it; pass an array that can be written`)
  }

  const form =
    numbers.length > 0
      ? 'number'
      : placed.some(({ slot, placement }) => isPerSample(slot) && placement.layout === 'single')
        ? 'single'
        : 'batch'
  const samples = countSamples(placed, numbers, form, options, problems)
  const range = chooseRange(samples, options, problems)

  if (problems.length > 0) {
    refuseSymbolic(signature.kernel, handedIn)
    refuseCall(signature.kernel, problems)
  }

  const planes: BoundPlane[] = placed.map(({ slot, placement }) => ({
    ...placement,
    slot,
    length: isPerSample(slot) ? samples : placement.samples,
  }))
  for (const { slot, value } of numbers) {
    const array = new ARRAY_CLASSES[slot.type === 'f64' ? floatType : slot.type](1)
    array[0] = value
    planes.push({ slot, array, pitch: 1, sampleStride: 1, length: 1 })
  }
  for (const slot of slots) {
    if (!slot.isOutput || planes.some((plane) => plane.slot === slot)) continue
    const length = slot.role === 'reduce' ? 1 : slot.lengthOf === undefined ? samples : entries(planes, slot.lengthOf)
    const type = slot.type === 'f64' ? floatType : slot.type
    // A reduction is a number of the call, not a plane: it is made here also where nothing else may be.
    const array = allocate ? allocate(type, slot.components * length) : new ARRAY_CLASSES[type](slot.components)
    planes.push({ slot, array, pitch: length, sampleStride: 1, length })
  }

  const overlaps = findOverlaps(planes.map(extentOf))
  if (overlaps.length > 0) refuseCall(signature.kernel, overlaps)

  const sampleStrides: number[] = []
  for (const { slot, sampleStride } of planes) sampleStrides[slot.plane] = sampleStride
  return {
    floatType,
    planes,
    uniforms,
    sampleStrides: Array.from({ length: sampleStrides.length }, (_, plane) => sampleStrides[plane] ?? 1),
    range,
    form,
    handedIn,
    copiesBack: placed.flatMap(({ copyBack }) => copyBack ?? []),
  }
}

/** Entries of a table that was bound; 0 where it was left out, as nothing reads it then. */
const entries = (planes: readonly BoundPlane[], table: string): number =>
  planes.find(({ slot }) => slot.name === table)?.length ?? 0

/** The text of a symbolic value, also of the first in a plain array; undefined for what is none. */
const symbolicText = (argument: unknown): string | undefined =>
  Array.isArray(argument)
    ? argument.map(symbolicText).find((text) => text !== undefined)
    : isTraced(argument) || isHandle(argument)
      ? argument[STATE].label
      : undefined

/** Refuses in one sentence a kernel called inside the body of another, with what that body works on. */
function refuseSymbolic(kernel: string, handedIn: ReadonlyMap<string, unknown>): void {
  const given = [...handedIn].flatMap(([name, argument]) => {
    const text = symbolicText(argument)
    return text === undefined ? [] : [`${name} is the symbolic value ${text}`]
  })
  if (given.length === 0) return
  refuseCall(kernel, [
    `${given.join(', ')}; kernels take arrays and numbers, and cannot be called inside the body of a kernel: write what '${kernel}' computes as a plain function, and call that function in both bodies`,
  ])
}

const missing = ({ name, role, isOutput }: Slot): string =>
  isOutput
    ? `output '${name}' was not handed in; run and bound calls never allocate, so pass an array for it`
    : `'${name}' was not given; pass ${role === 'uniform' ? 'a number' : 'an array'}`

/** Arguments by slot name: output slots answer to their positional names, too. */
function argumentsBySlot(
  { slots, aliases }: Signature,
  given: ReadonlyMap<string, unknown>,
  problems: string[],
): ReadonlyMap<string, unknown> {
  const bySlot = new Map<string, unknown>()
  for (const [name, argument] of given) {
    const slot = slots.find((candidate) => candidate.name === name) ?? aliases.get(name)
    if (!slot)
      problems.push(`there is no parameter or output '${name}'; it has ${slots.map((known) => known.name).join(', ')}`)
    else if (bySlot.has(slot.name)) problems.push(`'${slot.name}' was given twice, as '${slot.name}' and as '${name}'`)
    else bySlot.set(slot.name, argument)
  }
  return bySlot
}

function placeArgument(
  kernel: string,
  slot: Slot,
  argument: unknown,
  options: CallOptions,
  placed: Placed[],
  problems: string[],
): void {
  if (slot.length !== undefined) {
    const flat = placeWhole(slot, argument)
    if (typeof flat === 'string') problems.push(`${slot.name} ${flat}`)
    else placed.push({ slot, placement: flat })
    return
  }
  const head = slot.role === 'reduce' ? [] : slot.head
  const placement = place(argument, head, options.layout)
  if (!isRefusal(placement)) {
    if (slot.role === 'reduce' && placement.samples !== slot.components) {
      problems.push(`${slot.name} has ${placement.samples} elements; this reduction gives ${slot.components}`)
    } else placed.push({ slot, placement })
  } else if (placement.copyable && options.copy === 'warn') {
    placed.push({ slot, ...copyIn(kernel, slot, placement.copyable.view, placement.copyable.axis) })
  } else problems.push(`${slot.name} ${placement.problem}`)
}

/** A table with named axes: all its entries side by side, row-major. */
function placeWhole(slot: Slot, argument: unknown): Placement | string {
  const shaped = place(argument, [])
  const length = slot.length!
  if (!isRefusal(shaped))
    return shaped.samples === length ? shaped : `has ${shaped.samples} entries; its axes say ${length}`
  if (
    !isTypedArray(argument) &&
    typeof argument === 'object' &&
    argument !== null &&
    'data' in argument &&
    isTypedArray(argument.data)
  ) {
    const flat = place(argument, 'shape' in argument && Array.isArray(argument.shape) ? argument.shape : [])
    if (!isRefusal(flat) && flat.layout === 'single' && flat.pitch === 1) {
      const entries = flat.shape.reduce((product, extent) => product * extent, 1)
      return entries === length
        ? { ...flat, layout: 'native', pitch: length, samples: length }
        : `has ${entries} entries; its axes say ${length}`
    }
  }
  return shaped.problem
}

function chooseFloatType(placed: readonly Placed[], options: CallOptions): { floatType: FloatType; decidedBy: string } {
  for (const { slot, placement } of placed) {
    const type = planeTypeOf(placement.array)
    if (slot.type === 'f64' && (type === 'f64' || type === 'f32')) return { floatType: type, decidedBy: slot.name }
  }
  return { floatType: options.dtype ?? 'f64', decidedBy: options.dtype ? `dtype: '${options.dtype}'` : 'the default' }
}

function countSamples(
  placed: readonly Placed[],
  numbers: readonly { readonly slot: Slot }[],
  form: BoundCall['form'],
  options: CallOptions,
  problems: string[],
): number {
  const voters = placed.filter(({ slot }) => isPerSample(slot))
  if (form !== 'batch') {
    const one = numbers[0]?.slot.name ?? voters.find(({ placement }) => placement.layout === 'single')?.slot.name
    const batch = voters.find(({ placement }) => placement.layout !== 'single')
    if (batch) {
      problems.push(
        `${one} is one sample, but ${batch.slot.name} is a batch of shape ${formatShape(batch.placement.shape)}; use a Param or a Table for what all samples share, or repeat it for each sample`,
      )
    }
    return 1
  }
  const { n } = options
  if (n !== undefined) {
    for (const { slot, placement } of voters) {
      if (placement.samples < n) problems.push(`${slot.name} holds ${placement.samples} samples, but n is ${n}`)
    }
    return n
  }
  const first = voters[0]
  if (!first) {
    // Where arguments are missing or refused, that is the problem.
    if (problems.length === 0)
      problems.push('no argument says how many samples there are; say it with k.with({ n: … })')
    return 0
  }
  const { samples } = first.placement
  for (const { slot, placement } of voters) {
    if (placement.samples !== samples) {
      problems.push(
        `${slot.name} holds ${placement.samples} samples, but ${first.slot.name} holds ${samples}; pass planes of one length, or say how many with k.with({ n: … })`,
      )
    }
  }
  return samples
}

function chooseRange(samples: number, { base = 0, count, threads }: CallOptions, problems: string[]): LaunchRange {
  const end = count === undefined ? samples : base + count
  if (base > samples || end > samples)
    problems.push(`base ${base} and count ${count ?? samples - base} reach beyond the ${samples} samples`)
  const range = { sampleCount: samples, begin: base, end }
  return threads === undefined ? range : { ...range, threads }
}

const extentOf = ({ slot, array, pitch, sampleStride, length }: BoundPlane): Extent => ({
  name: slot.name,
  array,
  written: slot.written,
  perSample: isPerSample(slot),
  components: slot.components,
  pitch,
  sampleStride,
  length,
})
