// Calling a kernel: by position, by name and mixed; own outputs; options; bound and asynchronous calls; what comes back.
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import {
  Accum,
  Index,
  interleaved,
  kernel,
  LayoutWarning,
  Matrix,
  Mutable,
  ndarray,
  NdArray,
  Param,
  planeLayout,
  Reduce,
  run,
  sampleIndex,
  Scalar,
  Table,
  Vector,
} from '../../src/index.ts'

const scale = kernel('scale', { x: Scalar, a: Param, b: Param }, ({ x, a, b }) => ({ y: x.mul(a).add(b) }))
const x = new Float64Array([0, 1, 2, 3])
const expected = new Float64Array([1, 3, 5, 7])

describe('arguments', () => {
  test('by position, by name, mixed', () => {
    expect(scale(x, 2, 1).y).toEqual(expected)
    expect(scale({ b: 1, x, a: 2 }).y).toEqual(expected)
    expect(scale(x, { b: 1, a: 2 }).y).toEqual(expected)
    expect(scale(Object.assign(Object.create(null), { x, a: 2, b: 1 })).y).toEqual(expected)
  })

  test('the second call of a kind gives what the first gave, and its own array', () => {
    const first = scale(x, 2, 1).y
    const second = scale(x, 3, 1).y
    expect(first).toEqual(expected)
    expect(second).toEqual(new Float64Array([1, 4, 7, 10]))
  })

  test('calls of another length, type or form after one that was learned', () => {
    scale(x, 2, 1)
    expect(scale(x.subarray(1), 2, 1).y).toEqual(expected.subarray(1))
    expect(scale(new Float64Array(0), 2, 1).y).toEqual(new Float64Array(0))
    expect(scale(Float32Array.from(x), 2, 1).y).toEqual(Float32Array.from(expected))
    expect(scale(x, 2, 1).y).toEqual(expected)
    expect(scale(3, 2, 1).y).toBe(7)
    expect(() => scale(x as never, '2' as never, 1)).toThrow(
      "a is the string '2'; a Param is one number for all samples",
    )
  })

  test('numbers in, numbers out; vectors as arrays of their head', () => {
    const k = kernel('k', { s: Scalar, v: Vector(3) }, ({ s, v }) => ({ w: v.mul(s), n: v.norm() }))
    const { w, n } = k(2, new Float64Array([3, 0, 4]))
    expect(w).toBeInstanceOf(NdArray)
    expect((w as NdArray).toNested()).toEqual([6, 0, 8])
    expect(n).toBe(5)
  })

  test('one sample in arrays of its head’s shape', () => {
    const k = kernel('k', { v: Vector(2) }, ({ v }) => ({ twice: v.mul(2), n: v.norm() }))
    const { twice, n } = k(new Float64Array([3, 4]))
    expect((twice as NdArray).shape).toEqual([2])
    expect((n as unknown as NdArray).shape).toEqual([])
    expect((n as unknown as NdArray).toNested()).toBe(5)
  })
})

