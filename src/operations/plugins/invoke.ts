// Calls the native functions of a plug-in. One block of memory for each call holds the invocation, its tensors with their shapes and
// strides, and the error that the function may fill; the caller's arrays are passed by their addresses.
import { type Address, addressOf, nativeFunction } from '../../runtime/ffi.ts'
import { CallbackError } from '../errors.ts'
import type { Kernel, Operation, ValidatorCall } from '../registry.ts'
import type { Layout } from '../vocabulary.ts'
import {
  ACCESS_NUMBERS,
  BACKEND_NUMBERS,
  ERROR_CAPACITY,
  KIND_NUMBERS,
  LAYOUT_NUMBERS,
  LOCATION_NUMBERS,
  STRUCTS,
} from './abi.ts'
import { TENSOR_CONTIGUOUS, describeStatus, dtypeNumber, roleNumber } from './abi.ts'
import { placeError, readErrorText } from './error-text.ts'
import { writeInt64s, writeStruct } from './layout.ts'

const { hr_invocation: INVOCATION, hr_tensor: TENSOR, hr_error: ERROR } = STRUCTS

/** The blocks of calls under way: native code has their addresses. */
const blocks = new Set<Uint8Array>()

/** A kernel that is `execute(invocation, user_data)`; E_KERNEL when that returns a non-zero status. */
export function runNativeKernel(execute: Address, userData: Address): Kernel['run'] {
  const run = nativeFunction(execute, 'i32', ['address', 'address'])
  return (call) => {
    const { kernel, cudaDevice, stream } = call
    const block = invocationBlock(call, {
      backend: BACKEND_NUMBERS[kernel.backend],
      cuda_device: cudaDevice ?? -1,
      stream: stream ?? 0n,
      layouts: kernel.operands.map(({ layout }) => layout),
    })
    callNative(
      block,
      (invocation) => run(invocation, userData),
      call.operation.name,
      `kernel '${kernel.label}'`,
      kernel.label,
    )
  }
}

/** A validator that is `validate(invocation, user_data)`; E_KERNEL when that returns a non-zero status. */
export function runNativeValidator(validate: Address, userData: Address): Operation['validators'][number] {
  const run = nativeFunction(validate, 'i32', ['address', 'address'])
  return (call) => {
    const block = invocationBlock(call, {
      // No kernel is chosen yet.
      backend: 0,
      cuda_device: Math.max(...call.operands.map(({ device }) => device)),
      stream: 0n,
      layouts: call.operands.map(({ layouts }) => layouts[0]!),
    })
    callNative(block, (invocation) => run(invocation, userData), call.operation.name, 'the validator', 'validator')
  }
}

interface InvocationTarget {
  readonly backend: number
  readonly cuda_device: number
  readonly stream: Address
  /** For each operand the layout that it is passed as. */
  readonly layouts: readonly Layout[]
}

interface InvocationBlock {
  readonly bytes: Uint8Array
  readonly error: Uint8Array
  readonly invocation: Address
}

/** Lays out, in this order: the invocation, its tensors, shape and strides of each, the error with its message. */
function invocationBlock(
  { operation, operands, computeDtypes }: ValidatorCall,
  target: InvocationTarget,
): InvocationBlock {
  const tensors = INVOCATION.size
  const extents = tensors + operands.length * TENSOR.size
  const error = extents + operands.reduce((size, { shape }) => size + 2 * 8 * shape.length, 0)
  const bytes = new Uint8Array(error + ERROR.size + ERROR_CAPACITY)
  const view = new DataView(bytes.buffer)
  const base = addressOf(bytes)
  const addressAt = (offset: number) => base + BigInt(offset)
  const { backend, cuda_device, stream, layouts } = target

  writeStruct(INVOCATION, view, 0, {
    struct_size: INVOCATION.size,
    backend,
    operand_count: operands.length,
    cuda_device,
    operands: addressAt(tensors),
    stream,
    error: addressAt(error),
    next: 0n,
  })
  let nextExtents = extents
  operands.forEach((operand, place) => {
    const { kind, access } = operation.operands[place]!
    const shape = nextExtents
    const strides = shape + 8 * operand.shape.length
    nextExtents = strides + 8 * operand.strides.length
    writeInt64s(view, shape, operand.shape)
    writeInt64s(view, strides, operand.strides)
    writeStruct(TENSOR, view, tensors + place * TENSOR.size, {
      struct_size: TENSOR.size,
      role: roleNumber(operand.role),
      kind: KIND_NUMBERS[kind],
      access: ACCESS_NUMBERS[access],
      dtype: dtypeNumber(operand.dtype),
      compute_dtype: dtypeNumber(computeDtypes[place]!),
      location: LOCATION_NUMBERS[operand.location],
      layout: LAYOUT_NUMBERS[layouts[place]!],
      device: operand.device,
      flags: operand.contiguous ? TENSOR_CONTIGUOUS : 0,
      rank: operand.shape.length,
      reserved0: 0,
      data: operand.address,
      byte_length: operand.end > operand.address ? operand.end - operand.address : 0n,
      shape: addressAt(shape),
      strides: addressAt(strides),
    })
  })
  const errorBytes = bytes.subarray(error)
  placeError(errorBytes, addressAt(error))
  return { bytes, error: errorBytes, invocation: base }
}

function callNative(
  { bytes, error, invocation }: InvocationBlock,
  run: (invocation: Address) => number,
  operation: string,
  subject: string,
  label: string,
): void {
  blocks.add(bytes)
  try {
    const status = run(invocation)
    if (status === 0) return
    const text = readErrorText(error)
    throw new CallbackError(
      'E_KERNEL',
      `${operation}: ${subject} returned the status ${describeStatus(status)}${text === '' ? '' : `: ${text}`}`,
      { operation, status, label },
    )
  } finally {
    blocks.delete(bytes)
  }
}
