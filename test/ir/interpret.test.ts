// What the interpreter does beyond single ops: planes, order of work, loops, finishing, tapes.
import { describe, expect, test } from 'vitest'
import { createFolder, IDENTITIES } from '../../src/ir/reduction.ts'
import { interpret, type Bindings, type BoundPlane, type OutsideAccess } from '../../src/ir/interpret.ts'
import { parse } from '../../src/ir/parse.ts'
import type { ReduceOp } from '../../src/ir/graph.ts'
import type { Literal, PlaneArray, Type } from '../../src/ir/types.ts'
import { random } from '../support/values.ts'

const bound = (array: PlaneArray, pitch = array.length, length = pitch): BoundPlane => ({ array, pitch, length })
const all = (sampleCount: number) => ({ sampleCount, begin: 0, end: sampleCount })
const f64 = (...xs: readonly number[]) => Float64Array.from(xs)
const i32 = (...xs: readonly number[]) => Int32Array.from(xs)

/** Runs a text over as many samples as the first array holds and gives the arrays back as numbers. */
function run(text: string, ...planes: readonly (PlaneArray | number)[]): readonly (readonly number[])[] {
  const first = planes.find((plane) => typeof plane !== 'number')!
  interpret(
    parse(text),
    planes.map((plane) => (typeof plane === 'number' ? plane : bound(plane))),
    all(first.length),
  )
  return planes.map((plane) => (typeof plane === 'number' ? [plane] : [...plane]))
}

describe('planes', () => {
  test('components lie a pitch apart, or side by side under a stride', () => {
    const text = 'plane v: sample f64[2]\n%0: f64 = load v[0]\n%1: f64 = load v[1]\nstore v[0], %1\nstore v[1], %0'
    const apart = f64(1, 2, 3, 9, 10, 20, 30, 9)
    interpret(parse(text), [bound(apart, 4, 3)], all(3))
    expect([...apart]).toEqual([10, 20, 30, 9, 1, 2, 3, 9])
    const sideBySide = f64(1, 10, 9, 2, 20, 9)
    interpret(parse(text), [bound(sideBySide, 0, 2)], all(2), { sampleStrides: [3] })
    expect([...sideBySide]).toEqual([10, 1, 9, 20, 2, 9])
  })

  test('a load sees the state at launch, also after a store; the last store stays', () => {
    const text =
      'plane x: sample f64\nplane y: sample f64\nstore x, f64:0x4000000000000000\n%0: f64 = load x\nstore y, %0\n' +
      'store x, f64:0x4008000000000000'
    expect(run(text, f64(7, 8), f64(0, 0))).toEqual([
      [3, 3],
      [7, 8],
    ])
  })

  test('sampleIndex and sampleCount are of the whole problem, whatever the part', () => {
    const text =
      'plane i: sample i32\nplane n: sample i32\n%0: i32 = sampleIndex\n%1: i32 = sampleCount\nstore i, %0\nstore n, %1'
    const [i, n] = [i32(0, 0, 0, 0, 0), i32(0, 0, 0, 0, 0)]
    interpret(parse(text), [bound(i), bound(n)], { sampleCount: 5, begin: 2, end: 4 })
    expect([...i, ...n]).toEqual([0, 0, 2, 3, 0, 0, 0, 5, 5, 0])
  })

  test('uniforms take their type', () => {
    const text =
      'plane x: sample f32\nplane q: sample bool\nplane a: uniform f32\nplane c: uniform bool\n' +
      '%0: f32 = uniform a\n%1: bool = uniform c\nstore x, %0\nstore q, %1'
    expect(run(text, new Float32Array(1), new Uint8Array(1), 0.1, 1)).toEqual([[Math.fround(0.1)], [1], [0.1], [1]])
  })

  test('a read outside a table gives NaN, 0 or false; an addition outside is dropped; both can be reported', () => {
    const text = `plane k: sample i32
plane y: sample f64
plane t: table f64
plane s: table i32
plane d: table bool
plane h: accumulator i32
%0: i32 = load k
%1: f64 = gather t, %0
%2: i32 = gather s, %0
%3: bool = gather d, %0
%4: f64 = convert %2
%5: f64 = convert %3
%6: f64 = add %4, %5
%7: f64 = select %3, %1, %6
%8: bool = ne %1, %1
%9: f64 = select %8, %6, %7
store y, %9
scatterAdd h, %0, i32:1`
    const planes = () => [i32(-1, 0, 1, 2), f64(9, 9, 9, 9), f64(5, 6), i32(7, 8), Uint8Array.of(1, 1), i32(0, 0)]
    expect(run(text, ...planes()).slice(1)).toEqual([
      [0, 5, 6, 0],
      [5, 6],
      [7, 8],
      [1, 1],
      [1, 1],
    ])

    const outside: OutsideAccess[] = []
    const bindings: Bindings = planes().map((array) => bound(array))
    interpret(parse(text), bindings, all(4), { onOutside: (access) => void outside.push(access) })
    expect(outside.map(({ plane, ...rest }) => ({ plane: plane.name, ...rest }))).toEqual(
      [-1, 2].flatMap((index, k) => ['t', 's', 'd', 'h'].map((plane) => ({ plane, length: 2, sample: 3 * k, index }))),
    )
  })

  test('an empty table has no entry', () => {
    const text = 'plane y: sample f64\nplane t: table f64\n%0: i32 = entryCount t\n%1: f64 = gather t, %0\nstore y, %1'
    expect(run(text, f64(1), f64())).toEqual([[NaN], []])
  })

  test.each<[string, Bindings, string]>([
    ['plane x: sample f64\n%0: f64 = load x\nstore x, %0', [undefined], "interpret: no array is bound to plane 'x'"],
    [
      'plane a: uniform f64\nplane y: sample f64\n%0: f64 = uniform a\nstore y, %0',
      [undefined, bound(f64(0))],
      "interpret: no number is set for 'a'",
    ],
  ])('%j without its plane', (text, bindings, message) => {
    expect(() => interpret(parse(text), bindings, all(1))).toThrow(
      expect.objectContaining({ code: 'E_INTERNAL', message }),
    )
  })

  test('a derived op is refused', () => {
    expect(() => interpret(parse('plane x: sample f64\n%0: f64 = load x\n%1: f64 = sin %0'), [], all(0))).toThrow(
      expect.objectContaining({ code: 'E_GRAPH', message: 'interpret: sin is a derived op; lower the graph first' }),
    )
  })
})

