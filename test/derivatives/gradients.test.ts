// Gradients, Hessian-vector products and Jacobians of kernels, and the winners of reductions.
import { describe, expect, test } from 'vitest'
import {
  exp,
  grad,
  hvp,
  Index,
  jacobian,
  kernel,
  loop,
  Mutable,
  Param,
  Reduce,
  Scalar,
  Table,
  valueAndGrad,
  Vector,
  winners,
  type NdArray,
} from '../../src/index.ts'

const onReference = { backend: 'reference' } as const
const f64 = (...numbers: number[]) => new Float64Array(numbers)
const wide = (rows: number, ...numbers: number[]) => ({ data: f64(...numbers), shape: [rows, numbers.length / rows] })

const scale = kernel('scale', { x: Scalar, a: Param }, ({ x, a }) => x.mul(x).mul(a)).with(onReference)
const loss = kernel('loss', { x: Scalar, y: Scalar, a: Param, b: Param, total: Reduce('sum') }, (p) => {
  const rest = p.x.mul(p.a).add(p.b).sub(p.y)
  p.total.contribute(rest.mul(rest))
}).with(onReference)
const most = kernel('most', { x: Scalar, a: Param, top: Reduce('max'), m: Mutable(Scalar) }, ({ x, a, top, m }) => {
  top.contribute(x.mul(x).mul(a))
  m.set(m.add(1))
}).with(onReference)

describe('grad and valueAndGrad', () => {
  test('of one value a sample: by the inputs of the sample, summed over samples for a Param', () => {
    expect(grad(scale)(f64(1, 2, 3), 2)).toEqual({ x: f64(4, 8, 12), a: 14 })
    expect(grad(scale, { wrt: ['a'] })({ x: f64(1, 2, 3), a: 2 })).toEqual({ a: 14 })
    expect(valueAndGrad(scale)(f64(1, 2), 2)).toEqual({ value: f64(2, 8), grad: { x: f64(4, 8), a: 5 } })
  })

  test('of a reduction: of the one number', () => {
    const planes = { x: f64(1, 2, 3), y: f64(1, 2, 3), a: 2, b: 1 }
    const expected = { value: 29, grad: { x: f64(8, 12, 16), y: f64(-4, -6, -8), a: 40, b: 18 } }
    expect(valueAndGrad(loss)(planes)).toEqual(expected)
    expect(grad(loss, { wrt: ['a', 'b'] })(planes)).toEqual({ a: 40, b: 18 })
  })

  test('of a max or min reduction: of the sample that won, the first at a tie; mutables stay as they are', () => {
    const planes = { x: f64(1, -5, 5, 2), a: 3, m: f64(0, 0, 0, 0) }
    expect(valueAndGrad(most, { of: 'top', wrt: ['x', 'a'] })(planes)).toEqual({
      value: 75,
      grad: { x: f64(0, -30, 0, 0), a: 25 },
    })
    expect(winners(most)(planes)).toEqual({ top: 75, top_at: 1 })
    expect(planes.m).toEqual(f64(0, 0, 0, 0))
    expect(hvp(most, { of: 'top', wrt: ['x'] })(planes, { x: f64(1, 1, 1, 1) })).toEqual({ x: f64(0, 6, 0, 0) })
  })

  test('of one of several outputs, by its name or its positional name', () => {
    const pair = kernel('pair', { x: Scalar }, ({ x }) => ({ up: x.mul(x), twice: x.mul(2) })).with(onReference)
    expect(grad(pair, { of: 'up' })(f64(1, 2))).toEqual({ x: f64(2, 4) })
    expect(grad(pair, { of: 'out1' })(f64(1, 2))).toEqual({ x: f64(2, 2) })
  })

  test('through a table and a loop', () => {
    const horner = kernel('horner', { x: Scalar, c: Table(Scalar) }, ({ x, c }) => {
      const { sum } = loop(3, { sum: 0 }, (i, s) => ({ sum: s.sum.mul(x).add(c.at(i)) }))
      return { sum }
    }).with(onReference)
    expect(valueAndGrad(horner)(f64(2), f64(1, 10, 100))).toEqual({
      value: f64(124),
      grad: { x: f64(2 * 2 + 10), c: f64(4, 2, 1) },
    })
  })

  test('refusals', () => {
    const both = kernel('both', { x: Scalar, v: Vector(2) }, ({ x, v }) => ({ up: x.mul(x), w: v.mul(x) }))
    expect(() => grad(both)).toThrow(
      "grad of kernel 'both': it has 2 float outputs: name one with { of: … }, or use vjp; its scalar float outputs are: up",
    )
    expect(() => valueAndGrad(both, { of: 'w' })).toThrow(
      "valueAndGrad of kernel 'both': 'w' is no scalar: use vjp or jacobian; its scalar float outputs are: up",
    )
    expect(() => grad(both, { of: 'q' })).toThrow(
      "grad of kernel 'both': 'q' is no output; its scalar float outputs are: up",
    )
    const vector = kernel('vector', { v: Vector(2) }, ({ v }) => ({ w: v.mul(2) }))
    expect(() => hvp(vector)).toThrow(
      "hvp of kernel 'vector': it has one output, which is no scalar: name one with { of: … }, or use vjp; its scalar float outputs are: none",
    )
  })
})

