// Programs that random graphs do not reach: tapes, scatter-adds in loops, checked builds, planes whose numbers lie together, very large
// kernels. Against the interpreter.
import { describe, expect, test } from 'vitest'
import type { BuildOptions } from '../../src/backends/backend.ts'
import { emit, moduleText } from '../../src/backends/llvm/emit.ts'
import { referenceBackend } from '../../src/backends/reference/index.ts'
import { createBuilder } from '../../src/ir/build.ts'
import type { Graph, Plane } from '../../src/ir/graph.ts'
import type { Type } from '../../src/ir/types.ts'
import { compareBackends, type Comparison } from '../support/compareBackends.ts'
import { backendFor, callsIn, TARGETS, type TestTarget } from './support/targets.ts'

const plane = (name: string, role: Plane['role'], type: Type = 'f64', components = 1): Plane => ({
  name,
  role,
  type,
  components,
})

function compare(graph: Graph, target: TestTarget, build: Partial<BuildOptions>, how: Partial<Comparison>): void {
  const options = { name: 'program', ...build }
  const actual = backendFor(target).build(graph, options)
  const expected = referenceBackend.build(graph, options)
  const sampleStrides = build.sampleStrides && { sampleStrides: build.sampleStrides }
  compareBackends({ graph, expected, actual, sizes: [1, 7, 33, 70], threads: 1, ...sampleStrides, ...how })
  expect(callsIn(actual.path) ?? []).toEqual([])
}

/** A loop records its carry, a second one goes back over what it recorded. */
function backAndForth(slots: 'shared' | 'own'): Graph {
  const b = createBuilder([
    plane('x', 'sample'),
    plane('n', 'sample', 'i32'),
    plane('y', 'sample'),
    plane('z', 'sample', 'bool'),
  ])
  const values = b.tape({ type: 'f64', capacity: 9 })
  const signs = b.tape({ type: 'bool', capacity: 9 })
  const one = b.const('i32', 1)
  const count = slots === 'own' ? b.and(b.load(1, 0), b.const('i32', 7)) : b.const('i32', 6)
  const [last] = b.loop({
    count,
    initial: [b.load(0, 0)],
    body(iteration, [x]) {
      b.record(values, iteration, x!)
      b.record(signs, iteration, b.lt(x!, b.const('f64', 0)))
      return [b.sub(b.mul(x!, x!), b.const('f64', 0.5))]
    },
  })
  const [sum, any] = b.loop({
    count,
    initial: [last!, b.const('bool', false)],
    body(iteration, [adjoint, was]) {
      const slot = b.sub(b.sub(count, one), iteration)
      return [b.mul(b.add(adjoint!, b.recall(values, slot)), b.const('f64', 0.75)), b.xor(was!, b.recall(signs, slot))]
    },
  })
  b.store(2, 0, sum!)
  b.store(3, 0, any!)
  return b.finishGraph()
}

/** Adds to a table in a loop of as many iterations as the sample says. */
function scatterInLoop(): Graph {
  const b = createBuilder([
    plane('x', 'sample'),
    plane('n', 'sample', 'i32'),
    plane('a', 'accumulator', 'f64', 2),
    plane('h', 'accumulator', 'i32'),
    { ...plane('total', 'reduction'), reduce: 'sum' },
  ])
  const x = b.load(0, 0)
  b.contribute(4, 0, x)
  b.scatterAdd(3, 0, b.sampleIndex(), b.const('i32', 7))
  const count = b.and(b.load(1, 0), b.const('i32', 3))
  const [last] = b.loop({
    count,
    initial: [x],
    body(iteration, [value]) {
      const place = b.and(iteration, b.const('i32', 7))
      b.scatterAdd(2, 0, place, value!)
      b.branch(
        b.lt(value!, b.const('f64', 0)),
        () => {
          b.scatterAdd(2, 1, b.sub(place, b.const('i32', 1)), b.const('f64', 0.1))
          return []
        },
        () => [],
      )
      return [b.mul(value!, b.const('f64', -0.999))]
    },
  })
  b.scatterAdd(2, 0, b.const('i32', 0), last!)
  b.store(0, 0, last!)
  return b.finishGraph()
}

describe.each(TARGETS)('$name', (target) => {
  test.each(['shared', 'own'] as const)('tapes, slots %s', (slots) => {
    compare(backAndForth(slots), target, {}, {})
    compare(backAndForth(slots), target, { width: 1 }, {})
  })

  test('scatter-adds in loops, in sample order', () => {
    compare(scatterInLoop(), target, {}, { entries: 6 })
    compare(scatterInLoop(), target, { width: 1 }, { entries: 6 })
  })

  test('planes whose numbers lie together', () => {
    for (const type of ['f64', 'f32', 'i32', 'bool'] as const) {
      const b = createBuilder([
        plane('v', 'sample', type, 3),
        plane('w', 'sample', type, 3),
        plane('u', 'sample', type, 4),
      ])
      const [x, y, z] = [0, 1, 2].map((k) => b.load(0, k)) as [never, never, never]
      b.store(1, 0, y)
      b.store(1, 1, z)
      b.store(1, 2, type === 'bool' ? b.xor(x, y) : b.add(x, y))
      // Part of the numbers only, and in place.
      b.store(2, 1, type === 'bool' ? b.not(b.load(2, 1)) : b.neg(b.load(2, 1)))
      compare(b.finishGraph(), target, { sampleStrides: [3, 3, 4] }, {})
    }
  })
})

