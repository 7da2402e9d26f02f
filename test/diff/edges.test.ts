// The policy at ties, kinks and infinities: each line of the table in docs/derivatives.md with its exact value, in both modes.
import { describe, expect, test } from 'vitest'
import { jvp } from '../../src/diff/jvp.ts'
import { vjp } from '../../src/diff/vjp.ts'
import type { Builder } from '../../src/ir/build.ts'
import type { Value } from '../../src/ir/graph.ts'
import { evaluate } from './support/evaluate.ts'
import { graphOf, plane, scalarGraph } from './support/graphs.ts'

type Scalars = (b: Builder, ...inputs: Value[]) => Value

/** Partials of a function of scalars at a point, by reverse mode with adjoint `bar` and by forward mode along each input. */
function partials(f: Scalars, point: readonly number[], bar = 1): { reverse: number[]; forward: number[] } {
  const names = ['x', 'z', 'w'].slice(0, point.length)
  const graph = scalarGraph(names, f)
  const inputs = Object.fromEntries(names.map((name, k) => [name, [point[k]!]]))
  const backward = evaluate(vjp(graph).graph, { ...inputs, bar_y: [bar] }, 1)
  const along = (moved: string) =>
    evaluate(
      jvp(graph).graph,
      { ...inputs, ...Object.fromEntries(names.map((name) => [`dot_${name}`, [name === moved ? bar : 0]])) },
      1,
    )['dot_y']![0]!
  return { reverse: names.map((name) => backward[`bar_${name}`]![0]!), forward: names.map(along) }
}

const expectPartials = (f: Scalars, point: readonly number[], expected: readonly number[], bar = 1) => {
  const { reverse, forward } = partials(f, point, bar)
  // No difference is made between the zeros.
  const plain = (values: readonly number[]) => values.map((value) => value + 0)
  expect(plain(reverse)).toEqual(plain(expected))
  expect(plain(forward)).toEqual(plain(expected))
}

const number = (b: Builder, literal: number) => b.const('f64', literal)
const zero = (b: Builder) => b.zero('f64')

describe('a zero adjoint or tangent contributes exactly zero', () => {
  test('where(x > 0, sqrt(x), 0) at 0', () => {
    expectPartials((b, x) => b.select(b.gt(x!, zero(b)), b.sqrt(x!), zero(b)), [0], [0])
  })
  test('where(p > 0, p · log(p), 0) at 0', () => {
    expectPartials((b, p) => b.select(b.gt(p!, zero(b)), b.mul(p!, b.log(p!)), zero(b)), [0], [0])
  })
  test('missing data that the program selects away', () => {
    expectPartials((b, x, a) => b.select(b.isnan(x!), zero(b), b.mul(x!, a!)), [NaN, 2], [0, 0])
    expectPartials((b, x, a) => b.select(b.isnan(x!), zero(b), b.mul(x!, a!)), [3, 2], [2, 3])
  })
  test('a zero seed past infinite partials', () => {
    expectPartials((b, x) => b.log(x!), [0], [0], 0)
    expectPartials((b, x, y) => b.div(x!, y!), [1, 0], [0, 0], 0)
    expectPartials((b, x, y) => b.mul(x!, y!), [Infinity, -Infinity], [0, 0], 0)
    expectPartials((b, x) => b.sin(x!), [Infinity], [0], 0)
  })
  test('a side of a branch that is not taken', () => {
    const f: Scalars = (b, x) =>
      b.branch(
        b.gt(x!, zero(b)),
        () => [b.log(x!)],
        () => [b.mul(x!, x!)],
      )[0]!
    expectPartials(f, [0], [0])
    expectPartials(f, [2], [0.5])
  })
})

describe('ties of min and max: the first operand takes it all', () => {
  test('min', () => expectPartials((b, x, y) => b.min(x!, y!), [2, 2], [1, 0]))
  test('max', () => expectPartials((b, x, y) => b.max(x!, y!), [2, 2], [1, 0]))
  test('zeros of either sign tie', () => {
    expectPartials((b, x, y) => b.min(x!, y!), [0, -0], [1, 0])
    expectPartials((b, x, y) => b.max(x!, y!), [-0, 0], [1, 0])
  })
  test('the order of writing counts, also beside its mirror', () => {
    expectPartials((b, x, y) => b.sub(b.mul(number(b, 3), b.max(x!, y!)), b.max(y!, x!)), [2, 2], [3, -1])
  })
})

describe('kinks', () => {
  test('abs at 0 and −0', () => {
    expectPartials((b, x) => b.abs(x!), [0], [0])
    expectPartials((b, x) => b.abs(x!), [-0], [0])
    expectPartials((b, x) => b.abs(x!), [-3], [-1])
  })
  test('hypot(0, 0)', () => expectPartials((b, x, y) => b.hypot(x!, y!), [0, 0], [0, 0]))
  test('norm at the zero vector, as √ of a sum of squares behind a selection', () => {
    const norm: Scalars = (b, ...v) => {
      const squares = v.map((x) => b.mul(x, x)).reduce((left, right) => b.add(left, right))
      return b.select(b.eq(squares, zero(b)), zero(b), b.sqrt(squares))
    }
    expectPartials(norm, [0, 0, 0], [0, 0, 0])
    expectPartials(norm, [3, 0, 4], [0.6000000000000001, 0, 0.8])
  })
  test('sqrt at 0 with an adjoint that is not 0', () => {
    expectPartials((b, x) => b.sqrt(x!), [0], [Infinity])
    expectPartials((b, x) => b.sqrt(x!), [0], [-Infinity], -2)
  })
  test('atan2(0, 0)', () => expectPartials((b, y, x) => b.atan2(y!, x!), [0, 0], [0, 0]))
  test('fdim at a tie', () => expectPartials((b, x, y) => b.fdim(x!, y!), [2, 2], [0, 0]))
  test('copysign at 0', () => expectPartials((b, x, y) => b.copysign(x!, y!), [0, 1], [0, 0]))
})

