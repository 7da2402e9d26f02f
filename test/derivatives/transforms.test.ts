// `vjp` and `jvp` of kernels: what they take and give, by which names, and what they refuse.
import { describe, expect, test } from 'vitest'
import {
  Accum,
  grad,
  hvp,
  Index,
  jacobian,
  jvp,
  kernel,
  Matrix,
  Mutable,
  named,
  Param,
  Quat,
  quatRotate,
  Reduce,
  Scalar,
  sin,
  Table,
  Terminated,
  valueAndGrad,
  Vector,
  vjp,
  whileLoop,
} from '../../src/index.ts'

const onReference = { backend: 'reference' } as const
const f64 = (...numbers: number[]) => new Float64Array(numbers)
const wide = (rows: number, ...numbers: number[]) => ({ data: f64(...numbers), shape: [rows, numbers.length / rows] })

const scale = kernel('scale', { x: Scalar, a: Param, b: Param }, ({ x, a, b }) => ({
  y: x.mul(a).add(b).mul(x),
})).with(onReference)
const x = f64(1, 2, 3)

describe('vjp', () => {
  test('takes the inputs in declared order, then the seeds; gives one entry an input', () => {
    const derivative = vjp(scale)
    expect(derivative.name).toBe('scale_vjp')
    expect(derivative.outputs).toEqual(['bar_x', 'bar_a', 'bar_b'])
    expect(derivative(x, 2, 1, f64(1, 1, 1))).toEqual({ bar_x: f64(5, 9, 13), bar_a: 14, bar_b: 6 })
    expect(derivative({ bar_y: f64(1, 1, 1), x, a: 2, b: 1 })).toEqual({ bar_x: f64(5, 9, 13), bar_a: 14, bar_b: 6 })
  })

  test('wrt, name and perSample', () => {
    const derivative = vjp(scale, { wrt: ['a'], name: 'slope', perSample: true })
    expect(derivative.name).toBe('slope')
    expect(derivative({ x, a: 2, b: 1, bar_y: f64(1, 1, 1) })).toEqual({ bar_a: f64(1, 4, 9) })
  })

  test('inputs that are not read may be left out, and are not in argSpec', () => {
    const derivative = vjp(scale, { wrt: ['b'] })
    expect(derivative.argSpec).toEqual([
      ['reduce', 'bar_b'],
      ['per_sample', 'bar_y'],
      ['per_sample', 'x'],
    ])
    expect(derivative({ x, bar_y: f64(1, 1, 1) })).toEqual({ bar_b: 6 })
    expect(() => derivative({ x, a: 2, bar_y: f64(1, 1) })).toThrow(
      "kernel 'scale_vjp': bar_y holds 2 samples, but x holds 3; pass planes of one length, or say how many with k.with({ n: … })",
    )
  })

  test('seeds answer to the positional name of their output', () => {
    const pair = kernel('pair', { x: Scalar }, ({ x: v }) => [named('up', v.add(1)), named('twice', v.mul(2))]).with(
      onReference,
    )
    const derivative = vjp(pair)
    expect(derivative({ x, bar_up: f64(1, 1, 1), bar_twice: f64(1, 1, 1) })).toEqual({ bar_x: f64(3, 3, 3) })
    expect(derivative({ x, bar_out0: f64(1, 1, 1), bar_out1: f64(1, 1, 1) })).toEqual({ bar_x: f64(3, 3, 3) })
  })

  test('vectors, matrices and quaternions keep their heads', () => {
    const product = kernel('product', { m: Matrix(2, 2), v: Vector(2), q: Quat, u: Vector(3) }, ({ m, v, q, u }) => ({
      w: m.matmul(v),
      r: quatRotate(q, u),
    })).with(onReference)
    const { bar_m, bar_v, bar_q, bar_u } = vjp(product)({
      m: wide(4, 1, 2, 3, 4),
      v: wide(2, 5, 6),
      q: wide(4, 1, 0, 0, 0),
      u: wide(3, 1, 2, 3),
      bar_w: wide(2, 1, 1),
      bar_r: wide(3, 1, 0, 0),
    })
    expect(bar_m.toNested()).toEqual([
      [[5], [6]],
      [[5], [6]],
    ])
    expect(bar_v.toNested()).toEqual([[4], [6]])
    expect(bar_u.toNested()).toEqual([[1], [0], [0]])
    expect(bar_q.shape).toEqual([4, 1])
  })

  test('a table: an accumulator as long as it, made by the call or added to', () => {
    const look = kernel('look', { i: Index, t: Table(Scalar) }, ({ i, t }) => t.at(i).mul(t.at(i))).with(onReference)
    const planes = { i: new Int32Array([0, 1, 1, 7]), t: f64(1, 2, 3), bar_out: f64(1, 1, 1, 1) }
    expect(vjp(look)(planes)).toEqual({ bar_t: f64(2, 8, 0) })
    const mine = f64(100, 0, 0)
    expect(vjp(look)({ ...planes, bar_t: mine })).toEqual({ bar_t: f64(102, 8, 0) })
    expect(mine).toEqual(f64(102, 8, 0))
    const grid = kernel('grid', { i: Index, t: Table({ row: 2, col: 2 }) }, ({ i, t }) =>
      t.at({ row: i, col: 1 }),
    ).with(onReference)
    const seeds = { i: new Int32Array([0, 1]), t: f64(1, 2, 3, 4), bar_out: f64(10, 20) }
    expect(vjp(grid)(seeds)).toEqual({ bar_t: f64(0, 10, 0, 20) })
  })

  test('an accumulator: its seed is a table; a reduction: one number; a mutable: bar_<name>_out', () => {
    const mixed = kernel(
      'mixed',
      { x: Scalar, i: Index, bins: Accum(Scalar), total: Reduce('sum'), m: Mutable(Scalar) },
      ({ x: v, i, bins, total, m }) => {
        bins.add(v.mul(2), i)
        total.contribute(v.mul(3))
        m.set(m.mul(v))
      },
    ).with(onReference)
    const derivative = vjp(mixed)
    expect(derivative.argSpec.map(([role, name]) => `${role} ${name}`)).toEqual([
      'mutable bar_m',
      'mutable bar_x',
      'per_sample bar_m_out',
      'per_sample i',
      'per_sample m',
      'per_sample x',
      'lookup bar_bins',
      'uniform bar_total',
    ])
    const found = derivative({
      x: f64(1, 2),
      i: new Int32Array([1, 0]),
      m: f64(5, 7),
      bar_bins: f64(10, 20),
      bar_total: 100,
      bar_m_out: f64(1000, 1000),
    })
    expect(found).toEqual({ bar_x: f64(40 + 300 + 5000, 20 + 300 + 7000), bar_m: f64(1000, 2000) })
  })

  test('finished samples get zeros', () => {
    const step = kernel('step', { x: Mutable(Scalar), done: Terminated }, ({ x: v, done }) => {
      v.set(v.mul(v))
      done.when(v.gt(100))
    }).with(onReference)
    const found = vjp(step)({ x: f64(2, 3, 4), done: new Uint8Array([0, 1, 0]), bar_x_out: f64(1, 1, 1) })
    expect(found).toEqual({ bar_x: f64(4, 0, 8) })
  })

  test('f32 planes run the f32 build', () => {
    const found = vjp(scale)<'Float32Array'>({
      x: Float32Array.of(1, 2, 3),
      a: 2,
      b: 1,
      bar_y: Float32Array.of(1, 1, 1),
    })
    expect(found).toEqual({ bar_x: Float32Array.of(5, 9, 13), bar_a: 14, bar_b: 6 })
  })
})