describe('hvp', () => {
  test('the Hessian times a direction', () => {
    const planes = { x: f64(1, 2, 3), a: 2 }
    expect(hvp(scale)(planes, { x: f64(1, 1, 1), a: 0 })).toEqual({ x: f64(4, 4, 4), a: 12 })
    expect(hvp(scale, { wrt: ['x'] })(planes, { x: f64(1, 1, 1) })).toEqual({ x: f64(4, 4, 4) })
    const sums = hvp(loss, { wrt: ['a', 'b'] })({ ...planes, y: f64(1, 2, 3), b: 1 }, { a: 1, b: 0 })
    expect(sums).toEqual({ a: 2 * 14, b: 2 * 6 })
  })
  test('by a table', () => {
    const look = kernel('look', { i: Index, t: Table(Scalar) }, ({ i, t }) => t.at(i).mul(t.at(i))).with(onReference)
    const planes = { i: new Int32Array([0, 1, 1]), t: f64(1, 2, 3) }
    expect(hvp(look)(planes, { t: f64(1, 1, 1) })).toEqual({ t: f64(2, 4, 0) })
  })
})

describe('jacobian', () => {
  const cross = kernel('cross', { u: Vector(3), v: Vector(3), a: Param }, ({ u, v, a }) => ({
    w: u.cross(v).mul(a),
    n: u.dot(v),
  })).with(onReference)
  const planes = { u: wide(3, 1, 4, 2, 5, 3, 6), v: wide(3, 1, 2, 1, 2, 1, 3), a: 2 }

  test('rows over the output, columns over the input, then samples', () => {
    const found = jacobian(cross, { of: 'w', wrt: 'u' })(planes) as NdArray
    expect(found.shape).toEqual([3, 3, 2])
    // ∂(u × v)/∂u is the matrix of −v ×, times a.
    const matrix = (x: number, y: number, z: number) => [
      [0, 2 * z, -2 * y],
      [-2 * z, 0, 2 * x],
      [2 * y, -2 * x, 0],
    ]
    const sample = (k: number) => (found.toNested() as number[][][]).map((row) => row.map((entry) => entry[k]! + 0))
    expect(sample(0)).toEqual(matrix(1, 1, 1))
    expect(sample(1)).toEqual(matrix(2, 2, 3))
  })
  test('one number makes no axis', () => {
    expect((jacobian(cross, { of: 'n', wrt: 'u' })(planes) as NdArray).shape).toEqual([3, 2])
    expect((jacobian(cross, { of: 'w', wrt: 'a' })(planes) as NdArray).shape).toEqual([3, 2])
    const half = kernel('half', { x: Scalar }, ({ x }) => exp(x)).with(onReference)
    expect(jacobian(half, { of: 'out', wrt: 'x' })(f64(0))).toEqual(f64(1))
  })
  test('refusals', () => {
    expect(() => jacobian(cross, { of: 'q', wrt: 'u' })).toThrow(
      "jacobian of kernel 'cross': 'q' is no float output of each sample; those are: w, n",
    )
    const look = kernel('look', { i: Index, t: Table(Scalar) }, ({ i, t }) => ({ y: t.at(i) }))
    expect(() => jacobian(look, { of: 'y', wrt: 't' })).toThrow(
      "jacobian of kernel 'look': wrt 't' is a table, whose entries samples share; use vjp for it",
    )
  })
})
