// What the body gets for each kind, and what becomes of it: cells, tables, accumulators, reductions, the finished mask, sample numbers.
import { describe, expect, test } from 'vitest'
import {
  Accum,
  Index,
  Matrix,
  Mutable,
  Param,
  Quat,
  Reduce,
  Scalar,
  Table,
  Terminated,
  Vector,
} from '../../src/trace/index.ts'
import * as h from '../../src/trace/index.ts'
import { evaluate, refusalOf, refusalOfBody, traceBody } from './support/evaluate.ts'

describe('mutables', () => {
  test('are cells, read when used', () => {
    const kernel = traceBody({ acc: Mutable(Scalar), x: Scalar }, ({ acc, x }) => {
      const before = acc.mul(1)
      acc.set(acc.add(x))
      acc.set(acc.mul(10))
      return { before, after: acc.neg() }
    })
    expect(evaluate(kernel, { acc: [1, 2], x: [3, 4] }, 2)).toEqual({
      acc: [40, 60],
      before: [1, 2],
      after: [-40, -60],
    })
    expect(kernel.mutablesRead).toEqual(['acc'])
    expect(kernel.mutablesWritten).toEqual(['acc'])
  })

  test('a write-only plane is not read', () => {
    const kernel = traceBody({ y: Mutable(Scalar), x: Scalar }, ({ y, x }) => {
      y.set(x.mul(2))
      y.set(y.add(1))
    })
    expect(kernel.mutablesRead).toEqual([])
    expect(kernel.parameters.map(({ name, isRead, isWritten }) => [name, isRead, isWritten])).toEqual([
      ['y', false, true],
      ['x', true, false],
    ])
    expect(evaluate(kernel, { y: [NaN], x: [3] }, 1)).toEqual({ y: [7] })
    expect(kernel.returned).toEqual({ form: 'nothing' })
  })

  test('of vectors, matrices, quaternions and integers; values go up, never down', () => {
    const kernel = traceBody(
      { p: Mutable(Vector(2)), m: Mutable(Matrix(1, 2)), q: Mutable(Quat), n: Mutable(Index), s: Mutable(Scalar) },
      ({ p, m, q, n, s }) => {
        p.set(h.vec(p.y, p.x))
        m.set(m.mul(2))
        q.set(h.quatConj(q))
        n.set(n.add(1))
        s.set(n)
      },
    )
    expect(evaluate(kernel, { p: [1, 2], m: [3, 4], q: [5, 6, 7, 8], n: [9], s: [0] }, 1)).toEqual({
      p: [2, 1],
      m: [6, 8],
      q: [5, -6, -7, -8],
      n: [10],
      s: [10],
    })
  })

  test('planes are numbered as declared, then as returned', () => {
    const kernel = traceBody({ y: Mutable(Scalar), x: Scalar }, ({ y, x }) => {
      y.set(x)
      return { b: x.add(1), a: [x.add(2)] }
    })
    expect(kernel.graph.planes.map(({ name }) => name)).toEqual(['y', 'x', 'b', 'out1'])
    expect(kernel.outputs.map(({ plane }) => plane)).toEqual([2, 3])
  })
})

describe('tables', () => {
  test('by position; outside gives NaN, 0 for integers', () => {
    const kernel = traceBody(
      { i: Index, t: Table(Scalar), n: Table(Index), v: Table(Vector(2)) },
      ({ i, t, n, v }) => ({
        x: t.at(i),
        k: n.at(i),
        w: v.at(i),
        first: t.at(0),
      }),
    )
    const inputs = { i: [0, 2, 3, -1], t: [10, 20, 30], n: [7, 8, 9], v: [1, 2, 3, 4, 5, 6] }
    expect(evaluate(kernel, inputs, 4)).toEqual({
      x: [10, 30, NaN, NaN],
      k: [7, 9, 0, 0],
      w: [1, 3, NaN, NaN, 4, 6, NaN, NaN],
      first: [10, 10, 10, 10],
    })
    expect(kernel.tablesRead).toEqual(['t', 'n', 'v'])
  })

  test('by named axes, row-major; every axis is checked by itself', () => {
    const kernel = traceBody({ i: Index, j: Index, g: Table({ row: 2, col: 3 }) }, ({ i, j, g }) => ({
      x: g.at({ row: i, col: j }),
      y: g.at({ col: 1, row: 1 }),
    }))
    const inputs = { i: [0, 1, 0, 1, -1, 1431655766], j: [0, 2, 3, -1, 3, 0], g: [0, 1, 2, 10, 11, 12] }
    // Row 0, column 3 is entry 3 of the storage, but outside its axis; the last row number would wrap to entry 2.
    expect(evaluate(kernel, inputs, 6)).toEqual({ x: [0, 12, NaN, NaN, NaN, NaN], y: [11, 11, 11, 11, 11, 11] })
  })
})

