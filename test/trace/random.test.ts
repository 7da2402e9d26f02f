// Random numbers: what a draw depends on, its distribution, its refusals. The generator itself is tested where it is lowered.
import { describe, expect, test } from 'vitest'
import { Index, Scalar, Vector } from '../../src/trace/index.ts'
import * as h from '../../src/trace/index.ts'
import { compute, evaluate, refusalOfBody, traceBody } from './support/evaluate.ts'

const N = 4000

const mean = (values: readonly number[]) => values.reduce((sum, x) => sum + x, 0) / values.length
const variance = (values: readonly number[]) => mean(values.map((x) => (x - mean(values)) ** 2))

/** Largest distance between the empirical distribution and a given one (Kolmogorov–Smirnov). */
const distance = (values: readonly number[], distribution: (x: number) => number) =>
  Math.max(
    ...[...values]
      .sort((a, b) => a - b)
      .flatMap((x, k) => [(k + 1) / values.length - distribution(x), distribution(x) - k / values.length]),
  )

/** Distribution function of the standard normal, by the series of E. Kummer; below 1e-12 for |x| < 6. */
function normalDistribution(x: number): number {
  let [term, sum] = [x, x]
  for (let k = 1; k < 200; k++) {
    term *= (x * x) / (2 * k + 1)
    sum += term
  }
  return 0.5 + (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI)
}

const draw = (body: () => unknown) => compute({ i: Index }, body, { i: Array.from({ length: N }, () => 0) }, N)

describe('distributions', () => {
  // The bound of the test at the level 1e-2 is 1.63/√N.
  const bound = 1.63 / Math.sqrt(N)

  test('uniform', () => {
    const values = draw(() => h.uniform(7, 0))
    expect(Math.min(...values)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...values)).toBeLessThan(1)
    expect(distance(values, (x) => x)).toBeLessThan(bound)
  })

  test('normal', () => {
    const values = draw(() => h.normal(7, 1))
    expect(distance(values, normalDistribution)).toBeLessThan(bound)
    expect(Math.abs(mean(values))).toBeLessThan(3 / Math.sqrt(N))
    expect(Math.abs(variance(values) - 1)).toBeLessThan(3 * Math.sqrt(2 / N))
  })

  test('exponential', () => {
    expect(
      distance(
        draw(() => h.exponential(7, 2)),
        (x) => 1 - Math.exp(-x),
      ),
    ).toBeLessThan(bound)
  })

  test('bernoulli', () => {
    const values = draw(() => h.bernoulli(7, 3, 0.3))
    expect(Math.abs(mean(values) - 0.3)).toBeLessThan(3 * Math.sqrt((0.3 * 0.7) / N))
    expect(draw(() => h.bernoulli(7, 3, 0)).includes(1)).toBe(false)
    expect(draw(() => h.bernoulli(7, 3, 1)).includes(0)).toBe(false)
  })

  test('uniformInt', () => {
    const values = draw(() => h.uniformInt(7, 4, -2, 3))
    for (let k = -2; k < 3; k++) {
      const share = values.filter((x) => x === k).length / N
      expect(Math.abs(share - 0.2)).toBeLessThan(3 * Math.sqrt((0.2 * 0.8) / N))
    }
    expect(values.every((x) => x >= -2 && x < 3)).toBe(true)
  })
})

test('a draw follows from seed, counter and sample number', () => {
  const kernel = traceBody({ seed: Index, counter: Index }, ({ seed, counter }) => ({
    same: h.uniform(5, 6),
    again: h.uniform(5, 6),
    traced: h.uniform(seed, counter),
    otherSeed: h.uniform(6, 6),
    otherCounter: h.uniform(5, 7),
    large: h.uniform(2 ** 32 - 1, 6),
    negative: h.uniform(-1, 6),
  }))
  const { same, again, traced, otherSeed, otherCounter, large, negative } = evaluate(
    kernel,
    { seed: [5, 5, 5], counter: [6, 6, 6] },
    3,
  )
  expect(again).toEqual(same)
  expect(traced).toEqual(same)
  expect(large).toEqual(negative)
  expect(new Set([...same!, ...otherSeed!, ...otherCounter!]).size).toBe(9)
})

describe('refusals', () => {
  type Values = { x: Scalar; v: Vector<2> }
  const CASES: readonly (readonly [string, (p: Values) => unknown, string])[] = [
    [
      'a float seed',
      ({ x }) => h.normal(x as never, 0),
      'E_TYPE: normal: the seed is x (Scalar), expected a whole number of 32 bits or an int32 value; toInt() converts',
    ],
    [
      'a fractional counter',
      () => h.uniform(1, 0.5),
      'E_TYPE: uniform: the counter is 0.5, expected a whole number of 32 bits or an int32 value; toInt() converts',
    ],
    [
      'a large seed',
      () => h.uniform(2 ** 40, 0),
      'E_TYPE: uniform: the seed is 1099511627776, expected a whole number of 32 bits or an int32 value; toInt() converts',
    ],
    [
      'a vector as probability',
      ({ v }) => h.bernoulli(1, 0, v as never),
      'E_TYPE: bernoulli: found v (Vector(2)), expected one number as probability',
    ],
    [
      'no counter',
      () => (h.exponential as (seed: number) => unknown)(1),
      'E_TYPE: exponential: takes 2 operands, found 1',
    ],
    [
      'bounds that hold nothing',
      () => h.uniformInt(1, 0, 3, 3),
      'E_TYPE: uniformInt: the bounds 3 and 3 hold no whole number; the upper one is not included',
    ],
  ]
  test.each(CASES)('%s', (_, body, message) => {
    const [code, ...text] = message.split(': ')
    expect(refusalOfBody({ x: Scalar, v: Vector(2) }, body as never)).toBe(`${code}: kernel 'k': ${text.join(': ')}`)
  })
})
