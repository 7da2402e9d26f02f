// Where the order of work shows: reductions over blocks, scatter-adds that hit the same entry, also from loops of any length, tapes, and
// marks, against the interpreter, over whole problems and parts of them.
import { describe, expect, test } from 'vitest'
import type { BuildOptions } from '../../src/backends/backend.ts'
import { referenceBackend } from '../../src/backends/reference/index.ts'
import { createBuilder, type Builder } from '../../src/ir/build.ts'
import type { Graph, Plane, ReduceOp } from '../../src/ir/graph.ts'
import type { PlaneType, Type } from '../../src/ir/types.ts'
import { compareBackends, type Comparison } from '../support/compareBackends.ts'
import { wasm } from './support/backend.ts'
import { inside } from './support/inside.ts'

/** Compares a module with the interpreter, on arrays outside the linear memory and inside. */
function compare(graph: Graph, comparison: Partial<Comparison>, build: Partial<BuildOptions> = {}): void {
  const options = { name: 'order', ...build }
  const actual = wasm.build(graph, options)
  const expected = referenceBackend.build(graph, options)
  for (const executable of [actual, inside(wasm, actual)]) {
    compareBackends({ graph, expected, actual: executable, sizes: [], offsets: [0], ...comparison })
  }
}

const plane = (name: string, role: Plane['role'], type: PlaneType, more: Partial<Plane> = {}): Plane => ({
  name,
  role,
  type,
  components: 1,
  ...more,
})

const everyWidth = test.each([1, 4, 8])

describe('reductions', () => {
  const FOLDS: Record<ReduceOp, readonly PlaneType[]> = {
    sum: ['f64', 'f32', 'i32'],
    prod: ['f64', 'f32', 'i32'],
    max: ['f64', 'f32', 'i32'],
    min: ['f64', 'f32', 'i32'],
    all: ['bool'],
    any: ['bool'],
  }

  /** Every fold of one type; a half takes part only where a condition holds. */
  function reducing(type: PlaneType): Graph {
    const b = createBuilder([plane('x', 'sample', type), plane('c', 'sample', 'bool')])
    const [x, c] = [b.load(0, 0), b.load(1, 0)]
    for (const [reduce, types] of Object.entries(FOLDS) as [ReduceOp, readonly PlaneType[]][]) {
      if (!types.includes(type)) continue
      b.contribute(b.plane(plane(reduce, 'reduction', type, { reduce })), 0, x)
      const some = b.plane(plane(`some_${reduce}`, 'reduction', type, { reduce }))
      b.branch(
        c,
        () => {
          b.contribute(some, 0, x)
          return []
        },
        () => [],
      )
    }
    return b.finishGraph()
  }

  const sizes = [31, 33, 4095, 4096, 4097, 8192, 12_301]
  const ranges = (size: number) => [
    { begin: 0, end: size },
    { begin: 7, end: size - 5 },
    { begin: Math.min(4096, size - 1), end: size },
  ]

  describe.each(['f64', 'f32', 'i32', 'bool'] as const)('%s', (type) => {
    everyWidth('groups of up to %i samples', (width) => compare(reducing(type), { sizes, ranges }, { width }))
  })

  test('a reduction that nothing contributes to is left as it is; one over no samples is the identity', () => {
    const b = createBuilder([
      plane('x', 'sample', 'f64'),
      plane('total', 'reduction', 'f64', { reduce: 'sum' }),
      plane('idle', 'reduction', 'f64', { reduce: 'sum' }),
    ])
    b.contribute(1, 0, b.load(0, 0))
    const launch = wasm.build(b.finishGraph(), { name: 'idle' }).launch()
    const [total, idle] = [new Float64Array([5]), new Float64Array([6])]
    launch.bind(0, new Float64Array(0), 0, 0)
    launch.bind(1, total, 1, 1)
    launch.bind(2, idle, 1, 1)
    launch.run({ sampleCount: 0, begin: 0, end: 0 })
    expect([total[0], idle[0]]).toEqual([-0, 6])
  })

  test('the values of blocks fold by blocks of 4,096, too', () => {
    // More than 4,096 blocks of 4,096 samples: ones in two accumulators, of which the sum is known without an oracle.
    const b = createBuilder([plane('total', 'reduction', 'f32', { reduce: 'sum' })])
    b.contribute(0, 0, b.const('f32', 1))
    const launch = wasm.build(b.finishGraph(), { name: 'many' }).launch()
    const total = new Float32Array(1)
    const size = 2 ** 24 + 2 ** 13
    launch.bind(0, total, 1, 1)
    launch.run({ sampleCount: size, begin: 0, end: size })
    expect(total[0]).toBe(size)
  })
})

