// Vectors, matrices and quaternions: components, products, small linear algebra; against plain JavaScript.
import { describe, expect, test } from 'vitest'
import * as fc from 'fast-check'
import { Index, Matrix, Quat, Scalar, Vector } from '../../src/trace/index.ts'
import * as h from '../../src/trace/index.ts'
import { compute, evaluate, refusalOfBody, traceBody } from './support/evaluate.ts'

const v = [3, -4, 12]
const w = [0.5, 2, -1]

describe('vectors', () => {
  const params = { v: Vector(3), w: Vector(3) }
  const inputs = { v, w }

  test('components by name, number, at() and destructuring are the same values', () => {
    const { graph } = traceBody({ v: Vector(4) }, ({ v }) => {
      const [a, b, c, d] = v
      return {
        sums: [v.x.add(v[0]).add(v.at(0)).add(a), v.y.add(v[1]).add(b), v.z.add(v[2]).add(c), v.w.add(v[3]).add(d)],
      }
    })
    const loads = graph.body.nodes.filter(({ op }) => op === 'load')
    expect(loads).toHaveLength(4)
    expect(compute({ v: Vector(4) }, ({ v: [a, b, c, d] }) => h.vec(d, c, b, a), { v: [1, 2, 3, 4] })).toEqual([
      4, 3, 2, 1,
    ])
  })

  test('at() with an int32 value; outside gives NaN', () => {
    expect(
      compute(
        { v: Vector(3), i: Index },
        ({ v, i }) => v.at(i),
        { v: v.flatMap((x) => [x, x, x, x]), i: [0, 2, 3, -1] },
        4,
      ),
    ).toEqual([3, 12, NaN, NaN])
    expect(compute({ i: Index }, ({ i }) => h.vec(i, i.add(1)).at(i), { i: [0, 1, 2] }, 3)).toEqual([0, 2, 0])
  })

  test('dot, norm, cross, outer', () => {
    expect(compute(params, ({ v, w }) => v.dot(w), inputs)).toEqual([1.5 - 8 - 12])
    expect(compute(params, ({ v }) => v.norm(), inputs)).toEqual([13])
    expect(compute(params, ({ v, w }) => h.cross(v, w), inputs)).toEqual([4 - 24, 6 + 3, 6 + 2])
    expect(compute(params, ({ v, w }) => h.outer(v, w), inputs)).toEqual(v.flatMap((x) => w.map((y) => x * y)))
    expect(compute({ v: Vector(2) }, ({ v }) => h.norm(v), { v: [0, 0] })).toEqual([0])
    expect(compute({ v: Vector(2) }, ({ v }) => h.norm(v), { v: [NaN, 0] })).toEqual([NaN])
  })

  test('vec promotes its components', () => {
    const types = traceBody({ x: Scalar, i: Index }, ({ x, i }) => ({
      floats: h.vec(x, i, 1),
      integers: h.vec(i, 1),
      literals: h.vec(1, 2),
      conditions: h.vec(x.gt(0), true),
    })).outputs.map(({ head }) => [head.type, head.shape])
    expect(types).toEqual([
      ['f64', [3]],
      ['i32', [2]],
      ['f64', [2]],
      ['bool', [2]],
    ])
  })

  test('is no array, but has a length and can be spread', () => {
    traceBody(params, ({ v }) => {
      expect(Array.isArray(v)).toBe(false)
      expect(v.length).toBe(3)
      expect([...v]).toHaveLength(3)
      return v.add(1)
    })
  })
})

/** A·B of row-major matrices. */
const times = (a: readonly number[], b: readonly number[], rows: number, inner: number, columns: number): number[] =>
  Array.from({ length: rows * columns }, (_, k) => {
    const [r, c] = [Math.floor(k / columns), k % columns]
    return Array.from({ length: inner }, (_, j) => a[r * inner + j]! * b[j * columns + c]!).reduce((x, y) => x + y)
  })