describe('jvp', () => {
  test('takes the inputs, then their tangents; gives one entry an output', () => {
    const derivative = jvp(scale)
    expect(derivative.name).toBe('scale_jvp')
    expect(derivative({ x, a: 2, b: 1, dot_x: f64(1, 1, 1), dot_a: 1, dot_b: 0 })).toEqual({
      dot_y: f64(5 + 1, 9 + 4, 13 + 9),
    })
  })
  test('the tangent of an accumulator is an accumulator of the caller', () => {
    const bin = kernel('bin', { x: Scalar, i: Index, bins: Accum(Scalar) }, ({ x: v, i, bins }) => {
      bins.add(v.mul(v), i)
    }).with(onReference)
    const dot_bins = f64(0, 0)
    jvp(bin)({ x: f64(1, 2, 3), i: new Int32Array([0, 1, 0]), dot_x: f64(1, 1, 1), dot_bins })
    expect(dot_bins).toEqual(f64(2 + 6, 4))
  })
})

test('a derivative is a kernel: it is differentiated, printed and called with options again', () => {
  const second = jvp(vjp(scale), { wrt: ['x'] })
  expect(second.name).toBe('scale_vjp_jvp')
  const planes = { x, a: 2, b: 1, bar_y: f64(1, 1, 1), dot_x: f64(1, 1, 1) }
  expect(second(planes)).toEqual({ dot_bar_x: f64(4, 4, 4), dot_bar_a: 12, dot_bar_b: 3 })
  expect(second.with({ threads: 2 })(planes)).toEqual(second(planes))
  expect(second.source('ir')).toContain('plane dot_bar_x: sample f64')
})

