// branch, loop, whileLoop, dispatch: results against plain JavaScript, nesting, types, every refusal.
import { describe, expect, test } from 'vitest'
import { Accum, Index, Mutable, Reduce, Scalar, Table, Terminated, Vector } from '../../src/trace/index.ts'
import * as h from '../../src/trace/index.ts'
import { compute, evaluate, refusalOfBody, traceBody } from './support/evaluate.ts'

const { branch, dispatch, loop, whileLoop } = h

describe('branch and dispatch', () => {
  test('give the side that the condition takes, sample by sample', () => {
    const body = ({ x }: { x: Scalar }) =>
      branch(
        x.gt(0),
        () => h.sqrt(x),
        () => x.mul(-10),
      )
    expect(compute({ x: Scalar }, body, { x: [4, -1, 9, -0.5] }, 4)).toEqual([2, 10, 3, 5])
  })

  test('give nested shapes; literals take the type of the other side', () => {
    const kernel = traceBody({ x: Scalar, i: Index, v: Vector(2) }, ({ x, i, v }) => {
      const r = branch(
        x.gt(0),
        () => ({ list: [x, 1], k: 7, v, on: true }),
        () => ({ k: i, on: x.lt(-5), v: v.mul(2), list: [0, x] }) as never,
      )
      return { a: r.list[0], b: r.list[1], k: r.k, w: r.v, on: r.on }
    })
    expect(kernel.outputs.map(({ head }) => head.type)).toEqual(['f64', 'f64', 'i32', 'f64', 'bool'])
    expect(evaluate(kernel, { x: [3, -2, -9], i: [4, 5, 6], v: [1, 2, 3, 10, 20, 30] }, 3)).toEqual({
      a: [3, 0, 0],
      b: [1, -2, -9],
      k: [7, 5, 6],
      w: [1, 4, 6, 10, 40, 60],
      on: [1, 0, 1],
    })
  })

  test('a constant condition picks its side while tracing', () => {
    const { graph } = traceBody({ x: Scalar }, ({ x }) => ({
      y: branch(
        true,
        () => x.add(1),
        () => h.exp(x),
      ),
    }))
    expect(graph.body.nodes.map(({ op }) => op)).toEqual(['load', 'add', 'store'])
  })

  test('dispatch clamps its index', () => {
    const body = ({ i, x }: { i: Index; x: Scalar }) => dispatch(i, [() => x, () => x.mul(2), () => 0.5])
    expect(compute({ i: Index, x: Scalar }, body, { i: [-3, 0, 1, 2, 9], x: [5, 5, 5, 5, 5] }, 5)).toEqual([
      5, 5, 10, 0.5, 0.5,
    ])
    expect(compute({ x: Scalar }, ({ x }) => dispatch(7, [() => x, () => x.mul(2)]), { x: [5] })).toEqual([10])
  })
})

