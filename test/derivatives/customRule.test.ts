// Functions with derivative rules of their own, and the check of gradients that finds a wrong one.
import { describe, expect, test } from 'vitest'
import {
  Accum,
  checkGrad,
  customRule,
  exp,
  grad,
  hvp,
  Index,
  jvp,
  kernel,
  loop,
  Mutable,
  Param,
  Reduce,
  Scalar,
  stopGradient,
  Vector,
  vjp,
} from '../../src/index.ts'

const onReference = { backend: 'reference' } as const
const f64 = (...numbers: number[]) => new Float64Array(numbers)

/** A cube that claims the derivative of a square, twice as a rule: its effect cannot be mistaken for that of the forward part. */
const claims = customRule('test.claims', (x: Scalar) => x.mul(x).mul(x), {
  vjp: ([x], bar) => [x.mul(2).mul(bar)],
  jvp: ([x], [dot]) => x.mul(2).mul(dot),
})

describe('customRule', () => {
  test('the kernel computes the forward part to the bit, derivatives follow the rule', () => {
    const plain = kernel({ x: Scalar }, ({ x }) => exp(x.mul(x).mul(x)).mul(0.1)).with(onReference)
    const marked = kernel({ x: Scalar }, ({ x }) => exp(claims(x)).mul(0.1)).with(onReference)
    const x = f64(0.3, -1.7, 1e-9)
    expect(marked(x)).toEqual(plain(x))
    const cube = kernel({ x: Scalar }, ({ x }) => claims(x)).with(onReference)
    expect(grad(cube)(f64(1, 2, 3))).toEqual({ x: f64(2, 4, 6) })
    expect(jvp(cube)({ x: f64(1, 2, 3), dot_x: f64(1, 1, 1) })).toEqual({ dot_out: f64(2, 4, 6) })
  })

  test('differentiated again, the rule itself is differentiated', () => {
    const cube = kernel({ x: Scalar }, ({ x }) => claims(x)).with(onReference)
    expect(hvp(cube)({ x: f64(1, 2) }, { x: f64(1, 1) })).toEqual({ x: f64(2, 2) })
    const twice = vjp(jvp(cube), { wrt: ['x'] })
    expect(twice({ x: f64(1, 2), dot_x: f64(1, 1), bar_dot_out: f64(1, 1) })).toEqual({ bar_x: f64(2, 2) })
  })

  test('several inputs and outputs, vectors, plain numbers, inside a loop body', () => {
    const combine = customRule('test.combine', (v: Vector<3>, s: Scalar) => ({ scaled: v.mul(s), square: v.dot(v) }), {
      vjp: ([v, s], bar) => [bar.scaled.mul(s).add(v.mul(bar.square.mul(2))), bar.scaled.dot(v)],
      jvp: ([v, s], [dv, ds]) => ({ scaled: dv.mul(s).add(v.mul(ds)), square: v.dot(dv).mul(2) }),
    })
    const k = kernel('k', { v: Vector(3), s: Scalar }, ({ v, s }) => {
      const { scaled, square } = combine(v, s)
      const { c } = loop(3, { c: s }, (_, state) => ({ c: combine(v, state.c).square.mul(0.01).add(state.c) }))
      return { a: combine(scaled, square).square, b: combine(v, 2 as never).scaled, c }
    }).with(onReference)
    const report = checkGrad(k, { v: { data: f64(1, 2, 3, 4, 5, 6), shape: [3, 2] }, s: f64(0.5, 0.25) })
    expect(report).toMatchObject({ ok: true })
  })

  test('a missing direction is refused when it is asked for', () => {
    const oneWay = customRule('test.oneWay', (x: Scalar) => x.mul(x), { vjp: ([x], bar) => [x.mul(2).mul(bar)] })
    const otherWay = customRule('test.otherWay', (x: Scalar) => x.mul(x), { jvp: ([x], [dot]) => x.mul(2).mul(dot) })
    const k = kernel('k', { x: Scalar }, ({ x }) => oneWay(x))
    const other = kernel('other', { x: Scalar }, ({ x }) => otherWay(x))
    expect(() => jvp(k)).toThrow(
      "jvp of kernel 'k': customRule 'test.oneWay' has no forward rule; give it { jvp: … }, or use vjp, for which it has one",
    )
    expect(() => vjp(other)).toThrow(
      "vjp of kernel 'other': customRule 'test.otherWay' has no reverse rule; give it { vjp: … }, or use jvp, for which it has one",
    )
  })

  test('refusals of a definition', () => {
    expect(() => customRule('', (x: Scalar) => x, { jvp: ([x]) => x })).toThrow('customRule: the name is empty')
    expect(() => customRule('test.claims', (x: Scalar) => x, { jvp: ([x]) => x })).toThrow(
      "customRule: the name 'test.claims' is taken; a rule is defined once, outside kernel bodies",
    )
    expect(() => customRule('test.none', (x: Scalar) => x, {})).toThrow(
      "customRule 'test.none': it has no rule; give it { vjp }, { jvp } or both",
    )
    expect(() => claims(1 as never)).toThrow(/test.claims\(\) was called outside a kernel body/)
  })

  test('refusals of what a rule gives', () => {
    const few = customRule('test.few', (x: Scalar, y: Scalar) => x.mul(y), { vjp: ([x], bar) => [x.mul(bar)] })
    const k = kernel('k', { x: Scalar, y: Scalar }, ({ x, y }) => few(x, y))
    expect(() => vjp(k)).toThrow(
      "kernel 'rule of test.few': customRule 'test.few': vjp gives 1 adjoints, expected an array with one adjoint for each of 2 inputs",
    )
    const shape = customRule('test.shape', (v: Vector<2>) => v.dot(v), { vjp: (_, bar) => [bar] })
    const wide = kernel('wide', { v: Vector(2) }, ({ v }) => shape(v))
    expect(() => vjp(wide)).toThrow(
      "kernel 'rule of test.shape': customRule 'test.shape': vjp gives bar[0] (Scalar) where a Vector(2) was owed",
    )
  })
})

