// Kernels whose main work is one loop that each sample leaves by itself: masked, interleaved and refilled lanes against the interpreter,
// at the sizes at which vectors, prepared samples and blocks turn, with threads and over parts of the problem.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { BuildOptions, LaunchRange } from '../../src/backends/backend.ts'
import { referenceBackend } from '../../src/backends/reference/index.ts'
import { createBuilder } from '../../src/ir/build.ts'
import type { Graph, Plane } from '../../src/ir/graph.ts'
import { print } from '../../src/ir/print.ts'
import type { FloatType } from '../../src/ir/types.ts'
import { compareBackends } from '../support/compareBackends.ts'
import { backendFor, TARGETS } from './support/targets.ts'

const RUNS = Number(process.env.HARRIER_TEST_RUNS ?? (process.env.HARRIER_TEST_LONG === '1' ? 100 : 5))

interface Choices {
  readonly float: FloatType
  /** What the count of the loop is: a number for all samples, or one for each. */
  readonly count: 'shared' | 'own'
  readonly condition: 'none' | 'carried' | 'kept' | 'iteration'
  readonly finishes: boolean
  readonly reduces: boolean
  readonly accumulates: boolean
  readonly gathers: boolean
  /** A loop in the loop. */
  readonly nests: boolean
  /** Branches before and after the loop. */
  readonly branches: boolean
}

const PLANES = (float: FloatType): readonly Plane[] => [
  { name: 'x', role: 'sample', type: float, components: 2 },
  { name: 'n', role: 'sample', type: 'i32', components: 1 },
  { name: 'c', role: 'sample', type: 'bool', components: 1 },
  { name: 'p', role: 'uniform', type: float, components: 1 },
  { name: 'm', role: 'uniform', type: 'i32', components: 1 },
  { name: 't', role: 'table', type: float, components: 1 },
  { name: 'y', role: 'sample', type: float, components: 1 },
  { name: 'k', role: 'sample', type: 'i32', components: 1 },
  { name: 'q', role: 'sample', type: 'bool', components: 1 },
]

function loopKernel({ float, ...choices }: Choices): Graph {
  const b = createBuilder(PLANES(float))
  const [x0, x1] = [b.load(0, 0), b.load(0, 1)]
  const n = b.and(b.load(1, 0), b.const('i32', 15))
  const c = b.load(2, 0)
  const p = b.uniform(3)
  const one = b.const('i32', 1)
  const start = choices.branches
    ? b.branch(
        c,
        () => [b.mul(x0, x1)],
        () => [b.sqrt(b.abs(x0))],
      )[0]!
    : b.add(x0, x1)
  const kept = b.mul(x1, p)
  const [sum, steps, flag] = b.loop({
    count: choices.count === 'own' ? b.add(n, one) : b.and(b.uniform(4), b.const('i32', 31)),
    initial: [start, b.const('i32', 0), c],
    condition(iteration, [value, taken]) {
      if (choices.condition === 'none') return b.const('bool', true)
      if (choices.condition === 'carried') return b.lt(b.abs(value!), b.const(float, 1000))
      return choices.condition === 'kept' ? b.lt(taken!, n) : b.ne(iteration, n)
    },
    body(iteration, [value, taken, was]) {
      const step = choices.gathers ? b.gather(5, 0, b.sub(iteration, one)) : kept
      const moved = b.add(b.mul(value!, b.const(float, 1.5)), step)
      const next = choices.nests
        ? b.loop({
            count: b.and(taken!, b.const('i32', 3)),
            initial: [moved],
            body: (_, [inner]) => [b.sub(inner!, x0)],
          })[0]!
        : moved
      return [next, b.add(taken!, one), b.xor(was!, b.lt(next, x1))]
    },
  })
  const plane = (declared: Plane): number => b.plane(declared)
  b.store(
    6,
    0,
    choices.branches
      ? b.branch(
          flag!,
          () => [b.add(sum!, x0)],
          () => [sum!],
        )[0]!
      : b.sub(sum!, x1),
  )
  b.store(7, 0, steps!)
  b.store(8, 0, flag!)
  // In place: what was loaded before the loop is loaded again after it.
  b.store(0, 0, b.add(x0, sum!))
  if (choices.accumulates)
    b.scatterAdd(plane({ name: 'a', role: 'accumulator', type: float, components: 1 }), 0, b.sampleIndex(), sum!)
  if (choices.reduces) {
    const total = plane({ name: 'total', role: 'reduction', type: float, components: 2, reduce: 'sum' })
    b.contribute(total, 0, sum!)
    b.contribute(total, 1, x0)
    b.contribute(total, 0, x1)
    b.contribute(plane({ name: 'most', role: 'reduction', type: 'i32', components: 1, reduce: 'max' }), 0, steps!)
    b.contribute(plane({ name: 'every', role: 'reduction', type: 'bool', components: 1, reduce: 'all' }), 0, flag!)
  }
  if (choices.finishes)
    b.finish(plane({ name: 'done', role: 'mask', type: 'bool', components: 1 }), b.lt(steps!, b.const('i32', 4)))
  return b.finishGraph()
}

const CHOICES: fc.Arbitrary<Choices> = fc.record({
  float: fc.constantFrom<FloatType>('f64', 'f32'),
  count: fc.constantFrom('shared', 'own'),
  condition: fc.constantFrom('none', 'carried', 'kept', 'iteration'),
  finishes: fc.boolean(),
  reduces: fc.boolean(),
  accumulates: fc.boolean(),
  gathers: fc.boolean(),
  nests: fc.boolean(),
  branches: fc.boolean(),
})

const middle = (size: number): readonly Pick<LaunchRange, 'begin' | 'end'>[] => [
  { begin: Math.floor(size / 3), end: size - Math.floor(size / 5) },
]

function compare(
  graph: Graph,
  target: (typeof TARGETS)[number],
  build: Partial<BuildOptions>,
  large: readonly number[],
): string {
  const actual = backendFor(target).build(graph, { name: 'loops', ...build })
  const expected = referenceBackend.build(graph, { name: 'loops' })
  const { width, vectors, divergence } = actual.shape
  const step = width * vectors
  const small = [...new Set([0, 1, width - 1, width, width + 1, step - 1, step, step + 1, 3 * step + 2])]
  compareBackends({ graph, expected, actual, sizes: small, threads: 1, entries: 7 })
  compareBackends({ graph, expected, actual, sizes: large, offsets: [0], ranges: middle, threads: 1 })
  compareBackends({ graph, expected, actual, sizes: large, offsets: [1], threads: 3, entries: 9000 })
  return divergence
}

describe.each(TARGETS)('$name', (target) => {
  test('random main loops', () => {
    fc.assert(
      fc.property(CHOICES, (choices) => {
        compare(loopKernel(choices), target, {}, [255, 4097 + 255])
      }),
      {
        numRuns: RUNS,
        ...(process.env.HARRIER_TEST_SEED && { seed: Number(process.env.HARRIER_TEST_SEED) }),
      },
    )
  })
})

const EVERYTHING: Choices = {
  float: 'f64',
  count: 'own',
  condition: 'carried',
  finishes: true,
  reduces: true,
  accumulates: true,
  gathers: true,
  nests: true,
  branches: true,
}

test.each(['masked', 'interleaved', 'refilled'] as const)('%s: everything at once', (divergence) => {
  const graph = loopKernel(EVERYTHING)
  expect(compare(graph, TARGETS[0]!, { divergence }, [256, 257, 4095, 4096, 4097, 3 * 4096 + 1])).toBe(
    TARGETS[0]!.target.vectorBytes > 8 ? divergence : print(graph),
  )
})
