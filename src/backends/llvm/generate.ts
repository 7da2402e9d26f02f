// From a graph to the LLVM text of a processor: lowered for what the processor has, then printed.
import type { Graph } from '../../ir/graph.ts'
import { lower } from '../../ir/lower/lower.ts'
import type { LoweringTarget } from '../../ir/lower/kit.ts'
import { emit } from './emit.ts'
import type { Emitted, EmitOptions, HostTarget } from './interface.ts'

/** What lowerings have to know of a processor. */
export const loweringTarget = ({ fma, avx512 }: HostTarget): LoweringTarget => ({ fma, scaling: avx512 })

export const generate = (graph: Graph, options: EmitOptions): Emitted =>
  emit(lower(graph, loweringTarget(options.target)), options)
