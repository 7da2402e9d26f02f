// Random programs: the emitted code against the interpreter, at all the sizes at which vectors and blocks turn.
import * as fc from 'fast-check'
import { describe, test } from 'vitest'
import type { BuildOptions } from '../../src/backends/backend.ts'
import { referenceBackend } from '../../src/backends/reference/index.ts'
import { compareBackends } from '../support/compareBackends.ts'
import { randomGraph, type RandomGraphOptions } from '../support/randomGraph.ts'
import { backendFor, TARGETS } from './support/targets.ts'

const RUNS = Number(process.env.HARRIER_TEST_RUNS ?? (process.env.HARRIER_TEST_LONG === '1' ? 200 : 4))

interface Kind {
  readonly name: string
  readonly graphs: RandomGraphOptions
  readonly build: Partial<BuildOptions>
}

const KINDS: readonly Kind[] = [
  { name: 'straight f64', graphs: { constructs: false }, build: {} },
  { name: 'straight f32', graphs: { constructs: false, float: 'f32' }, build: {} },
  { name: 'regions', graphs: { finishing: false }, build: {} },
  { name: 'regions, one sample at a time', graphs: {}, build: { width: 1 } },
  { name: 'effects in regions', graphs: { effectsInRegions: true }, build: {} },
  { name: 'masked loops', graphs: { float: 'f32' }, build: { divergence: 'masked' } },
]

/** Other processors differ in how masks and whole numbers are computed, which these reach. */
const ELSEWHERE = KINDS.filter(({ name }) => name === 'straight f32' || name === 'effects in regions')

describe.each(TARGETS)('$name', (target) => {
  const backend = backendFor(target)
  test.each(target === TARGETS[0] ? KINDS : ELSEWHERE)('$name', ({ graphs, build }) => {
    fc.assert(
      fc.property(randomGraph(graphs), ({ graph }) => {
        const actual = backend.build(graph, { name: 'random', ...build })
        const { width, vectors } = actual.shape
        const step = width * vectors
        compareBackends({
          graph,
          expected: referenceBackend.build(graph, { name: 'random' }),
          actual,
          sizes: [...new Set([0, 1, width - 1, width, width + 1, step - 1, step, step + 1, 3 * step + 2])],
          threads: 1,
        })
      }),
      { numRuns: RUNS, ...(process.env.HARRIER_TEST_SEED && { seed: Number(process.env.HARRIER_TEST_SEED) }) },
    )
  })
})