test('stopGradient', () => {
  const k = kernel({ x: Scalar, v: Vector(2) }, ({ x, v }) => x.mul(stopGradient(x)).add(stopGradient(v).dot(v))).with(
    onReference,
  )
  const { x, v } = grad(k)({ x: f64(3), v: { data: f64(1, 2), shape: [2, 1] } })
  expect(x).toEqual(f64(3))
  expect(v.toNested()).toEqual([[1], [2]])
})

describe('checkGrad', () => {
  const mixed = kernel(
    'mixed',
    {
      x: Scalar,
      i: Index,
      a: Param,
      bins: Accum(Scalar),
      total: Reduce('sum'),
      top: Reduce('max'),
      m: Mutable(Scalar),
    },
    ({ x, i, a, bins, total, top, m }) => {
      bins.add(x.mul(x), i)
      total.contribute(exp(x.mul(a)))
      top.contribute(x.mul(a))
      m.set(m.mul(x))
      return { y: x.mul(a) }
    },
  ).with(onReference)
  const planes = {
    x: f64(0.5, -1.5, 1),
    i: new Int32Array([0, 2, 0]),
    a: 0.7,
    bins: f64(0, 0, 0),
    m: f64(1, 2, 3),
  }

  test('passes a kernel with every kind of output, and leaves its planes alone', () => {
    const report = checkGrad(mixed, planes)
    expect(report).toMatchObject({ ok: true })
    expect(report.worst!.error).toBeLessThan(1e-8)
    expect(report.identity.error).toBeLessThan(1e-15)
    expect(planes.bins).toEqual(f64(0, 0, 0))
    expect(planes.m).toEqual(f64(1, 2, 3))
  })

  test('names the entry that a wrong rule spoils', () => {
    const wrong = kernel('wrong', { x: Scalar, z: Scalar }, ({ x, z }) => ({ good: z.mul(z), bad: claims(x) })).with(
      onReference,
    )
    const { ok, worst } = checkGrad(wrong, { x: f64(2 / 3, 5), z: f64(1, 2) })
    // The derivatives of cube and square agree at 2/3.
    expect({ ok, name: worst!.name, index: worst!.index }).toEqual({ ok: false, name: 'bad', index: 1 })
  })

  test('finds rules that disagree with each other', () => {
    const twisted = customRule('test.twisted', (x: Scalar) => x.mul(x), {
      vjp: ([x], bar) => [x.mul(3).mul(bar)],
      jvp: ([x], [dot]) => x.mul(2).mul(dot),
    })
    const k = kernel('k', { x: Scalar }, ({ x }) => twisted(x)).with(onReference)
    const { ok, worst, identity } = checkGrad(k, { x: f64(1, 2) })
    expect(ok).toBe(false)
    expect(worst!.error).toBeLessThan(1e-8)
    expect(identity.error).toBeGreaterThan(0.1)
  })

  test('refuses what it cannot copy', () => {
    expect(() => checkGrad(mixed, { ...planes, x: [1, 2, 3] })).toThrow(
      "checkGrad of kernel 'mixed': x is neither a number, nor a typed array, nor an array with data and shape",
    )
  })
})