describe('loops', () => {
  test('run count times, and carry any nesting', () => {
    const kernel = traceBody({ x: Scalar, v: Vector(2) }, ({ x, v }) => {
      const r = loop(3, { sum: 0, at: [v, { i: h.toInt(0) }] }, (i, s) => ({
        at: [s.at[0].mul(2), { i: s.at[1].i.add(i) }],
        sum: s.sum.add(x),
      }))
      return { sum: r.sum, w: r.at[0], i: r.at[1].i }
    })
    expect(evaluate(kernel, { x: [1.5, 2], v: [1, 2, 3, 4] }, 2)).toEqual({
      sum: [4.5, 6],
      w: [8, 16, 24, 32],
      i: [3, 3],
    })
  })

  test('a count of the sample; zero, negative and plain zero counts run nothing', () => {
    const body = ({ n }: { n: Index }) => loop(n, h.toInt(0), (i, s) => s.add(i))
    expect(compute({ n: Index }, body, { n: [0, -4, 1, 5] }, 4)).toEqual([0, 0, 0, 10])
    expect(compute({ x: Scalar }, ({ x }) => loop(0, x, (_, s) => s.mul(2)), { x: [3] })).toEqual([3])
  })

  test('while is tested before each iteration, for each sample', () => {
    const collatz = ({ n }: { n: Index }) =>
      loop(
        1000,
        { n, steps: h.toInt(0) },
        (_, { n, steps }) => ({ n: h.where(h.mod(n, 2).eq(0), h.idiv(n, 2), n.mul(3).add(1)), steps: steps.add(1) }),
        { while: ({ n }) => n.gt(1) },
      ).steps
    const starts = [1, 2, 3, 7, 27, 97]
    const steps = starts.map((start) => {
      let [n, count] = [start, 0]
      while (n > 1) [n, count] = [n % 2 === 0 ? n / 2 : 3 * n + 1, count + 1]
      return count
    })
    expect(compute({ n: Index }, collatz, { n: starts }, starts.length)).toEqual(steps)
  })

  test('whileLoop stops at its condition or its cap', () => {
    const body =
      (max: number) =>
      ({ x }: { x: Scalar }) =>
        whileLoop(
          x,
          (s) => s.lt(100),
          (s) => s.mul(2),
          { max },
        )
    expect(compute({ x: Scalar }, body(50), { x: [1, 200, 3] }, 3)).toEqual([128, 200, 192])
    expect(compute({ x: Scalar }, body(2), { x: [1, 200, 3] }, 3)).toEqual([4, 200, 12])
    expect(compute({ x: Scalar }, body(Infinity), { x: [1, 200, 3] }, 3)).toEqual([128, 200, 192])
  })

  test('nest, and the size of the graph does not depend on the count', () => {
    const body =
      (n: number) =>
      ({ x }: { x: Scalar }) =>
        loop(n, x, (i, outer) => loop(i, outer, (j, inner) => inner.add(h.toFloat(j))))
    const plain = (n: number, x: number) => {
      let sum = x
      for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) sum += j
      return sum
    }
    expect(compute({ x: Scalar }, body(6), { x: [0.5] })).toEqual([plain(6, 0.5)])
    const size = (n: number) => JSON.stringify(traceBody({ x: Scalar }, body(n)).graph.body.nodes.length)
    expect(size(6)).toBe(size(60_000))
  })

  test('read mutables and tables inside', () => {
    const kernel = traceBody({ y: Mutable(Scalar), t: Table(Scalar) }, ({ y, t }) => {
      y.set(y.add(1))
      const sum = loop(3, 0, (i, s) => s.add(t.at(i)).add(y))
      y.set(sum)
    })
    expect(evaluate(kernel, { y: [0, 1], t: [10, 20, 30] }, 2)).toEqual({ y: [63, 66] })
  })

  test('a NaN of the side not taken, and an infinite guard, reach no result', () => {
    const body = ({ x }: { x: Scalar }) =>
      branch(
        x.gt(0),
        () => x,
        () =>
          whileLoop(
            x,
            (s) => s.le(0),
            (s) => s.sub(1),
            { max: 10 },
          ).mul(0),
      )
    expect(compute({ x: Scalar }, body, { x: [2, 3] }, 2)).toEqual([2, 3])
  })
})

