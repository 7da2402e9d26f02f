// Random programs: modules against the interpreter, at all the sizes at which vectors turn, in parts of a problem, with samples that lie
// apart, and on planes inside the linear memory.
import * as fc from 'fast-check'
import { describe, test } from 'vitest'
import type { BuildOptions } from '../../src/backends/backend.ts'
import { referenceBackend } from '../../src/backends/reference/index.ts'
import type { Graph } from '../../src/ir/graph.ts'
import { compareBackends, type Comparison } from '../support/compareBackends.ts'
import { randomGraph, type RandomGraphOptions } from '../support/randomGraph.ts'
import { wasm } from './support/backend.ts'
import { inside } from './support/inside.ts'

const RUNS = Number(process.env.HARRIER_TEST_RUNS ?? (process.env.HARRIER_TEST_LONG === '1' ? 200 : 8))
const SEED = process.env.HARRIER_TEST_SEED

interface Kind {
  readonly name: string
  readonly graphs: RandomGraphOptions
  readonly build?: (graph: Graph) => Partial<BuildOptions>
  readonly isInside?: true
  readonly compare?: Partial<Comparison>
}

/** Every plane of samples, table and accumulator with one unused number between entries. */
const apart = ({ planes }: Graph) => ({
  sampleStrides: planes.map(({ role, components }) =>
    role === 'uniform' || role === 'reduction' || role === 'mask' ? 1 : components + 1,
  ),
})

const parts: Partial<Comparison> = {
  ranges: (size) => [
    { begin: 0, end: Math.floor(size / 2) },
    { begin: Math.floor(size / 3), end: size },
  ],
}

const KINDS: readonly Kind[] = [
  { name: 'straight f64', graphs: { constructs: false } },
  { name: 'straight f32', graphs: { constructs: false, float: 'f32' } },
  { name: 'regions', graphs: { finishing: false } },
  { name: 'regions, one vector at a time', graphs: {}, build: () => ({ width: 1 }) },
  { name: 'regions, four vectors side by side', graphs: {}, build: () => ({ width: 16 }) },
  { name: 'effects in regions', graphs: { effectsInRegions: true } },
  { name: 'effects in regions, two vectors', graphs: { effectsInRegions: true }, build: () => ({ width: 4 }) },
  { name: 'parts of a problem', graphs: {}, compare: parts },
  { name: 'samples apart', graphs: {}, build: apart },
  { name: 'inside the linear memory', graphs: { effectsInRegions: true }, isInside: true, compare: parts },
  { name: 'inside, samples apart', graphs: {}, build: apart, isInside: true },
]

describe('random programs', () => {
  test.each(KINDS)('$name', ({ graphs, build, isInside, compare }) => {
    fc.assert(
      fc.property(randomGraph(graphs), ({ graph }) => {
        const options: BuildOptions = { name: 'random', ...build?.(graph) }
        const made = wasm.build(graph, options)
        const { lanes, vectors } = made.shape
        const step = lanes * vectors
        compareBackends({
          graph,
          expected: referenceBackend.build(graph, options),
          actual: isInside ? inside(wasm, made) : made,
          sizes: [...new Set([0, 1, lanes - 1, lanes + 1, step - 1, step, step + 1, 3 * step + 2])],
          ...(options.sampleStrides && { sampleStrides: options.sampleStrides }),
          ...compare,
        })
      }),
      { numRuns: RUNS, ...(SEED !== undefined && { seed: Number(SEED) }) },
    )
  })
})
