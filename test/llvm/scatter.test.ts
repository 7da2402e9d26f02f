// Scatter-adds of ordinary numbers, where the order of additions shows in the bits, against the interpreter.
import { describe, expect, test } from 'vitest'
import type { BuildOptions, Executable, LaunchRange } from '../../src/backends/backend.ts'
import { referenceBackend } from '../../src/backends/reference/index.ts'
import { createBuilder, type Builder } from '../../src/ir/build.ts'
import type { Graph, Value } from '../../src/ir/graph.ts'
import { random, sameBits } from '../support/values.ts'
import { backendFor, TARGETS, type TestTarget } from './support/targets.ts'

const ENTRIES = 7
const [X, K, N, A, DONE] = [0, 1, 2, 3, 4]

function kernel(body: (b: Builder, x: Value, k: Value, n: Value) => void): Graph {
  const b = createBuilder([
    { name: 'x', role: 'sample', type: 'f64', components: 1 },
    { name: 'k', role: 'sample', type: 'i32', components: 1 },
    { name: 'n', role: 'sample', type: 'i32', components: 1 },
    { name: 'a', role: 'accumulator', type: 'f64', components: 2 },
  ])
  body(b, b.load(X, 0), b.load(K, 0), b.load(N, 0))
  return b.finishGraph()
}

const nothing = (): readonly Value[] => []

/** Three places in the program add to one component, one of them in a branch. */
const straight = kernel((b, x, k) => {
  b.scatterAdd(A, 0, k, x)
  b.branch(
    b.lt(x, b.const('f64', 1)),
    () => {
      b.scatterAdd(A, 0, k, b.mul(x, x))
      b.scatterAdd(A, 1, k, x)
      return []
    },
    nothing,
  )
  b.scatterAdd(A, 0, b.add(k, b.const('i32', 1)), b.sqrt(x))
})

/** Samples that are finished add nothing; whole vectors of them are. */
const finishing = (() => {
  const b = createBuilder([...straight.planes, { name: 'done', role: 'mask', type: 'bool', components: 1 }])
  const k = b.load(K, 0)
  b.scatterAdd(A, 0, k, b.load(X, 0))
  b.finish(DONE, b.lt(k, b.const('i32', 1)))
  return b.finishGraph()
})()

/** A loop of n · repeats iterations adds in each, as does what follows it. */
const looped = (repeats: number): Graph =>
  kernel((b, x, k, n) => {
    const [last] = b.loop({
      count: b.mul(n, b.const('i32', repeats)),
      initial: [x],
      body(iteration, [value]) {
        b.scatterAdd(A, 0, b.and(b.add(iteration, k), b.const('i32', 7)), value!)
        return [b.mul(value!, b.const('f64', 0.999))]
      },
    })
    b.scatterAdd(A, 0, k, last!)
    b.scatterAdd(A, 1, b.sampleIndex(), last!)
  })

/** What the accumulator holds after a launch. No value is a multiple of a small power of two, so that every addition rounds. */
function run(executable: Executable, graph: Graph, size: number, range: Partial<LaunchRange>): Float64Array {
  const next = random(size)
  const accumulator = new Float64Array(2 * ENTRIES).fill(0.1)
  const launch = executable.launch()
  launch.bind(
    X,
    Float64Array.from({ length: size }, () => 0.5 + next() / 3),
    size,
    size,
  )
  launch.bind(
    K,
    Int32Array.from({ length: size }, () => Math.floor(next() * (ENTRIES + 2)) - 1),
    size,
    size,
  )
  launch.bind(
    N,
    Int32Array.from({ length: size }, () => Math.floor(next() * 6)),
    size,
    size,
  )
  launch.bind(A, accumulator, ENTRIES, ENTRIES)
  // Every other run of 128 samples, from the second block on all that the first one had.
  const isFinished = (_: unknown, i: number) => ((i >> 7) + (i >> 12)) & 1
  if (graph === finishing) launch.bind(DONE, Uint8Array.from({ length: size }, isFinished), size, size)
  launch.run({ sampleCount: size, begin: 0, end: size, threads: 1, ...range })
  launch.release()
  return accumulator
}

/** Sizes at which the accumulators differ. */
function wrong(
  target: TestTarget,
  graph: Graph,
  sizes: readonly number[],
  build: Partial<BuildOptions> = {},
  range: Partial<LaunchRange> = {},
): readonly number[] {
  const expected = referenceBackend.build(graph, { name: 'scatter' })
  const actual = backendFor(target).build(graph, { name: 'scatter', ...build })
  return sizes.filter((size) => {
    const right = run(expected, graph, size, range)
    return !run(actual, graph, size, range).every((value, entry) => sameBits(value, right[entry]!))
  })
}

const SIZES = [1, 7, 8, 9, 65, 4096, 4097, 10_000]

describe.each(TARGETS)('$name', (target) => {
  test('lists of a block', () => {
    expect(wrong(target, straight, SIZES)).toEqual([])
    expect(wrong(target, straight, [9000], {}, { begin: 4000 })).toEqual([])
  })
  test('finished samples', () => {
    expect(wrong(target, finishing, [100, 5000, 20_000])).toEqual([])
    expect(wrong(target, finishing, [20_000], {}, { threads: 2 })).toEqual([])
  })
  test('one sample at a time', () => {
    expect(wrong(target, straight, SIZES, { width: 1 })).toEqual([])
    expect(wrong(target, looped(1), [100], { width: 1 })).toEqual([])
  })
  test('threads, over several rounds', () => {
    expect(wrong(target, straight, [3 * 16 * 4096 + 5000], {}, { begin: 100, threads: 3 })).toEqual([])
  })
  test('events of a loop', () => {
    expect(wrong(target, looped(1), [1, 7, 8, 9, 100, 1000])).toEqual([])
  })
  test('more events than the list holds', () => {
    expect(wrong(target, looped(4000), [1, 20])).toEqual([])
  })
})
