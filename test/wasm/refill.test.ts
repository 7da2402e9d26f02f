// Kernels whose main work is one loop that each sample leaves by itself: lanes that take the next sample while the others go on, and all
// lanes of a group together, against the interpreter.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { referenceBackend } from '../../src/backends/reference/index.ts'
import { createBuilder, type Builder } from '../../src/ir/build.ts'
import type { Graph, Plane, Value } from '../../src/ir/graph.ts'
import { print } from '../../src/ir/print.ts'
import type { FloatType } from '../../src/ir/types.ts'
import { compareBackends } from '../support/compareBackends.ts'
import { wasm } from './support/backend.ts'
import { inside } from './support/inside.ts'

const RUNS = Number(process.env.HARRIER_TEST_RUNS ?? (process.env.HARRIER_TEST_LONG === '1' ? 100 : 12))

interface Choices {
  readonly float: FloatType
  /** What ends the loop beside its condition: a number for all samples, or one for each. */
  readonly count: 'literal' | 'shared' | 'own'
  readonly condition: 'none' | 'carried' | 'iteration'
  /** A branch of each sample before the loop, whose results the loop and what follows use. */
  readonly branchesBefore: boolean
  readonly branchesAfter: boolean
  /** A loop of each sample's own count in the loop. */
  readonly nests: boolean
  readonly gathers: boolean
  /** Planes with a number between the samples. */
  readonly isApart: boolean
}

const planesOf = (float: FloatType): readonly Plane[] => [
  { name: 'x', role: 'sample', type: float, components: 2 },
  { name: 'n', role: 'sample', type: 'i32', components: 1 },
  { name: 'c', role: 'sample', type: 'bool', components: 1 },
  { name: 'p', role: 'uniform', type: float, components: 1 },
  { name: 'm', role: 'uniform', type: 'i32', components: 1 },
  { name: 't', role: 'table', type: float, components: 1 },
  { name: 'y', role: 'sample', type: float, components: 2 },
  { name: 'k', role: 'sample', type: 'i32', components: 1 },
  { name: 'q', role: 'sample', type: 'bool', components: 1 },
]

/** The main loop: carries of three types, swapped and kept ones among them. */
function mainLoop(b: Builder, choices: Choices, start: Value, kept: Value): readonly Value[] {
  const { float, count, condition, nests, gathers } = choices
  const [n, c] = [b.load(1, 0), b.load(2, 0)]
  const own = b.and(n, b.const('i32', 31))
  const counts = { literal: b.const('i32', 40), shared: b.and(b.uniform(4), b.const('i32', 63)), own }
  return b.loop({
    count: counts[count],
    initial: [start, kept, b.const('i32', 0), c],
    condition(iteration, [value]) {
      if (condition === 'none') return b.const('bool', true)
      return condition === 'carried' ? b.lt(b.abs(value!), b.const(float, 1000)) : b.ne(iteration, own)
    },
    body(iteration, [value, other, steps, flag]) {
      const step = gathers ? b.gather(5, 0, b.sub(iteration, b.const('i32', 1))) : kept
      const moved = b.add(b.mul(value!, b.const(float, -1.25)), step)
      const [inner] = nests
        ? b.loop({ count: b.and(steps!, n), initial: [moved], body: (_, [x]) => [b.sub(x!, b.uniform(3))] })
        : [moved]
      return [other!, inner!, b.add(steps!, b.const('i32', 1)), b.xor(flag!, b.lt(inner!, other!))]
    },
  })
}

function loopKernel(choices: Choices): Graph {
  const b = createBuilder(planesOf(choices.float))
  const [x0, x1, c] = [b.load(0, 0), b.load(0, 1), b.load(2, 0)]
  const sum = b.add(x0, x1)
  const [start, kept] = choices.branchesBefore
    ? b.branch(
        c,
        () => [b.mul(x0, x1), b.uniform(3)],
        () => [b.sqrt(b.abs(x0)), sum],
      )
    : [sum, b.mul(x1, b.uniform(3))]
  const [value, other, steps, flag] = mainLoop(b, choices, start!, kept!) as [Value, Value, Value, Value]
  b.store(6, 0, b.add(value, b.mul(kept!, other)))
  // A load after the store of what it loads, and values from before the loop.
  const [late] = choices.branchesAfter
    ? b.branch(
        flag,
        () => [b.sub(b.load(6, 0), start!)],
        () => [b.convert(b.sampleIndex(), choices.float)],
      )
    : [b.mul(b.load(6, 0), start!)]
  b.store(6, 1, late!)
  b.store(7, 0, b.add(steps, b.sampleCount()))
  b.store(8, 0, flag)
  return b.finishGraph()
}

