// The builds of one kernel in this process: one a backend, float type, storage layout and option that changes code. The disk cache
// below the backends spans processes; this map spans the calls of a kernel.
import type { Backend, BuildOptions, Executable } from '../backends/backend.ts'
import { contract } from '../ir/contract.ts'
import type { Graph } from '../ir/graph.ts'
import { specialise } from '../ir/specialise.ts'
import type { FloatType } from '../ir/types.ts'
import type { TracedKernel } from '../trace/traced.ts'

/** What, beside the backend, decides which build a call runs. */
export interface Variant {
  readonly floatType: FloatType
  readonly math: 'strict' | 'contract'
  /** By plane number. */
  readonly sampleStrides: readonly number[]
  readonly check: boolean
}

export interface Builds {
  executable(backend: Backend, variant: Variant): Executable
  source(backend: Backend, variant: Variant, form: string): string
  /** The graph that a variant runs, before lowering. */
  graph(variant: Pick<Variant, 'floatType' | 'math'>): Graph
}

export function createBuilds({ name, graph: traced }: Pick<TracedKernel, 'name' | 'graph'>): Builds {
  const graphs = new Map<string, Graph>()
  const executables = new Map<string, Executable>()

  function graph({ floatType, math }: Pick<Variant, 'floatType' | 'math'>): Graph {
    const key = `${floatType} ${math}`
    const known = graphs.get(key)
    if (known) return known
    const typed = specialise(traced, floatType)
    const made = math === 'contract' ? contract(typed) : typed
    graphs.set(key, made)
    return made
  }

  const optionsOf = ({ sampleStrides, check }: Variant): BuildOptions => ({
    name,
    ...(sampleStrides.some((stride) => stride !== 1) ? { sampleStrides } : {}),
    ...(check ? { check } : {}),
  })

  return {
    graph,
    executable(backend, variant) {
      const key = `${backend.name} ${variant.floatType} ${variant.math} ${variant.check} ${variant.sampleStrides.join(',')}`
      const known = executables.get(key)
      if (known) return known
      const made = backend.build(graph(variant), optionsOf(variant))
      executables.set(key, made)
      return made
    },
    source: (backend, variant, form) => backend.source(graph(variant), optionsOf(variant), form),
  }
}
