// The builder: folds, shares, hoists, and refuses what does not fit. What it builds is compared as text.
import { describe, expect, test } from 'vitest'
import { createBuilder, type Builder } from '../../src/ir/build.ts'
import type { Plane, Value } from '../../src/ir/graph.ts'
import { print } from '../../src/ir/print.ts'
import type { Type } from '../../src/ir/types.ts'

const plane = (name: string, role: Plane['role'] = 'sample', type: Type = 'f64'): Plane => ({
  name,
  role,
  type,
  components: 1,
  ...(role === 'reduction' && { reduce: 'sum' as const }),
})

/** x, n and c are inputs, y is the output; t is a table. */
const PLANES = [plane('x'), plane('n', 'sample', 'i32'), plane('c', 'sample', 'bool'), plane('y'), plane('t', 'table')]

/** The nodes of a graph that stores what a body gives. */
function textOf(body: (b: Builder, x: Value, n: Value, c: Value) => Value): string {
  const b = createBuilder(PLANES)
  b.store(3, 0, body(b, b.load(0, 0), b.load(1, 0), b.load(2, 0)))
  const text = print(b.finishGraph())
  return text.slice(text.indexOf('\n\n') + 2)
}

const INPUTS = '%0: f64 = load x\n%1: i32 = load n\n%2: bool = load c\n'

describe('folding and sharing', () => {
  test('an op of literals is a literal', () => {
    expect(textOf((b) => b.sqrt(b.add(b.const('f64', 2), b.const('f64', 7))))).toBe(
      `${INPUTS}store y, f64:0x4008000000000000  ; 3\n`,
    )
  })

  test('a number for an f32 is rounded to it', () => {
    const b = createBuilder()
    expect(b.const('f32', 0.1)).toMatchObject({ literal: Math.fround(0.1) })
    expect(b.const('f32', 0.1)).toBe(b.const('f32', Math.fround(0.1)))
    expect(b.const('f64', 0)).not.toBe(b.const('f64', -0))
  })

  test('equal values are one, operands of commutative ops in either order', () => {
    const b = createBuilder(PLANES)
    const [x, y] = [b.load(0, 0), b.load(3, 0)]
    expect(b.load(0, 0)).toBe(x)
    expect(b.sin(x)).toBe(b.sin(x))
    expect(b.mul(x, y)).toBe(b.mul(y, x))
    expect(b.fma(x, y, x)).toBe(b.fma(y, x, x))
    expect(b.sub(x, y)).not.toBe(b.sub(y, x))
    expect(b.gt(x, y)).toBe(b.lt(y, x))
    // A derivative tells the operands of a tie apart.
    expect(b.min(x, y)).not.toBe(b.min(y, x))
  })

  test('equal loops are one', () => {
    expect(
      textOf((b, x, n) => {
        const power = () => b.loop({ count: n, initial: [x], body: (_, [value]) => [b.mul(value!, x)] })[0]!
        return b.add(power(), power())
      }),
    ).toBe(`${INPUTS}%3: f64 = loop %1, %0 body(%4: i32, %5: f64) {
  %6: f64 = mul %5, %0
  yield %6
} condition(%7: i32, %8: f64) {
  yield true
}
%9: f64 = add %3, %3
store y, %9
`)
  })

  test('effects and reads of a tape are never one', () => {
    const b = createBuilder([plane('h', 'reduction')])
    const tape = b.tape({ type: 'f64', capacity: 1 })
    const zero = b.const('i32', 0)
    b.record(tape, zero, b.const('f64', 1))
    const first = b.recall(tape, zero)
    b.record(tape, zero, b.const('f64', 2))
    const second = b.recall(tape, zero)
    b.contribute(0, 0, first)
    b.contribute(0, 0, second)
    expect(print(b.finishGraph())).toBe(`plane h: reduction sum f64
tape #0: f64[1]

record #0, i32:0, f64:0x3ff0000000000000  ; 1
%0: f64 = recall #0, i32:0
record #0, i32:0, f64:0x4000000000000000  ; 2
%1: f64 = recall #0, i32:0
contribute h, %0
contribute h, %1
`)
  })

  test('a finished graph does not change when more is built', () => {
    const b = createBuilder(PLANES)
    const graph = b.finishGraph()
    b.store(3, 0, b.load(0, 0))
    expect(graph.body.nodes).toEqual([])
    expect(b.finishGraph().body.nodes).toHaveLength(2)
  })
})

