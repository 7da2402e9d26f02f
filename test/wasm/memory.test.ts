// The linear memory: planes that live inside, growth between calls, requests that it cannot hold, and modules that are not valid.
import { describe, expect, test } from 'vitest'
import type { Launch } from '../../src/backends/backend.ts'
import { createWasmBackend } from '../../src/backends/wasm/index.ts'
import { createBuilder } from '../../src/ir/build.ts'
import type { Graph } from '../../src/ir/graph.ts'
import { HarrierError } from '../../src/errors.ts'
import { createThreadAssembler } from '../../src/runtime/assemblerThread.ts'
import { assemble, wasm } from './support/backend.ts'

/** What a call throws. */
function thrown(call: () => unknown): { readonly code: string; readonly message: string } {
  try {
    call()
  } catch (error) {
    if (error instanceof HarrierError) return { code: error.code, message: error.message }
    throw error
  }
  throw new Error('nothing was thrown')
}

/** y = 2·x */
function doubling(): Graph {
  const b = createBuilder([
    { name: 'x', role: 'sample', type: 'f64', components: 1 },
    { name: 'y', role: 'sample', type: 'f64', components: 1 },
  ])
  const x = b.load(0, 0)
  b.store(1, 0, b.add(x, x))
  return b.finishGraph()
}

const runOn = (launch: Launch, size: number) => launch.run({ sampleCount: size, begin: 0, end: size })

describe('alloc', () => {
  test('gives zeros of each type and any shape, in one memory', () => {
    const planes = [wasm.alloc(5), wasm.alloc([3, 7], 'f32'), wasm.alloc([2, 2, 2], 'i32'), wasm.alloc(0, 'bool')]
    expect(planes.map(({ data, shape }) => [data.constructor.name, data.length, [...shape]])).toEqual([
      ['Float64Array', 5, [5]],
      ['Float32Array', 21, [3, 7]],
      ['Int32Array', 8, [2, 2, 2]],
      ['Uint8Array', 0, [0]],
    ])
    expect(planes.every(({ data }) => data.every((x) => x === 0))).toBe(true)
    expect(new Set(planes.map(({ data }) => data.buffer)).size).toBe(1)
    for (const plane of planes) plane.free()
  })

  test('takes freed memory again, and clears it', () => {
    const first = wasm.alloc(1000)
    first.data.fill(7)
    const { byteOffset } = first.data
    first.free()
    first.free()
    const second = wasm.alloc(1000)
    expect(second.data.byteOffset).toBe(byteOffset)
    expect(second.data.every((x) => x === 0)).toBe(true)
    second.free()
  })

  test('a freed plane is refused', () => {
    const plane = wasm.alloc(4)
    plane.free()
    expect(thrown(() => plane.data)).toEqual({
      code: 'E_MEMORY',
      message: 'alloc: the plane was freed; allocate a new one',
    })
  })

  test.each([
    [-1, '[-1]'],
    [1.5, '[1.5]'],
    [[], '[]'],
    [[3, Number.NaN], '[3, NaN]'],
    ['3', "[the string '3']"],
    [[3, '4'], "[3, the string '4']"],
    [3n, '[the bigint 3n]'],
    [Float64Array, '[the function Float64Array]'],
    [{ n: 3 }, '[an object of class Object]'],
    [undefined, '[undefined]'],
  ])('a shape that is none is refused: %s', (shape, text) => {
    expect(thrown(() => wasm.alloc(shape as never))).toEqual({
      code: 'E_OPTION',
      message: `alloc: the shape is ${text}, expected whole numbers from 0 on, as in alloc(n) or alloc([3, n])`,
    })
  })

  test.each([
    ['f16', "the string 'f16'"],
    ['u32', "the string 'u32'"],
    [Float32Array, 'the function Float32Array'],
    [null, 'null'],
  ])('so is a type that is none: %s', (type, text) => {
    expect(thrown(() => wasm.alloc(3, type as never))).toEqual({
      code: 'E_OPTION',
      message: `alloc: the type is ${text}, expected 'f64', 'f32', 'i32' or 'bool', as in alloc(n, 'f32')`,
    })
  })

  test('2 GiB are refused', () => {
    const { code, message } = thrown(() => wasm.alloc(2 ** 28))
    expect(code).toBe('E_MEMORY')
    expect(message).toMatch(
      /^wasm backend: alloc\(\[268435456\], 'f64'\) needs 2048\.0 MiB, and its linear memory, of which \d+\.0 MiB are taken up, cannot grow beyond 2048\.0 MiB; use smaller tables, free planes made by alloc\(\), or use the host backend$/,
    )
    // Nothing is lost by it.
    const after = wasm.alloc(10)
    expect(after.data).toHaveLength(10)
    after.free()
  })

  test('so are a terabyte and more', () => {
    expect(thrown(() => wasm.alloc([2 ** 30, 2 ** 20])).code).toBe('E_MEMORY')
  })
})