describe('reductions', () => {
  /** The order as the specification words it, over contributions by sample number. */
  function reference(
    contributions: readonly (readonly [number, number])[],
    fold: (a: number, b: number) => number,
    identity: number,
  ): number {
    const blocks = new Map<number, [number, number][]>()
    for (const [sample, value] of contributions) {
      const block = Math.floor(sample / 4096)
      blocks.set(block, [...(blocks.get(block) ?? []), [sample, value]])
    }
    const results = [...blocks].map(([block, members]): [number, number] => {
      let accumulators = Array.from({ length: 32 }, () => identity)
      for (const [sample, value] of members) accumulators[sample % 32] = fold(accumulators[sample % 32]!, value)
      while (accumulators.length > 1) {
        const half = accumulators.length / 2
        accumulators = accumulators.slice(0, half).map((x, l) => fold(x, accumulators[l + half]!))
      }
      return [block, accumulators[0]!]
    })
    return results.length === 1 ? results[0]![1] : reference(results, fold, identity)
  }

  /** Numbers whose sum depends on the order in every bit. */
  function contributions(samples: readonly number[]): readonly (readonly [number, number])[] {
    const next = random(samples.length)
    return samples.map((sample) => [sample, (next() - 0.5) * 10 ** (next() * 8)])
  }
  const consecutive = (begin: number, end: number) => Array.from({ length: end - begin }, (_, k) => begin + k)

  test.each([
    ...[1, 31, 32, 33, 4095, 4096, 4097, 3 * 4096 + 5].map((n) => ({ samples: consecutive(0, n), name: `0 to ${n}` })),
    { samples: consecutive(5000, 9000), name: '5000 to 9000' },
    // More than 4,096 blocks, so that the results of blocks fold in blocks of their own.
    { samples: consecutive(0, 9000).map((k) => k * 1999), name: 'every 1999th of 18 million' },
  ])('the sum of samples $name', ({ samples }) => {
    const values = contributions(samples)
    const folder = createFolder('sum', 'f64')
    for (const [sample, value] of values) folder.add(sample, value)
    const expected = reference(values, (a, b) => a + b, -0)
    expect(folder.result()).toBe(expected)
  })

  test('these numbers tell orders apart', () => {
    const values = contributions(consecutive(0, 4097))
    const inOrder = values.reduce((total, [, value]) => total + value, -0)
    expect(inOrder).not.toBe(reference(values, (a, b) => a + b, -0))
  })

  test('a launch folds its part by absolute sample numbers, and overwrites what was there', () => {
    const values = contributions(consecutive(0, 10_000))
    const x = Float64Array.from(values, ([, value]) => value)
    const total = f64(123)
    interpret(
      parse('plane x: sample f64\nplane total: reduction sum f64\n%0: f64 = load x\ncontribute total, %0'),
      [bound(x), bound(total, 1)],
      { sampleCount: 10_000, begin: 3000, end: 9000 },
    )
    expect(total[0]).toBe(reference(values.slice(3000, 9000), (a, b) => a + b, -0))
  })

  test('each fold of several contributions a sample, and of none', () => {
    const text = (type: Type, reduce: ReduceOp, body: string) =>
      `plane x: sample ${type}\nplane r: reduction ${reduce} ${type}\n%0: ${type} = load x\n${body}`
    const twice = 'contribute r, %0\ncontribute r, %0'
    const outcome = (type: Type, reduce: ReduceOp, body: string, x: PlaneArray, r: PlaneArray) =>
      run(text(type, reduce, body), x, r)[1]![0]
    expect(outcome('f64', 'sum', twice, f64(1, 2), f64(9))).toBe(6)
    expect(outcome('f64', 'prod', twice, f64(2, 3), f64(9))).toBe(36)
    expect(outcome('f64', 'max', twice, f64(-2, -3), f64(9))).toBe(-2)
    expect(outcome('f64', 'max', twice, f64(NaN, -3), f64(9))).toBe(NaN)
    expect(outcome('i32', 'min', twice, i32(4, 3), i32(9))).toBe(3)
    expect(outcome('i32', 'sum', twice, i32(2 ** 30, 2 ** 30), i32(9))).toBe(0)
    expect(outcome('bool', 'all', twice, Uint8Array.of(1, 0), Uint8Array.of(1))).toBe(0)
    expect(outcome('bool', 'any', twice, Uint8Array.of(0, 1), Uint8Array.of(0))).toBe(1)
    const identities: readonly [ReduceOp, Type, Literal][] = [
      ['sum', 'f64', -0],
      ['prod', 'f32', 1],
      ['max', 'f64', -Infinity],
      ['min', 'f64', Infinity],
      ['max', 'i32', -(2 ** 31)],
      ['min', 'i32', 2 ** 31 - 1],
      ['all', 'bool', true],
      ['any', 'bool', false],
    ]
    for (const [reduce, type, identity] of identities) {
      expect(createFolder(reduce, type).result()).toBe(identity)
      expect(IDENTITIES[reduce][type]).toBe(identity)
    }
    expect(outcome('f64', 'sum', '', f64(1, 2), f64(9))).toBe(9)
  })
})