describe('pow', () => {
  test('a plain exponent: p·x^(p−1)', () => {
    expectPartials((b, x) => b.pow(x!, number(b, 2)), [0], [0])
    expectPartials((b, x) => b.pow(x!, number(b, 3)), [0], [0])
    expectPartials((b, x) => b.pow(x!, number(b, 1)), [0], [1])
    expectPartials((b, x) => b.pow(x!, number(b, 2)), [-3], [-6])
    expectPartials((b, x) => b.pow(x!, number(b, 0.5)), [0], [Infinity])
  })
  test('pow(x, 0) gives 0', () => {
    expectPartials((b, x) => b.pow(x!, number(b, 0)), [0], [0])
    expectPartials((b, x) => b.pow(x!, number(b, 0)), [5], [0])
  })
  test('a traced exponent', () => {
    expectPartials((b, x, y) => b.pow(x!, y!), [2, 3], [12, 8 * Math.log(2)])
    expectPartials((b, x, y) => b.pow(x!, y!), [0, 2], [0, 0])
    expectPartials((b, x, y) => b.pow(x!, y!), [0, 0.5], [Infinity, 0])
    expectPartials((b, x, y) => b.pow(x!, y!), [0, 0], [0, -Infinity])
  })
})

describe('clip: inside and on the bounds to x, else to the bound that won', () => {
  const clip: Scalars = (b, x, low, high) => b.min(b.max(x!, low!), high!)
  test.each([
    ['inside', [2, 1, 3], [1, 0, 0]],
    ['on the lower bound', [1, 1, 3], [1, 0, 0]],
    ['on the upper bound', [3, 1, 3], [1, 0, 0]],
    ['below', [0, 1, 3], [0, 1, 0]],
    ['above', [5, 1, 3], [0, 0, 1]],
  ])('%s', (_, point, expected) => expectPartials(clip, point, expected))
})

describe('zero derivatives', () => {
  test.each(['floor', 'ceil', 'trunc', 'round', 'rint', 'sign'] as const)('%s', (op) => {
    for (const x of [-1.5, -0, 0, 0.5, 2]) expectPartials((b, v) => b[op](v!), [x], [0])
  })
  test('comparisons, random numbers and integers', () => {
    expectPartials((b, x) => b.convert(b.lt(x!, number(b, 1)), 'f64'), [0.5], [0])
    expectPartials((b, x) => b.random('f64', b.convert(x!, 'i32'), b.sampleIndex(), b.zero('i32')), [0.5], [0])
    expectPartials((b, x) => b.convert(b.convert(x!, 'i32'), 'f64'), [0.5], [0])
  })
  test('stopGradient', () => expectPartials((b, x) => b.mul(x!, b.stopGradient(x!)), [3], [3]))
})

test('fmod(a, b): 1 and −trunc(a/b)', () => {
  expectPartials((b, x, y) => b.fmod(x!, y!), [7.5, 2], [1, -3])
  expectPartials((b, x, y) => b.fmod(x!, y!), [-7.5, 2], [1, 3])
})

describe('outside a table', () => {
  const inputs = { i: [-1, 0, 1, 2, 5], t: [10, 20] }
  test('reads have no derivative', () => {
    const graph = graphOf([plane('i', 'sample', 'i32'), plane('t', 'table'), plane('y')], (b, p) =>
      b.store(p['y']!, 0, b.gather(p['t']!, 0, b.load(p['i']!, 0))),
    )
    const seeds = { bar_y: [1, 2, 4, 8, 16] }
    expect(evaluate(vjp(graph).graph, { ...inputs, ...seeds }, 5)).toEqual({ bar_t: [2, 4] })
    expect(evaluate(jvp(graph).graph, { ...inputs, dot_t: [3, 5] }, 5)).toEqual({ dot_y: [0, 3, 5, 0, 0] })
  })
  test('scatters have no derivative', () => {
    const graph = graphOf([plane('i', 'sample', 'i32'), plane('x'), plane('t', 'accumulator')], (b, p) =>
      b.scatterAdd(p['t']!, 0, b.load(p['i']!, 0), b.load(p['x']!, 0)),
    )
    const x = [1, 2, 3, 4, 5]
    expect(evaluate(vjp(graph).graph, { i: inputs.i, x, bar_t: [3, 5] }, 5)).toEqual({ bar_x: [0, 3, 5, 0, 0] })
    expect(evaluate(jvp(graph).graph, { i: inputs.i, x, dot_x: x, dot_t: [0, 0] }, 5)).toEqual({ dot_t: [2, 3] })
  })
})
