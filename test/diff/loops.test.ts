// Loops, branches and dispatches in both modes: against differences, by the tapes that they need, and by what is refused.
import { describe, expect, test } from 'vitest'
import { jvp } from '../../src/diff/jvp.ts'
import { vjp, type VjpOptions } from '../../src/diff/vjp.ts'
import type { Builder } from '../../src/ir/build.ts'
import type { Graph, Value } from '../../src/ir/graph.ts'
import { expectDerivatives } from './support/check.ts'
import { evaluate } from './support/evaluate.ts'
import { graphOf, plane, scalarGraph } from './support/graphs.ts'

const number = (b: Builder, literal: number) => b.const('f64', literal)
const integer = (b: Builder, literal: number) => b.const('i32', literal)

/** Slots of each tape of the reverse derivative. */
const tapes = (graph: Graph, options?: VjpOptions) => vjp(graph, options).graph.tapes.map(({ capacity }) => capacity)

/** A bounded smooth function, cheaper than a sine: u/(1 + u²). */
const bend = (b: Builder, u: Value) => b.div(u, b.add(number(b, 1), b.mul(u, u)))

/** A recurrence whose adjoint needs the carries: c = bend(c·a) + c/2, with `exit`: while c < 1.2. */
const recurrence = (count: number, exit = false): Graph =>
  scalarGraph(['x', 'a'], (b, x, a) => {
    const [c] = b.loop({
      count: integer(b, count),
      initial: [x!],
      body: (_, [carry]) => [b.add(bend(b, b.mul(carry!, a!)), b.mul(carry!, number(b, 0.5)))],
      ...(exit && { condition: (_, [carry]: readonly Value[]) => b.lt(carry!, number(b, 1.2)) }),
    })
    return b.mul(c!, x!)
  })
const recurrenceInputs = { x: [0.3, 0.9, -0.7, 1.5, 0.01], a: [1.3, 0.8, 1.1, 2, 1.2] }

/** Every schedule by which reverse mode can remember. */
const schedules: readonly VjpOptions[] = [{}, { tape: 'full' }, { tape: 'checkpoints' }]

describe('recorded loops', () => {
  test.each([1, 2, 4, 5, 9, 10, 30])('%i iterations, every schedule', (count) => {
    for (const options of schedules) expectDerivatives(recurrence(count), recurrenceInputs, 5, options)
  })
  test.each([3, 7, 16, 30])('early exit within %i iterations, every schedule', (count) => {
    for (const options of schedules) expectDerivatives(recurrence(count, true), recurrenceInputs, 5, options)
  })
  test('one slot an iteration; with checkpoints fewer than 2·√iterations', () => {
    expect(tapes(recurrence(100))).toEqual([100])
    expect(tapes(recurrence(256))).toEqual([256])
    for (const count of [257, 1000, 10_000, 1_000_000]) {
      const [slots] = tapes(recurrence(count))
      expect(slots).toBeLessThan(2 * Math.sqrt(count))
    }
    expect(tapes(recurrence(1000), { tape: 'full' })).toEqual([1000])
    expect(tapes(recurrence(100), { tape: 'checkpoints' })).toEqual([19])
  })
  test('checkpoints and whole tapes give the same bits', () => {
    for (const graph of [recurrence(300), recurrence(300, true)]) {
      const [whole, checkpoints] = (['full', 'checkpoints'] as const).map((tape) =>
        evaluate(vjp(graph, { tape }).graph, { ...recurrenceInputs, bar_y: [1, 2, 3, 4, 5] }, 5),
      )
      expect(checkpoints).toEqual(whole)
    }
  })
  test('only the carries that the adjoints need are recorded', () => {
    const graph = scalarGraph(['x'], (b, x) => {
      const [time, , c] = b.loop({
        count: integer(b, 8),
        initial: [number(b, 0), x!, x!],
        body: (_, [t, sum, carry]) => [b.add(t!, number(b, 0.1)), b.add(sum!, carry!), b.mul(carry!, b.cos(carry!))],
      })
      return b.add(time!, c!)
    })
    expect(tapes(graph)).toEqual([8])
    expectDerivatives(graph, { x: [0.5, 2] }, 2)
  })
  test('carries of other types', () => {
    const graph = scalarGraph(['x'], (b, x) => {
      const [, , c] = b.loop({
        count: integer(b, 9),
        initial: [integer(b, 3), b.const('bool', true), x!],
        body: (i, [k, flag, carry]) => [
          b.sub(b.mul(k!, integer(b, 2)), i),
          b.not(flag!),
          b.select(flag!, b.div(carry!, b.convert(k!, 'f64')), bend(b, carry!)),
        ],
      })
      return c!
    })
    expect(
      vjp(graph)
        .graph.tapes.map(({ type }) => type)
        .toSorted(),
    ).toEqual(['bool', 'f64', 'i32'])
    for (const options of schedules) expectDerivatives(graph, { x: [0.5, 2] }, 2, options)
  })
})

describe('accumulating loops', () => {
  const polynomial = (count: (b: Builder, p: Record<string, number>) => Value) =>
    graphOf([plane('x'), plane('n', 'sample', 'i32'), plane('t', 'table'), plane('y')], (b, p) => {
      const x = b.load(p['x']!, 0)
      const [sum] = b.loop({
        count: count(b, p),
        initial: [x],
        body: (i, [c]) => [b.add(c!, b.mul(b.gather(p['t']!, 0, i), bend(b, b.mul(x, b.convert(i, 'f64')))))],
      })
      b.store(p['y']!, 0, sum!)
    })
  const inputs = { x: [0.5, 2, -1], n: [0, 3, 5], t: [1, 2, 3, 4, 5] }
  test('store nothing', () => {
    const graph = polynomial((b) => integer(b, 5))
    expect(tapes(graph)).toEqual([])
    expect(tapes(graph, { tape: 'checkpoints' })).toEqual([])
    expectDerivatives(graph, inputs, 3)
  })
  test('need no bound', () => {
    const graph = polynomial((b, p) => b.load(p['n']!, 0))
    expect(tapes(graph)).toEqual([])
    expectDerivatives(graph, inputs, 3)
  })
})