const choices: fc.Arbitrary<Choices> = fc.record({
  float: fc.constantFrom('f64', 'f32'),
  count: fc.constantFrom('literal', 'shared', 'own'),
  condition: fc.constantFrom('none', 'carried', 'iteration'),
  branchesBefore: fc.boolean(),
  branchesAfter: fc.boolean(),
  nests: fc.boolean(),
  gathers: fc.boolean(),
  isApart: fc.boolean(),
})

describe.each(['refilled', 'interleaved', 'masked'] as const)('%s', (divergence) => {
  test.each([1, 4, 8])('groups of up to %i samples', (width) => {
    fc.assert(
      fc.property(choices, (chosen) => {
        const graph = loopKernel(chosen)
        const sampleStrides = chosen.isApart
          ? graph.planes.map(({ role, components }) => (role === 'uniform' ? 1 : components + 1))
          : undefined
        const options = { name: 'loop', width, divergence, ...(sampleStrides && { sampleStrides }) }
        const actual = wasm.build(graph, options)
        const expected = referenceBackend.build(graph, options)
        for (const executable of [actual, inside(wasm, actual)]) {
          compareBackends({
            graph,
            expected,
            actual: executable,
            sizes: [0, 1, 3, 8, 9, 61],
            offsets: [0],
            ranges: (size) => [
              { begin: 0, end: size },
              { begin: Math.floor(size / 3), end: size - Math.floor(size / 4) },
            ],
            ...(sampleStrides && { sampleStrides }),
          })
        }
      }),
      { numRuns: RUNS },
    )
  })
})

test('results in the place of the arguments, over several tiles', () => {
  const b = createBuilder([{ name: 'x', role: 'sample', type: 'f64', components: 1 }])
  const x = b.load(0, 0)
  const [steps] = b.loop({
    count: b.const('i32', 1000),
    initial: [b.zero('f64'), x],
    condition: (_, [, value]) => b.gt(value!, b.const('f64', 1)),
    body: (_, [count, value]) => [b.add(count!, b.const('f64', 1)), b.mul(value!, b.const('f64', 0.5))],
  })
  b.store(0, 0, b.sub(steps!, x))
  const graph = b.finishGraph()
  expect(print(graph)).toContain('loop')
  const size = 10_001
  const make = () => Float64Array.from({ length: size }, (_, k) => 2 ** ((k * 7919) % 31))
  const plain = make().map((value) => Math.log2(value) - value)
  const array = make()
  const launch = wasm.build(graph, { name: 'halvings', divergence: 'refilled' }).launch()
  launch.bind(0, array, size, size)
  launch.run({ sampleCount: size, begin: 0, end: size })
  expect(array).toEqual(plain)
})

test('which kernels are refilled', () => {
  /** Whether lanes take new samples: only then samples are handed out. */
  const isRefilled = (graph: Graph) => wasm.source(graph, { name: 'loop' }, 'wat').includes('$next i32')
  const always: Choices = {
    float: 'f64',
    count: 'own',
    condition: 'carried',
    branchesBefore: true,
    branchesAfter: true,
    nests: false,
    gathers: true,
    isApart: false,
  }
  expect(isRefilled(loopKernel(always))).toBe(true)
  // Lanes that leave together, a short loop, an effect that depends on the order of samples.
  expect(isRefilled(loopKernel({ ...always, count: 'shared', condition: 'none' }))).toBe(false)
  const looping = (count: number, isSummed: boolean): Graph => {
    const b = createBuilder([
      { name: 'x', role: 'sample', type: 'f64', components: 1 },
      { name: 'total', role: 'reduction', type: 'f64', components: 1, reduce: 'sum' },
    ])
    const [result] = b.loop({
      count: b.const('i32', count),
      initial: [b.load(0, 0)],
      condition: (_, [value]) => b.lt(value!, b.const('f64', 9)),
      body: (_, [value]) => [b.mul(value!, value!)],
    })
    if (isSummed) b.contribute(1, 0, result!)
    else b.store(0, 0, result!)
    return b.finishGraph()
  }
  expect([looping(17, false), looping(16, false), looping(17, true)].map(isRefilled)).toEqual([true, false, false])
})
