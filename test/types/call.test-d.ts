// Types of calls: arguments by place and by name, results from what the body returned and from the arrays passed.
import {
  Accum,
  Index,
  kernel,
  Matrix,
  Mutable,
  named,
  ndarray,
  NdArray,
  Param,
  Reduce,
  Scalar,
  Table,
  Terminated,
  Vector,
  vjp,
} from '../../src/index.ts'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
declare function expectType<Expected>(): <Found>(value: Found, same: Same<Expected, Found>) => void

declare const f64: Float64Array
declare const f32: Float32Array
declare const i32: Int32Array
declare const u8: Uint8Array
declare const v64: NdArray<Float64Array>
declare const v32: NdArray<Float32Array>

// One value
const scale = kernel('scale', { x: Scalar, a: Param, b: Param }, ({ x, a, b }) => x.mul(a).add(b))
expectType<Float64Array>()(scale(f64, 2, 1), true)
expectType<Float32Array>()(scale(f32, 2, 1), true)
expectType<number>()(scale(3, 2, 1), true)
expectType<Float64Array>()(scale({ x: f64, a: 2, b: 1 }), true)
expectType<Float32Array>()(scale({ b: 1, a: 2, x: f32 }), true)
expectType<number>()(scale({ x: 3, a: 2, b: 1 }), true)
expectType<Float64Array>()(scale(f64, { a: 2, b: 1 }), true)
expectType<Float64Array>()(scale(f64, 2, 1, { out: f64 }), true)
expectType<Float64Array>()(scale({ x: f64, a: 2, b: 1, out: f64 }), true)
expectType<Float64Array>()(scale.with({ threads: 2 })(f64, 2, 1), true)
expectType<Promise<Float32Array>>()(scale.async({ x: f32, a: 2, b: 1 }), true)
scale({ x: new Float64Array(new SharedArrayBuffer(8)), a: 2, b: 1, out: f64 })

// @ts-expect-error a name is missing
scale({ x: f64, a: 2 })
// @ts-expect-error there is no parameter c
scale({ x: f64, a: 2, b: 1, c: 3 })
// @ts-expect-error integers are no floats
scale({ x: i32, a: 2, b: 1 })
// @ts-expect-error a Param is a number
scale({ x: f64, a: f64, b: 1 })
// @ts-expect-error text
scale('x', 2, 1)
// @ts-expect-error an output in another float type
scale({ x: f64, a: 2, b: 1, out: f32 })
// @ts-expect-error results of one float type are not of the other
scale(f64, 2, 1) satisfies Float32Array
// @ts-expect-error no such option
scale.with({ fast: true })

// Nesting
const nested = kernel({ x: Scalar, v: Vector(3), i: Index, m: Matrix(2, 2) }, ({ x, v, i, m }) => {
  const up = x.add(1)
  return { up, rest: [v.mul(2), [i.add(1), x.gt(0)]], m: { t: m.transpose(), one: 1, yes: true } }
})
const r = nested({ x: f64, v: v64, i: i32, m: v64 })
expectType<Float64Array>()(r.up, true)
expectType<NdArray<Float64Array>>()(r.rest[0], true)
expectType<Int32Array>()(r.rest[1][0], true)
expectType<Uint8Array>()(r.rest[1][1], true)
expectType<NdArray<Float64Array>>()(r.m.t, true)
expectType<Float64Array>()(r.m.one, true)
expectType<Uint8Array>()(r.m.yes, true)
nested({ x: f64, v: v64, i: i32, m: v64, up: f64, m_one: f64, m_yes: u8, out1: v64, out2: i32 })
// @ts-expect-error a vector result is no array of numbers
r.rest[0] satisfies Float64Array
// @ts-expect-error an integer plane takes an Int32Array
nested({ x: f64, v: v64, i: f64, m: v64 })
// @ts-expect-error float planes of one call share one type
nested({ x: f64, v: v32, i: i32, m: v64 })
// @ts-expect-error the slot m_yes holds conditions
nested({ x: f64, v: v64, i: i32, m: v64, m_yes: f64 })
expectType<Float64Array>()(r.up, true)

// Slots by named
const byName = kernel({ x: Scalar }, ({ x }) => [named('up', x.add(1)), x.mul(2)])
const [up, twice] = byName({ x: f32, up: f32, out1: f32 })
expectType<Float32Array>()(up, true)
expectType<Float32Array>()(twice, true)

// Mutables, accumulators, tables, reductions, the mask
const inPlace = kernel(
  {
    y: Mutable(Scalar),
    t: Table(Index),
    acc: Accum(Scalar),
    done: Terminated,
    total: Reduce('sum'),
    every: Reduce('all'),
  },
  ({ y, t, acc, done, total, every }) => {
    y.set(y.add(t.at(0)))
    acc.add(y)
    done.when(y.gt(3))
    total.contribute(y)
    every.contribute(y.gt(0))
  },
)
const reductions = inPlace({ y: f64, t: i32, acc: f64, done: u8 })
expectType<number>()(reductions.total, true)
expectType<number>()(reductions.every, true)
inPlace({ y: f64, t: i32, acc: f64, done: u8, total: f64 })
const writes = kernel({ y: Mutable(Scalar) }, ({ y }) => y.set(1))
expectType<undefined>()(writes({ y: f64 }), true)
const returned = kernel({ x: Scalar, total: Reduce('sum') }, ({ x, total }) => {
  total.contribute(x)
  return { total, y: x.add(1) }
})
expectType<number>()(returned({ x: f32 }).total, true)
expectType<Float32Array>()(returned({ x: f32 }).y, true)
// @ts-expect-error a mask is a Uint8Array
inPlace({ y: f64, t: i32, acc: f64, done: i32 })
// @ts-expect-error a mutable must be handed in
inPlace({ t: i32, acc: f64, done: u8 })

// Arrays of other libraries bind by their fields
declare const foreign: { readonly data: Float64Array; readonly shape: number[]; readonly stride: number[] }
expectType<NdArray<Float64Array>>()(kernel({ v: Vector(3) }, ({ v }) => v.add(1))(foreign), true)
expectType<NdArray<Float32Array>>()(kernel({ v: Vector(3) }, ({ v }) => v.add(1))(ndarray(f32, [3, 4])), true)

scale.bound({ x: f64, a: 2, b: 1, out: f64 }).launch()
expectType<string>()(scale.name, true)

// Derivatives: an adjoint whose name is taken has a number in it
const product = kernel('product', { x: Scalar, a: Param }, ({ x, a }) => ({ y: x.mul(a) }))
expectType<{ bar_x: Float64Array; bar_a: number }>()(vjp(product)(f64, 2, f64), true)
const taken = kernel('taken', { x: Scalar, bar_x: Scalar }, ({ x, bar_x }) => ({ y: x.mul(bar_x) }))
expectType<{ [name: `bar${number}_x`]: Float64Array; bar_bar_x: Float64Array }>()(vjp(taken)(f64, f64, f64), true)
const moved = kernel('moved', { x: Mutable(Scalar), x_out: Scalar }, ({ x, x_out }) => x.set(x.mul(x_out)))
expectType<{ bar_x: Float64Array; [name: `bar${number}_x_out`]: Float64Array }>()(vjp(moved)(f64, f64, f64), true)