describe('counts that vary by sample', () => {
  const counted = (cap?: number) =>
    graphOf([plane('x'), plane('n', 'sample', 'i32'), plane('y')], (b, p) => {
      const n = b.load(p['n']!, 0)
      const [c] = b.loop({
        count: cap === undefined ? n : b.min(n, integer(b, cap)),
        initial: [b.load(p['x']!, 0)],
        body: (_, [carry]) => [bend(b, carry!)],
      })
      b.store(p['y']!, 0, c!)
    })
  test('under a cap', () => {
    expect(tapes(counted(6))).toEqual([6])
    const inputs = { x: [0.3, 0.9, 1.7, 0.2, 1], n: [0, -3, 1, 5, 9] }
    for (const options of schedules) expectDerivatives(counted(6), inputs, 5, options)
  })
  test('without a cap: refused in reverse, with the way out; forward mode needs none', () => {
    expect(() => vjp(counted(), { kernel: 'decay' })).toThrow(
      "vjp of kernel 'decay': a loop has no bound on its iterations, so that no memory can be set aside for what reverse mode must " +
        'remember; give whileLoop a cap, { max: 1000 }, or write the count as a number or min(count, 1000); forward mode (jvp) needs none',
    )
    expect(jvp(counted()).graph.tapes).toEqual([])
  })
  test('an uncapped while loop is refused too', () => {
    const graph = scalarGraph(
      ['x'],
      (b, x) =>
        b.loop({
          count: integer(b, 2 ** 31 - 1),
          initial: [x!],
          body: (_, [c]) => [b.mul(c!, c!)],
          condition: (_, [c]) => b.lt(c!, number(b, 100)),
        })[0]!,
    )
    expect(() => vjp(graph)).toThrow(/a loop has no bound on its iterations/)
    forwardModeRuns(graph)
  })
})

/** Forward mode alone runs. */
function forwardModeRuns(graph: Graph): void {
  expect(jvp(graph).graph.planes.map(({ name }) => name)).toEqual(['x', 'dot_x', 'dot_y'])
}

describe('nesting', () => {
  const nested = scalarGraph(['x', 'a'], (b, x, a) => {
    const [c] = b.loop({
      count: integer(b, 5),
      initial: [x!],
      body(i, [outer]) {
        const [inner] = b.loop({
          count: b.add(i, integer(b, 2)),
          initial: [outer!, b.mul(a!, outer!)],
          body: (_, [u, v]) => [bend(b, b.add(u!, v!)), b.mul(v!, b.mul(u!, a!))],
        })
        return [b.add(inner!, b.mul(outer!, number(b, 0.1)))]
      },
    })
    return c!
  })
  const capped = scalarGraph(['x', 'a'], (b, x, a) => {
    const [c] = b.loop({
      count: integer(b, 6),
      initial: [x!],
      body(_, [outer]) {
        const [inner] = b.loop({
          count: integer(b, 4),
          initial: [outer!],
          body: (__, [u]) => [b.mul(u!, b.add(bend(b, u!), a!))],
          condition: (__, [u]) => b.lt(b.abs(u!), number(b, 1)),
        })
        return [bend(b, inner!)]
      },
      condition: (_, [outer]) => b.lt(outer!, number(b, 0.8)),
    })
    return c!
  })
  const inputs = { x: [0.3, -0.9, 0.1, 0.7], a: [1.1, 0.7, 0.4, -0.3] }

  test('an inner tape serves every outer iteration', () => {
    expect(tapes(capped).toSorted()).toEqual([4, 6])
  })
  test('an inner count without a bound is refused', () => {
    expect(() => vjp(nested)).toThrow(/a loop has no bound on its iterations/)
  })
  test('loops within loops, early exits in both', () => {
    for (const options of schedules) expectDerivatives(capped, inputs, 4, options)
  })
  test('branches within loops, loops within branches, dispatch', () => {
    const graph = graphOf(
      [plane('x'), plane('k', 'sample', 'i32'), plane('t', 'table'), plane('y'), plane('z')],
      (b, p) => {
        const [x, k] = [b.load(p['x']!, 0), b.load(p['k']!, 0)]
        const [c] = b.loop({
          count: integer(b, 4),
          initial: [x],
          body: (i, [carry]) =>
            b.branch(
              b.lt(carry!, number(b, 0.5)),
              () => [b.mul(carry!, b.gather(p['t']!, 0, i))],
              () => [bend(b, carry!)],
            ),
        })
        const [d, e] = b.dispatch(k, [
          () => [b.mul(c!, x), number(b, 1)],
          () => [
            b.loop({ count: integer(b, 3), initial: [c!], body: (_, [u]) => [b.mul(u!, bend(b, u!))] })[0]!,
            b.exp(x),
          ],
          () => [x, b.mul(x, x)],
        ])
        b.store(p['y']!, 0, d!)
        b.store(p['z']!, 0, b.mul(e!, c!))
      },
    )
    const at = { x: [0.3, 0.9, 0.1, 0.7, -1], k: [0, 1, 2, 7, -4], t: [1.5, 2, 0.7, 1.1] }
    for (const options of schedules) expectDerivatives(graph, at, 5, options)
  })
})
