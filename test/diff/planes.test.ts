// Every kind of plane in both modes: vectors, uniforms, tables, accumulators, reductions, mutables and finished samples.
import { describe, expect, test } from 'vitest'
import { jvp } from '../../src/diff/jvp.ts'
import { vjp } from '../../src/diff/vjp.ts'
import type { Graph, Value } from '../../src/ir/graph.ts'
import { expectDerivatives } from './support/check.ts'
import { evaluate } from './support/evaluate.ts'
import { graphOf, plane, reduction } from './support/graphs.ts'

/** Name, role and fold of each plane. */
const shape = ({ planes }: Graph) =>
  planes.map(({ name, role, reduce, components }) =>
    [name, role, ...(reduce ? [reduce] : []), ...(components > 1 ? [components] : [])].join(' '),
  )

const cross = graphOf(
  [plane('u', 'sample', 'f64', 3), plane('v', 'sample', 'f64', 3), plane('w', 'sample', 'f64', 3)],
  (b, p) => {
    const [u, v] = [p['u']!, p['v']!].map((number) => [0, 1, 2].map((component) => b.load(number, component)))
    for (const k of [0, 1, 2]) {
      const [i, j] = [(k + 1) % 3, (k + 2) % 3]
      b.store(p['w']!, k, b.sub(b.mul(u![i]!, v![j]!), b.mul(u![j]!, v![i]!)))
    }
  },
)

describe('sample planes', () => {
  test('vectors, by components', () => {
    expect(shape(vjp(cross).graph)).toEqual([
      'u sample 3',
      'v sample 3',
      'bar_w sample 3',
      'bar_u sample 3',
      'bar_v sample 3',
    ])
    const inputs = { u: [1, 2, 3, 4, 5, 6], v: [-1, 0.5, 2, 7, 1, -3] }
    expectDerivatives(cross, inputs, 2)
  })

  test('only the inputs of wrt, in declared order', () => {
    expect(shape(vjp(cross, { wrt: ['v'] }).graph)).toEqual([
      'u sample 3',
      'v sample 3',
      'bar_w sample 3',
      'bar_v sample 3',
    ])
    expect(shape(jvp(cross, { wrt: ['v', 'u'] }).graph)).toEqual([
      'u sample 3',
      'v sample 3',
      'dot_u sample 3',
      'dot_v sample 3',
      'dot_w sample 3',
    ])
  })

  test('integer inputs and outputs have no derivative', () => {
    const graph = graphOf(
      [plane('k', 'sample', 'i32'), plane('x'), plane('n', 'sample', 'i32'), plane('y')],
      (b, p) => {
        b.store(p['n']!, 0, b.add(b.load(p['k']!, 0), b.const('i32', 1)))
        b.store(p['y']!, 0, b.mul(b.load(p['x']!, 0), b.convert(b.load(p['k']!, 0), 'f64')))
      },
    )
    expect(shape(vjp(graph).graph)).toEqual(['k sample', 'x sample', 'bar_y sample', 'bar_x sample'])
    expectDerivatives(graph, { k: [1, 2, 3], x: [1, 2, 3] }, 3)
  })

  test('an input that no output depends on gets zeros', () => {
    const graph = graphOf(
      [plane('x'), plane('unused'), plane('a', 'uniform'), plane('t', 'table'), plane('y')],
      (b, p) => b.store(p['y']!, 0, b.load(p['x']!, 0)),
    )
    const inputs = { x: [1, 2], unused: [9, 9], a: 3, t: [1, 2, 3] }
    expect(evaluate(vjp(graph).graph, { ...inputs, bar_y: [4, 5] }, 2)).toEqual({
      bar_x: [4, 5],
      bar_unused: [0, 0],
      bar_a: [0],
      bar_t: [0, 0, 0],
    })
  })

  test('an adjoint overwrites what its plane held', () => {
    const { graph } = vjp(cross)
    const filled = { bar_u: [9, 9, 9], bar_v: [9, 9, 9] }
    const inputs = { u: [1, 2, 3], v: [4, 5, 6], bar_w: [1, 1, 1] }
    expect(evaluate(graph, { ...inputs, ...filled }, 1)).toEqual(evaluate(graph, inputs, 1))
  })
})