describe('hoisting', () => {
  test('what a loop does not change stands before it, loops too', () => {
    expect(
      textOf((b, x, n) => {
        const [sum] = b.loop({
          count: n,
          initial: [x],
          body(_, [value]) {
            const [inner] = b.loop({
              count: n,
              initial: [b.sin(x)],
              body: (i, [y]) => [b.add(y!, b.convert(i, 'f64'))],
            })
            return [b.add(value!, b.mul(inner!, b.exp(x)))]
          },
        })
        return sum!
      }),
    ).toBe(`${INPUTS}%3: f64 = sin %0
%4: f64 = loop %1, %3 body(%5: i32, %6: f64) {
  %7: f64 = convert %5
  %8: f64 = add %6, %7
  yield %8
} condition(%9: i32, %10: f64) {
  yield true
}
%11: f64 = exp %0
%12: f64 = mul %4, %11
%13: f64 = loop %1, %0 body(%14: i32, %15: f64) {
  %16: f64 = add %15, %12
  yield %16
} condition(%17: i32, %18: f64) {
  yield true
}
store y, %13
`)
  })

  test('work stays on its side of a branch, also inside a loop', () => {
    expect(
      textOf((b, x, n, c) => {
        const [sum] = b.loop({
          count: n,
          initial: [x],
          body: (_, [value]) =>
            b.branch(
              c,
              () => [b.add(value!, b.sin(x))],
              () => [value!],
            ),
        })
        return sum!
      }),
    ).toBe(`${INPUTS}%3: f64 = loop %1, %0 body(%4: i32, %5: f64) {
  %6: f64 = branch %2 then {
    %7: f64 = sin %0
    %8: f64 = add %5, %7
    yield %8
  } else {
    yield %5
  }
  yield %6
} condition(%9: i32, %10: f64) {
  yield true
}
store y, %3
`)
  })

  test('a value made on one side of a branch is not used on the other or after', () => {
    expect(
      textOf((b, x, _, c) =>
        b.add(
          b.branch(
            c,
            () => [b.sin(x)],
            () => [b.neg(b.sin(x))],
          )[0]!,
          b.sin(x),
        ),
      ),
    ).toBe(
      `${INPUTS}%3: f64 = branch %2 then {
  %4: f64 = sin %0
  yield %4
} else {
  %5: f64 = sin %0
  %6: f64 = neg %5
  yield %6
}
%7: f64 = sin %0
%8: f64 = add %3, %7
store y, %8
`,
    )
  })

  test('a gather hoists by its index, a loop with effects stays', () => {
    const b = createBuilder([...PLANES, plane('h', 'reduction')])
    b.loop({
      count: b.load(1, 0),
      initial: [],
      body(i) {
        b.loop({
          count: i,
          initial: [],
          body() {
            b.contribute(5, 0, b.gather(4, 0, b.load(1, 0)))
            return []
          },
        })
        return []
      },
    })
    const text = print(b.finishGraph())
    expect(text.slice(text.indexOf('\n\n') + 2)).toBe(`%0: i32 = load n
%1: f64 = gather t, %0
loop %0 body(%2: i32) {
  loop %2 body(%3: i32) {
    contribute h, %1
  } condition(%4: i32) {
    yield true
  }
} condition(%5: i32) {
  yield true
}
`)
  })
})