describe('refusals', () => {
  test('wrt that is no float input', () => {
    const look = kernel('look', { i: Index, v: Scalar, t: Table(Scalar), bins: Accum(Scalar) }, ({ i, v, t, bins }) => {
      bins.add(v)
      return { y: t.at(i).mul(v) }
    })
    expect(() => vjp(look, { wrt: ['v', 'q', 'i', 'bins', 'y'] as 'v'[] })).toThrow(
      "vjp of kernel 'look': wrt: 'q' is no parameter, 'i' holds i32, not floats, 'bins' is no input, 'y' is no input; the float inputs are: v, t",
    )
    expect(() => jvp(look, { wrt: ['q'] })).toThrow(
      "jvp of kernel 'look': wrt: 'q' is no parameter; the float inputs are: v, t",
    )
  })

  test.each([
    ['prod', "'p' is a Reduce('prod')", ', or write a product as exp of a sum of logarithms'],
    ['all', "'p' is a Reduce('all')", ''],
    ['any', "'p' is a Reduce('any')", ''],
  ] as const)('a %s reduction in reverse', (fold, what, hint) => {
    const folding =
      fold === 'prod'
        ? kernel('fold', { x: Scalar, p: Reduce('prod') }, ({ x: v, p }) => p.contribute(v))
        : kernel('fold', { x: Scalar, p: Reduce(fold) }, ({ x: v, p }) => p.contribute(v.gt(0)))
    expect(() => vjp(folding)).toThrow(
      `vjp of kernel 'fold': ${what}; a derivative exists for the reductions sum, max and min: return the contributions as a plane and reduce them outside${hint}`,
    )
  })

  test('a loop without a bound', () => {
    const settle = kernel('settle', { x: Scalar }, ({ x: v }) =>
      whileLoop(
        { v },
        (s) => s.v.gt(1),
        (s) => ({ v: s.v.mul(s.v).mul(0.5) }),
        { max: Infinity },
      ),
    )
    expect(() => vjp(settle)).toThrow(
      "vjp of kernel 'settle': a loop has no bound on its iterations, so that no memory can be set aside for what reverse mode must remember; " +
        'give whileLoop a cap, { max: 1000 }, or write the count as a number or min(count, 1000); forward mode (jvp) needs none',
    )
    expect(jvp(settle).outputs).toEqual(['dot_v'])
  })

  test('options and arguments', () => {
    expect(() => vjp(scale, { wrt: 'x' as never })).toThrow(
      "vjp of kernel 'scale': option wrt is x, expected an array of names, as in ['x']",
    )
    expect(() => jvp(scale, { perSample: true } as never)).toThrow(
      "jvp of kernel 'scale': there is no option 'perSample'; the options are wrt, name",
    )
    expect(() => vjp((() => 1) as never)).toThrow('vjp: expected a kernel, as kernel() gives it, found () => 1')
  })
})

