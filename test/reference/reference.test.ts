// The reference backend: binding, the error of checked kernels, and that comparing two backends sees a difference.
import { describe, expect, test } from 'vitest'
import type { Executable } from '../../src/backends/backend.ts'
import { referenceBackend } from '../../src/backends/reference/index.ts'
import { parse } from '../../src/ir/parse.ts'
import { compareBackends } from '../support/compareBackends.ts'

const SCALE = parse(`plane x: sample f64
plane a: uniform f64
plane y: sample f64
%0: f64 = load x
%1: f64 = uniform a
%2: f64 = mul %0, %1
store y, %2`)

const whole = (sampleCount: number) => ({ sampleCount, begin: 0, end: sampleCount })

describe('launches', () => {
  test('bind, set, run and run again; two launches do not share what is bound', async () => {
    const executable = referenceBackend.build(SCALE, { name: 'scale' })
    const [first, second] = [executable.launch(), executable.launch()]
    const [x, y, z] = [Float64Array.of(1, 2, 3), new Float64Array(3), new Float64Array(3)]
    first.bind(0, x, 3, 3)
    first.set(1, 2)
    first.bind(2, y, 3, 3)
    second.bind(0, y, 3, 3)
    second.set(1, 10)
    second.bind(2, z, 3, 3)
    first.run(whole(3))
    await second.runAsync(whole(3))
    expect([...y, ...z]).toEqual([2, 4, 6, 20, 40, 60])
    first.set(1, 3)
    first.run({ sampleCount: 3, begin: 1, end: 2 })
    expect([...y]).toEqual([2, 6, 6])
    first.release()
    expect(() => first.run(whole(3))).toThrow("interpret: no array is bound to plane 'x'")
  })

  test('an array that was detached after it was bound, and nothing is written', async () => {
    const launch = referenceBackend.build(SCALE, { name: 'scale' }).launch()
    const [x, y] = [Float64Array.of(1, 2), Float64Array.of(-1, -1)]
    launch.bind(0, x, 2, 2)
    launch.set(1, 2)
    launch.bind(2, y, 2, 2)
    structuredClone(x, { transfer: [x.buffer] })
    const moved = expect.objectContaining({
      code: 'E_BINDING',
      message:
        "kernel 'scale': the array of 'x' was detached, or its buffer resized, after it was bound; bind the array anew",
    })
    expect(() => launch.run(whole(2))).toThrow(moved)
    await expect(launch.runAsync(whole(2))).rejects.toEqual(moved)
    expect([...y]).toEqual([-1, -1])
  })

  test('derived ops are lowered; the source is what is interpreted', () => {
    const graph = parse(
      'plane x: sample f64\n%0: f64 = load x\n%1: bool = isnan %0\n%2: f64 = select %1, f64:0x0000000000000000, %0\nstore x, %2',
    )
    const x = Float64Array.of(NaN, 4)
    const launch = referenceBackend.build(graph, { name: 'clean' }).launch()
    launch.bind(0, x, 2, 2)
    launch.run(whole(2))
    expect([...x]).toEqual([0, 4])
    expect(referenceBackend.source(graph, { name: 'clean' }, 'ir')).toBe(
      'plane x: sample f64\n\n%0: f64 = load x\n%1: bool = ne %0, %0\n' +
        '%2: f64 = select %1, f64:0x0000000000000000, %0  ; 0\nstore x, %2\n',
    )
    expect(() => referenceBackend.source(graph, { name: 'clean' }, 'llvm')).toThrow(
      expect.objectContaining({
        code: 'E_OPTION',
        message:
          "kernel 'clean': the reference backend has no source form 'llvm'; it has 'ir', the graph that it interprets",
      }),
    )
  })

  test('a graph that breaks an invariant is not run', () => {
    const graph = parse('plane x: sample f64\nplane x2: sample f64\n%0: f64 = load x\nstore x2, %0')
    const [first, second] = graph.planes as [(typeof graph.planes)[0], (typeof graph.planes)[0]]
    const clash = { ...graph, planes: [first!, { ...second!, name: 'x' }] }
    expect(() => referenceBackend.build(clash, { name: 'clash' })).toThrow(
      expect.objectContaining({
        code: 'E_GRAPH',
        message: "the graph breaks an invariant:\n  plane 1 'x': another plane has the same name",
      }),
    )
  })
})

