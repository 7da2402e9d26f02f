// The wasm backend: graphs as WebAssembly modules that share one linear memory. It runs wherever JavaScript does; what is not
// everywhere, a store on disk and a thread to assemble in, is handed in.
// Invariants: for a build that is in the store nothing is lowered, printed or assembled; what a build is called is no part of it.
import { HarrierError } from '../../errors.ts'
import type { Graph } from '../../ir/graph.ts'
import { lower } from '../../ir/lower/lower.ts'
import { print } from '../../ir/print.ts'
import { verify } from '../../ir/verify.ts'
import type { Availability, Backend, BuildOptions, Executable, PlaneArray, PlaneType } from '../backend.ts'
import type { BuildCache } from '../buildCache.ts'
import type { Assemble } from './assemble.ts'
import { emit, type Emitted } from './emit.ts'
import { engine, hasVectors } from './engine.ts'
import type { Frame } from './frame.ts'
import { createLaunch } from './launch.ts'
import { allocatePlane, createMemory, type AllocatedPlane, type Memory } from './memory.ts'
import { createRunner, type Code } from './runner.ts'

export interface WasmExecutable extends Executable {
  /** Lanes of a register, and registers side by side; for `explain`, and for tests that cut sizes around them. */
  readonly shape: Pick<Frame, 'lanes' | 'vectors'>
}

export interface WasmBackend extends Backend {
  build(graph: Graph, options: BuildOptions): WasmExecutable
  /**
   * Makes a plane filled with zeros in the memory of this backend, which its kernels use without copying.
   * @param shape number of samples, or a row-major shape such as `[3, n]`
   */
  alloc(shape: number | readonly number[], type?: PlaneType): AllocatedPlane
}

export interface WasmOptions {
  readonly assemble: Assemble
  /** Called on the first build; absent: nothing is stored. */
  readonly cache?: () => BuildCache
}

/** WebAssembly has no fused multiply-add: elementary functions take the forms that need none, the op itself is done in software. */
const TARGET = { fma: false, scaling: false }

const ARRAYS: Record<PlaneType, new (length: number) => PlaneArray> = {
  f64: Float64Array,
  f32: Float32Array,
  i32: Int32Array,
  bool: Uint8Array,
}

function generate(graph: Graph, { sampleStrides, check, width, divergence }: BuildOptions): Emitted {
  const basic = lower(graph, TARGET)
  verify(basic, { lowered: TARGET })
  return emit(basic, { sampleStrides, check, width, divergence })
}

export function createWasmBackend({ assemble, cache }: WasmOptions): WasmBackend {
  let shared: Memory | undefined
  const memory = (): Memory => (shared ??= createMemory())
  let known: Availability | undefined

  function make(graph: Graph, options: BuildOptions) {
    const { text, frame } = generate(graph, options)
    return { code: assemble(text, options.name), facts: frame }
  }

  return {
    name: 'wasm',

    availability() {
      known ??= hasVectors()
        ? { available: true, detail: 'WebAssembly with 128-bit vectors, on one thread' }
        : {
            available: false,
            reason: engine
              ? 'the WebAssembly of this JavaScript has no 128-bit vectors; use Node.js 16.4 or newer, or a browser of 2023 or newer'
              : 'this JavaScript has no WebAssembly',
          }
      return known
    },

    // Not inside the linear memory, which never shrinks and whose growth would detach arrays that callers keep: that is for alloc().
    allocate: (type, length) => new ARRAYS[type](length),

    alloc: (shape, type) => allocatePlane(memory(), shape, type),

    build(graph, options) {
      const { name, ...inputs } = options
      const { code, facts: frame } = cache
        ? cache().obtain<Frame>({
            kernel: name,
            backend: 'wasm',
            inputs: { graph: print(graph), options: inputs },
            extension: 'wasm',
            make: () => make(graph, options),
          })
        : make(graph, options)
      const runner = createRunner({
        name,
        planes: graph.planes,
        frame,
        memory: memory(),
        check: options.check ?? false,
        sampleStrides: options.sampleStrides,
        code: instantiate(code, name, memory()),
      })
      return { backend: 'wasm', shape: frame, launch: () => createLaunch(memory(), graph.planes.length, runner) }
    },

    sourceForms: ['wat'],

    source(graph, options, form) {
      if (form === 'wat') return generate(graph, options).text
      throw new HarrierError(
        'E_OPTION',
        `kernel '${options.name}': the wasm backend has no source form '${form}'; it has 'wat', WebAssembly text`,
      )
    },
  }
}

function instantiate(code: Uint8Array, name: string, { linear }: Memory): Code {
  try {
    const module = new engine!.Module(code)
    return new engine!.Instance(module, { harrier: { memory: linear } }).exports as unknown as Code
  } catch (cause) {
    throw new HarrierError(
      'E_COMPILE',
      `kernel '${name}': the WebAssembly engine does not take its module of ${code.length} bytes: ` +
        `${cause instanceof Error ? cause.message : String(cause)}; a loop() instead of an unrolled for makes a kernel smaller`,
      { cause },
    )
  }
}

export type { AllocatedPlane }