describe('constructs that decide themselves', () => {
  test('a literal picks the side, the case or no iteration', () => {
    const side = (b: Builder, x: Value) =>
      b.branch(
        b.const('bool', false),
        () => [b.sin(x)],
        () => [b.neg(x)],
      )[0]!
    expect(textOf(side)).toBe(`${INPUTS}%3: f64 = neg %0\nstore y, %3\n`)
    const clamped = (b: Builder, x: Value) => b.dispatch(b.const('i32', 9), [() => [b.sin(x)], () => [b.neg(x)]])[0]!
    expect(textOf(clamped)).toBe(`${INPUTS}%3: f64 = neg %0\nstore y, %3\n`)
    const none = (b: Builder, x: Value) =>
      b.loop({ count: b.const('i32', -1), initial: [x], body: (_, [y]) => [b.sin(y!)] })[0]!
    expect(textOf(none)).toBe(`${INPUTS}store y, %0\n`)
  })

  test('sides that agree need no branch', () => {
    expect(
      textOf(
        (b, x, _, c) =>
          b.branch(
            c,
            () => [x],
            () => [x],
          )[0]!,
      ),
    ).toBe(`${INPUTS}store y, %0\n`)
  })

  test('a result on which the sides agree is that value, beside one on which they differ', () => {
    expect(
      textOf((b, x, _, c) => {
        const [same, other] = b.branch(
          c,
          () => [x, b.neg(x)],
          () => [x, x],
        )
        return b.add(same!, other!)
      }),
    ).toBe(`${INPUTS}%3: f64, %4: f64 = branch %2 then {
  %5: f64 = neg %0
  yield %0, %5
} else {
  yield %0, %0
}
%6: f64 = add %0, %4
store y, %6
`)
  })
})

describe('refusals', () => {
  const f = (b: Builder) => b.load(0, 0)
  const i = (b: Builder) => b.load(1, 0)
  const c = (b: Builder) => b.load(2, 0)

  test.each<[string, (b: Builder) => unknown]>([
    ['add: operand 1 is i32, expected f64 like the first', (b) => b.add(f(b), i(b))],
    ['sqrt: operand 0 is i32, expected a float', (b) => b.sqrt(i(b))],
    ['select: operand 0 is f64, expected bool', (b) => b.select(f(b), f(b), f(b))],
    ['add: takes 2 operands, not 1', (b) => b.apply('add', [f(b)])],
    ['const: 0.5 is no literal of type i32', (b) => b.const('i32', 0.5)],
    ['const: 1 is no literal of type i64', (b) => b.const('i64', 1)],
    ['load: there is no plane 9', (b) => b.load(9, 0)],
    ["load: plane 'x' has 1 components, not 2", (b) => b.load(0, 1)],
    ["load: plane 't' is a table, not a sample", (b) => b.load(4, 0)],
    ["store: plane 'y' holds f64, not i32", (b) => b.store(3, 0, i(b))],
    ['gather: the index is f64, expected i32', (b) => b.gather(4, 0, f(b))],
    ['bitcast: f64 and i32 differ in width', (b) => b.bitcast(f(b), 'i32')],
    ['random: gives a float, not i32', (b) => b.random('i32', i(b), i(b), i(b))],
    ['random: seed, sample and counter are i32', (b) => b.random('f64', f(b), i(b), i(b))],
    ['recall: there is no tape 0', (b) => b.recall(0, i(b))],
    ['loop: the count is f64, expected i32', (b) => b.loop({ count: f(b), initial: [], body: () => [] })],
    [
      'loop: the body gives other types than it was given',
      (b) => b.loop({ count: i(b), initial: [f(b)], body: () => [i(b)] }),
    ],
    [
      'branch: the condition is i32, expected bool',
      (b) =>
        b.branch(
          i(b),
          () => [],
          () => [],
        ),
    ],
    [
      'branch: the sides give different types',
      (b) =>
        b.branch(
          c(b),
          () => [f(b)],
          () => [i(b)],
        ),
    ],
    [
      'shortcut: the condition is i32, expected bool',
      (b) =>
        b.shortcut(
          i(b),
          () => [],
          () => [],
        ),
    ],
    ['dispatch: the index is bool, expected i32', (b) => b.dispatch(c(b), [() => []])],
  ])('%s', (message, build) => {
    expect(() => build(createBuilder(PLANES))).toThrow(expect.objectContaining({ code: 'E_INTERNAL', message }))
  })
})
