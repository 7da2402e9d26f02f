// Calls that are refused: every problem in one message, with its name and the way out, and nothing written.
import { describe, expect, test } from 'vitest'
import {
  HarrierError,
  Index,
  kernel,
  Mutable,
  ndarray,
  Param,
  run,
  runUntilDoneAsync,
  Scalar,
  Table,
  Terminated,
  Vector,
} from '../../src/index.ts'

const k = kernel('k', { x: Scalar, i: Index, a: Param }, ({ x, i, a }) => ({ y: x.mul(a).add(i) }))
const x = () => new Float64Array([1, 2, 3])
const i = () => new Int32Array([1, 2, 3])

function refusal(call: () => unknown): string {
  try {
    call()
  } catch (error) {
    if (error instanceof HarrierError && error.code === 'E_BINDING') return error.message
    throw error
  }
  return 'accepted'
}

const loosely = k as unknown as (...args: readonly unknown[]) => unknown

describe('refused calls', () => {
  test('all problems at once, nothing written', () => {
    const y = new Float64Array(3).fill(7)
    expect(refusal(() => loosely({ x: [1, 2, 3], i: new Uint32Array(3), b: 1, y }))).toBe(
      `kernel 'k': 4 problems with this call:
- there is no parameter or output 'b'; it has x, i, a, y
- x is a plain Array(3), which cannot be bound by address; copy it into a typed array, for example Float64Array.from(…)
- i is Uint32Array(3), which cannot be bound by address; pass a typed array
- 'a' was not given; pass a number`,
    )
    expect(y).toEqual(new Float64Array(3).fill(7))
  })

  test('names', () => {
    expect(refusal(() => loosely(x(), i(), 1, 2))).toBe(
      "kernel 'k': 4 positional arguments were given, but it takes 3: (x, i, a); outputs of your own are passed by name",
    )
    expect(refusal(() => loosely(x(), i(), { x: x(), a: 1 }))).toBe(
      "kernel 'k': 'x' was given twice, by position and by name",
    )
    expect(refusal(() => loosely(x(), i(), 1, { y: x(), out: x() }))).toBe(
      "kernel 'k': 'y' was given twice, as 'y' and as 'out'",
    )
    expect(refusal(() => loosely(x()))).toBe(`kernel 'k': 2 problems with this call:
- 'i' was not given; pass an array
- 'a' was not given; pass a number`)
  })

  test('types', () => {
    const two = kernel('two', { p: Scalar, q: Scalar }, ({ p, q }) => p.add(q))
    expect(refusal(() => two(x(), new Float32Array(3) as never))).toBe(
      "kernel 'two': q is Float32Array(3), expected a Float64Array, as this call runs f64 (p); convert one with Float64Array.from(…)",
    )
    expect(refusal(() => loosely(x(), x(), 1))).toBe(
      "kernel 'k': i is Float64Array(3); integers are bound as Int32Array: convert it with Int32Array.from(…)",
    )
    expect(refusal(() => loosely(new Date(), i(), 1))).toBe(
      "kernel 'k': x is an object of class Date, which cannot be bound by address; pass a typed array",
    )
    expect(refusal(() => loosely(x(), i(), x()))).toBe(
      "kernel 'k': a is Float64Array(3); a Param is one number for all samples",
    )
  })

  test('lengths', () => {
    expect(refusal(() => loosely(x(), new Int32Array(4), 1))).toBe(
      "kernel 'k': i holds 4 samples, but x holds 3; pass planes of one length, or say how many with k.with({ n: … })",
    )
    expect(refusal(() => k.with({ n: 5 })(x(), i(), 1))).toBe(`kernel 'k': 2 problems with this call:
- x holds 3 samples, but n is 5
- i holds 3 samples, but n is 5`)
  })

  test('numbers that are no integers, for an Index', () => {
    expect(refusal(() => loosely(1, 1.5, 1))).toBe(
      "kernel 'k': i is the number 1.5; an Index is a whole number from −2³¹ to 2³¹ − 1",
    )
    expect(refusal(() => loosely(1, 2 ** 31, 1))).toBe(
      "kernel 'k': i is the number 2147483648; an Index is a whole number from −2³¹ to 2³¹ − 1",
    )
    expect(refusal(() => loosely(1, Number.NaN, 1))).toBe(
      "kernel 'k': i is the number NaN; an Index is a whole number from −2³¹ to 2³¹ − 1",
    )
    expect(refusal(() => loosely(1, 1, 3n))).toBe(
      "kernel 'k': a is the bigint 3n; a Param is one number for all samples",
    )
  })

  test('one sample beside a batch', () => {
    const mixed = kernel('mixed', { v: Vector(3), s: Scalar }, ({ v, s }) => v.mul(s))
    expect(refusal(() => mixed(new Float64Array([1, 2, 3]), new Float64Array(1)))).toBe(
      "kernel 'mixed': v is one sample, but s is a batch of shape (1,); use a Param or a Table for what all samples share, or repeat it for each sample",
    )
    expect(refusal(() => mixed(ndarray(new Float64Array(6), [3, 2]), 2))).toBe(
      "kernel 'mixed': s is one sample, but v is a batch of shape (3, 2); use a Param or a Table for what all samples share, or repeat it for each sample",
    )
  })

  test('a kernel called inside the body of another', () => {
    const inside = (call: (p: Scalar, t: unknown) => unknown) =>
      refusal(() => kernel('outer', { p: Scalar, t: Table(Scalar) }, ({ p, t }) => call(p, t) as Scalar))
    const why =
      "; kernels take arrays and numbers, and cannot be called inside the body of a kernel: write what 'k' computes as a plain function, and call that function in both bodies"
    expect(inside((p) => loosely(p.mul(2), i(), 1))).toBe(`kernel 'k': x is the symbolic value p.mul(2)${why}`)
    expect(inside((p, t) => loosely({ x: [p], i: t, a: p }))).toBe(
      `kernel 'k': x is the symbolic value p, i is the symbolic value t, a is the symbolic value p${why}`,
    )
    expect(inside((p) => run(k, { x: x(), i: i(), a: 1, y: p }))).toBe(`kernel 'k': y is the symbolic value p${why}`)
    expect(inside((p) => k.bound({ x: p, i: i(), a: 1, y: x() } as never))).toBe(
      `kernel 'k': x is the symbolic value p${why}`,
    )
  })

  test('arrays that are gone', () => {
    const gone = x()
    structuredClone(gone, { transfer: [gone.buffer] })
    expect(refusal(() => loosely(gone, new Int32Array(0), 1))).toBe(
      "kernel 'k': x is a detached or out-of-bounds array: its buffer was transferred or shrunk; pass a live array",
    )
    const buffer = new ArrayBuffer(24, { maxByteLength: 64 })
    const shrunk = new Float64Array(buffer, 8, 2)
    buffer.resize(8)
    expect(refusal(() => loosely(shrunk, new Int32Array(0), 1))).toBe(
      "kernel 'k': x is a detached or out-of-bounds array: its buffer was transferred or shrunk; pass a live array",
    )
  })

  test('arrays that are gone, once compiled code has met resizable buffers', () => {
    // V8 11 then gives the length that a detached array had.
    const double = kernel('double', { p: Scalar }, ({ p }) => p.mul(2))
    const add = kernel('add', { p: Scalar, q: Mutable(Scalar) }, ({ p, q }) => q.set(p.add(q)))
    const [p, q] = [x(), x()]
    const resizable = new Float64Array(new ArrayBuffer(24, { maxByteLength: 64 }))
    for (let turn = 0; turn < 20_000; turn++) {
      double(turn % 1000 === 0 ? resizable : p)
      run(add, { p: turn % 1000 === 0 ? resizable : p, q })
    }
    structuredClone(p, { transfer: [p.buffer] })
    expect(refusal(() => double(p))).toContain("kernel 'double':")
    expect(refusal(() => run(add, { p, q }))).toContain("kernel 'add': p is a detached or out-of-bounds array")
  })

  test('arrays that may shrink during an asynchronous call', async () => {
    const add = kernel('add', { p: Scalar, q: Mutable(Scalar) }, ({ p, q }) => q.set(p.add(q)))
    const resizable = () => new Float64Array(new ArrayBuffer(24, { maxByteLength: 64 })).fill(1)
    const why = (name: string) =>
      `${name} lies in a resizable ArrayBuffer, which may shrink while an asynchronous call works on it; pass an array over a buffer of fixed length, such as its slice(), or call without async`
    const [p, q] = [resizable(), resizable()]
    await expect(add.async(p, x())).rejects.toMatchObject({ code: 'E_BINDING', message: `kernel 'add': ${why('p')}` })
    await expect(add.async(p, q)).rejects.toMatchObject({
      code: 'E_BINDING',
      message: `kernel 'add': 2 problems with this call:\n- ${why('p')}\n- ${why('q')}`,
    })
    expect([...q]).toEqual([1, 1, 1])
    add(p, q)
    const Growable = SharedArrayBuffer as unknown as new (
      bytes: number,
      options: { maxByteLength: number },
    ) => SharedArrayBuffer
    const shared = new Float64Array(new Growable(24, { maxByteLength: 64 })).fill(3)
    await add.async(shared, q.slice())
    await add.async(p.slice(), shared)
    expect([...q, ...shared]).toEqual([2, 2, 2, 4, 4, 4])

    const end = kernel('end', { p: Scalar, done: Terminated }, ({ p, done }) => done.when(p.gt(0)))
    const planes = { p, done: new Uint8Array(3) }
    await expect(runUntilDoneAsync(end, planes, { maxSteps: 1 })).rejects.toMatchObject({
      code: 'E_BINDING',
      message: `kernel 'end': ${why('p')}`,
    })
    expect([...planes.done]).toEqual([0, 0, 0])
  })

  test('arrays that cannot be written', () => {
    const store = kernel('store', { y: Mutable(Scalar), p: Scalar }, ({ y, p }) => y.set(p))
    const readOnly = { data: x(), shape: [3], strides: [1], offset: 0, flags: { READONLY: true } }
    expect(refusal(() => store(readOnly as never, x()))).toBe(
      "kernel 'store': y is read-only, but the kernel writes it; pass an array that can be written",
    )
    expect(refusal(() => store(1 as never, x()))).toBe(
      "kernel 'store': y is the number 1, which has no address to bind; pass an array, for one sample of shape ()",
    )
  })

  test('overlaps other than exactly in place', () => {
    const memory = new Float64Array(8)
    const ints = i()
    expect(refusal(() => k({ x: memory.subarray(0, 3), i: ints, a: 1, y: memory.subarray(1, 4) }))).toBe(
      "kernel 'k': y is written and overlaps x other than exactly in place; write to another array, or to the very array of x",
    )
    const pair = kernel('pair', { p: Scalar }, ({ p }) => ({ s: p.add(1), t: p.sub(1) }))
    expect(refusal(() => pair({ p: x(), s: memory.subarray(0, 3), t: memory.subarray(2, 5) }))).toBe(
      "kernel 'pair': s and t are both written and share memory; give each its own array",
    )
    const table = kernel('table', { j: Index, t: Table(Scalar) }, ({ j, t }) => ({ y: t.at(j) }))
    const shared = x()
    expect(refusal(() => table({ j: ints, t: shared, y: shared }))).toBe(
      "kernel 'table': y is written and shares memory with t, which all samples read; write to another array",
    )
  })

  test('a table with named axes has as many entries as its axes say', () => {
    const grid = kernel('grid', { j: Index, t: Table({ row: 2, col: 3 }) }, ({ j, t }) => t.at({ row: j, col: 1 }))
    expect(grid(new Int32Array([0, 1, 2]), new Float64Array([1, 2, 3, 4, 5, 6]))).toEqual(
      new Float64Array([2, 5, Number.NaN]),
    )
    expect(grid(new Int32Array([1]), ndarray(new Float64Array([1, 2, 3, 4, 5, 6]), [2, 3]))).toEqual(
      new Float64Array([5]),
    )
    expect(refusal(() => grid(new Int32Array([0]), new Float64Array(5)))).toBe(
      "kernel 'grid': t has 5 entries; its axes say 6",
    )
  })

  test('run takes no number for a plane, and needs every output', () => {
    expect(refusal(() => run(k, { x: x(), i: i(), a: 1 }))).toBe(
      "kernel 'k': output 'y' was not handed in; run and bound calls never allocate, so pass an array for it",
    )
  })
})