describe('accumulators, reductions, the mask', () => {
  test('add to the entry of the sample, or to any; outside is dropped', () => {
    const kernel = traceBody(
      { x: Scalar, i: Index, own: Accum(Scalar), bins: Accum(Vector(2)) },
      ({ x, i, own, bins }) => {
        own.add(x)
        bins.add(h.vec(x, 1), i)
      },
    )
    expect(evaluate(kernel, { x: [1, 2, 4], i: [1, 1, 7], own: [10, 20, 30], bins: [0, 0, 0, 0] }, 3)).toEqual({
      own: [11, 22, 34],
      bins: [0, 3, 0, 2],
    })
  })

  test('reductions fold contributions; those returned share the parameter’s plane', () => {
    const kernel = traceBody(
      {
        x: Scalar,
        total: Reduce('sum'),
        top: Reduce('max', Vector(2)),
        every: Reduce('all'),
        some: Reduce('any'),
        count: Reduce('sum', Index),
        low: Reduce('min'),
        product: Reduce('prod'),
      },
      ({ x, total, top, every, some, count, low, product }) => {
        total.contribute(x)
        top.contribute(h.vec(x, x.neg()))
        every.contribute(x.gt(0))
        some.contribute(x.gt(2))
        count.contribute(1)
        low.contribute(x)
        product.contribute(x)
        return { total, twice: x.mul(2) }
      },
    )
    expect(evaluate(kernel, { x: [3, 1, 2] }, 3)).toEqual({
      total: [6],
      top: [3, -1],
      every: [1],
      some: [1],
      count: [3],
      low: [1],
      product: [6],
      twice: [6, 2, 4],
    })
    expect(kernel.outputs.map(({ name, plane, isParameter }) => [name, plane, isParameter])).toEqual([
      ['total', 1, true],
      ['twice', 8, false],
    ])
    expect(kernel.argSpec.filter(([, name]) => name === 'total')).toEqual([['reduce', 'total']])
  })

  test('the mask is applied last, and finished samples are skipped', () => {
    const kernel = traceBody({ x: Mutable(Scalar), done: Terminated }, ({ x, done }) => {
      done.when(x.ge(3))
      x.set(x.add(1))
    })
    expect(evaluate(kernel, { x: [1, 3, 5], done: [0, 0, 1] }, 3)).toEqual({ x: [2, 4, 5], done: [0, 1, 1] })
    expect(kernel.finishMask).toBe(1)
    expect(kernel.graph.body.nodes.at(-1)!.op).toBe('finish')
  })

  test('sample numbers', () => {
    const kernel = traceBody({}, () => ({ i: h.sampleIndex(), n: h.sampleCount(), x: h.sampleIndex().mul(0.5) }))
    expect(evaluate(kernel, {}, 3)).toEqual({ i: [0, 1, 2], n: [3, 3, 3], x: [0, 0.5, 1] })
  })
})

