import koffi from 'koffi'
import { describe, expect, test } from 'vitest'
import type { Launch, LaunchRange } from '../../src/backends/backend.ts'
import { createArgumentBlock } from '../../src/backends/host/argumentBlock.ts'
import { createHostBackend } from '../../src/backends/host/index.ts'
import { MOST_STACK } from '../../src/backends/llvm/interface.ts'
import { engine } from '../../src/backends/wasm/engine.ts'
import { addressOf } from '../../src/runtime/ffi.ts'
import { createMachine } from '../../src/runtime/machine.ts'
import { emitted, handwrittenBackend, PLANES, scaleCode, scaleGraph } from './support/handwritten.ts'

process.env.HARRIER_LOG = 'silent'

const backend = handwrittenBackend()
const executable = backend.build(scaleGraph(), { name: 'scale' })

interface Arrays {
  readonly x: Float64Array
  readonly out: Float64Array
}

function bind(launch: Launch, { x, out }: Arrays, a = 2, b = 1): Launch {
  launch.bind(PLANES.x, x, x.length, x.length)
  launch.bind(PLANES.out, out, out.length, out.length)
  launch.set(PLANES.a, a)
  launch.set(PLANES.b, b)
  return launch
}

const counting = (samples: number) => Float64Array.from({ length: samples }, (_, i) => i)
const fresh = (samples: number): Arrays => ({ x: counting(samples), out: new Float64Array(samples).fill(-1) })
const whole = ({ x }: Arrays): LaunchRange => ({ sampleCount: x.length, begin: 0, end: x.length })
const scaled = (x: Float64Array, a = 2, b = 1) => x.map((value) => value * a + b)

describe('running', () => {
  test('computes in place on the arrays that were bound, in the range that was asked for', () => {
    const arrays = fresh(10)
    bind(executable.launch(), arrays).run({ sampleCount: 10, begin: 3, end: 6 })
    expect([...arrays.out]).toEqual([-1, -1, -1, 7, 9, 11, -1, -1, -1, -1])
  })

  test('code that takes nearly all the stack that a kernel may', async () => {
    // What lies below a stack may be memory in use, so that running past its end need not be seen.
    const { sync_stack_size: here = 0, async_stack_size: elsewhere = 0 } = koffi.config()
    expect(Math.min(here, elsewhere)).toBeGreaterThan(1.5 * MOST_STACK)
    const code = (symbol: string) => scaleCode(symbol, 0, MOST_STACK - 2 ** 16)
    const large = handwrittenBackend({ code }).build(scaleGraph(), { name: 'large' })
    for (const threads of [1, 3]) {
      const arrays = fresh(5000)
      bind(large.launch(), arrays).run({ ...whole(arrays), threads })
      expect(arrays.out).toEqual(scaled(arrays.x))
    }
    const arrays = fresh(5000)
    await bind(large.launch(), arrays).runAsync(whole(arrays))
    expect(arrays.out).toEqual(scaled(arrays.x))
  })

  test('an empty range writes nothing', () => {
    const arrays = fresh(4)
    bind(executable.launch(), arrays).run({ sampleCount: 4, begin: 2, end: 2 })
    expect([...arrays.out]).toEqual([-1, -1, -1, -1])
  })

  test('parts of arrays, shared memory and WebAssembly memory are reached where they are', () => {
    const memory = new engine!.Memory({ initial: 1, maximum: 1 })
    const places = [
      new Float64Array(new ArrayBuffer(1024), 24, 8),
      new Float64Array(new SharedArrayBuffer(1024), 40, 8),
      new Float64Array(memory.buffer, 8, 8),
      counting(100).subarray(51, 59),
    ]
    for (const place of places) {
      place.set(counting(8))
      // In place: input and output are the same.
      bind(executable.launch(), { x: place, out: place }).run(whole({ x: place, out: place }))
      expect([...place]).toEqual([1, 3, 5, 7, 9, 11, 13, 15])
    }
  })

  test('one, two and three threads, and more than can be, give the same', () => {
    for (const samples of [1, 999, 1000, 1001, 12_345]) {
      const expected = scaled(counting(samples))
      for (const threads of samples === 1001 ? [1, 2, 3, 100_000] : [1, 2, 3]) {
        const arrays = fresh(samples)
        bind(executable.launch(), arrays).run({ ...whole(arrays), threads })
        expect(arrays.out).toEqual(expected)
      }
    }
  })

  test('a launch can be bound again, whole or in part, and launches of one executable do not disturb each other', () => {
    const [first, second] = [fresh(4), fresh(5)]
    const [one, other] = [bind(executable.launch(), first), bind(executable.launch(), second, 10, 0)]
    one.run(whole(first))
    other.run(whole(second))
    one.set(PLANES.a, 3)
    one.run(whole(first))
    expect([...first.out]).toEqual([1, 4, 7, 10])
    expect([...second.out]).toEqual([0, 10, 20, 30, 40])
  })

  test('without an OpenMP runtime parallel calls run on one thread, and the backend says so', () => {
    const machine = { ...createMachine(), openMp: () => undefined }
    const alone = createHostBackend(machine, (_, { symbol }) => emitted(scaleCode(symbol)))
    const arrays = fresh(5000)
    bind(alone.build(scaleGraph(), { name: 'scale' }).launch(), arrays).run({ ...whole(arrays), threads: 3 })
    expect(arrays.out).toEqual(scaled(arrays.x))
    expect(alone.availability()).toMatchObject({
      available: true,
      detail: expect.stringMatching(/, one thread, as there is no OpenMP runtime \(libgomp or libomp\)$/),
    })
  })
})