describe('outputs', () => {
  test('the caller’s array is written and given back, by either name', () => {
    const mine = new Float64Array(4)
    expect(scale(x, 2, 1, { y: mine }).y).toBe(mine)
    expect(mine).toEqual(expected)
    const other = new Float64Array(4)
    expect(scale({ x, a: 2, b: 1, out: other }).y).toBe(other)
    expect(other).toEqual(expected)
  })

  test('in place, when output and input are one array', () => {
    const both = x.slice()
    scale(both, 2, 1, { y: both })
    expect(both).toEqual(expected)
  })

  test('in place, one component of a vector plane', () => {
    const storage = new Float64Array([1, 2, 3, 10, 20, 30])
    const k = kernel('k', { x: Scalar, v: Vector(2) }, ({ x, v }) => ({ w: v.add(x) }))
    k({ x: storage.subarray(3), v: ndarray(storage, [2, 3]), w: ndarray(storage, [2, 3]) })
    expect(storage).toEqual(new Float64Array([11, 22, 33, 20, 40, 60]))
  })

  test('vectors and matrices come back as arrays with shapes', () => {
    const k = kernel('k', { m: Matrix(2, 2), v: Vector(2) }, ({ m, v }) => ({ r: m.matmul(v), t: m.transpose() }))
    const m = ndarray(new Float64Array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]), [2, 2, 3])
    const v = ndarray(new Float64Array([1, 1, 1, 2, 2, 2]), [2, 3])
    const { r, t } = k(m, v)
    expect((r as NdArray).toNested()).toEqual([
      [9, 12, 15],
      [27, 30, 33],
    ])
    expect((t as NdArray).toNested()).toEqual([
      [
        [1, 2, 3],
        [7, 8, 9],
      ],
      [
        [4, 5, 6],
        [10, 11, 12],
      ],
    ])
  })

  test('conditions are bytes, integers are Int32Array, constants fill a plane', () => {
    const k = kernel('k', { x: Scalar, i: Index }, ({ x, i }) => ({ big: x.gt(1), twice: i.mul(2), one: 1, yes: true }))
    const { big, twice, one, yes } = k(x, new Int32Array([1, 2, 3, 4]))
    expect(big).toEqual(new Uint8Array([0, 0, 1, 1]))
    expect(twice).toEqual(new Int32Array([2, 4, 6, 8]))
    expect(one).toEqual(new Float64Array([1, 1, 1, 1]))
    expect(yes).toEqual(new Uint8Array([1, 1, 1, 1]))
  })

  test('a write-only plane is never loaded', () => {
    const k = kernel('k', { y: Mutable(Scalar), x: Scalar }, ({ y, x }) => y.set(x.add(1)))
    const y = new Float64Array(4).fill(Number.NaN)
    k(y, x)
    expect(y).toEqual(new Float64Array([1, 2, 3, 4]))
  })

  test('outputs that harrier makes are aligned to 64 bytes, and big ones are all their own', () => {
    const { y } = scale(new Float64Array(100_000), 2, 1)
    expect(y.length).toBe(100_000)
    expect(y.every((value) => value === 1)).toBe(true)
  })
})

describe('options', () => {
  test('base and count run a part, with global sample numbers', () => {
    const k = kernel('k', { x: Scalar }, ({ x }) => ({ y: x.add(sampleIndex().mul(100)) }))
    const y = new Float64Array(4).fill(-1)
    k.with({ base: 1, count: 2 })({ x, y })
    expect(y).toEqual(new Float64Array([-1, 101, 202, -1]))
  })

  test('n takes the first samples of longer planes', () => {
    const y = new Float64Array(3).fill(-1)
    scale.with({ n: 2 })({ x, a: 2, b: 1, y })
    expect(y).toEqual(new Float64Array([1, 3, -1]))
    const v = ndarray(new Float64Array([3, 0, 9, 4, 1, 9]), [2, 3])
    const lengths = kernel('lengths', { v: Vector(2) }, ({ v }) => v.norm())
    expect(lengths.with({ n: 2 })(v)).toEqual(new Float64Array([5, 1]))
  })

  test('a kernel without planes takes n', () => {
    const k = kernel('k', { a: Param }, ({ a }) => a.mul(sampleIndex()))
    expect(k.with({ n: 3 })(2)).toEqual(new Float64Array([0, 2, 4]))
    expect(k.with({ n: 3, dtype: 'f32' })(2)).toEqual(new Float32Array([0, 2, 4]))
    expect(() => k(2)).toThrow("kernel 'k': no argument says how many samples there are; say it with k.with({ n: … })")
  })

  test.each([1, 2, 3])('%d threads', (threads) => {
    const big = Float64Array.from({ length: 20_001 }, (_, i) => i)
    const { y } = scale.with({ threads })(big, 2, 1)
    expect(y).toEqual(big.map((value) => value * 2 + 1))
  })

  test('unknown options and values are refused', () => {
    expect(() => scale.with({ thread: 1 } as never)).toThrow(
      "kernel 'scale': there is no option 'thread'; the options are threads, backend, layout, n, base, count, dtype, math, check, copy",
    )
    expect(() => scale.with(null as never)).toThrow(
      "kernel 'scale': the options are null, expected an object such as { threads: 2 }",
    )
    expect(() => scale.with({ threads: 0 })).toThrow(
      "kernel 'scale': option threads is 0, expected a whole number of at least 1",
    )
    expect(() => scale.with({ backend: 'gpu' as never })).toThrow(
      "kernel 'scale': option backend is gpu, expected 'host', 'wasm' or 'reference'",
    )
    expect(() => scale.with({ base: 3, count: 2 })(x, 2, 1)).toThrow(
      "kernel 'scale': base 3 and count 2 reach beyond the 4 samples",
    )
  })

  test("copy: 'warn' copies in and back, and warns once", () => {
    const warnings: Error[] = []
    const listen = (warning: Error) => warnings.push(warning)
    process.on('warning', listen)
    const k = kernel('copied', { v: Mutable(Vector(2)) }, ({ v }) => v.set(v.mul(2))).with({ copy: 'warn' })
    const own = ndarray(new Float64Array([1, 2, 3, 4, 5, 6]), [3, 2])
    k(own)
    k(own)
    expect(own.toNested()).toEqual([
      [4, 8],
      [12, 16],
      [20, 24],
    ])
    return new Promise<void>((resolve) => {
      setImmediate(() => {
        process.off('warning', listen)
        const found = warnings.filter((warning) => warning instanceof LayoutWarning)
        expect(found.map(({ message }) => message)).toEqual([
          "kernel 'copied': v of shape (3, 2) is copied to (2, 3) before the launch and back after it; allocate it component-major to bind it in place",
        ])
        resolve()
      })
    })
  })
})