describe('refusals of the body', () => {
  const params = {
    x: Scalar,
    i: Index,
    y: Mutable(Scalar),
    n: Mutable(Index),
    p: Mutable(Vector(2)),
    q: Mutable(Quat),
    t: Table(Scalar),
    g: Table({ row: 2, col: 3 }),
    acc: Accum(Scalar),
    total: Reduce('sum'),
    all: Reduce('all'),
    done: Terminated,
  }
  const CASES: readonly (readonly [string, (p: never) => unknown, string])[] = [
    [
      'a float for an Index',
      ({ x, n }: { x: Scalar; n: Mutable<Index> }) => n.set(x as never),
      'E_TYPE: n.set(): found x (Scalar), expected an Index; convert it with toInt()',
    ],
    [
      'a fraction for an Index',
      ({ n }: { n: Mutable<Index> }) => n.set(0.5),
      'E_TYPE: n.set(): found 0.5, expected an Index; convert it with toInt()',
    ],
    [
      'a number for a vector',
      ({ p }: { p: Mutable<Vector<2>> }) => p.set(0 as never),
      'E_TYPE: p.set(): found 0, expected a Vector(2)',
    ],
    [
      'another width',
      ({ x, p }: { x: Scalar; p: Mutable<Vector<2>> }) => p.set(h.vec(x, x, x) as never),
      'E_TYPE: p.set(): found vec(x, x, x) (Vector(3)), expected a Vector(2)',
    ],
    [
      'a 4-vector for a Quat',
      ({ x, q }: { x: Scalar; q: Mutable<Quat> }) => q.set(h.vec(x, x, x, x) as never),
      'E_TYPE: q.set(): found vec(x, x, x, x) (Vector(4)), expected a Quat; quat(w, x, y, z) makes one',
    ],
    [
      'an array',
      ({ p }: { p: Mutable<Vector<2>> }) => p.set([1, 2] as never),
      'E_TYPE: p.set(): operand 1 is an array, expected a number or a traced value',
    ],
    [
      'a number for a condition',
      ({ x, all }: { x: Scalar; all: Reduce<h.Condition> }) => all.contribute(x as never),
      'E_TYPE: all.contribute(): found x (Scalar), expected a condition; compare it, as in x.gt(0)',
    ],
    [
      'a float as index of a table',
      ({ x, t }: { x: Scalar; t: Table<Scalar> }) => t.at(x as never),
      'E_TYPE: t.at(): found x (Scalar), expected an integer; convert it with toInt()',
    ],
    [
      'a fraction as index',
      ({ t }: { t: Table<Scalar> }) => t.at(0.5),
      'E_TYPE: t.at(): found 0.5, expected a whole number',
    ],
    [
      'a position for named axes',
      ({ i, g }: { i: Index; g: Table<Scalar, { row: 2; col: 3 }> }) => g.at(i as never),
      'E_TYPE: g.at(): found i (Index), expected named indices { row: …, col: … }',
    ],
    [
      'wrong axes',
      ({ i, g }: { i: Index; g: Table<Scalar, { row: 2; col: 3 }> }) => g.at({ row: i, column: i } as never),
      "E_TYPE: g.at(): axis 'col' is missing, there is no axis 'column'; expected named indices { row: …, col: … }",
    ],
    [
      'a table as operand',
      ({ x, t }: { x: Scalar; t: Table<Scalar> }) => x.add(t as never),
      'E_TYPE: add: t (Table(Scalar)) is no value; use it as t.at(i)',
    ],
    [
      'a second finish',
      ({ x, done }: { x: Scalar; done: Terminated }) => (done.when(x.gt(0)), done.when(x.lt(-9))),
      'E_DEFINITION: done.when() is called twice; a sample finishes by one condition: join them with or(a, b)',
    ],
    [
      'a number as finish',
      ({ x, done }: { x: Scalar; done: Terminated }) => done.when(x as never),
      'E_TYPE: done.when(): found x (Scalar), expected a condition; compare it, as in x.gt(0)',
    ],
    [
      'a table in arithmetic',
      ({ t }: { t: number }) => t * 2,
      'E_COERCION: t (Table(Scalar)) was used as a plain number, as x * 2, x > 0 or Math.sin(x) would; it stands for one number a sample and has no plain value here — use it as t.at(i)',
    ],
    [
      'a returned table',
      ({ t }: { t: Table<Scalar> }) => ({ rows: [t] }),
      'E_RETURN: the body returned t (Table(Scalar)) at .rows[0], not a traced value; use it as t.at(i)',
    ],
  ]
  test.each(CASES)('%s', (_, body, message) => {
    const [code, ...text] = message.split(': ')
    expect(refusalOfBody(params, body)).toBe(`${code}: kernel 'k': ${text.join(': ')}`)
  })

  test('outputs that are never written', () => {
    const idle = { y: Mutable(Scalar), acc: Accum(Scalar), total: Reduce('sum'), done: Terminated, x: Scalar }
    expect(refusalOfBody(idle, ({ x }: { x: Scalar }) => ({ z: x.add(1) }))).toBe(
      "E_DEFINITION: kernel 'k': parameter 'y' is declared as an output and never written; call y.set(value), or remove it; " +
        "parameter 'acc' is declared as an output and never written; call acc.add(value) or acc.add(value, index), or remove it; " +
        "parameter 'total' is declared as an output and never written; call total.contribute(value), or remove it; " +
        "parameter 'done' is declared as an output and never written; call done.when(condition), or remove it",
    )
  })
})