describe('scatter-adds', () => {
  /** Values that sum differently in every order, at indices that coincide, two of them a sample. */
  function scattering(
    type: 'f64' | 'f32' | 'i32',
    scatter: (b: Builder, target: number, other: number) => void,
  ): Graph {
    const b = createBuilder([
      plane('x', 'sample', type),
      plane('k', 'sample', 'i32'),
      plane('c', 'sample', 'bool'),
      plane('a', 'accumulator', type, { components: 2 }),
      plane('h', 'accumulator', 'i32'),
      plane('y', 'sample', type),
    ])
    scatter(b, 3, 4)
    b.store(5, 0, b.add(b.load(0, 0), b.load(0, 0)))
    return b.finishGraph()
  }

  const sizes = [1, 7, 9, 33, 130]
  const ranges = (size: number) => [
    { begin: 0, end: size },
    { begin: Math.floor(size / 3), end: size },
  ]

  describe.each(['f64', 'f32', 'i32'] as const)('%s', (type) => {
    everyWidth('straight, groups of up to %i', (width) => {
      const graph = scattering(type, (b, a, h) => {
        const [x, k, c] = [b.load(0, 0), b.load(1, 0), b.load(2, 0)]
        b.scatterAdd(a, 0, k, x)
        b.scatterAdd(h, 0, k, k)
        b.branch(
          c,
          () => {
            b.scatterAdd(a, 1, b.add(k, b.const('i32', 1)), x)
            return []
          },
          () => {
            b.scatterAdd(a, 0, b.const('i32', 2), b.neg(x))
            return []
          },
        )
      })
      compare(graph, { sizes, ranges }, { width })
    })

    everyWidth('in loops of a few and of many steps, groups of up to %i', (width) => {
      const graph = scattering(type, (b, a) => {
        const [x, k, c] = [b.load(0, 0), b.load(1, 0), b.load(2, 0)]
        b.scatterAdd(a, 0, k, x)
        // Some samples note more than there is room for.
        const many = b.select(c, b.const('i32', 3000), b.and(k, b.const('i32', 3)))
        b.loop({
          count: many,
          initial: [x],
          body(iteration, [value]) {
            b.scatterAdd(a, 0, b.and(iteration, b.const('i32', 3)), value!)
            b.scatterAdd(a, 1, b.and(b.add(iteration, k), b.const('i32', 7)), x)
            return [b.neg(value!)]
          },
        })
        b.scatterAdd(a, 1, b.const('i32', 1), x)
      })
      compare(graph, { sizes: [1, 7, 19], ranges }, { width })
    })
  })

  test('long loops beside stores in branches run one sample at a time', () => {
    const graph = scattering('f64', (b, a) => {
      const [x, k, c] = [b.load(0, 0), b.load(1, 0), b.load(2, 0)]
      const y = b.plane(plane('z', 'sample', 'f64'))
      b.loop({
        count: b.and(k, b.const('i32', 7)),
        initial: [x],
        body(iteration, [value]) {
          b.scatterAdd(a, 0, iteration, value!)
          return [b.mul(value!, x)]
        },
      })
      b.branch(
        c,
        () => {
          b.store(y, 0, x)
          return []
        },
        () => [],
      )
    })
    compare(graph, { sizes, ranges })
  })
})

describe('tapes', () => {
  /** Runs a loop forward, recording what it carries, and backward, recalling it: with a count of each sample, or of all. */
  function taped(type: Type, count: 'own' | 'shared'): Graph {
    const b = createBuilder([
      plane('x', 'sample', 'f64'),
      plane('k', 'sample', 'i32'),
      plane('y', 'sample', 'f64'),
      plane('n', 'uniform', 'i32'),
    ])
    const tape = b.tape({ type, capacity: 16 })
    const steps = b.add(b.and(count === 'own' ? b.load(1, 0) : b.uniform(3), b.const('i32', 7)), b.const('i32', 1))
    const x = b.load(0, 0)
    b.loop({
      count: steps,
      initial: [x],
      body(iteration, [value]) {
        b.record(tape, iteration, b.convert(value!, type))
        return [b.mul(value!, b.const('f64', -1.5))]
      },
    })
    const [sum] = b.loop({
      count: steps,
      initial: [x],
      body(iteration, [total]) {
        const slot = b.sub(b.sub(steps, b.const('i32', 1)), iteration)
        return [b.add(b.mul(total!, b.const('f64', 0.5)), b.convert(b.recall(tape, slot), 'f64'))]
      },
    })
    b.store(2, 0, sum!)
    return b.finishGraph()
  }

  describe.each(['f64', 'f32', 'i32', 'u32', 'i64', 'bool'] as const)('%s', (type) => {
    test.each(['own', 'shared'] as const)('count: %s', (count) => {
      for (const width of [1, 8]) compare(taped(type, count), { sizes: [1, 3, 8, 9, 40] }, { width })
    })
  })
})

test('a finished sample is left alone, and stays finished', () => {
  const b = createBuilder([
    plane('x', 'sample', 'f64'),
    plane('y', 'sample', 'f64'),
    plane('done', 'mask', 'bool'),
    plane('total', 'reduction', 'f64', { reduce: 'sum' }),
    plane('a', 'accumulator', 'f64'),
  ])
  const x = b.load(0, 0)
  b.store(1, 0, b.mul(x, x))
  b.contribute(3, 0, x)
  b.scatterAdd(4, 0, b.const('i32', 1), x)
  b.finish(2, b.gt(x, b.const('f64', 1)))
  for (const width of [1, 8]) compare(b.finishGraph(), { sizes: [1, 5, 16, 61, 5000] }, { width })
})

test('loads see what was there at launch, whatever was stored before them', () => {
  const b = createBuilder([plane('v', 'sample', 'f64', { components: 3 })])
  const first = b.load(0, 0)
  b.store(0, 1, first)
  b.store(0, 0, b.load(0, 1))
  b.store(0, 2, b.add(b.load(0, 0), b.load(0, 2)))
  for (const width of [1, 8]) compare(b.finishGraph(), { sizes: [1, 6, 30], offsets: [0, 1] }, { width })
})