describe('checked builds', () => {
  const [target] = TARGETS as readonly [TestTarget]
  const b = createBuilder([
    plane('k', 'sample', 'i32'),
    plane('t', 'table'),
    plane('a', 'accumulator'),
    plane('y', 'sample'),
  ])
  const k = b.load(0, 0)
  b.store(3, 0, b.gather(1, 0, k))
  b.scatterAdd(2, 0, b.sub(k, b.const('i32', 2)), b.const('f64', 1))
  const graph = b.finishGraph()

  const outcome = (indices: readonly number[], build: Partial<BuildOptions>, backend = backendFor(target)): string => {
    const launch = backend.build(graph, { name: 'checked', check: true, ...build }).launch()
    const n = indices.length
    launch.bind(0, Int32Array.from(indices), n, n)
    launch.bind(1, new Float64Array(5), 5, 5)
    launch.bind(2, new Float64Array(9), 9, 9)
    launch.bind(3, new Float64Array(n), n, n)
    try {
      launch.run({ sampleCount: n, begin: 0, end: n, threads: 2 })
      return 'none'
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }

  test.each([{}, { width: 1 }])('report the first access outside by sample, then by program order: %o', (build) => {
    const inside = Array.from({ length: 40 }, () => 3)
    const message = (sample: number, does: string, range: string, otherwise: string) =>
      `kernel 'checked': sample ${sample} ${does}, which has the indices 0 to ${range}; keep the index inside, or call without check, where ${otherwise}`
    const reads = (sample: number, index: number) =>
      message(sample, `reads index ${index} of table 't'`, '4', 'such a read gives NaN, or 0 for integers')
    const adds = (sample: number, index: number) =>
      message(sample, `adds at index ${index} of accumulator 'a'`, '8', 'such a contribution is dropped')
    expect(outcome(inside, build)).toBe('none')
    expect(outcome(inside.with(39, 5), build)).toBe(reads(39, 5))
    // Sample 20 adds outside before sample 21 reads outside; sample 3 does both, and the read comes first.
    expect(outcome(inside.with(20, 1).with(21, -1), build)).toBe(adds(20, -1))
    expect(outcome(inside.with(20, 1).with(3, -7), build)).toBe(reads(3, -7))
  })
})

describe('very large kernels', () => {
  const [target] = TARGETS as readonly [TestTarget]
  const chain = (length: number): Graph => {
    const b = createBuilder([plane('x', 'sample'), plane('y', 'sample')])
    const x = b.load(0, 0)
    let value = x
    for (let k = 0; k < length; k++) value = b.add(b.mul(value, b.const('f64', 1 + k / length)), b.const('f64', k))
    b.store(1, 0, b.mul(value, x))
    return b.finishGraph()
  }
  const advice = (graph: Graph) => emit(graph, { symbol: 'k', target: target.target })

  test('many instructions: light code generation', () => {
    expect(advice(chain(100))).toMatchObject({ codegenLevel: 'full' })
    const { codegenLevel, instructions, mostUses } = advice(chain(8_000))
    expect({ codegenLevel, many: instructions > 50_000, few: mostUses < 5_000 }).toEqual({
      codegenLevel: 'light',
      many: true,
      few: true,
    })
  })

  test('many uses of one value: light code generation, same bits', () => {
    const b = createBuilder([plane('x', 'sample'), plane('y', 'sample')])
    const x = b.load(0, 0)
    let value = x
    for (let k = 0; k < 6_000; k++) value = b.mul(b.sqrt(value), x)
    b.store(1, 0, value)
    const graph = b.finishGraph()
    const { codegenLevel, instructions } = advice(graph)
    expect({ codegenLevel, few: instructions < 50_000 }).toEqual({ codegenLevel: 'light', few: true })
    const actual = backendFor(target).build(graph, { name: 'uses' })
    const expected = referenceBackend.build(graph, { name: 'uses' })
    expect(() => compareBackends({ graph, expected, actual, sizes: [21], threads: 1 })).not.toThrow()
  })

  test('several kernels are one module', () => {
    const first = emit(chain(3), { symbol: 'first', target: target.target })
    const second = emit(scatterInLoop(), { symbol: 'second', target: target.target })
    const text = moduleText([first, second])
    expect(text.match(/^define void @\w+/gm)).toEqual([
      'define void @first',
      'define void @first_parallel',
      'define void @second',
      'define void @second_parallel',
    ])
    const declarations = text.match(/^declare .*$/gm) ?? []
    expect(declarations.length).toBe(new Set(declarations).size)
  })
})