describe('uniforms', () => {
  const line = graphOf([plane('x'), plane('a', 'uniform'), plane('b', 'uniform'), plane('y')], (b, p) =>
    b.store(p['y']!, 0, b.add(b.mul(b.load(p['x']!, 0), b.uniform(p['a']!)), b.uniform(p['b']!))),
  )
  test('the sum over samples', () => {
    const { graph } = vjp(line, { wrt: ['a', 'b'] })
    expect(shape(graph).slice(-2)).toEqual(['bar_a reduction sum', 'bar_b reduction sum'])
    expect(evaluate(graph, { x: [1, 2, 3], a: 5, b: 7, bar_y: [1, 10, 100] }, 3)).toEqual({
      bar_a: [321],
      bar_b: [111],
    })
  })
  test('perSample: the contributions', () => {
    const { graph } = vjp(line, { wrt: ['a', 'b'], perSample: true })
    expect(shape(graph).slice(-2)).toEqual(['bar_a sample', 'bar_b sample'])
    const found = evaluate(graph, { x: [1, 2, 3], a: 5, b: 7, bar_y: [1, 10, 100] }, 3)
    expect(found).toEqual({ bar_a: [1, 20, 300], bar_b: [1, 10, 100] })
  })
  test('in both modes', () => expectDerivatives(line, { x: [1, 2, 3], a: 5, b: 7 }, 3))
})

describe('tables and accumulators', () => {
  const table = graphOf([plane('i', 'sample', 'i32'), plane('t', 'table', 'f64', 2), plane('y')], (b, p) => {
    const i = b.load(p['i']!, 0)
    b.store(p['y']!, 0, b.mul(b.gather(p['t']!, 0, i), b.gather(p['t']!, 1, b.add(i, b.const('i32', 1)))))
  })
  test('a table: its adjoint is added where it was read', () => {
    expect(shape(vjp(table).graph).at(-1)).toBe('bar_t accumulator 2')
    expectDerivatives(table, { i: [0, 1, 1, 0], t: [1, 2, 3, 4, 5, 6] }, 4)
  })

  const accumulators = graphOf(
    [plane('i', 'sample', 'i32'), plane('x'), plane('own', 'accumulator'), plane('bins', 'accumulator', 'f64', 2)],
    (b, p) => {
      const [i, x] = [b.load(p['i']!, 0), b.load(p['x']!, 0)]
      b.scatterAdd(p['own']!, 0, b.sampleIndex(), b.mul(x, x))
      b.scatterAdd(p['bins']!, 0, i, b.mul(x, x))
      b.scatterAdd(p['bins']!, 1, i, b.exp(x))
      b.scatterAdd(p['bins']!, 1, b.add(i, b.const('i32', 1)), x)
    },
  )
  test('an accumulator: its seed is a table as long as it', () => {
    expect(shape(vjp(accumulators).graph).slice(2)).toEqual(['bar_own table', 'bar_bins table 2', 'bar_x sample'])
    expectDerivatives(
      accumulators,
      { i: [0, 2, 1, 0], x: [1, 2, 3, 0.5], own: [0, 0, 0, 0], bins: [0, 0, 0, 0, 0, 0] },
      4,
    )
  })
})