describe('scatter-adds', () => {
  test('apply in ascending sample order, in program order within a sample, rounding each time', () => {
    const text = `plane x: sample f32
plane a: accumulator f32
%0: f32 = load x
scatterAdd a, i32:0, %0
%1: f32 = neg %0
scatterAdd a, i32:0, f32:0x3f800000
scatterAdd a, i32:0, %1`
    const x = Float32Array.from([2 ** 24, 3, -(2 ** 25), 0.5])
    let expected = Math.fround(0.1)
    for (const value of x) for (const term of [value, 1, -value]) expected = Math.fround(expected + term)
    expect(run(text, x, Float32Array.of(0.1))[1]).toEqual([expected])
  })

  test('integers wrap', () => {
    const text = 'plane n: sample i32\nplane h: accumulator i32\n%0: i32 = load n\nscatterAdd h, i32:0, %0'
    expect(run(text, i32(2 ** 31 - 1, 1), i32(1))[1]).toEqual([-(2 ** 31) + 1])
  })
})

describe('finishing', () => {
  const text = `plane done: mask bool
plane x: sample f64
plane total: reduction sum f64
plane h: accumulator i32
%0: f64 = load x
%1: f64 = add %0, f64:0x3ff0000000000000
%2: bool = le f64:0x4008000000000000, %1
finish done, %2
finish done, false
store x, %1
contribute total, %1
scatterAdd h, i32:0, i32:1`

  test('a finished sample is skipped whole; one that finishes still writes; the mask is never cleared', () => {
    const done = Uint8Array.of(0, 1, 0, 1)
    expect(run(text, done, f64(1, 1, 2, 5), f64(0), i32(0))).toEqual([[0, 1, 1, 1], [2, 1, 3, 5], [5], [2]])
  })

  test('a finished sample reads nothing outside either', () => {
    const gathers =
      'plane done: mask bool\nplane t: table f64\nplane y: sample f64\n%0: f64 = gather t, i32:5\nstore y, %0'
    const outside: OutsideAccess[] = []
    interpret(parse(gathers), [bound(Uint8Array.of(1, 0)), bound(f64(1)), bound(f64(0, 0))], all(2), {
      onOutside: (access) => void outside.push(access),
    })
    expect(outside.map(({ sample }) => sample)).toEqual([1])
  })
})

