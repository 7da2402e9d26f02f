// Philox4x32-10: the known answers of its authors (Random123, kat_vectors), the definition of `random` on them in plain whole numbers, the
// same bits on every target, and statistics of what comes out.
import { describe, expect, test } from 'vitest'
import { createBuilder } from '../../src/ir/build.ts'
import { compile } from '../../src/ir/interpret.ts'
import { lower } from '../../src/ir/lower/lower.ts'
import { philox4x32, type Words } from '../../src/ir/lower/random.ts'
import type { Backend } from '../../src/backends/backend.ts'
import { backendFor, TARGETS } from '../llvm/support/targets.ts'

const KNOWN: readonly {
  readonly counter: readonly number[]
  readonly key: readonly number[]
  readonly answer: string
}[] = [
  { counter: [0, 0, 0, 0], key: [0, 0], answer: '6627e8d5 e169c58d bc57ac4c 9b00dbd8' },
  {
    counter: [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff],
    key: [0xffffffff, 0xffffffff],
    answer: '408f276d 41c83b0e a20bc7c6 6d5451fd',
  },
  {
    counter: [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
    key: [0xa4093822, 0x299f31d0],
    answer: 'd16cfe09 94fdcceb 5001e420 24126ea1',
  },
]

/** The generator on literals: the builder folds it through the semantics of each op. */
function philox(counter: readonly number[], key: readonly number[]): readonly number[] {
  const b = createBuilder()
  const literal = (x: number) => b.const('u32', x)
  const words = philox4x32(b, counter.map(literal) as unknown as Words, [literal(key[0]!), literal(key[1]!)])
  return words.map((word) => (word.op === 'const' ? Number(word.literal) : NaN))
}

test.each(KNOWN)('known answer $answer', ({ counter, key, answer }) => {
  const words = philox(counter, key).map((word) => word.toString(16).padStart(8, '0'))
  expect(words.join(' ')).toBe(answer)
})

const COUNT = 4096
const SEED = 12345

/** Numbers of samples 0 … COUNT − 1 for each counter. */
function graphOf(type: 'f64' | 'f32', counters: readonly number[]) {
  const b = createBuilder()
  for (const counter of counters) {
    const value = b.random(type, b.const('i32', SEED), b.sampleIndex(), b.const('i32', counter))
    b.store(b.plane({ name: `y${counter}`, role: 'sample', type, components: 1 }), 0, value)
  }
  return b.finishGraph()
}

const COUNTERS = [0, 1, 2, 3, 4]
const ARRAYS = { f64: Float64Array, f32: Float32Array }

function interpreted(type: 'f64' | 'f32') {
  const graph = graphOf(type, COUNTERS)
  const arrays = COUNTERS.map(() => new ARRAYS[type](COUNT))
  const bound = arrays.map((array) => ({ array, pitch: COUNT, length: COUNT }))
  compile(lower(graph, { fma: true, scaling: true }))(bound, { sampleCount: COUNT, begin: 0, end: COUNT })
  return arrays
}

function launched(backend: Backend, type: 'f64' | 'f32', cuts: readonly number[], width?: number) {
  const executable = backend.build(graphOf(type, COUNTERS), {
    name: 'random',
    ...(width === undefined ? {} : { width }),
  })
  const arrays = COUNTERS.map(() => new ARRAYS[type](COUNT))
  const launch = executable.launch()
  arrays.forEach((array, plane) => launch.bind(plane, array, COUNT, COUNT))
  cuts.slice(1).forEach((end, i) => launch.run({ sampleCount: COUNT, begin: cuts[i]!, end, threads: 2 }))
  launch.release()
  return arrays
}

describe.each(['f64', 'f32'] as const)('%s', (type) => {
  const expected = interpreted(type)

  test('the number of a sample is what its block says', () => {
    const perBlock = type === 'f64' ? 2 : 4
    for (const sample of [0, 1, 77, COUNT - 1]) {
      for (const counter of COUNTERS) {
        const words = philox([Math.floor(counter / perBlock), sample, 0, 0], [SEED, 0])
        const place = counter % perBlock
        const wide = (words[2 * place]! >>> 5) * 2 ** 26 + (words[2 * place + 1]! >>> 6)
        const number = type === 'f64' ? wide * 2 ** -53 : (words[place]! >>> 8) * 2 ** -24
        expect(expected[counter]![sample]).toBe(number)
      }
    }
  })

  test.each(TARGETS)('$name: the same bits in any partition and width', (target) => {
    const backend = backendFor(target)
    expect(launched(backend, type, [0, COUNT])).toEqual(expected)
    expect(launched(backend, type, [0, 1, 17, 1000, 1001, COUNT])).toEqual(expected)
    expect(launched(backend, type, [0, 333, COUNT], 1)).toEqual(expected)
  })

  test('uniform in [0, 1): mean, variance, counts of 64 bins, no correlation of neighbours or counters', () => {
    const all = expected.flatMap((numbers) => [...numbers])
    const n = all.length
    expect(all.every((x) => x >= 0 && x < 1)).toBe(true)
    const mean = all.reduce((sum, x) => sum + x, 0) / n
    const variance = all.reduce((sum, x) => sum + (x - mean) ** 2, 0) / n
    // Six standard deviations of each.
    expect(Math.abs(mean - 0.5)).toBeLessThan(6 * Math.sqrt(1 / 12 / n))
    expect(Math.abs(variance - 1 / 12)).toBeLessThan(6 * Math.sqrt(1 / 180 / n))
    const bins = new Float64Array(64)
    for (const x of all) bins[Math.floor(64 * x)]!++
    const chiSquared = bins.reduce((sum, count) => sum + (count - n / 64) ** 2 / (n / 64), 0)
    expect(Math.abs(chiSquared - 63)).toBeLessThan(6 * Math.sqrt(126))
    const correlation = (x: ArrayLike<number>, y: ArrayLike<number>, count: number) => {
      let sum = 0
      for (let i = 0; i < count; i++) sum += (x[i]! - 0.5) * (y[i]! - 0.5)
      return (12 * sum) / count
    }
    const limit = 6 / Math.sqrt(COUNT - 1)
    for (const numbers of expected) {
      expect(Math.abs(correlation(numbers, numbers.subarray(1), COUNT - 1))).toBeLessThan(limit)
    }
    for (const [i, j] of [
      [0, 1],
      [1, 2],
      [3, 4],
    ] as const) {
      expect(Math.abs(correlation(expected[i]!, expected[j]!, COUNT))).toBeLessThan(limit)
    }
  })
})
