// Reductions of ordinary numbers, where the order of additions shows in the bits, against the folder of src/ir/reduction.ts; and
// accumulators likewise. (Random planes hold infinities and NaN, beside which every order gives the same.)
import { describe, expect, test } from 'vitest'
import type { BuildOptions, PlaneArray } from '../../src/backends/backend.ts'
import { createBuilder } from '../../src/ir/build.ts'
import type { Graph, Plane, ReduceOp } from '../../src/ir/graph.ts'
import { createFolder } from '../../src/ir/reduction.ts'
import type { Literal, PlaneType } from '../../src/ir/types.ts'
import { random, sameBits } from '../support/values.ts'
import { backendFor, TARGETS, type TestTarget } from './support/targets.ts'

const OPS: Record<PlaneType, readonly ReduceOp[]> = {
  f64: ['sum', 'prod', 'max', 'min'],
  f32: ['sum', 'prod', 'max', 'min'],
  i32: ['sum', 'prod', 'max', 'min'],
  bool: ['all', 'any'],
}
const TYPES = ['f64', 'f32', 'i32', 'bool'] as const satisfies readonly PlaneType[]
const ARRAYS: Record<PlaneType, new (length: number) => PlaneArray> = {
  f64: Float64Array,
  f32: Float32Array,
  i32: Int32Array,
  bool: Uint8Array,
}

const FOLDS = TYPES.flatMap((type) => OPS[type].map((op) => ({ type, op })))

/** Every fold of a plane of its type; `looped` moves the values through a loop that each sample leaves by itself. */
function foldAll(looped: boolean): Graph {
  const planes: Plane[] = [
    ...TYPES.map((type): Plane => ({ name: type, role: 'sample', type, components: 1 })),
    ...FOLDS.map(({ type, op }): Plane => ({
      name: `${type}_${op}`,
      role: 'reduction',
      type,
      components: 1,
      reduce: op,
    })),
    { name: 'n', role: 'sample', type: 'i32', components: 1 },
  ]
  const b = createBuilder(planes)
  const n = b.load(planes.length - 1, 0)
  const loaded = TYPES.map((_, k) => b.load(k, 0))
  const values = looped
    ? b.loop({
        count: n,
        initial: loaded,
        body: (_, carries) =>
          carries.map((carry) => (carry.type === 'bool' ? b.not(carry) : b.add(carry, b.const(carry.type, 1)))),
      })
    : loaded
  FOLDS.forEach(({ type }, k) => b.contribute(TYPES.length + k, 0, values[TYPES.indexOf(type)]!))
  return b.finishGraph()
}

const next = random(7)
const ordinary: Record<PlaneType, () => number> = {
  f64: () => 1 + (next() - 0.5) / 1000,
  f32: () => Math.fround(1 + (next() - 0.5) / 1000),
  i32: () => Math.floor((next() - 0.5) * 2 ** 32),
  bool: () => (next() < 0.999 ? 1 : 0),
}

/** What the loop makes of a value. */
function advance(type: PlaneType, value: number, steps: number): Literal {
  let moved = value
  for (let k = 0; k < steps; k++)
    moved = type === 'f32' ? Math.fround(moved + 1) : type === 'i32' ? (moved + 1) | 0 : moved + 1
  return type === 'bool' ? (value !== 0) === (steps % 2 === 0) : moved
}

/** Samples of a problem that a launch covers. */
type Range = readonly [begin: number, end: number]

/** The folds of ranges that differ from what the folder gives. */
function wrong(
  target: TestTarget,
  build: Partial<BuildOptions>,
  { looped = false, ranges = RANGES, threads = 1 }: { looped?: boolean; ranges?: readonly Range[]; threads?: number },
): readonly string[] {
  const executable = backendFor(target).build(foldAll(looped), { name: 'folds', ...build })
  return ranges.flatMap(([begin, end]) => {
    const columns = TYPES.map((type) => new ARRAYS[type](end))
    const steps = new Int32Array(end)
    for (let i = begin; i < end; i++) {
      TYPES.forEach((type, k) => {
        columns[k]![i] = ordinary[type]()
      })
      if (looped) steps[i] = Math.floor(next() ** 4 * 40)
    }
    const results = FOLDS.map(({ type }) => new ARRAYS[type](1))
    const launch = executable.launch()
    const bound = [...columns, ...results, steps]
    bound.forEach((array, plane) => launch.bind(plane, array, array.length, array.length))
    launch.run({ sampleCount: end, begin, end, threads })
    launch.release()
    return FOLDS.flatMap(({ type, op }, k) => {
      const folder = createFolder(op, type)
      const column = columns[TYPES.indexOf(type)]!
      for (let i = begin; i < end; i++) folder.add(i, advance(type, column[i]!, steps[i]!))
      const expected = Number(folder.result())
      const got = results[k]![0]!
      return sameBits(expected, got) ? [] : [`${op} of ${type}, ${begin} to ${end}: expected ${expected}, got ${got}`]
    })
  })
}

const SIZES = [1, 31, 32, 33, 4095, 4097, 2 * 4096 + 5]
const RANGES = SIZES.flatMap((size): Range[] => [
  [0, size],
  [Math.floor(size / 3), size],
])
const LARGE: readonly Range[] = [[77, 20_000]]

describe.each(TARGETS)('$name', (target) => {
  test('vectors in lockstep', () => {
    expect(wrong(target, {}, {})).toEqual([])
  })
  test('one sample at a time', () => {
    expect(wrong(target, { width: 1 }, {})).toEqual([])
  })
  test('threads', () => {
    expect(wrong(target, {}, { ranges: LARGE, threads: 3 })).toEqual([])
  })
  test('refilled lanes', () => {
    expect(wrong(target, { divergence: 'refilled' }, { looped: true })).toEqual([])
  })
  test('refilled lanes and threads', () => {
    expect(wrong(target, { divergence: 'refilled' }, { looped: true, ranges: LARGE, threads: 2 })).toEqual([])
  })
})

test('blocks of more than one block of blocks', () => {
  const border = 4096 * 4096
  expect(wrong(TARGETS[0]!, {}, { ranges: [[border - 9000, border + 5000]], threads: 2 })).toEqual([])
})
