// The border to native code, and the only file that imports koffi: libraries, symbols, calls through function pointers, JavaScript
// functions handed to C, and memory by address. An address is a bigint on this side of the border, 0n for a null pointer.
// A library that was opened stays mapped until the process ends, and nothing here keeps a caller's array alive: whoever writes an
// array's address into native memory holds the array until the native side has finished with it.
import koffi, { type KoffiFunc, type TypeObject } from 'koffi'
import { MOST_STACK } from '../backends/llvm/interface.ts'

/** A native address: the null pointer is 0n. */
export type Address = bigint

/** What C parameters and results are called here, and what stands for them in JavaScript. */
interface NativeTypes {
  void: void
  i32: number
  u32: number
  /** A whole number of at most 2⁵³ in size, so that calls need no bigint; parameters only. */
  i64: number
  address: Address
  /** A NUL-terminated UTF-8 string, valid while the call lasts; parameters only. */
  text: string
}

export type NativeResult = Exclude<keyof NativeTypes, 'text' | 'i64'>
export type NativeParameter = Exclude<keyof NativeTypes, 'void'>
export type NativeArguments<Parameters extends readonly NativeParameter[]> = {
  -readonly [Index in keyof Parameters]: NativeTypes[Parameters[Index]]
}

/**
 * Bytes of the stacks that native code runs on: twice what a kernel may take. They are reserved, and become memory where they are used.
 * Where a program has called through koffi before, they have the sizes that it left: 2 MiB, and 128 KiB for calls on other threads.
 */
export const STACK_BYTES = 2 * MOST_STACK

try {
  koffi.config({ sync_stack_size: STACK_BYTES, async_stack_size: STACK_BYTES })
} catch {
  // Sizes cannot be changed after the first library was loaded.
}

/** A C function that JavaScript can call; it runs on the calling thread, on a stack that belongs to koffi. */
export type NativeFunction<Result extends NativeResult, Parameters extends readonly NativeParameter[]> = (
  ...values: NativeArguments<Parameters>
) => NativeTypes[Result]

/** A library that the system loader has mapped; see {@link openLibrary}. */
export interface Library {
  /** The address of an exported symbol, or undefined when the library has none of that name. */
  symbol(name: string): Address | undefined
}

const KOFFI_TYPES = {
  void: 'void',
  i32: 'int32_t',
  u32: 'uint32_t',
  i64: 'int64_t',
  address: 'void *',
  text: 'const char *',
} as const satisfies Record<keyof NativeTypes, string>

/** koffi keeps every prototype that it is given until the thread ends, so each signature is declared once. */
const prototypes = new Map<string, TypeObject>()

function prototypeOf(result: NativeResult, parameters: readonly NativeParameter[]): TypeObject {
  const key = [result, ...parameters].join(' ')
  const known = prototypes.get(key)
  if (known !== undefined) return known
  const made = koffi.proto(
    KOFFI_TYPES[result],
    parameters.map((parameter) => KOFFI_TYPES[parameter]),
  )
  prototypes.set(key, made)
  return made
}

/** The program itself with the C library that it runs on. */
export function openProgram(): Library {
  return asLibrary(koffi.load(null))
}

/** glibc, musl and macOS agree on this number. */
const RTLD_NOW = 2

/**
 * Opens a shared library with every symbol bound at once. Throws an Error with the loader's own text when that fails.
 * @param visibility whether libraries that are opened later bind their undefined symbols to the ones of this library
 */
export function openLibrary(path: string, visibility: 'private' | 'global' = 'private'): Library {
  const library = asLibrary(koffi.load(path, { global: visibility === 'global' }))
  // koffi closes a library when its handle is collected or its worker ends, but native threads and stored function pointers may
  // outlive both: so each library gets one more reference, which is never given back. (Windows has no dlopen; there the handle
  // stays open because nothing unloads it.)
  const dlopen = openProgram().symbol('dlopen')
  if (dlopen !== undefined) nativeFunction(dlopen, 'address', ['text', 'i32'])(path, RTLD_NOW)
  return library
}

function asLibrary(handle: ReturnType<typeof koffi.load>): Library {
  return {
    symbol(name) {
      try {
        return handle.symbol(name)
      } catch {
        return undefined
      }
    },
  }
}

/** Makes the C function at an address callable. The signature is taken on trust. */
export function nativeFunction<Result extends NativeResult, const Parameters extends readonly NativeParameter[]>(
  address: Address,
  result: Result,
  parameters: Parameters,
): NativeFunction<Result, Parameters> {
  return koffi.decode(address, prototypeOf(result, parameters))
}

/**
 * Makes the C function at an address callable on another thread, on a stack of its own. At most 256 such calls may be under way in
 * a process (koffi throws beyond that), and nothing keeps their arguments alive but the caller.
 */
export function asyncNativeFunction<Result extends NativeResult, const Parameters extends readonly NativeParameter[]>(
  address: Address,
  result: Result,
  parameters: Parameters,
): (...values: NativeArguments<Parameters>) => Promise<NativeTypes[Result]> {
  const call: KoffiFunc<NativeFunction<Result, Parameters>> = koffi.decode(address, prototypeOf(result, parameters))
  return (...values) =>
    new Promise((resolve, reject) =>
      call.async(...values, (error, value) => (error === null ? resolve(value) : reject(error))),
    )
}

/**
 * A C function pointer that runs a JavaScript function, valid while this thread lives. C may call it only on this thread and only
 * while this thread is inside a native call: a call from another thread waits for the event loop, for ever if the event loop waits
 * for the native call. The function must not throw.
 */
export function registerCallback<Result extends NativeResult, const Parameters extends readonly NativeParameter[]>(
  callback: NativeFunction<Result, Parameters>,
  result: Result,
  parameters: Parameters,
): Address {
  // koffi hands a null pointer over as null.
  const withoutNull = (...values: NativeArguments<Parameters>) =>
    callback(...(values.map((value) => value ?? 0n) as typeof values))
  return koffi.register(withoutNull, koffi.pointer(prototypeOf(result, parameters)))
}

/**
 * The address of the first element of a typed array, or of an ArrayBuffer. Detached and empty ones have the address 0n. An array of
 * 64 bytes or less lives in the JavaScript heap until its address is taken here, after which it does not move.
 */
export function addressOf(memory: ArrayBufferLike | NodeJS.TypedArray): Address {
  return koffi.address(memory)
}

/** Copies bytes out of native memory. The range is taken on trust: one that is not mapped ends the process. */
export function readMemory(address: Address, length: number): Uint8Array {
  return length === 0 ? new Uint8Array() : koffi.decode(address, 'uint8_t', length)
}

/** Copies bytes into native memory, on the same trust as {@link readMemory}. */
export function writeMemory(address: Address, bytes: Uint8Array): void {
  if (bytes.length > 0) koffi.encode(address, 'uint8_t', bytes, bytes.length)
}

/** Reads NUL-terminated UTF-8 text; a null pointer is empty text. */
export function readCString(address: Address): string {
  return address === 0n ? '' : koffi.decode.string(address)
}

/** Allocates native memory that is never freed: for the few tables that C code may keep a pointer to until the process ends. */
export function allocateForever(length: number): Address {
  return koffi.alloc('uint8_t', length)
}

/** The C library's errno as the last native call of this thread left it, and the number that a name such as EINTR has here. */
export function lastErrno(): number {
  return koffi.errno()
}

export function errnoOf(name: string): number | undefined {
  return koffi.os.errno[name]
}
