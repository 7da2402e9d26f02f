// The one interface between the runtime and what executes a graph.
// Invariants: a backend binds the caller's memory in place and never keeps it beyond a launch object; an executable may be launched
// any number of times, from several launch objects; whatever a backend runs agrees bit for bit with src/ir/interpret.ts.
import type { Graph } from '../ir/graph.ts'
import type { PlaneArray, PlaneType } from '../ir/types.ts'

export type { PlaneArray, PlaneType } from '../ir/types.ts'

export type BackendName = 'host' | 'wasm' | 'reference'

export interface BuildOptions {
  /** Name for messages, logs and symbols; not part of the cache key. */
  readonly name: string
  /** Distance in elements between consecutive samples of each plane: 1 for a component-major plane (components lie `pitch` apart), n for storage in which n numbers a sample lie together (components lie 1 apart). Indexed by plane number; absent: 1 everywhere. */
  readonly sampleStrides?: readonly number[]
  /** Reports reads and writes outside tables and accumulators instead of giving NaN or dropping them. */
  readonly check?: boolean
  /** Samples a vector register holds; absent: the native count. For tests. */
  readonly width?: number
  /** How loops that stop by data run on the host; absent: by the rule of the emitter. For tests. */
  readonly divergence?: 'masked' | 'interleaved' | 'refilled'
}

/** Which samples a launch covers. */
export interface LaunchRange {
  /** Number of samples of the whole problem: what `sampleCount` gives. */
  readonly sampleCount: number
  /** First sample, and the one after the last. */
  readonly begin: number
  readonly end: number
  /** Threads to use, at least 1; absent: the executable decides from its own timing. */
  readonly threads?: number
}

/** The argument block of one call. It holds the arrays that are bound to it until they are replaced or released. */
export interface Launch {
  /**
   * Binds the array of a plane; element 0 is component 0 of sample 0.
   * @param pitch elements between components of a component-major plane, table or accumulator
   * @param length samples, or entries of a table or accumulator
   */
  bind(plane: number, array: PlaneArray, pitch: number, length: number): void
  /** Sets the number of a uniform. */
  set(plane: number, value: number): void
  run(range: LaunchRange): void
  /** Lets go of the arrays that are bound, so that an idle launch keeps none of them alive. */
  release(): void
  /** @param beforeStart called when its turn has come; what it throws, the promise is rejected with, and nothing runs */
  runAsync(range: LaunchRange, beforeStart?: () => void): Promise<void>
}

export interface Executable {
  readonly backend: BackendName
  /** A launch with nothing bound. */
  launch(): Launch
}

export type Availability =
  | { readonly available: true; readonly detail: string }
  | { readonly available: false; readonly reason: string }

export interface Backend {
  readonly name: BackendName
  /** Whether it can run here, and with what; or why not and what to do. Cached; never throws. */
  availability(): Availability
  /** Makes an output plane, filled with zeros, where this backend reaches it best. */
  allocate(type: PlaneType, length: number): PlaneArray
  /** Builds a graph whose floats are of their final type: lowers, emits and compiles it, or finds it in the cache. */
  build(graph: Graph, options: BuildOptions): Executable
  /** Forms of `source` that this backend prints. */
  readonly sourceForms: readonly string[]
  /** The generated code, for people: LLVM IR, assembly, WebAssembly text. */
  source(graph: Graph, options: BuildOptions, form: string): string
}