describe('matrices', () => {
  const m = [1, 2, 3, 4, 5, 6]
  const params = { m: Matrix(2, 3), n: Matrix(3, 2), v: Vector(3), i: Index }
  const inputs = { m, n: [7, 8, 9, 10, 11, 12], v: [1, -1, 2], i: [1] }

  test('entries, rows, columns', () => {
    expect(compute(params, ({ m }) => m.at(1, 2), inputs)).toEqual([6])
    expect(compute(params, ({ m }) => m.row(1), inputs)).toEqual([4, 5, 6])
    expect(compute(params, ({ m }) => m.col(1), inputs)).toEqual([2, 5])
    expect(compute(params, ({ m, i }) => m.at(i, i.add(1)), inputs)).toEqual([6])
    expect(compute(params, ({ m, i }) => m.at(0, i), inputs)).toEqual([2])
    expect(compute(params, ({ m, i }) => m.at(i, 0), inputs)).toEqual([4])
    expect(compute(params, ({ m, i }) => m.at(i.add(1), 0), inputs)).toEqual([NaN])
  })

  test('products, transpose, trace', () => {
    expect(compute(params, ({ m, n }) => h.matmul(m, n), inputs)).toEqual(times(m, inputs.n, 2, 3, 2))
    expect(compute(params, ({ m, v }) => m.matmul(v), inputs)).toEqual(times(m, inputs.v, 2, 3, 1))
    expect(compute(params, ({ m }) => h.transpose(m), inputs)).toEqual([1, 4, 2, 5, 3, 6])
    expect(compute(params, ({ m, n }) => h.trace(m.matmul(n)), inputs)).toEqual([58 + 154])
  })

  test('mat of arrays and vectors', () => {
    expect(compute(params, ({ v, i }) => h.mat([[1, 2, i], v]), inputs)).toEqual([1, 2, 1, 1, -1, 2])
  })

  test.each([1, 2, 3, 4])('det, inverse and solve of square matrices of extent %d with whole entries', (n) => {
    const entry = fc.integer({ min: -9, max: 9 })
    const kernel = traceBody({ a: Matrix(n, n), b: Vector(n), c: Matrix(n, 2) }, ({ a, b, c }) => ({
      det: a.det(),
      check: h.matmul(a.inverse(), a),
      x: a.solve(b as never),
      y: h.solve(a as never, c),
    }))
    fc.assert(
      fc.property(
        fc.array(entry, { minLength: n * n, maxLength: n * n }),
        fc.array(entry, { minLength: n, maxLength: n }),
        fc.array(entry, { minLength: 2 * n, maxLength: 2 * n }),
        (a, b, c) => {
          const { det, check, x, y } = evaluate(kernel, { a, b, c }, 1)
          // Exact: all products of these entries are whole numbers far below 2⁵³.
          expect(det![0] === leibniz(a, n)).toBe(true)
          if (det![0] === 0) return
          check!.forEach((value, k) => expect(Math.abs(value - Number(k % (n + 1) === 0))).toBeLessThan(1e-9))
          times(a, x!, n, n, 1).forEach((value, k) => expect(Math.abs(value - b[k]!)).toBeLessThan(1e-9))
          times(a, y!, n, n, 2).forEach((value, k) => expect(Math.abs(value - c[k]!)).toBeLessThan(1e-9))
        },
      ),
      { numRuns: 60 },
    )
  })

  test('solve pivots: a zero or tiny first entry costs no accuracy', () => {
    expect(
      compute(
        { b: Vector(2) },
        ({ b }) =>
          h.solve(
            h.mat([
              [0, 1],
              [1, 0],
            ]),
            b,
          ),
        { b: [3, 5] },
      ),
    ).toEqual([5, 3])
    const [x, y] = compute(
      { b: Vector(2) },
      ({ b }) =>
        h.solve(
          h.mat([
            [1e-20, 1],
            [1, 1],
          ]),
          b,
        ),
      { b: [1, 2] },
    )
    expect([x, y]).toEqual([1, 1])
  })
})

/** Determinant as the signed sum over all permutations. */
function leibniz(a: readonly number[], n: number): number {
  const visit = (r: number, columns: readonly number[]): number =>
    r === n
      ? 1
      : columns.reduce(
          (sum, c, k) =>
            sum +
            (k % 2 === 0 ? 1 : -1) *
              a[r * n + c]! *
              visit(
                r + 1,
                columns.filter((other) => other !== c),
              ),
          0,
        )
  return (
    visit(
      0,
      Array.from({ length: n }, (_, k) => k),
    ) + 0
  )
}