describe('run and bound calls', () => {
  test('run writes in place and allocates nothing', () => {
    const y = new Float64Array(4)
    expect(run(scale, { x, a: 2, b: 1, y })).toBeUndefined()
    expect(y).toEqual(expected)
    expect(() => run(scale, { x, a: 2, b: 1 })).toThrow(
      "kernel 'scale': output 'y' was not handed in; run and bound calls never allocate, so pass an array for it",
    )
    expect(() => run(scale, { x: 3, a: 2, b: 1, y: new Float64Array(1) })).toThrow(
      'x is the number 3, which has no address to bind; pass an array, for one sample of shape ()',
    )
  })

  test('run gives reductions, or writes them to an array', () => {
    const total = kernel('total', { x: Scalar, sum: Reduce('sum') }, ({ x, sum }) => sum.contribute(x))
    expect(run(total, { x })).toEqual({ sum: 6 })
    expect(total(new Float64Array(0))).toEqual({ sum: 0 })
    const sum = new Float64Array(1)
    run(total, { x, sum })
    expect(sum[0]).toBe(6)
    expect(() => run(total, { x, sum: new Float64Array(2) })).toThrow(
      "kernel 'total': sum has 2 elements; this reduction gives 1",
    )
  })

  test('a bound call sees what its arrays hold at each launch', () => {
    const [input, y] = [x.slice(), new Float64Array(4)]
    const bound = scale.bound({ x: input, a: 2, b: 1, y })
    bound.launch()
    expect(y).toEqual(expected)
    input[0] = 10
    bound.launch()
    expect(y[0]).toBe(21)
    const other = new Float64Array(4)
    bound.rebind({ y: other, a: 3 })
    bound.launch()
    expect(other[0]).toBe(31)
    expect(y[0]).toBe(21)
  })
})