describe('growth', () => {
  test('between two calls of one launch: planes inside stay bound, arrays outside are not touched', () => {
    // A memory of its own, which has not grown yet.
    const backend = createWasmBackend({ assemble })
    const size = 1001
    const x = backend.alloc(size)
    const outside = new Float64Array(size)
    const launch = backend.build(doubling(), { name: 'doubling' }).launch()
    launch.bind(0, x.data, size, size)
    launch.bind(1, outside, size, size)
    x.data.forEach((_, k, data) => (data[k] = k))
    runOn(launch, size)
    expect([...outside.subarray(998)]).toEqual([1996, 1998, 2000])

    const before = x.data
    const large = backend.alloc(2 ** 22)
    expect(before).toHaveLength(0)
    expect(x.data[1000]).toBe(1000)
    x.data.fill(3)
    runOn(launch, size)
    expect(outside.every((y) => y === 6)).toBe(true)
    large.free()
  })

  test('within a call, for a table that is larger than the memory', () => {
    const backend = createWasmBackend({ assemble })
    const b = createBuilder([
      { name: 't', role: 'table', type: 'f64', components: 1 },
      { name: 'y', role: 'sample', type: 'f64', components: 1 },
    ])
    b.store(1, 0, b.gather(0, 0, b.sub(b.sub(b.entryCount(0), b.const('i32', 1)), b.sampleIndex())))
    const y = backend.alloc(3)
    const launch = backend.build(b.finishGraph(), { name: 'last' }).launch()
    const entries = 2 ** 21
    launch.bind(
      0,
      Float64Array.from({ length: entries }, (_, k) => k),
      entries,
      entries,
    )
    launch.bind(1, y.data, 3, 3)
    runOn(launch, 3)
    expect([...y.data]).toEqual([entries - 1, entries - 2, entries - 3])
  })

  test('a table of 2 GiB is refused, by the name of the kernel', () => {
    const b = createBuilder([
      { name: 't', role: 'table', type: 'f64', components: 1 },
      { name: 'y', role: 'sample', type: 'f64', components: 1 },
    ])
    b.store(1, 0, b.gather(0, 0, b.sampleIndex()))
    const launch = wasm.build(b.finishGraph(), { name: 'huge' }).launch()
    launch.bind(0, new Float64Array(2 ** 28), 2 ** 28, 2 ** 28)
    launch.bind(1, new Float64Array(1), 1, 1)
    const { code, message } = thrown(() => runOn(launch, 1))
    expect(code).toBe('E_MEMORY')
    expect(message).toMatch(/^wasm backend: kernel 'huge' needs 2048\.\d MiB, and its linear memory, of which /)
  })
})

describe('bindings', () => {
  test('a plane that nothing is bound to', () => {
    const launch = wasm.build(doubling(), { name: 'doubling' }).launch()
    launch.bind(0, new Float64Array(2), 2, 2)
    expect(thrown(() => runOn(launch, 2))).toEqual({
      code: 'E_INTERNAL',
      message: "kernel 'doubling': launched while nothing is bound to 'y'",
    })
  })

  test('an array that was detached after it was bound', () => {
    const launch = wasm.build(doubling(), { name: 'doubling' }).launch()
    const x = new Float64Array(2)
    launch.bind(0, x, 2, 2)
    launch.bind(1, new Float64Array(2), 2, 2)
    structuredClone(x, { transfer: [x.buffer] })
    expect(thrown(() => runOn(launch, 2))).toEqual({
      code: 'E_BINDING',
      message:
        "kernel 'doubling': the array of 'x' was detached, or its buffer resized, after it was bound; bind the array anew",
    })
  })

  test('an asynchronous run keeps the bindings that it began with, and runs in a later turn', async () => {
    const launch = wasm.build(doubling(), { name: 'doubling' }).launch()
    const [first, second] = [new Float64Array(3), new Float64Array(3)]
    launch.bind(0, new Float64Array([1, 2, 3]), 3, 3)
    launch.bind(1, first, 3, 3)
    const done = launch.runAsync({ sampleCount: 3, begin: 0, end: 3 })
    launch.bind(1, second, 3, 3)
    launch.release()
    expect([...first]).toEqual([0, 0, 0])
    await done
    expect([[...first], [...second]]).toEqual([
      [2, 4, 6],
      [0, 0, 0],
    ])
  })
})