describe('quaternions', () => {
  const params = { p: Quat, q: Quat, v: Vector(3) }
  const inputs = { p: [1, 2, 3, 4], q: [5, -6, 7, -8], v: [1, -2, 0.5] }

  test('components in the order w, x, y, z', () => {
    expect(compute(params, ({ p }) => h.vec(p.w, p.x, p.y, p.z), inputs)).toEqual([1, 2, 3, 4])
    expect(compute(params, ({ p: [w, x, y, z] }) => h.vec(z, y, x, w), inputs)).toEqual([4, 3, 2, 1])
  })

  test('product by the multiplication table of i, j, k', () => {
    const units = { one: [1, 0, 0, 0], i: [0, 1, 0, 0], j: [0, 0, 1, 0], k: [0, 0, 0, 1] }
    const product = (p: readonly number[], q: readonly number[]) =>
      compute({ p: Quat, q: Quat }, ({ p, q }) => h.quatMul(p, q), { p, q }).map((x) => x + 0)
    expect(product(units.i, units.j)).toEqual(units.k)
    expect(product(units.j, units.k)).toEqual(units.i)
    expect(product(units.k, units.i)).toEqual(units.j)
    expect(product(units.j, units.i)).toEqual([0, 0, 0, -1])
    expect(product(units.i, units.i)).toEqual([-1, 0, 0, 0])
    expect(product(units.one, units.k)).toEqual(units.k)
  })

  test('conjugate, reciprocal, norm', () => {
    expect(compute(params, ({ p }) => h.quatConj(p), inputs)).toEqual([1, -2, -3, -4])
    expect(compute(params, ({ p }) => p.norm(), inputs)).toEqual([Math.sqrt(30)])
    compute(params, ({ p }) => h.quatMul(p, h.quatRecip(p)), inputs).forEach((x, k) =>
      expect(x).toBeCloseTo(Number(k === 0), 14),
    )
  })

  test('rotation is q·v·q* for a unit q', () => {
    const rotated = traceBody(params, ({ q, v }) => {
      const unit = q.div(q.norm())
      return {
        short: h.quatRotate(unit, v),
        long: h.asVec3(h.quatMul(h.quatMul(unit, h.asPure(v)), h.quatConj(unit))),
      }
    })
    const { short, long } = evaluate(rotated, inputs, 1)
    short!.forEach((x, k) => expect(x).toBeCloseTo(long![k]!, 14))
    // A quarter turn about z takes x to y.
    const half = Math.SQRT1_2
    const turned = compute({ v: Vector(3) }, ({ v }) => h.quatRotate(h.quat(half, 0, 0, half), v), { v: [1, 0, 0] })
    turned.forEach((x, k) => expect(x).toBeCloseTo(k === 1 ? 1 : 0, 15))
  })
})