test('a bad HARRIER_THREADS is refused by the call that would use it; asking what is there never throws', () => {
  const environment = { ...process.env, HARRIER_THREADS: 'all' }
  const misled = handwrittenBackend({ environment })
  expect(misled.availability()).toMatchObject({ available: true })
  const arrays = fresh(4)
  const launch = bind(misled.build(scaleGraph(), { name: 'scale' }).launch(), arrays)
  expect(() => launch.run(whole(arrays))).toThrow("HARRIER_THREADS is 'all'; it takes a whole number of at least 1")
  expect([...arrays.out]).toEqual([-1, -1, -1, -1])
  launch.run({ ...whole(arrays), threads: 1 })
  expect(arrays.out).toEqual(scaled(arrays.x))
})

describe('arrays that cannot be used any more', () => {
  const refusal = (message: string) => expect.objectContaining({ name: 'HarrierError', code: 'E_BINDING', message })
  const MOVED =
    "kernel 'scale': the array of 'x' was detached, or its buffer resized, after it was bound; bind the array anew"

  test('one that was transferred away is refused, and nothing is written', async () => {
    const arrays = fresh(4)
    const launch = bind(executable.launch(), arrays)
    structuredClone(arrays.x, { transfer: [arrays.x.buffer as ArrayBuffer] })
    expect(() => launch.run({ sampleCount: 4, begin: 0, end: 4 })).toThrow(refusal(MOVED))
    await expect(launch.runAsync({ sampleCount: 4, begin: 0, end: 4 })).rejects.toEqual(refusal(MOVED))
    expect([...arrays.out]).toEqual([-1, -1, -1, -1])
  })

  test('one whose buffer shrank is refused', () => {
    const Resizable = ArrayBuffer as unknown as new (
      bytes: number,
      options: { maxByteLength: number },
    ) => ArrayBuffer & { resize(bytes: number): void }
    const buffer = new Resizable(64, { maxByteLength: 128 })
    const x = new Float64Array(buffer)
    const launch = bind(executable.launch(), { x, out: new Float64Array(8) })
    launch.run({ sampleCount: 8, begin: 0, end: 8 })
    buffer.resize(32)
    expect(() => launch.run({ sampleCount: 8, begin: 0, end: 8 })).toThrow(refusal(MOVED))
  })

  test('one that was detached by the growth of its WebAssembly memory is refused', () => {
    const memory = new engine!.Memory({ initial: 1, maximum: 2 })
    const launch = bind(executable.launch(), { x: new Float64Array(memory.buffer, 0, 4), out: new Float64Array(4) })
    memory.grow(1)
    expect(() => launch.run({ sampleCount: 4, begin: 0, end: 4 })).toThrow(refusal(MOVED))
  })

  test('a launch that was released is refused until everything is bound again', () => {
    const arrays = fresh(4)
    const launch = bind(executable.launch(), arrays)
    launch.release()
    expect(() => launch.run(whole(arrays))).toThrow(
      expect.objectContaining({
        code: 'E_INTERNAL',
        message: "kernel 'scale': launched while nothing is bound to 'x'",
      }),
    )
    bind(launch, arrays).run(whole(arrays))
    expect(arrays.out).toEqual(scaled(arrays.x))
  })
})

