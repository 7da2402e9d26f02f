// What an object bound to a role is: its dtype, place, shape, order in memory and address. Only facts are derived here; whether an
// operation or kernel takes them is decided elsewhere. A caller's object is looked at, never copied or wrapped.
import { addressOf } from '../runtime/ffi.ts'
import { DTYPES, type DType, type TypedArray, dtypeOfClass, isDType, storageOf } from './dtypes.ts'
import { BindingError } from './errors.ts'
import { type ArrayOrder, elementSpan, orderOf, packedStrides } from './order.ts'
import type { Role, RoleMap } from './roles.ts'
import { show } from './show.ts'
import { LOCATIONS, type Location } from './vocabulary.ts'

/** A typed array seen through a shape: a scalar, a matrix, a tensor, a strided vector, or a dtype that has no class of its own. */
export interface TensorView {
  readonly data: TypedArray
  readonly shape: readonly number[]
  /** Elements from one index to the next along each axis; row-major without holes when absent. */
  readonly strides?: readonly number[] | undefined
  /** The dtype of the elements; that of the class of `data` when absent. */
  readonly dtype?: DType | undefined
  /** Elements from the start of `data` to the first one of the view. */
  readonly offset?: number | undefined
}

/** An array in memory that the host cannot reach through a typed array. */
export interface DeviceArray {
  readonly location: Exclude<Location, 'host'>
  readonly device: number
  /** The address of the first element. */
  readonly ptr: bigint
  readonly dtype: DType
  readonly shape: readonly number[]
  /** As in {@link TensorView}. */
  readonly strides?: readonly number[] | undefined
}

/** What can be bound to a role. A bare typed array is a vector of its class's dtype. */
export type Binding = TypedArray | TensorView | DeviceArray
export type Bindings = RoleMap<Binding>

/** An object bound to a role, with everything that dispatch and native code need to know of it. */
export interface BoundOperand extends ArrayOrder {
  readonly role: Role
  /** The caller's own object. */
  readonly object: Binding
  /** The array whose memory is used, to be held while native code has its address; null for device memory. */
  readonly memory: TypedArray | null
  readonly dtype: DType
  readonly location: Location
  /** The device's number; -1 on the host. */
  readonly device: number
  readonly shape: readonly number[]
  /** In elements. */
  readonly strides: readonly number[]
  /** The address of the first element. */
  readonly address: bigint
  /** The addresses that the elements occupy: from `begin` up to, not including, `end`; equal for an array without elements. */
  readonly begin: bigint
  readonly end: bigint
}

type Derived = 'address' | 'shape' | 'strides' | 'begin' | 'end' | keyof ArrayOrder

type Refuse = (code: 'E_BINDING_TYPE' | 'E_BINDING_DETACHED' | 'E_BINDING_BOUNDS', problem: string) => never

/** Derives the facts of one bound object, or refuses it with E_BINDING_TYPE, E_BINDING_DETACHED or E_BINDING_BOUNDS. */
export function bindOperand(operation: string, role: Role, object: Binding): BoundOperand {
  const refuse: Refuse = (code, problem) => {
    throw new BindingError(code, `${operation}: ${role} ${problem}`, { operation, role })
  }
  if (isTypedArray(object)) return bindTypedArray(role, object, refuse)
  if (typeof object === 'object' && object !== null) {
    if ('data' in object) return bindView(role, object, refuse)
    if ('ptr' in object) return bindDeviceArray(role, object, refuse)
  }
  return refuse(
    'E_BINDING_TYPE',
    `is ${show(object)}; expected a typed array, a view { data, shape, strides?, dtype?, offset? } or a device array ` +
      '{ location, device, ptr, dtype, shape, strides? }',
  )
}

function bindTypedArray(role: Role, array: TypedArray, refuse: Refuse): BoundOperand {
  const dtype = dtypeOfClass(array[Symbol.toStringTag])
  if (dtype === undefined)
    return refuse('E_BINDING_TYPE', `is a ${array[Symbol.toStringTag]}, whose elements have no dtype`)
  checkMemory(array, refuse)
  return locate(
    { role, object: array, memory: array, dtype, location: 'host', device: -1 },
    addressOf(array),
    [array.length],
    [1],
  )
}