describe('asynchronous calls', () => {
  test('give what calls give', async () => {
    expect((await scale.async(x, 2, 1)).y).toEqual(expected)
  })

  test('an aborted signal stops the call before it is launched', async () => {
    const y = new Float64Array(4).fill(-1)
    await expect(scale.async({ x, a: 2, b: 1, y }, { signal: AbortSignal.abort() })).rejects.toThrow(
      "kernel 'scale': the call was cancelled before it was launched",
    )
    const reason = new Error('no more')
    await expect(scale.async({ x, a: 2, b: 1, y }, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(y).toEqual(new Float64Array(4).fill(-1))
  })

  test('a signal aborted while the call waits for its turn', async () => {
    const large = new Float64Array(2_000_000).fill(1)
    const before = Array.from({ length: 6 }, () => scale.async(large, 2, 1))
    const controller = new AbortController()
    const y = new Float64Array(4).fill(-1)
    const waiting = scale.async({ x, a: 2, b: 1, y }, { signal: controller.signal })
    controller.abort()
    await expect(waiting).rejects.toThrow("kernel 'scale': the call was cancelled before it was launched")
    expect(y).toEqual(new Float64Array(4).fill(-1))
    for (const { y: whole } of await Promise.all(before)) expect((whole as Float64Array)[1_999_999]).toBe(3)
  })

  test('a thousand under way at once', async () => {
    const calls = Array.from({ length: 1000 }, (_, i) => scale.async(new Float64Array(50).fill(i), 2, 1))
    const results = await Promise.all(calls)
    results.forEach(({ y }, i) => expect((y as Float64Array).every((value) => value === 2 * i + 1)).toBe(true))
  })
})

describe('tables, accumulators and reductions', () => {
  test('a table has its own length', () => {
    const k = kernel('k', { i: Index, t: Table(Scalar) }, ({ i, t }) => t.at(i))
    expect(k(new Int32Array([2, -1, 3, 0]), new Float64Array([1, 2, 3]))).toEqual(
      new Float64Array([3, Number.NaN, Number.NaN, 1]),
    )
    expect(k(new Int32Array([0]), new Float64Array(0))).toEqual(new Float64Array([Number.NaN]))
    expect(() => k.with({ check: true })(new Int32Array([2, -1]), new Float64Array([1, 2, 3]))).toThrow(
      "kernel 'k': sample 1 reads index -1 of table 't', which has the indices 0 to 2; keep the index inside, or call without check, where such a read gives NaN, or 0 for integers",
    )
  })

  test('an accumulator adds to what it holds', () => {
    const k = kernel('k', { i: Index, x: Scalar, acc: Accum(Scalar) }, ({ i, x, acc }) => acc.add(x, i))
    const acc = new Float64Array([100, 200])
    k({ i: new Int32Array([0, 1, 0, 5]), x, acc })
    expect(acc).toEqual(new Float64Array([102, 201]))
  })
})

describe('what a kernel tells about itself', () => {
  test('names, sources and pictures', () => {
    expect(scale.name).toBe('scale')
    expect(scale.outputs).toEqual(['y'])
    expect(scale.argSpec).toEqual([
      ['mutable', 'y'],
      ['per_sample', 'x'],
      ['uniform', 'a'],
      ['uniform', 'b'],
    ])
    expect(scale.source('ir')).toContain('mul')
    expect(scale.source('llvm')).toContain('fmul')
    expect(scale.source('asm')).toMatch(/vmul|mulpd/)
    expect(scale.graph()).toMatch(/^digraph kernel/)
    expect(scale.explain()).toContain("kernel 'scale' (x: Scalar, a: Param, b: Param) gives y")
    expect(() => scale.source('ptx' as never)).toThrow(
      "kernel 'scale': source('ptx') has no such form; the forms are 'ir', 'llvm', 'asm', 'wat'",
    )
  })

  test('is printed in one line', () => {
    expect(inspect(scale)).toBe("[kernel 'scale' (x: Scalar, a: Param, b: Param)]")
  })

  test('planeLayout', () => {
    expect(planeLayout(Scalar, x)).toBe('native')
    expect(planeLayout(Vector(3), ndarray(new Float64Array(12), [4, 3]))).toBe('refused')
    expect(planeLayout(Vector(3), interleaved(new Float64Array(12), 3))).toBe('interleaved')
    expect(planeLayout(Vector(3), ndarray(new Float64Array(9), [3, 3]))).toBe('ambiguous')
  })
})

describe('zero copy', () => {
  test('each bound layout is written in the caller’s own buffer', () => {
    const k = kernel('k', { v: Mutable(Vector(3)) }, ({ v }) => v.set(v.mul(2)))
    const storage = () => Float64Array.from({ length: 12 }, (_, i) => i + 1)
    const doubled = storage().map((value) => value * 2)
    for (const bindIt of [
      (data: Float64Array) => ndarray(data, [3, 4]),
      (data: Float64Array) => ndarray(data, [3, 4]).T,
      (data: Float64Array) => interleaved(data, 3),
      (data: Float64Array) => ({ data, shape: [3, 4], stride: [4, 1] }),
    ]) {
      const data = storage()
      k(bindIt(data) as never)
      expect(data).toEqual(doubled)
    }
    const shared = new Float64Array(new SharedArrayBuffer(96))
    shared.set(storage())
    k(ndarray(shared, [3, 4]))
    expect(Array.from(shared)).toEqual(Array.from(doubled))
    const single = new Float64Array([1, 2, 3])
    k(single as never)
    expect(single).toEqual(new Float64Array([2, 4, 6]))
  })
})
