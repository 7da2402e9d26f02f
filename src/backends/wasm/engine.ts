// The part of the WebAssembly JavaScript interface that this backend uses, typed here so that the library needs no browser typings.

export interface LinearMemory {
  /** Replaced by a longer one, and detached, when the memory grows. */
  readonly buffer: ArrayBuffer
  /** Grows by a number of pages; throws a RangeError where the machine has no more. */
  grow(pages: number): number
}

/** Opaque handle of compiled code. */
export interface CompiledModule {
  readonly compiled?: never
}

export interface Instance {
  readonly exports: Readonly<Record<string, unknown>>
}

interface Engine {
  readonly Memory: new (descriptor: { readonly initial: number; readonly maximum: number }) => LinearMemory
  readonly Module: new (bytes: Uint8Array) => CompiledModule
  readonly Instance: new (
    module: CompiledModule,
    imports: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  ) => Instance
  validate(bytes: Uint8Array): boolean
}

/** The engine of this JavaScript, or undefined where it has none. */
export const engine = (globalThis as { readonly WebAssembly?: Engine }).WebAssembly

/** A module of one function that is valid only where 128-bit vectors are: `(func (result v128) (v128.const i64x2 0 0))`. */
const VECTOR_PROBE = new Uint8Array([
  0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, 0x01, 0x05, 0x01, 0x60, 0x00, 0x01, 0x7b, 0x03, 0x02, 0x01, 0x00,
  0x0a, 0x16, 0x01, 0x14, 0x00, 0xfd, 0x0c, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0b,
])

export const hasVectors = (): boolean => engine?.validate(VECTOR_PROBE) ?? false