function bindView(role: Role, view: TensorView, refuse: Refuse): BoundOperand {
  const { data, offset = 0, dtype = ownDType(data) }: { [Field in keyof TensorView]: unknown } = view
  if (!isTypedArray(data))
    return refuse('E_BINDING_TYPE', `is a view whose data is ${show(data)}; expected a typed array`)
  if (!isDType(dtype)) return refuse('E_BINDING_TYPE', `is a view of the dtype ${show(dtype)}, which does not exist`)
  const storage = storageOf(dtype)
  if (!storage.includes(data[Symbol.toStringTag])) {
    return refuse(
      'E_BINDING_TYPE',
      `is a view of ${dtype} on a ${data[Symbol.toStringTag]}; expected a ${storage.join(' or a ')}`,
    )
  }
  if (!isIndex(offset))
    return refuse('E_BINDING_TYPE', `has the offset ${show(offset)}; expected a whole number from 0 on`)
  const { shape, strides } = checkShape(view, refuse)
  checkMemory(data, refuse)
  const { bytes } = DTYPES[dtype]
  const span = elementSpan(shape, strides)
  const held = Math.floor(data.byteLength / bytes)
  if (span !== null && (offset + span.lowest < 0 || offset + span.highest >= held)) {
    return refuse(
      'E_BINDING_BOUNDS',
      `reaches from element ${offset + span.lowest} to element ${offset + span.highest} of ${held} of dtype ${dtype} ` +
        `(shape ${show(shape)}, strides ${show(strides)}, offset ${offset})`,
    )
  }
  const address = addressOf(data) + BigInt(span === null ? 0 : offset * bytes)
  return locate({ role, object: view, memory: data, dtype, location: 'host', device: -1 }, address, shape, strides)
}

function bindDeviceArray(role: Role, array: DeviceArray, refuse: Refuse): BoundOperand {
  const { location, device, ptr, dtype }: { [Field in keyof DeviceArray]: unknown } = array
  const found = LOCATIONS.find((candidate) => candidate === location)
  if (found === undefined || found === 'host') {
    const expected = LOCATIONS.filter((name) => name !== 'host').join(', ')
    return refuse('E_BINDING_TYPE', `is a device array at the location ${show(location)}; expected one of ${expected}`)
  }
  if (!isIndex(device))
    return refuse('E_BINDING_TYPE', `is on the device ${show(device)}; expected a whole number from 0 on`)
  if (!isDType(dtype))
    return refuse('E_BINDING_TYPE', `is a device array of the dtype ${show(dtype)}, which does not exist`)
  if (typeof ptr !== 'bigint' || ptr < 0n)
    return refuse('E_BINDING_TYPE', `has the ptr ${show(ptr)}; expected an address as a bigint`)
  const { shape, strides } = checkShape(array, refuse)
  if (ptr === 0n && !shape.includes(0))
    return refuse('E_BINDING_BOUNDS', `is a device array of shape ${show(shape)} at the address 0`)
  return locate({ role, object: array, memory: null, dtype, location: found, device }, ptr, shape, strides)
}

/** Adds what follows from the address of the first element, shape and strides. */
function locate(
  { role, object, memory, dtype, location, device }: Omit<BoundOperand, Derived>,
  address: bigint,
  shape: readonly number[],
  strides: readonly number[],
): BoundOperand {
  const { bytes } = DTYPES[dtype]
  const span = elementSpan(shape, strides)
  const begin = span === null ? address : address + BigInt(span.lowest * bytes)
  const end = span === null ? address : address + BigInt((span.highest + 1) * bytes)
  const { layouts, contiguous } = orderOf(shape, strides)
  return { role, object, memory, dtype, location, device, shape, strides, address, begin, end, layouts, contiguous }
}

function checkShape(
  object: { readonly [Field in 'shape' | 'strides']?: unknown },
  refuse: Refuse,
): { shape: readonly number[]; strides: readonly number[] } {
  const { shape } = object
  if (!Array.isArray(shape) || !shape.every(isIndex)) {
    return refuse('E_BINDING_TYPE', `has the shape ${show(shape)}; expected an array of whole numbers from 0 on`)
  }
  const strides = object.strides ?? packedStrides(shape)
  if (!Array.isArray(strides) || strides.length !== shape.length || !strides.every(Number.isSafeInteger)) {
    return refuse(
      'E_BINDING_TYPE',
      `has the strides ${show(strides)}; expected ${shape.length} whole numbers, one for each axis`,
    )
  }
  return { shape: [...shape], strides: [...strides] }
}

/** Refuses an array whose buffer was transferred away, or was resized so that the array lies outside of it. */
function checkMemory(array: TypedArray, refuse: Refuse): void {
  if (array.length > 0) return
  try {
    // Node 20 has no property that tells whether a buffer is detached; slicing one throws.
    array.buffer.slice(0, 0)
  } catch {
    refuse(
      'E_BINDING_DETACHED',
      'has a detached buffer: it was transferred to another thread or owner; pass the array that it became',
    )
  }
  try {
    // An array that its resized buffer no longer covers reports length 0, and throws when it is read.
    array.at(0)
  } catch {
    refuse('E_BINDING_BOUNDS', 'lies outside its buffer, which was made smaller; make a new array on it')
  }
}

function isTypedArray(value: unknown): value is TypedArray {
  return ArrayBuffer.isView(value) && !(value instanceof DataView)
}

function ownDType(data: unknown): DType | undefined {
  return isTypedArray(data) ? dtypeOfClass(data[Symbol.toStringTag]) : undefined
}

function isIndex(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}
