// Where arrays lie for a plane: kind × shape × strides × mark × option, and whether component c of sample i is found where it is.
// Every fixture is filled so that all entries differ: reading the wrong sample or component cannot pass.
import { describe, expect, test } from 'vitest'
import { isRefusal, place } from '../../src/runtime/layout.ts'
import { interleaved, samplesFirst, samplesLast, type Layout } from '../../src/runtime/markers.ts'
import { NdArray, ndarray } from '../../src/runtime/ndarray.ts'

const iota = (n: number) => Float64Array.from({ length: n }, (_, i) => i + 1)

interface Row {
  readonly what: string
  readonly head: readonly number[]
  readonly array: unknown
  readonly option?: Layout
  readonly answer: string
  /** Number of component c of sample i, as the array's owner sees it; for those that bind. */
  readonly entry?: (component: number, sample: number) => number
  readonly samples?: number
}

/** (3, N) row-major over 1, 2, …: component c of sample i. */
const native = (n: number) => (c: number, i: number) => c * n + i + 1
/** (N, 3) row-major. */
const together = (width: number) => (c: number, i: number) => i * width + c + 1

const rows: readonly Row[] = [
  { what: 'typed array for a scalar', head: [], array: iota(5), answer: 'native', entry: native(5), samples: 5 },
  { what: 'one-element typed array for a scalar is a batch', head: [], array: iota(1), answer: 'native', samples: 1 },
  {
    what: 'shape [] for a scalar',
    head: [],
    array: ndarray(iota(1), []),
    answer: 'single',
    entry: () => 1,
    samples: 1,
  },
  { what: 'empty array', head: [], array: new Float64Array(0), answer: 'native', samples: 0 },
  {
    what: 'sub-array at an odd offset',
    head: [],
    array: iota(7).subarray(3),
    answer: 'native',
    entry: (_, i) => i + 4,
    samples: 4,
  },
  { what: 'every second element', head: [], array: ndarray(iota(6), [3], [2]), answer: 'refused' },
  { what: 'backwards', head: [], array: ndarray(iota(6), [6], [-1], 5), answer: 'refused' },
  { what: '(2, 4) for a scalar', head: [], array: ndarray(iota(8), [2, 4]), answer: 'refused' },
  { what: '(3, N)', head: [3], array: ndarray(iota(12), [3, 4]), answer: 'native', entry: native(4), samples: 4 },
  {
    what: '(3, N) with a longer pitch',
    head: [3],
    array: ndarray(iota(30), [3, 4], [10, 1]),
    answer: 'native',
    entry: (c, i) => c * 10 + i + 1,
    samples: 4,
  },
  { what: '(3, N) over overlapping rows', head: [3], array: ndarray(iota(12), [3, 4], [2, 1]), answer: 'refused' },
  { what: '(3, 1)', head: [3], array: ndarray(iota(3), [3, 1]), answer: 'native', entry: native(1), samples: 1 },
  { what: '(1, 3)', head: [3], array: ndarray(iota(3), [1, 3]), answer: 'transposed', entry: native(1), samples: 1 },
  { what: '(N, 3), row-major', head: [3], array: ndarray(iota(12), [4, 3]), answer: 'refused' },
  {
    what: '(N, 3), transpose of (3, N)',
    head: [3],
    array: ndarray(iota(12), [3, 4]).T,
    answer: 'transposed',
    entry: native(4),
    samples: 4,
  },
  { what: '(3, N), transpose of (N, 3)', head: [3], array: ndarray(iota(12), [4, 3]).T, answer: 'refused' },
  {
    what: 'interleaved flat',
    head: [3],
    array: interleaved(iota(12), 3),
    answer: 'interleaved',
    entry: together(3),
    samples: 4,
  },
  {
    what: 'interleaved (N, 3)',
    head: [3],
    array: interleaved(ndarray(iota(12), [4, 3])),
    answer: 'interleaved',
    entry: together(3),
    samples: 4,
  },
  { what: 'interleaved of another width', head: [3], array: interleaved(iota(12), 4), answer: 'refused' },
  { what: 'interleaved with a rest', head: [3], array: interleaved(iota(13), 3), answer: 'refused' },
  { what: 'one vector', head: [3], array: iota(3), answer: 'single', entry: (c) => c + 1, samples: 1 },
  {
    what: 'one vector with gaps',
    head: [3],
    array: ndarray(iota(6), [3], [2]),
    answer: 'single',
    entry: (c) => 2 * c + 1,
    samples: 1,
  },
  { what: 'a typed array of whole vectors', head: [3], array: iota(12), answer: 'refused' },
  { what: '(3, 3)', head: [3], array: ndarray(iota(9), [3, 3]), answer: 'ambiguous' },
  {
    what: '(3, 3), samples last',
    head: [3],
    array: ndarray(iota(9), [3, 3]),
    option: 'samples_last',
    answer: 'native',
    entry: native(3),
    samples: 3,
  },
  {
    what: '(3, 3), samples first',
    head: [3],
    array: ndarray(iota(9), [3, 3]),
    option: 'samples_first',
    answer: 'refused',
  },
  {
    what: '(3, 3) transposed, samples first',
    head: [3],
    array: ndarray(iota(9), [3, 3]).T,
    option: 'samples_first',
    answer: 'transposed',
    entry: native(3),
    samples: 3,
  },
  {
    what: '(3, 3) marked last',
    head: [3],
    array: samplesLast(ndarray(iota(9), [3, 3])),
    option: 'samples_first',
    answer: 'native',
    entry: native(3),
    samples: 3,
  },
  {
    what: '(3, 3) transposed, marked first',
    head: [3],
    array: samplesFirst(ndarray(iota(9), [3, 3]).T),
    answer: 'transposed',
    entry: native(3),
    samples: 3,
  },
  { what: '(3, 4) marked first', head: [3], array: samplesFirst(ndarray(iota(12), [3, 4])), answer: 'refused' },
  {
    what: 'a mark of another library',
    head: [3],
    array: { __raptor_samples_axis__: 'last', array: ndarray(iota(9), [3, 3]) },
    answer: 'native',
    entry: native(3),
    samples: 3,
  },
  {
    what: 'a mark on one sample',
    head: [3],
    array: samplesFirst(iota(3)),
    answer: 'single',
    entry: (c) => c + 1,
    samples: 1,
  },
  {
    what: 'option on an unambiguous array',
    head: [3],
    array: ndarray(iota(12), [3, 4]),
    option: 'samples_first',
    answer: 'native',
    entry: native(4),
    samples: 4,
  },
  { what: '(R·C, N)', head: [2, 3], array: ndarray(iota(24), [6, 4]), answer: 'native', entry: native(4), samples: 4 },
  {
    what: '(R, C, N)',
    head: [2, 3],
    array: ndarray(iota(24), [2, 3, 4]),
    answer: 'native',
    entry: native(4),
    samples: 4,
  },
  {
    what: '(R, C, N) with a longer pitch',
    head: [2, 3],
    array: ndarray(iota(60), [2, 3, 4], [30, 10, 1]),
    answer: 'native',
    entry: (c, i) => c * 10 + i + 1,
    samples: 4,
  },
  {
    what: '(R, C, N) with uneven pitch',
    head: [2, 3],
    array: ndarray(iota(80), [2, 3, 4], [40, 10, 1]),
    answer: 'refused',
  },
  { what: '(N, R, C), row-major', head: [2, 3], array: ndarray(iota(24), [4, 2, 3]), answer: 'refused' },
  {
    what: '(N, R·C), transposed',
    head: [2, 3],
    array: ndarray(iota(24), [6, 4]).T,
    answer: 'transposed',
    entry: native(4),
    samples: 4,
  },
  {
    what: 'one matrix',
    head: [2, 3],
    array: ndarray(iota(6), [2, 3]),
    answer: 'single',
    entry: (c) => c + 1,
    samples: 1,
  },
  { what: 'one matrix, flat', head: [2, 3], array: iota(6), answer: 'single', entry: (c) => c + 1, samples: 1 },
  {
    what: '(R, 1) for a column',
    head: [3, 1],
    array: ndarray(iota(3), [3, 1]),
    answer: 'native',
    entry: native(1),
    samples: 1,
  },
  { what: 'N = R = C', head: [3, 3], array: ndarray(iota(27), [3, 3, 3]), answer: 'ambiguous' },
  { what: 'N = R·C', head: [2, 2], array: ndarray(iota(16), [4, 4]), answer: 'ambiguous' },
  {
    what: 'a plain object',
    head: [3],
    array: { data: iota(12), shape: [3, 4] },
    answer: 'native',
    entry: native(4),
    samples: 4,
  },
  {
    what: 'scijs style',
    head: [3],
    array: { data: iota(14), shape: [3, 4], stride: [4, 1], offset: 2 },
    answer: 'native',
    entry: (c, i) => c * 4 + i + 3,
    samples: 4,
  },
  {
    what: 'fields on the prototype',
    head: [3],
    array: Object.create({ data: iota(12), shape: [3, 4], strides: [4, 1], offset: 0 }),
    answer: 'native',
    entry: native(4),
    samples: 4,
  },
  { what: 'reaching outside', head: [3], array: { data: iota(11), shape: [3, 4] }, answer: 'refused' },
  { what: 'a plain array', head: [], array: [1, 2, 3], answer: 'refused' },
  { what: 'another class of array', head: [], array: new Int16Array(4), answer: 'refused' },
  {
    what: 'shared memory',
    head: [],
    array: new Float64Array(new SharedArrayBuffer(32)).fill(1).map((_, i) => i + 1),
    answer: 'native',
    entry: native(4),
    samples: 4,
  },
]

