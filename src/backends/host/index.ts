// The host backend: graphs as native code of this processor, compiled by clang, called in place on the caller's memory.
// Invariants: for a cached build nothing is lowered, printed or compiled; what a build is called is no part of it.
import type { Graph } from '../../ir/graph.ts'
import { print } from '../../ir/print.ts'
import { BYTES } from '../../ir/types.ts'
import type { Availability, Backend, BuildOptions, Executable, PlaneArray, PlaneType } from '../backend.ts'
import { moduleText, type Emitted, type EmitOptions, type KernelShape, type ScratchPlan } from '../llvm/interface.ts'
import { createLaunch, type LoadedKernel } from './launch.ts'
import type { Machine } from './machine.ts'
import { alignedMemory } from './scratch.ts'
import { createThreadRule } from './threadRule.ts'

export interface HostExecutable extends Executable {
  /** The shared object that was loaded. */
  readonly path: string
  readonly shape: KernelShape
}

export interface HostBackend extends Backend {
  build(graph: Graph, options: BuildOptions): HostExecutable
}

/** Lowers and prints a graph. */
export type Generate = (graph: Graph, options: EmitOptions) => Emitted

/** Every object exports its kernel under the same name, so that kernels that differ in nothing but their name share a build. */
const SYMBOL = 'kernel'

/** What is stored beside a shared object. Mapped types, as plain data only may be stored and interfaces can be extended. */
type HostFacts = {
  readonly scratch: Pick<ScratchPlan, keyof ScratchPlan>
  readonly shape: Pick<KernelShape, keyof KernelShape>
}

const ARRAYS: Record<PlaneType, new (memory: ArrayBuffer, offset: number, length: number) => PlaneArray> = {
  f64: Float64Array,
  f32: Float32Array,
  i32: Int32Array,
  bool: Uint8Array,
}

export function createHostBackend(machine: Machine, generate: Generate): HostBackend {
  const generated = (graph: Graph, options: BuildOptions): Emitted =>
    generate(graph, { ...options, symbol: SYMBOL, target: machine.processor().target })

  function availability(): Availability {
    const compiler = machine.compiler()
    if (!compiler.found) return { available: false, reason: compiler.problem }
    const runtime = machine.openMp()
    const parallel =
      runtime === undefined
        ? 'one thread, as there is no OpenMP runtime (libgomp or libomp)'
        : `parallel calls by ${runtime}`
    return { available: true, detail: `${compiler.detail}, for ${machine.processor().description}, ${parallel}` }
  }

  return {
    name: 'host',
    availability,

    allocate(type, length) {
      const { memory, offset } = alignedMemory(length * BYTES[type], machine)
      return new ARRAYS[type](memory, offset, length)
    },

    build(graph, options) {
      const { name, ...inputs } = options
      const built = machine.cache().obtain<HostFacts>({
        kernel: name,
        backend: 'host',
        inputs: { graph: print(graph), options: inputs, ...machine.buildInputs() },
        extension: 'so',
        make() {
          const emitted = generated(graph, options)
          const { scratch, shape, codegenLevel } = emitted
          const code = machine.compile({ kernel: name, llvm: moduleText([emitted]), codegenLevel })
          return { code, facts: { scratch, shape } }
        },
      })
      const kernel: LoadedKernel = {
        name,
        planes: graph.planes,
        entries: machine.load(built.path, SYMBOL),
        scratch: built.facts.scratch,
        check: options.check ?? false,
        rule: createThreadRule(),
      }
      return {
        backend: 'host',
        path: built.path,
        shape: built.facts.shape,
        launch: () => createLaunch(kernel, machine),
      }
    },

    sourceForms: ['llvm', 'asm'],

    source(graph, options, form) {
      const emitted = generated(graph, options)
      const llvm = moduleText([emitted])
      return form === 'llvm'
        ? llvm
        : machine.assemble({ kernel: options.name, llvm, codegenLevel: emitted.codegenLevel })
    },
  }
}