describe('names that are taken', () => {
  const { sin: sine, cos: cosine } = Math
  const points = f64(-1.2, 0.3, 2)
  const ones = f64(1, 1, 1)
  const expectClose = (found: unknown, expected: (point: number) => number) => {
    expect(found).toHaveLength(points.length)
    Array.from(found as Float64Array).forEach((value, k) => expect(value).toBeCloseTo(expected(points[k]!), 12))
  }

  test('a parameter called like an adjoint', () => {
    const clash = kernel('clash', { x: Scalar, bar_x: Scalar }, ({ x: v, bar_x }) => v.mul(bar_x)).with(onReference)
    const planes = { x, bar_x: f64(4, 5, 6) }
    expect(vjp(clash)({ ...planes, bar_out: ones })).toEqual({ bar2_x: f64(4, 5, 6), bar_bar_x: x })
    expect(grad(clash)(planes)).toEqual({ x: f64(4, 5, 6), bar_x: x })
    expect(hvp(clash)(planes, { x: ones, bar_x: f64(0, 0, 0) })).toEqual({ x: f64(0, 0, 0), bar_x: ones })
  })

  test('an output called like an adjoint, a Jacobian and a winner', () => {
    const value = kernel('value', { x: Scalar }, ({ x: v }) => ({ bar_x: v.mul(v) })).with(onReference)
    expect(valueAndGrad(value)({ x })).toEqual({ value: f64(1, 4, 9), grad: { x: f64(2, 4, 6) } })
    const slope = kernel('slope', { x: Scalar, d_y_d_x: Scalar }, ({ x: v, d_y_d_x }) => ({ y: v.mul(d_y_d_x) }))
    expect(jacobian(slope.with(onReference), { of: 'y', wrt: 'x' })({ x, d_y_d_x: ones })).toEqual(ones)
    const most = kernel('most', { x: Scalar, m_at: Param, m: Reduce('max') }, ({ x: v, m_at, m }) =>
      m.contribute(v.mul(m_at)),
    ).with(onReference)
    expect(grad(most)({ x, m_at: 2 })).toEqual({ x: f64(0, 0, 2), m_at: 3 })
    expect(hvp(most)({ x, m_at: 2 }, { x: ones, m_at: 1 })).toEqual({ x: f64(0, 0, 1), m_at: 1 })
  })

  test('the value of a mutable called like an output', () => {
    const out = kernel('out', { x: Mutable(Scalar), x_out: Scalar }, ({ x: v, x_out }) => v.set(v.mul(x_out)))
    const found = vjp(out.with(onReference))({ x, x_out: f64(4, 5, 6), bar_x_out: ones })
    expect(found).toEqual({ bar_x: f64(4, 5, 6), bar2_x_out: x })
  })

  test('jvp of jvp, of one input and of a product of two', () => {
    const twice = jvp(jvp(kernel('sine', { x: Scalar }, ({ x: v }) => ({ y: sin(v) })).with(onReference)))
    expect(twice.argSpec.map(([, name]) => name)).toEqual(['dot_dot_y', 'dot2_x', 'dot_dot_x', 'dot_x', 'x'])
    const [first, second, both] = [f64(2, 3, 5), f64(0.5, -1, 4), f64(1, 7, -2)]
    const { dot_dot_y: found } = twice({ x: points, dot_x: first, dot2_x: second, dot_dot_x: both })
    const expected = points.map((v, k) => cosine(v) * both[k]! - sine(v) * first[k]! * second[k]!)
    Array.from(found as Float64Array).forEach((value, k) => expect(value).toBeCloseTo(expected[k]!, 12))

    const product = kernel('product', { x: Scalar, y: Scalar }, ({ x: v, y }) => ({ z: v.mul(y) }))
    const mixed = jvp(jvp(product.with(onReference)))
    const planes = { x, y: f64(4, 5, 6), dot_x: f64(2, 2, 2), dot_y: f64(3, 3, 3), dot2_x: f64(5, 5, 5) }
    const rest = { dot2_y: f64(7, 7, 7), dot_dot_x: f64(0, 0, 1), dot_dot_y: f64(0, 1, 0) }
    // ẋ₁·ẏ₂ + ẋ₂·ẏ₁ + ẍ·y + x·ÿ
    expect(mixed({ ...planes, ...rest })).toEqual({ dot_dot_z: f64(29, 31, 35) })
  })

  test('three derivatives of sin, in every mode', () => {
    const sines = kernel('sines', { x: Scalar }, ({ x: v }) => ({ y: sin(v) })).with(onReference)
    const forward = jvp(jvp(jvp(sines)))
    const { dot_dot_dot_y } = forward({
      ...Object.fromEntries(forward.argSpec.map(([, name]) => [name, f64(0, 0, 0)])),
      x: points,
      dot_x: ones,
      dot2_x: ones,
      dot3_x: ones,
    })
    expectClose(dot_dot_dot_y, (v) => -cosine(v))

    const mixed = jvp(jvp(vjp(sines), { wrt: ['x'] }), { wrt: ['x'] })
    expectClose(mixed({ x: points, bar_y: ones, dot_x: ones, dot2_x: ones }).dot_dot_bar_x, (v) => -cosine(v))

    const reverse = vjp(vjp(vjp(sines)))
    expect(reverse.argSpec.map(([, name]) => name)).toContain('bar2_bar_x')
    const seeds = { bar_y: ones, bar_bar_x: ones, bar2_bar_x: ones, bar_bar_bar_y: f64(0, 0, 0) }
    expectClose(reverse({ x: points, ...seeds }).bar_x, (v) => -cosine(v))
    expect(reverse.outputs).toEqual(['bar_x', 'bar_bar_y', 'bar_bar_bar_x'])
  })
})