describe('refusals', () => {
  const params = {
    x: Scalar,
    i: Index,
    v: Vector(2),
    y: Mutable(Scalar),
    acc: Accum(Scalar),
    total: Reduce('sum'),
    done: Terminated,
    t: Table(Scalar),
  }
  interface Values {
    x: Scalar
    i: Index
    v: Vector<2>
    y: Mutable<Scalar>
    acc: Accum<Scalar>
    total: Reduce<Scalar>
    done: Terminated
    t: Table<Scalar>
  }
  const never = (value: unknown) => value as never
  const CASES: readonly (readonly [string, (p: Values) => unknown, string])[] = [
    [
      'a mutable set in a loop',
      ({ x, y }) => loop(3, x, (_, s) => (y.set(s), s)),
      'E_CONTROL_FLOW: y.set() is called inside loop(), which changes nothing but the values it gives back; return the value from loop() and set it after it',
    ],
    [
      'a mutable set in a branch',
      ({ x, y }) =>
        branch(
          x.gt(0),
          () => (y.set(x), x),
          () => 0,
        ),
      'E_CONTROL_FLOW: y.set() is called inside branch(), which changes nothing but the values it gives back; return the value from branch() and set it after it',
    ],
    [
      'an accumulator in a loop',
      ({ x, acc }) => loop(3, x, (_, s) => (acc.add(s), s)),
      'E_CONTROL_FLOW: acc.add() is called inside loop(), which changes nothing but the values it gives back; return the value from loop() and add it after it',
    ],
    [
      'a reduction in a whileLoop',
      ({ x, total }) =>
        whileLoop(
          x,
          (s) => s.gt(0),
          (s) => (total.contribute(s), s),
          { max: 3 },
        ),
      'E_CONTROL_FLOW: total.contribute() is called inside whileLoop(), which changes nothing but the values it gives back; return the value from whileLoop() and contribute it after it',
    ],
    [
      'finishing in a dispatch',
      ({ x, i, done }) => dispatch(i, [() => (done.when(x.gt(0)), x)]),
      'E_CONTROL_FLOW: done.when() is called inside dispatch(), which changes nothing but the values it gives back; return the value from dispatch() and call done.when() after it',
    ],
    [
      'a loop that carries nothing',
      () => loop(3, {}, () => ({})),
      'E_CONTROL_FLOW: loop: the initial state carries nothing; a loop gives back only what it carries',
    ],
    [
      'a carried type that changes',
      ({ i, x }) => loop(3, { k: i }, () => never({ k: x })),
      'E_CONTROL_FLOW: loop: the carried type of s.k changes: it starts as an Index, the body gives back a Scalar; start with the type that the body gives (toFloat(0), toInt(0)), or convert what it gives back',
    ],
    [
      'an integer for a float',
      ({ i, x }) => loop(3, x, () => never(i)),
      'E_CONTROL_FLOW: loop: the carried type of s changes: it starts as a Scalar, the body gives back an Index; start with the type that the body gives (toFloat(0), toInt(0)), or convert what it gives back',
    ],
    [
      'a fraction for an integer',
      ({ i }) => loop(3, [i], () => [0.5]),
      'E_CONTROL_FLOW: loop: the carried type of s[0] changes: it starts as an Index, the body gives back the number 0.5; start with the type that the body gives (toFloat(0), toInt(0)), or convert what it gives back',
    ],
    [
      'a vector for a number',
      ({ x, v }) => loop(3, x, () => never(v)),
      'E_CONTROL_FLOW: loop: the carried type of s changes: it starts as a Scalar, the body gives back a Vector(2); start with the type that the body gives (toFloat(0), toInt(0)), or convert what it gives back',
    ],
    [
      'a key that is lost',
      ({ x }) => loop(3, { a: x, b: x }, (_, s) => never({ a: s.a })),
      'E_CONTROL_FLOW: loop: the carried shape changes: it starts as an object { a, b }, the body gives back an object { a }',
    ],
    [
      'a nested shape that changes',
      ({ x }) => loop(3, { a: [x] }, (_, s) => never({ a: s.a[0] })),
      'E_CONTROL_FLOW: loop: the carried shape changes at .a: it starts as an array of 1, the body gives back one value',
    ],
    [
      'a body that gives nothing',
      ({ x }) => loop(3, x, () => never(undefined)),
      'E_CONTROL_FLOW: loop: the body gives undefined, expected traced values, numbers, or arrays and objects of them',
    ],
    [
      'text that is carried',
      ({ x }) => loop(3, never({ x, name: 'a' }), () => never(0)),
      "E_CONTROL_FLOW: loop: the initial state gives the string 'a' at .name, expected traced values, numbers, or arrays and objects of them",
    ],
    [
      'a table that is carried',
      ({ x, t }) => loop(3, [x, never(t)], () => never(0)),
      'E_CONTROL_FLOW: loop: the initial state gives t (Table(Scalar)), which is no value; use it as t.at(i)',
    ],
    [
      'a negative count',
      ({ x }) => loop(-1, x, (_, s) => s),
      'E_CONTROL_FLOW: loop: the count is -1, expected a whole number from 0 to 2147483647, or an int32 value',
    ],
    [
      'a fractional count',
      ({ x }) => loop(2.5, x, (_, s) => s),
      'E_CONTROL_FLOW: loop: the count is 2.5, expected a whole number from 0 to 2147483647, or an int32 value',
    ],
    [
      'a float as count',
      ({ x }) => loop(never(x), x, (_, s) => s),
      'E_TYPE: loop: found x (Scalar), expected an integer; convert it with toInt()',
    ],
    [
      'a missing body',
      ({ x }) => loop(3, x, never(undefined)),
      'E_CONTROL_FLOW: loop: the body is undefined, expected a function',
    ],
    [
      'an unknown loop option',
      ({ x }) => loop(3, x, (_, s) => s, never({ until: () => true })),
      "E_OPTION: loop: there is no option 'until'; it takes { while }",
    ],
    [
      'a while that gives a number',
      ({ x }) => loop(3, x, (_, s) => s, { while: (s) => never(s) }),
      'E_TYPE: loop condition: found s (Scalar), expected a condition, such as x.gt(0) or i.ne(0)',
    ],
    [
      'a whileLoop without cap',
      ({ x }) =>
        whileLoop(
          x,
          (s) => s.gt(0),
          (s) => s,
          never(undefined),
        ),
      'E_CONTROL_FLOW: whileLoop: the cap is missing; say { max: n }, the most iterations that any sample may take, or { max: Infinity }',
    ],
    [
      'sides of two types',
      ({ x, i }) =>
        branch(
          x.gt(0),
          () => x,
          () => never(i),
        ),
      'E_CONTROL_FLOW: branch: the sides give different types: the first side a Scalar, the second side an Index; convert one with toFloat() or toInt(), or give both one shape',
    ],
    [
      'a nested type that differs',
      ({ x, v }) =>
        branch(
          x.gt(0),
          () => ({ a: x }),
          () => never({ a: v }),
        ),
      'E_CONTROL_FLOW: branch: the sides give different types at .a: the first side a Scalar, the second side a Vector(2); convert one with toFloat() or toInt(), or give both one shape',
    ],
    [
      'sides of two shapes',
      ({ x }) =>
        branch(
          x.gt(0),
          () => [x],
          () => never(x),
        ),
      'E_CONTROL_FLOW: branch: the sides give different shapes: the first side an array of 1, the second side one value',
    ],
    [
      'cases of two shapes',
      ({ x, i }) => dispatch(i, [() => ({ a: x }), () => never({ b: x })]),
      'E_CONTROL_FLOW: dispatch: the sides give different shapes: case 0 an object { a }, case 1 an object { b }',
    ],
    [
      'a side that gives nothing',
      ({ x }) =>
        branch(
          x.gt(0),
          () => never({}),
          () => never({}),
        ),
      'E_CONTROL_FLOW: branch: the first side gives no value',
    ],
    [
      'a side that is no function',
      ({ x }) => branch(x.gt(0), never(x), () => x),
      'E_CONTROL_FLOW: branch: the first side is x (Scalar), expected a function',
    ],
    [
      'a branch on a number',
      ({ x }) =>
        branch(
          never(x),
          () => x,
          () => x,
        ),
      'E_TYPE: branch: found x (Scalar), expected a condition, such as x.gt(0) or i.ne(0)',
    ],
    [
      'a branch on a vector',
      ({ x, v }) =>
        branch(
          never(v.gt(0)),
          () => x,
          () => x,
        ),
      'E_TYPE: branch: found v.gt(0) (Vector(2) of conditions), expected one condition',
    ],
    [
      'a dispatch without cases',
      ({ i }) => dispatch(i, never([])),
      'E_CONTROL_FLOW: dispatch: found no cases, expected an array of functions',
    ],
    [
      'a value that leaves its loop',
      ({ x }) => {
        let kept: unknown
        const r = loop(3, x, (_, s) => (kept = s.add(1)))
        return r.add(never(kept))
      },
      'E_CONTROL_FLOW: add: s.add(1) was made inside loop() and does not exist outside; return it from the function given to loop() to carry it out',
    ],
    [
      'a value of the other side',
      ({ x }) => {
        let kept: unknown
        return branch(
          x.gt(0),
          () => (kept = h.exp(x)) as Scalar,
          () => x.add(never(kept)),
        )
      },
      'E_CONTROL_FLOW: add: exp(x) was made inside branch() and does not exist outside; return it from the function given to branch() to carry it out',
    ],
  ]
  test.each(CASES)('%s', (_, body, message) => {
    const [code, ...text] = message.split(': ')
    expect(refusalOfBody(params, body as never)).toBe(`${code}: kernel 'k': ${text.join(': ')}`)
  })
})