describe('reductions', () => {
  const total = (planes: Parameters<typeof graphOf>[0], fold: 'sum' | 'max' | 'min') =>
    graphOf([...planes, reduction('total', fold)], (b, p) => {
      const x = b.load(p['x']!, 0)
      b.contribute(p['total']!, 0, b.mul(x, x))
    })
  test('sum: one seed for all samples', () => {
    const graph = total([plane('x')], 'sum')
    expect(shape(vjp(graph).graph)).toEqual(['x sample', 'bar_total uniform', 'bar_x sample'])
    expect(evaluate(vjp(graph).graph, { x: [1, 2, 3], bar_total: 10 }, 3)).toEqual({ bar_x: [20, 40, 60] })
    expectDerivatives(graph, { x: [1, 2, 3] }, 3)
  })
  test('a wide sum: one entry for all samples', () => {
    const graph = graphOf([plane('v', 'sample', 'f64', 2), reduction('total', 'sum', 'f64', 2)], (b, p) => {
      const [x, y] = [b.load(p['v']!, 0), b.load(p['v']!, 1)]
      b.contribute(p['total']!, 0, b.mul(x, y))
      b.contribute(p['total']!, 1, b.sin(x))
    })
    expect(shape(vjp(graph).graph)).toEqual(['v sample 2', 'bar_total table 2', 'bar_v sample 2'])
    expectDerivatives(graph, { v: [1, 2, 3, 4, 5, 6] }, 3)
  })
  test.each(['max', 'min'] as const)('%s: the gradient goes to the sample that won', (fold) => {
    const graph = total([plane('x')], fold)
    expect(shape(vjp(graph).graph)).toEqual(['x sample', 'total_at uniform', 'bar_total uniform', 'bar_x sample'])
    expect(evaluate(vjp(graph).graph, { x: [-3, 1, 3], total_at: 1, bar_total: 10 }, 3)).toEqual({ bar_x: [0, 20, 0] })
    const [won, x] = fold === 'max' ? [0, [-3, 1, 2]] : [1, [-3, 1, 2]]
    expectDerivatives(graph, { x }, 3, { extra: { total_at: won } })
  })
})

describe('mutables', () => {
  const step = graphOf([plane('x'), plane('v')], (b, p) => {
    const [x, v] = [b.load(p['x']!, 0), b.load(p['v']!, 0)]
    b.store(p['x']!, 0, b.add(x, v))
    b.store(p['v']!, 0, b.mul(v, x))
  })
  test('the value at launch is an input, the seed is that of the value after it', () => {
    expect(shape(vjp(step).graph)).toEqual([
      'x sample',
      'v sample',
      'bar_x_out sample',
      'bar_v_out sample',
      'bar_x sample',
      'bar_v sample',
    ])
    expect(shape(jvp(step).graph).slice(2)).toEqual([
      'dot_x sample',
      'dot_v sample',
      'dot_x_out sample',
      'dot_v_out sample',
    ])
    expectDerivatives(step, { x: [1, 2], v: [3, -0.5] }, 2)
  })
  test('one that is only written', () => {
    const graph = graphOf([plane('x'), plane('m')], (b, p) => b.store(p['m']!, 0, b.exp(b.load(p['x']!, 0))))
    expect(shape(vjp(graph, { mutables: ['m'] }).graph)).toEqual([
      'x sample',
      'm sample',
      'bar_m_out sample',
      'bar_x sample',
      'bar_m sample',
    ])
    expect(evaluate(vjp(graph, { mutables: ['m'] }).graph, { x: [0], m: [7], bar_m_out: [2] }, 1)).toEqual({
      bar_x: [2],
      bar_m: [0],
    })
  })
})

describe('finished samples', () => {
  const finishing = graphOf(
    [plane('x'), plane('a', 'uniform'), plane('t', 'table'), plane('done', 'mask', 'bool'), plane('y')],
    (b, p) => {
      const x = b.load(p['x']!, 0)
      const product = (values: Value[]) => values.reduce((left, right) => b.mul(left, right))
      b.store(p['y']!, 0, product([x, x, b.uniform(p['a']!), b.gather(p['t']!, 0, b.zero('i32'))]))
      b.finish(p['done']!, b.gt(x, b.const('f64', 10)))
    },
  )
  const inputs = { x: [2, Infinity, 4], a: 3, t: [5], done: [0, 1, 0] }
  test('get exactly zero, whatever they hold', () => {
    const backward = evaluate(vjp(finishing).graph, { ...inputs, bar_y: [1, NaN, 1] }, 3)
    expect(backward).toEqual({ bar_x: [60, 0, 120], bar_a: [100], bar_t: [60] })
    const forward = evaluate(jvp(finishing).graph, { ...inputs, dot_x: [1, NaN, 1], dot_a: 1, dot_t: [1] }, 3)
    expect(forward).toEqual({ dot_y: [60 + 20 + 12, 0, 120 + 80 + 48] })
  })
  test('the mask is read, not written', () => {
    const { graph } = vjp(finishing)
    expect(graph.planes.find(({ name }) => name === 'done')).toEqual(plane('done', 'sample', 'bool'))
  })
})