describe('modules that are not valid', () => {
  const faulty = '(module (func (export "f") (param $x i32) (result f64) (local.get $x)))'
  const unreadable = '(module (func (local.got $x)))'
  const assemblers = [
    { where: 'in this thread', assembler: assemble },
    { where: 'in a thread', assembler: createThreadAssembler() },
  ]

  const heading =
    "wasm backend: the module of kernel 'scale' is not valid WebAssembly; please report this with the kernel:\n"

  test.each(assemblers)('$where: what validation finds', ({ assembler }) => {
    const { code, message } = thrown(() => assembler(faulty, 'scale'))
    expect(code).toBe('E_INTERNAL')
    // The rest is binaryen's.
    expect(message.slice(0, heading.length)).toBe(heading)
    expect(message.slice(heading.length)).toMatch(/^\[wasm-validator error .+\] function body type must match/)
  })

  test.each(assemblers)('$where: text that cannot be read', ({ assembler }) => {
    const { code, message } = thrown(() => assembler(unreadable, 'scale'))
    expect([code, message]).toEqual(['E_INTERNAL', `${heading}1:15: error: unrecognized instruction`])
  })

  test.each(assemblers)('$where: the next one is assembled as if nothing had been', ({ assembler }) => {
    const valid = '(module (func (export "f") (param $x i32) (result i32) (local.get $x)))'
    expect(assembler(valid, 'scale')).toEqual(assembler(valid, 'scale'))
  })

  test('code that the engine refuses', () => {
    const backend = createWasmBackend({ assemble: () => new Uint8Array([0, 1, 2]) })
    const { code, message } = thrown(() => backend.build(doubling(), { name: 'doubling' }))
    expect(code).toBe('E_COMPILE')
    expect(message).toMatch(
      /^kernel 'doubling': the WebAssembly engine does not take its module of 3 bytes: .+; a loop\(\) instead of an unrolled for makes a kernel smaller$/,
    )
  })

  test('a thread that does not answer in time', () => {
    const slow = createThreadAssembler({ HARRIER_COMPILE_TIMEOUT: '0.001' })
    expect(thrown(() => slow(faulty, 'scale'))).toEqual({
      code: 'E_COMPILE',
      message:
        "kernel 'scale': its WebAssembly was not assembled within 0.001 s; " +
        'a loop() instead of an unrolled for makes a kernel smaller, and HARRIER_COMPILE_TIMEOUT (seconds) allows more time',
    })
  })
})

test('a kernel built with check reports the first access outside, by sample', () => {
  const b = createBuilder([
    { name: 'k', role: 'sample', type: 'i32', components: 1 },
    { name: 'table', role: 'table', type: 'f64', components: 1 },
    { name: 'bins', role: 'accumulator', type: 'f64', components: 1 },
    { name: 'y', role: 'sample', type: 'f64', components: 1 },
  ])
  const k = b.load(0, 0)
  b.store(3, 0, b.gather(1, 0, k))
  b.scatterAdd(2, 0, b.sub(k, b.const('i32', 3)), b.const('f64', 1))
  const graph = b.finishGraph()
  for (const width of [1, 8]) {
    const launch = wasm.build(graph, { name: 'lookup', check: true, width }).launch()
    const run = (indices: readonly number[]) => {
      launch.bind(0, new Int32Array(indices), indices.length, indices.length)
      launch.bind(1, new Float64Array(5), 5, 5)
      launch.bind(2, new Float64Array(2), 2, 2)
      launch.bind(3, new Float64Array(indices.length), indices.length, indices.length)
      runOn(launch, indices.length)
    }
    expect(thrown(() => run([3, 4, 3, 2, 7, 4]))).toEqual({
      code: 'E_OUT_OF_RANGE',
      message:
        "kernel 'lookup': sample 3 adds at index -1 of accumulator 'bins', which has the indices 0 to 1; " +
        'keep the index inside, or call without check, where such a contribution is dropped',
    })
    expect(thrown(() => run([3, 4, 3, 4, 7, 4])).message).toBe(
      "kernel 'lookup': sample 4 reads index 7 of table 'table', which has the indices 0 to 4; " +
        'keep the index inside, or call without check, where such a read gives NaN, or 0 for integers',
    )
    run([3, 4, 3])
  }
})

test('source forms', () => {
  expect(wasm.source(doubling(), { name: 'doubling' }, 'wat')).toMatch(/^\(module\n/)
  expect(thrown(() => wasm.source(doubling(), { name: 'doubling' }, 'asm'))).toEqual({
    code: 'E_OPTION',
    message: "kernel 'doubling': the wasm backend has no source form 'asm'; it has 'wat', WebAssembly text",
  })
})