describe('loops, branches, dispatches', () => {
  test('a loop runs for each sample by itself, at most as often as its count says, while its condition holds', () => {
    const text = `plane n: sample i32
plane x: sample f64
plane steps: sample i32
%0: i32 = load n
%1: f64 = load x
%2: f64, %3: i32 = loop %0, %1, i32:0 body(%4: i32, %5: f64, %6: i32) {
  %7: f64 = mul %5, f64:0x4000000000000000
  %8: i32 = add %4, i32:1
  yield %7, %8
} condition(%9: i32, %10: f64, %11: i32) {
  %12: bool = lt %10, f64:0x4059000000000000
  yield %12
}
store x, %2
store steps, %3`
    const [, x, steps] = run(text, i32(3, 0, -5, 100, 100, 7), f64(1, 2, 3, 1, 200, NaN), i32(9, 9, 9, 9, 9, 9))
    expect(x).toEqual([8, 2, 3, 128, 200, NaN])
    expect(steps).toEqual([3, 0, 0, 7, 0, 0])
  })

  test('carries can change places, and loops nest', () => {
    const text = `plane n: sample i32
plane y: sample i32
plane z: sample i32
%0: i32 = load n
%1: i32, %2: i32 = loop %0, i32:0, i32:1 body(%3: i32, %4: i32, %5: i32) {
  %6: i32 = loop %3, %4 body(%7: i32, %8: i32) {
    %9: i32 = add %8, %5
    yield %9
  } condition(%10: i32, %11: i32) {
    yield true
  }
  yield %5, %6
} condition(%12: i32, %13: i32, %14: i32) {
  yield true
}
store y, %1
store z, %2`
    const counts = [0, 1, 2, 3, 4, 5]
    const expected = counts.map((n) => {
      let [a, b] = [0, 1]
      for (let i = 0; i < n; i++) [a, b] = [b, a + i * b]
      return [a, b]
    })
    const [, y, z] = run(text, i32(...counts), i32(...counts), i32(...counts))
    expect(counts.map((_, k) => [y![k], z![k]])).toEqual(expected)
  })

  test('the side or case not taken does not run; the index is clamped', () => {
    const text = `plane k: sample i32
plane h: accumulator i32
plane y: sample f64
%0: i32 = load k
%1: f64 = dispatch %0 case {
  scatterAdd h, i32:0, i32:1
  yield f64:0x3ff0000000000000
} case {
  scatterAdd h, i32:1, i32:1
  yield f64:0x4000000000000000
} case {
  scatterAdd h, i32:2, i32:1
  yield f64:0x4008000000000000
}
%2: bool = lt %0, i32:1
branch %2 then {
  scatterAdd h, i32:3, i32:1
} else {
  scatterAdd h, i32:4, i32:1
}
store y, %1`
    const [, h, y] = run(text, i32(-7, 0, 1, 2, 3), i32(0, 0, 0, 0, 0), f64(0, 0, 0, 0, 0))
    expect(y).toEqual([1, 1, 2, 3, 3])
    expect(h).toEqual([2, 1, 2, 2, 3])
  })
})

describe('tapes', () => {
  test('a later loop recalls what an earlier one recorded, in any order', () => {
    const text = `plane x: sample f64
plane y: sample f64
tape #0: f64[4]
%0: f64 = load x
loop i32:4 body(%1: i32) {
  %2: f64 = convert %1
  %3: f64 = add %0, %2
  record #0, %1, %3
} condition(%4: i32) {
  yield true
}
%5: f64 = loop i32:4, f64:0x0000000000000000 body(%6: i32, %7: f64) {
  %8: i32 = sub i32:3, %6
  %9: f64 = recall #0, %8
  %10: f64 = mul %7, f64:0x4024000000000000
  %11: f64 = add %10, %9
  yield %11
} condition(%12: i32, %13: f64) {
  yield true
}
store y, %5`
    expect(run(text, f64(1, 5), f64(0, 0))[1]).toEqual([4321, 8765])
  })

  test.each<[string, string]>([
    [
      '%1: i32 = load n\n%2: f64 = recall #0, %1\nstore y, %2',
      'interpret: sample 1 recalls slot 1 of tape #0, which it did not record',
    ],
    [
      '%1: i32 = load n\nrecord #0, %1, f64:0x0000000000000000\n%2: f64 = recall #0, i32:0\nstore y, %2',
      'interpret: sample 1 records in slot 2 of tape #0, which has 2',
    ],
  ])('%j', (body, message) => {
    // The first sample does as it should; its tape does not serve the second.
    const isRecall = body.includes('recall #0, %1')
    const text = `plane n: sample i32
plane y: sample f64
tape #0: f64[2]
%0: i32 = sampleIndex
%10: bool = eq %0, i32:0
branch %10 then {
  record #0, i32:1, f64:0x0000000000000000
} else {
}
${body}`
    const n = isRecall ? i32(1, 1) : i32(0, 2)
    expect(() => run(text, n, f64(0, 0))).toThrow(expect.objectContaining({ code: 'E_INTERNAL', message }))
  })
})