describe('checked kernels', () => {
  const PLANES =
    'plane k: sample i32\nplane y: sample f64\nplane t: table f64\nplane h: accumulator f64\n%0: i32 = load k\n'

  function run(body: string, indices: readonly number[], entries: number, check: boolean): Float64Array {
    const launch = referenceBackend.build(parse(PLANES + body), { name: 'lookup', check }).launch()
    const n = indices.length
    const y = new Float64Array(n)
    launch.bind(0, Int32Array.from(indices), n, n)
    launch.bind(1, y, n, n)
    launch.bind(2, new Float64Array(entries).fill(7), entries, entries)
    launch.bind(3, new Float64Array(entries), entries, entries)
    launch.run(whole(n))
    return y
  }

  const READ = '%1: f64 = gather t, %0\nstore y, %1'
  const ADD = 'scatterAdd h, %0, f64:0x3ff0000000000000'

  test.each<[string, readonly number[], number, string]>([
    [
      READ,
      [0, 1, 5, -9],
      4,
      "kernel 'lookup': sample 2 reads index 5 of table 't', which has the indices 0 to 3; keep the index inside, or call without check, where such a read gives NaN, or 0 for integers",
    ],
    [
      READ,
      [-1],
      0,
      "kernel 'lookup': sample 0 reads index -1 of table 't', which is empty; keep the index inside, or call without check, where such a read gives NaN, or 0 for integers",
    ],
    [
      ADD,
      [0, 4],
      4,
      "kernel 'lookup': sample 1 adds at index 4 of accumulator 'h', which has the indices 0 to 3; keep the index inside, or call without check, where such a contribution is dropped",
    ],
  ])('%s at %j of %i', (body, indices, entries, message) => {
    expect(() => run(body, indices, entries, true)).toThrow(
      expect.objectContaining({ code: 'E_OUT_OF_RANGE', message }),
    )
    expect(() => run(body, indices, entries, false)).not.toThrow()
  })

  test('inside they are the same', () => {
    expect([...run(READ, [0, 3], 4, true)]).toEqual([7, 7])
  })
})

describe('comparing two backends', () => {
  const exact = referenceBackend.build(SCALE, { name: 'scale' })
  /** The same executable, but for what it does to its output at one sample. */
  const spoilt = (spoil: (y: Float64Array) => void): Executable => ({
    backend: 'host',
    launch() {
      const launch = exact.launch()
      let y: Float64Array = new Float64Array()
      return {
        ...launch,
        bind(plane, array, pitch, length) {
          if (plane === 2) y = array as Float64Array
          launch.bind(plane, array, pitch, length)
        },
        run(range) {
          launch.run(range)
          spoil(y)
        },
      }
    },
  })
  const sizes = [0, 1, 9]

  test('passes where nothing differs, NaN among the results', () => {
    compareBackends({ graph: SCALE, expected: exact, actual: spoilt(() => {}), sizes })
  })

  test('sees one bit, a sign of zero, and a write beside the array', () => {
    const compare = (spoil: (y: Float64Array) => void) => () =>
      compareBackends({ graph: SCALE, expected: exact, actual: spoilt(spoil), sizes })
    expect(compare((y) => (y[0] = (y[0] ?? 0) + 1))).toThrow(
      /^host differs from reference: sample plane 'y', element 0: expected .*, got .* \(samples 0 to 0 of 0, arrays moved by 0, seed 1\)\nplane x: sample f64\n/,
    )
    expect(compare((y) => (y[3] = -y[3]!))).toThrow('element 3: expected')
    const beside = (y: Float64Array) => {
      new Float64Array(y.buffer)[y.byteOffset / 8 + y.length] = 0.125
    }
    expect(compare(beside)).toThrow(/outside its array, element \d+: expected .*, got 0.125/)
  })
})