describe('asynchronous calls', () => {
  test('a thousand under way give each its own result, though one launch object made them all', async () => {
    const launch = executable.launch()
    const calls = Array.from({ length: 1000 }, (_, k) => {
      const arrays = fresh(100 + k)
      return { arrays, k, finished: bind(launch, arrays, k, -k).runAsync(whole(arrays)) }
    })
    await Promise.all(calls.map(({ finished }) => finished))
    for (const { arrays, k } of calls) expect(arrays.out).toEqual(scaled(arrays.x, k, -k))
  })

  test('one that waits for its turn is refused when its array was transferred meanwhile', async () => {
    const begin = (arrays: Arrays) => bind(executable.launch(), arrays).runAsync(whole(arrays))
    const first = Array.from({ length: 3 }, () => begin(fresh(1000)))
    const arrays = fresh(4)
    const waiting = begin(arrays)
    structuredClone(arrays.x, { transfer: [arrays.x.buffer as ArrayBuffer] })
    await expect(waiting).rejects.toEqual(
      expect.objectContaining({
        code: 'E_BINDING',
        message:
          "kernel 'scale': the array of 'x' was detached, or its buffer resized, after it was bound; bind the array anew",
      }),
    )
    await Promise.all(first)
    expect([...arrays.out]).toEqual([-1, -1, -1, -1])
  })

  test('leave the event loop free, and take threads', async () => {
    const slow = handwrittenBackend({ code: (symbol) => scaleCode(symbol, 2000) })
    const arrays = fresh(20_000)
    const launch = bind(slow.build(scaleGraph(), { name: 'slow', width: 2 }).launch(), arrays)
    let turns = 0
    const timer = setInterval(() => turns++, 1)
    await launch.runAsync({ ...whole(arrays), threads: 2 })
    clearInterval(timer)
    expect(turns).toBeGreaterThan(5)
    expect(arrays.out).toEqual(scaled(arrays.x))
  })
})

test('arrays that the backend makes start on a cache line and hold zeros', () => {
  for (const length of [0, 1, 3, 8, 1000]) {
    for (const type of ['f64', 'f32', 'i32', 'bool'] as const) {
      const array = backend.allocate(type, length)
      expect(array).toHaveLength(length)
      expect(array.every((value) => value === 0)).toBe(true)
      // An empty array has the address 0.
      expect(Number(addressOf(array) % 64n)).toBe(0)
    }
  }
})

test('an argument block takes whole numbers up to 2⁵³ and numbers of every type', () => {
  const block = createArgumentBlock(4, { addressOf })
  const slots = new BigInt64Array(block.memory)
  for (const value of [0, 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 5 * 2 ** 32 + 7, 2 ** 53]) {
    block.setWhole(1, value)
    expect(slots[1]).toBe(BigInt(value))
  }
  block.setAddress(2, 0x7f12_3456_789an)
  expect(slots[2]).toBe(0x7f12_3456_789an)
  block.setUniform(3, 'f64', -0.1)
  expect(new Float64Array(block.memory)[3]).toBe(-0.1)
  block.setUniform(3, 'f32', 0.1)
  expect(new Float32Array(block.memory)[6]).toBe(Math.fround(0.1))
  block.setUniform(3, 'i32', -5)
  expect(new Int32Array(block.memory)[6]).toBe(-5)
  block.setUniform(3, 'bool', 1)
  expect(new Uint8Array(block.memory)[24]).toBe(1)
  const copy = createArgumentBlock(4, { addressOf }, block)
  expect([copy.address === block.address, new BigInt64Array(copy.memory)]).toEqual([false, slots])
})