describe('refusals', () => {
  const params = { x: Scalar, i: Index, v: Vector(3), w: Vector(2), m: Matrix(2, 3), big: Matrix(5, 5), q: Quat }
  type Values = {
    x: Scalar
    i: Index
    v: Vector<3>
    w: Vector<2>
    m: Matrix<2, 3>
    big: Matrix<5, 5>
    q: Quat
  }
  const CASES: readonly (readonly [string, (p: Values) => unknown, string])[] = [
    ['a component beyond', ({ v }) => v.at(3), 'E_TYPE: at: there is no component 3; they are numbered 0 to 2'],
    ['a negative component', ({ v }) => v.at(-1), 'E_TYPE: at: there is no component -1; they are numbered 0 to 2'],
    ['a fractional component', ({ v }) => v.at(0.5), 'E_TYPE: at: there is no component 0.5; they are numbered 0 to 2'],
    [
      'a float as component',
      ({ v, x }) => v.at(x as never),
      'E_TYPE: at: found x (Scalar), expected an integer; convert it with toInt()',
    ],
    ['a component without name', ({ w }) => (w as unknown as Vector<3>).z, 'E_TYPE: w.z: w has 2 components'],
    [
      'dot of widths',
      ({ v, w }) => v.dot(w as never),
      'E_TYPE: dot: v has 3 components and w 2; they must be equally many',
    ],
    [
      'cross of 2-vectors',
      ({ w }) => h.cross(w as never, w as never),
      'E_TYPE: cross: found w (Vector(2)), expected a Vector(3)',
    ],
    ['norm of a number', ({ x }) => h.norm(x as never), 'E_TYPE: norm: found x (Scalar), expected a vector'],
    [
      'vec of nothing',
      () => (h.vec as () => unknown)(),
      'E_TYPE: vec: a vector has at least one component, as in vec(x, y, 0)',
    ],
    [
      'vec of vectors',
      ({ v }) => h.vec(v as never),
      'E_TYPE: vec: found v (Vector(3)), expected one number a component',
    ],
    ['a row beyond', ({ m }) => m.at(2, 0), 'E_TYPE: at: there is no row 2; they are numbered 0 to 1'],
    ['a column beyond', ({ m }) => m.col(3), 'E_TYPE: col: there is no column 3; they are numbered 0 to 2'],
    [
      'a traced row',
      ({ m, i }) => m.row(i as never),
      'E_TYPE: row: the number of a row is a plain whole number; m.at(r, c) takes int32 values',
    ],
    [
      'matmul of shapes',
      ({ m, w }) => m.matmul(w as never),
      'E_TYPE: matmul: Matrix(2, 3) times Vector(2) does not fit; the right operand needs 3 components',
    ],
    [
      'matmul of matrices',
      ({ m }) => m.matmul(m as never),
      'E_TYPE: matmul: Matrix(2, 3) times Matrix(2, 3) does not fit; the right operand needs 3 rows',
    ],
    ['det of a rectangle', ({ m }) => m.det(), 'E_TYPE: det: Matrix(2, 3) is not square'],
    [
      'a large inverse',
      ({ big }) => big.inverse(),
      'E_TYPE: inverse: Matrix(5, 5) is larger than 4×4, the largest it takes',
    ],
    [
      'solve with a short side',
      ({ v }) =>
        h.solve(
          h.mat([
            [1, 2],
            [3, 4],
          ]),
          v as never,
        ),
      'E_TYPE: solve: the right side Vector(3) needs 2 components, as many as the matrix',
    ],
    [
      'mat of uneven rows',
      () => h.mat([[1, 2], [3]]),
      'E_TYPE: mat: row 0 has 2 entries and row 1 has 1, expected rows of equal length, as in mat([[a, b], [c, d]])',
    ],
    [
      'mat of nothing',
      () => h.mat([] as never),
      'E_TYPE: mat: found an array, expected rows of equal length, as in mat([[a, b], [c, d]])',
    ],
    [
      'mat of numbers',
      () => h.mat([1, 2] as never),
      'E_TYPE: mat: found 1 as a row, expected rows of equal length, as in mat([[a, b], [c, d]])',
    ],
    [
      'mat of vectors in rows',
      ({ v }) => h.mat([[v as never]]),
      'E_TYPE: mat: found v (Vector(3)), expected one number an entry',
    ],
    [
      'quatMul of a vector',
      ({ v, q }) => h.quatMul(v as never, q),
      'E_TYPE: quatMul: found v (Vector(3)), expected a Quat',
    ],
    [
      'quatRotate of a pair',
      ({ w, q }) => h.quatRotate(q, w as never),
      'E_TYPE: quatRotate: found w (Vector(2)), expected a Vector(3)',
    ],
    [
      'quat of a vector',
      ({ v }) => h.quat(v as never, 0, 0, 0),
      'E_TYPE: quat: found v (Vector(3)), expected one number',
    ],
    [
      'three-operand dot',
      ({ v }) => (v.dot as (...all: unknown[]) => unknown)(v, v),
      'E_TYPE: dot: takes 1 operand, found 2',
    ],
  ]
  test.each(CASES)('%s', (_, body, message) => {
    const [code, ...text] = message.split(': ')
    expect(refusalOfBody(params, body as never)).toBe(`${code}: kernel 'k': ${text.join(': ')}`)
  })
})