describe('where an array lies', () => {
  test.each(rows.map((row) => [row.what, row] as const))('%s', (_, { head, array, option, answer, entry, samples }) => {
    const placement = place(array, head, option)
    expect(placement.layout).toBe(answer)
    if (isRefusal(placement)) return
    expect(placement.samples).toBe(samples)
    if (!entry) return
    const components = head.reduce((product, extent) => product * extent, 1)
    for (let c = 0; c < components; c++) {
      for (let i = 0; i < placement.samples; i++) {
        expect(placement.array[c * placement.pitch + i * placement.sampleStride]).toBe(entry(c, i))
      }
    }
  })

  test('the placed array is the caller’s memory', () => {
    const own = iota(12)
    const placement = place(ndarray(own, [3, 4]), [3])
    expect(isRefusal(placement) || placement.array.buffer).toBe(own.buffer)
  })
})

describe('refusals say what to do', () => {
  const problem = (array: unknown, head: readonly number[], option?: Layout) => {
    const placement = place(array, head, option)
    return isRefusal(placement) ? placement.problem : 'none'
  }

  test('a sample-major array', () => {
    expect(problem(ndarray(iota(12), [4, 3]), [3])).toBe(
      'has shape (4, 3) with strides (3, 1), but is bound by address as component-major (3, 4), and nothing is copied in secret: pass a component-major copy, allocate it as (3, 4), or mark it interleaved(…) if the numbers of a sample lie side by side',
    )
  })

  test('a square array', () => {
    expect(problem(ndarray(iota(9), [3, 3]), [3])).toBe(
      "has shape (3, 3), which reads as (3,) × 3 samples both ways: component-major, samples along the last axis, or sample-major, samples along the first; say which with { layout: 'samples_last' } or { layout: 'samples_first' } for the call, or samplesLast(…) or samplesFirst(…) for this array",
    )
  })

  test('a mark that the shape contradicts', () => {
    expect(problem(samplesFirst(ndarray(iota(12), [3, 4])), [3])).toBe(
      'is marked samplesFirst, but its shape (3, 4) has no such reading; expected (N, 3)',
    )
  })

  test('a plain array', () => {
    expect(problem([1, 2], [])).toBe(
      'is a plain Array(2), which cannot be bound by address; copy it into a typed array, for example Float64Array.from(…)',
    )
  })

  test('a strided scalar plane', () => {
    expect(problem(ndarray(iota(6), [3], [2]), [])).toBe(
      'has shape (3,) with strides (2,); samples must lie side by side, as binding by address means that a copy would drop writes or freeze later updates: pass a contiguous array',
    )
  })

  test('a shape that fits nothing', () => {
    expect(problem(iota(12), [3])).toBe('has shape (12,), expected (3, N) for a batch or (3,) for one sample')
  })

  test('interleaved storage of another width', () => {
    expect(problem(interleaved(iota(12), 4), [3])).toBe(
      'interleaved(…, 4) holds 4 numbers a sample, but one sample has 3; write interleaved(…, 3)',
    )
  })
})

describe('NdArray', () => {
  const array = ndarray(iota(6), [2, 3])

  test('reads its entries', () => {
    expect(array.toNested()).toEqual([
      [1, 2, 3],
      [4, 5, 6],
    ])
    expect(array.T.toNested()).toEqual([
      [1, 4],
      [2, 5],
      [3, 6],
    ])
    expect(array.row(1).toNested()).toEqual([4, 5, 6])
    expect(array.at(1, 2)).toBe(6)
    expect(ndarray(iota(1), []).toNested()).toBe(1)
  })

  test('refuses what does not fit', () => {
    expect(() => new NdArray(iota(5), [2, 3])).toThrow(
      'NdArray: shape [2, 3] with strides [3, 1] at offset 0 does not fit 5 elements',
    )
    expect(() => array.row(2)).toThrow('NdArray.row(2): the first axis has 2 entries')
    expect(() => array.at(0, 3)).toThrow('NdArray.at(0, 3): the shape is [2, 3]')
  })
})
