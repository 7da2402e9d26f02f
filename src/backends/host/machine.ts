// What the host backend needs of the machine that it runs on. The runtime implements it (src/runtime/machine.ts) and hands it in, as
// backends import nothing of the runtime; tests hand in machines without a compiler or with another processor.
import type { PlaneArray } from '../backend.ts'
import type { BuildCache } from '../buildCache.ts'
import type { HostTarget } from '../llvm/interface.ts'

export interface Machine {
  /** The compiler that was found, or what is wrong and what to do. Looked for at the first call. */
  compiler(): { readonly found: true; readonly detail: string } | { readonly found: false; readonly problem: string }
  processor(): { readonly description: string; readonly target: HostTarget }
  cache(): BuildCache
  /**
   * Everything beside the text that decides what `compile` gives: compiler, linker, their flags, processor.
   * Starts no program whose version is known already.
   */
  buildInputs(): Readonly<Record<string, unknown>>
  /** A module of LLVM IR as a shared object. @throws E_COMPILE, E_TOOLCHAIN */
  compile(request: ModuleRequest): Uint8Array
  /** A module of LLVM IR as assembly, for people. @throws E_COMPILE, E_TOOLCHAIN */
  assemble(request: ModuleRequest): string
  /** Loads a shared object, which stays loaded until the process ends. @throws E_CACHE when the system refuses it */
  load(path: string, symbol: string): Entries
  /**
   * The name of the OpenMP runtime, or undefined where there is none and all calls run on one thread. Loads it at the first call.
   */
  openMp(): string | undefined
  /** Threads that a call may have when nobody says how many. @throws E_OPTION when the user's setting is no such number */
  threads(): number
  /** Address of the first element; valid as long as the array is alive and not detached. */
  addressOf(memory: PlaneArray | ArrayBuffer): bigint
}

export interface ModuleRequest {
  readonly kernel: string
  readonly llvm: string
  readonly codegenLevel: 'full' | 'light'
}

/** The entries of a compiled kernel; `block` is the address of its argument block. */
export interface Entries {
  run(block: bigint, begin: number, end: number): void
  runParallel(block: bigint, begin: number, end: number, threads: number): void
  /** The same two on another thread. */
  runAsync(block: bigint, begin: number, end: number): Promise<void>
  runParallelAsync(block: bigint, begin: number, end: number, threads: number): Promise<void>
}