describe('refusals of kinds', () => {
  const never = (value: unknown) => value as never
  const CASES: readonly (readonly [() => unknown, string])[] = [
    [() => Vector(0), 'E_DEFINITION: Vector(0): the width must be a whole number of at least 1, as in Vector(3)'],
    [
      () => Vector(never('3')),
      "E_DEFINITION: Vector('3'): the width must be a whole number of at least 1, as in Vector(3)",
    ],
    [
      () => Matrix(2, 0.5),
      'E_DEFINITION: Matrix(2, 0.5): both extents must be whole numbers of at least 1, as in Matrix(2, 3)',
    ],
    [
      () => Matrix(2, never(undefined)),
      'E_DEFINITION: Matrix(2, undefined): both extents must be whole numbers of at least 1, as in Matrix(2, 3)',
    ],
    [
      () => Mutable(never(Param)),
      'E_DEFINITION: Mutable(Param): expected Scalar, Index, Vector(W), Quat or Matrix(R, C)',
    ],
    [
      () => Mutable(never(Vector)),
      'E_DEFINITION: Mutable(Vector): expected Scalar, Index, Vector(W), Quat or Matrix(R, C)',
    ],
    [
      () => Mutable(never(undefined)),
      'E_DEFINITION: Mutable(undefined): expected Scalar, Index, Vector(W), Quat or Matrix(R, C)',
    ],
    [
      () => Accum(never(Mutable(Scalar))),
      'E_DEFINITION: Accum(Mutable(Scalar)): expected Scalar, Index, Vector(W), Quat or Matrix(R, C)',
    ],
    [
      () => Table(never(3)),
      'E_DEFINITION: Table(3): expected Scalar, Index, Vector(W), Quat or Matrix(R, C), or named axes as in Table({ row: 4, col: 3 })',
    ],
    [() => Table({}), 'E_DEFINITION: Table({}): name at least one axis, as in Table({ row: 4, col: 3 })'],
    [() => Table({ row: 0 }), "E_DEFINITION: Table: axis 'row' has extent 0, expected a whole number of at least 1"],
    [
      () => Table({ 'a-b': 2 }),
      "E_DEFINITION: Table: axis 'a-b' has no valid name; names are letters, digits and _, not starting with a digit",
    ],
    [
      () => Table({ a: 65536, b: 65536 }),
      'E_DEFINITION: Table: its axes give 4294967296 entries; an int32 index reaches 2147483647',
    ],
    [
      () => Reduce(never('mean')),
      "E_DEFINITION: Reduce('mean'): the operation must be one of 'sum', 'prod', 'max', 'min', 'all', 'any'",
    ],
    [
      () => Reduce(never('all'), Scalar),
      "E_DEFINITION: Reduce('all', Scalar): 'all' folds conditions and takes no kind; write Reduce('all')",
    ],
    [
      () => Reduce('sum', never(Param)),
      "E_DEFINITION: Reduce('sum', Param): expected Scalar, Index, Vector(W), Quat or Matrix(R, C)",
    ],
  ]
  test.each(CASES)('%s', (make, message) => expect(refusalOf(make)).toBe(message))
})
