// The CUDA driver as the device of a context: libcuda.so.1, or the library that HARRIER_CUDA_LIB names, opened when a device is first
// asked about and never by importing this file. Only what runs other people's kernels is bound: contexts, streams and waiting.
import { type NativeParameter, addressOf, nativeFunction, openLibrary, readCString } from '../runtime/ffi.ts'
import type { DeviceRuntime } from './device.ts'

const DEFAULT_LIBRARY = 'libcuda.so.1'

/** CU_STREAM_DEFAULT: ordered with the legacy default stream, where callers may have prepared their arrays. */
const STREAM_DEFAULT = 0

/** The driver of this machine, opened when it is first asked about. */
export function cudaRuntime(): DeviceRuntime {
  let opened: Driver | Error | undefined
  const open = (): Driver | Error => {
    opened ??= tryOpenDriver()
    return opened
  }
  const driver = (): Driver => {
    const found = open()
    if (found instanceof Error) throw found
    return found
  }
  return {
    get unavailable() {
      const found = open()
      return found instanceof Error ? found.message : null
    },
    get deviceCount() {
      const found = open()
      return found instanceof Error ? 0 : found.deviceCount
    },
    get driverVersion() {
      const found = open()
      return found instanceof Error ? 0 : found.version
    },
    makeCurrent: (device) => driver().makeCurrent(device),
    createStream: () => driver().createStream(),
    synchronize: (stream) => driver().synchronize(stream),
    destroyStream: (stream) => driver().destroyStream(stream),
  }
}

interface Driver {
  readonly version: number
  readonly deviceCount: number
  makeCurrent(device: number): void
  createStream(): bigint
  synchronize(stream: bigint): void
  destroyStream(stream: bigint): void
}

function tryOpenDriver(): Driver | Error {
  const name = process.env.HARRIER_CUDA_LIB ?? DEFAULT_LIBRARY
  try {
    return openDriver(name)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    return new Error(`the CUDA driver (${name}) cannot be used: ${reason}`, { cause })
  }
}

function openDriver(name: string): Driver {
  const library = openLibrary(name)
  const bind = <const Parameters extends readonly NativeParameter[]>(symbol: string, parameters: Parameters) => {
    const address = library.symbol(symbol)
    if (address === undefined) throw new Error(`it has no function ${symbol}`)
    return nativeFunction(address, 'i32', parameters)
  }
  const cuInit = bind('cuInit', ['u32'])
  const cuDriverGetVersion = bind('cuDriverGetVersion', ['address'])
  const cuDeviceGetCount = bind('cuDeviceGetCount', ['address'])
  const cuDeviceGet = bind('cuDeviceGet', ['address', 'i32'])
  const cuDevicePrimaryCtxRetain = bind('cuDevicePrimaryCtxRetain', ['address', 'i32'])
  const cuCtxSetCurrent = bind('cuCtxSetCurrent', ['address'])
  const cuStreamCreate = bind('cuStreamCreate', ['address', 'u32'])
  const cuStreamSynchronize = bind('cuStreamSynchronize', ['address'])
  const cuStreamDestroy = bind('cuStreamDestroy_v2', ['address'])
  const cuGetErrorName = bind('cuGetErrorName', ['i32', 'address'])
  const cuGetErrorString = bind('cuGetErrorString', ['i32', 'address'])

  const check = (call: string, result: number): void => {
    if (result === 0) return
    const name = outAddress((out) => void cuGetErrorName(result, out))
    const text = outAddress((out) => void cuGetErrorString(result, out))
    throw new Error(`${call} returned ${readCString(name) || result} (${readCString(text)})`)
  }

  check('cuInit', cuInit(0))
  const version = outInt((out) => check('cuDriverGetVersion', cuDriverGetVersion(out)))
  const deviceCount = outInt((out) => check('cuDeviceGetCount', cuDeviceGetCount(out)))
  if (deviceCount === 0) throw new Error('it has no device')

  // A primary context is retained once and shared with everything else in the process that uses the device.
  const contexts = new Map<number, bigint>()
  const contextOf = (device: number): bigint => {
    const known = contexts.get(device)
    if (known !== undefined) return known
    const handle = outInt((out) => check('cuDeviceGet', cuDeviceGet(out, device)))
    const context = outAddress((out) => check('cuDevicePrimaryCtxRetain', cuDevicePrimaryCtxRetain(out, handle)))
    contexts.set(device, context)
    return context
  }

  return {
    version,
    deviceCount,
    makeCurrent: (device) => check('cuCtxSetCurrent', cuCtxSetCurrent(contextOf(device))),
    createStream: () => outAddress((out) => check('cuStreamCreate', cuStreamCreate(out, STREAM_DEFAULT))),
    synchronize: (stream) => check('cuStreamSynchronize', cuStreamSynchronize(stream)),
    destroyStream: (stream) => check('cuStreamDestroy', cuStreamDestroy(stream)),
  }
}

/** Calls a function with the address of an `int`, and returns what it wrote there. */
function outInt(call: (out: bigint) => void): number {
  const slot = new Int32Array(1)
  call(addressOf(slot))
  return slot[0]!
}

/** Calls a function with the address of a pointer, and returns what it wrote there. */
function outAddress(call: (out: bigint) => void): bigint {
  const slot = new BigUint64Array(1)
  call(addressOf(slot))
  return slot[0]!
}
