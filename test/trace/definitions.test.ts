// What a definition refuses: parameters, options, bodies that are no plain functions, what a body returns, `options.returns`.
import { describe, expect, test } from 'vitest'
import {
  Condition,
  Index,
  Matrix,
  Mutable,
  Param,
  Quat,
  Reduce,
  Scalar,
  sampleIndex,
  Terminated,
  Vector,
} from '../../src/trace/index.ts'
import * as h from '../../src/trace/index.ts'
import { trace } from '../../src/trace/trace.ts'
import { compute, refusalOf, refusalOfBody, traceBody } from './support/evaluate.ts'

const keep = () => ({ y: sampleIndex() })
const refusalOfParams = (params: unknown) => refusalOf(() => trace('bad', params, keep))

describe('parameters', () => {
  const CASES: readonly (readonly [unknown, string])[] = [
    [
      undefined,
      "E_DEFINITION: kernel 'bad': params is undefined, expected an object from parameter names to kinds, as in { x: Scalar }",
    ],
    [
      [Scalar],
      "E_DEFINITION: kernel 'bad': params is an array, expected an object from parameter names to kinds, as in { x: Scalar }",
    ],
    [{ x: 2 }, "E_DEFINITION: kernel 'bad': parameter 'x' is 2, expected a kind such as Scalar"],
    [{ x: Number }, "E_DEFINITION: kernel 'bad': parameter 'x' is the function Number, expected a kind such as Scalar"],
    [
      { x: Vector },
      "E_DEFINITION: kernel 'bad': parameter 'x' is the function Vector, expected a kind such as Scalar; call it, as in Vector(3)",
    ],
    [
      { x: Matrix },
      "E_DEFINITION: kernel 'bad': parameter 'x' is the function Matrix, expected a kind such as Scalar; call it, as in Matrix(2, 3)",
    ],
    [
      { x: Mutable },
      "E_DEFINITION: kernel 'bad': parameter 'x' is the function Mutable, expected a kind such as Scalar; call it, as in Mutable(Scalar)",
    ],
    [
      { x: Condition },
      "E_DEFINITION: kernel 'bad': parameter 'x' is a Condition, which no plane holds; take an Index and compare it, as in x.ne(0)",
    ],
    [
      { 0: Scalar },
      "E_NAME: kernel 'bad': parameter '0' is a whole number, which JavaScript would move before the other keys; use another name (p0)",
    ],
    [
      { 'a-b': Scalar },
      "E_NAME: kernel 'bad': parameter 'a-b' has no valid name; names are letters, digits and _, not starting with a digit",
    ],
    [
      Object.fromEntries([['__proto__', Scalar]]),
      "E_NAME: kernel 'bad': parameter '__proto__' has no valid name; names are letters, digits and _, not starting with a digit",
    ],
    [
      { buffer: Scalar },
      "E_NAME: kernel 'bad': a parameter cannot be called 'buffer': it names the array that an output is written to when kernels are chained in a graph; use another name (buffer_in)",
    ],
    [
      { data: Scalar, shape: Scalar },
      "E_NAME: kernel 'bad': parameters 'data' and 'shape' together make a by-name call look like one array; use another name for one of them",
    ],
    [
      { a: Terminated, b: Terminated },
      "E_DEFINITION: kernel 'bad': parameters 'a' and 'b' are both Terminated; a kernel has one finished mask",
    ],
  ]
  test.each(CASES)('%o', (params, message) => expect(refusalOfParams(params)).toBe(message))

  test('data or shape alone are names like any other', () => {
    expect(traceBody({ data: Scalar }, ({ data }) => data.add(1)).parameters[0]!.name).toBe('data')
    expect(traceBody({ shape: Scalar }, ({ shape }) => shape.add(1)).parameters[0]!.name).toBe('shape')
  })

  test('none, without sampleIndex()', () => {
    expect(refusalOfBody({}, () => ({ y: 1 }))).toBe(
      "E_DEFINITION: kernel 'k': it has no parameters and does not use sampleIndex(), so that every sample would be equal; declare a parameter",
    )
    expect(trace('k', {}, keep).parameters).toEqual([])
  })
})

describe('options', () => {
  const CASES: readonly (readonly [unknown, string])[] = [
    [3, "E_OPTION: kernel 'k': the options are 3, expected { returns, math, doc }"],
    [{ threads: 2 }, "E_OPTION: kernel 'k': there is no option 'threads'; a definition takes returns, math, doc"],
    [{ math: 'fast' }, "E_OPTION: kernel 'k': math is the string 'fast', expected 'strict' or 'contract'"],
    [{ doc: 3 }, "E_OPTION: kernel 'k': doc is 3, expected a string"],
    [
      { returns: Param },
      "E_OPTION: kernel 'k': returns Param holds Param, expected Scalar, Index, Condition, Vector(W), Quat, Matrix(R, C) or Reduce(op), or arrays and objects of them",
    ],
    [
      { returns: 'Scalar' },
      "E_OPTION: kernel 'k': returns the string 'Scalar' holds the string 'Scalar', expected Scalar, Index, Condition, Vector(W), Quat, Matrix(R, C) or Reduce(op), or arrays and objects of them",
    ],
  ]
  test.each(CASES)('%o', (options, message) => {
    expect(refusalOfBody({ x: Scalar }, ({ x }: { x: Scalar }) => x.add(1), options)).toBe(message)
  })

  test('are kept', () => {
    const kernel = traceBody({ x: Scalar }, ({ x }) => x.add(1), { math: 'contract', doc: 'Adds one.' })
    expect(kernel).toMatchObject({ math: 'contract', doc: 'Adds one.' })
    expect(traceBody({ x: Scalar }, ({ x }) => x.add(1)).math).toBe('strict')
  })
})

class P {
  greet() {
    return 'P'
  }
}
class Point {
  readonly x = 1
  readonly y = 2
}

describe('bodies and what they return', () => {
  type X = { x: Scalar }
  const CASES: readonly (readonly [string, unknown, string])[] = [
    ['no function', 3, 'E_DEFINITION: the body is 3, expected a function of the parameters, as in ({ x }) => x.mul(2)'],
    [
      'a class',
      class Body {
        readonly y = 1
      },
      'E_DEFINITION: the body is a class; make it a plain function that returns what one sample gives',
    ],
    [
      'an async function',
      async ({ x }: X) => x.add(1),
      'E_DEFINITION: the body returned a Promise; it runs once, while the kernel is defined, and cannot be async — make it a plain function',
    ],
    [
      'a function that gives a Promise',
      () => Promise.resolve(1),
      'E_DEFINITION: the body returned a Promise; it runs once, while the kernel is defined, and cannot be async — make it a plain function',
    ],
    [
      'a generator',
      function* ({ x }: X) {
        yield x
      },
      'E_DEFINITION: the body returned an iterator; it runs once, while the kernel is defined, and cannot be a generator — make it a plain function',
    ],
    [
      'an instance',
      () => new P(),
      'E_RETURN: the body returned P P(), not a traced value; a class instance is not supported — return a value, an array or an object of them',
    ],
    [
      'an instance inside',
      ({ x }: X) => ({ a: [x.add(1), new Point()] }),
      'E_RETURN: the body returned Point Point(x: 1, y: 2) at .a[1], not a traced value; a class instance is not supported — return a value, an array or an object of them',
    ],
    [
      'a typed array',
      () => new Float64Array(0),
      'E_RETURN: the body returned Float64Array Float64Array(), not a traced value; a class instance is not supported — return a value, an array or an object of them',
    ],
    [
      'a Map',
      () => new Map(),
      'E_RETURN: the body returned Map Map(), not a traced value; a class instance is not supported — return a value, an array or an object of them',
    ],
    [
      'text',
      () => 'abc',
      "E_RETURN: the body returned the string 'abc', not a traced value — return a value, an array or an object of them",
    ],
    [
      'null',
      () => null,
      'E_RETURN: the body returned null, not a traced value — return a value, an array or an object of them',
    ],
    [
      'undefined inside',
      ({ x }: X) => ({ a: x.add(1), b: undefined }),
      'E_RETURN: the body returned undefined at .b, not a traced value — return a value, an array or an object of them',
    ],
    [
      'a function',
      () => Math.sin,
      'E_RETURN: the body returned the function sin, not a traced value — return a value, an array or an object of them',
    ],
    [
      'a BigInt',
      () => 1n,
      'E_RETURN: the body returned the BigInt 1n, not a traced value — return a value, an array or an object of them',
    ],
    [
      'something that contains itself',
      () => {
        const a: unknown[] = []
        a.push(a)
        return a
      },
      'E_RETURN: the body returned an array that contains itself at [0] — return a value, an array or an object of them',
    ],
    [
      'nothing',
      () => undefined,
      'E_DEFINITION: the body returned nothing and writes to nothing; return a value, or declare a Mutable, Accum, Reduce or Terminated and write to it',
    ],
    [
      'an empty object',
      () => ({}),
      'E_DEFINITION: the body returned no value and writes to nothing; return a value, or declare a Mutable, Accum, Reduce or Terminated and write to it',
    ],
  ]
  test.each(CASES)('%s', (_, body, message) => {
    const [code, ...text] = message.split(': ')
    expect(refusalOfBody({ x: Scalar }, body as never)).toBe(`${code}: kernel 'k': ${text.join(': ')}`)
  })

  test('an async body that fails leaves no unhandled rejection', async () => {
    const rejections: unknown[] = []
    const note = (reason: unknown) => rejections.push(reason)
    process.on('unhandledRejection', note)
    refusalOfBody({ x: Scalar }, async () => {
      throw new Error('later')
    })
    await new Promise((resolve) => setTimeout(resolve, 5))
    process.off('unhandledRejection', note)
    expect(rejections).toEqual([])
  })

  test('an error of the body’s own comes out as it is, and the next definition works', () => {
    const own = new Error('mine')
    expect(() =>
      traceBody({ x: Scalar }, () => {
        throw own
      }),
    ).toThrow(own)
    expect(() => h.sampleIndex()).toThrow('outside a kernel body')
    expect(compute({ x: Scalar }, ({ x }) => x.add(1), { x: [1] })).toEqual([2])
  })

  test('captured numbers are constants', () => {
    const scaleBy =
      (factor: number) =>
      ({ x }: X) =>
        x.mul(factor)
    expect(compute({ x: Scalar }, scaleBy(3), { x: [2] })).toEqual([6])
    expect(compute({ x: Scalar }, scaleBy(4), { x: [2] })).toEqual([8])
  })

  test('JavaScript loops and conditions on plain numbers run while tracing', () => {
    const body = ({ x }: X) => {
      let sum: Scalar = x
      for (let k = 0; k < 4; k++) sum = k % 2 === 0 ? sum.add(k) : sum.mul(2)
      return sum
    }
    expect(compute({ x: Scalar }, body, { x: [1] })).toEqual([((1 + 0) * 2 + 2) * 2])
  })
})

describe('values outside their body', () => {
  test('outside of any body', () => {
    expect(refusalOf(() => h.exp(1))).toBe(
      'E_DEFINITION: exp() was called outside a kernel body; it records an operation of the kernel that is being defined, so call it inside the function given to kernel()',
    )
    let kept!: Scalar
    traceBody({ x: Scalar }, ({ x }) => (kept = x.add(1)))
    expect(refusalOf(() => kept.add(1))).toBe(
      "E_DEFINITION: add: x.add(1) belongs to kernel 'k'; a traced value exists only inside the body that made it",
    )
  })

  test('in another body', () => {
    const message = refusalOf(() =>
      traceBody({ x: Scalar }, ({ x }) => {
        trace('inner', { y: Scalar }, ({ y }: { y: Scalar }) => y.add(x))
        return x.add(1)
      }),
    )
    expect(message).toBe(
      "E_DEFINITION: add: x belongs to kernel 'k'; a traced value exists only inside the body that made it",
    )
  })
})

describe('options.returns', () => {
  const params = { x: Scalar, i: Index, v: Vector(3), q: Quat }
  type Values = { x: Scalar; i: Index; v: Vector<3>; q: Quat }
  const FITS: readonly (readonly [unknown, (p: Values) => unknown])[] = [
    [Scalar, ({ x }) => x.add(1)],
    [Index, ({ i }) => i.add(1)],
    [Condition, ({ x }) => x.gt(0)],
    [Vector(3), ({ v }) => v.add(1)],
    [Quat, ({ q }) => q.neg()],
    [[Scalar, Scalar], ({ x }) => [x.add(1), 2]],
    [{ up: Scalar, rest: [Vector(3), Condition] }, ({ x, v }) => ({ rest: [v.add(1), true], up: x.add(1) })],
  ]
  test.each(FITS)('%# fits', (returns, body) => {
    expect(traceBody(params, body, { returns: returns as never }).outputs.length).toBeGreaterThan(0)
  })

  const CASES: readonly (readonly [unknown, (p: Values) => unknown, string])[] = [
    [
      [Scalar, Scalar],
      ({ x }) => x.add(1),
      'returns [Scalar, Scalar] declares a tuple, but the body returned a Scalar',
    ],
    [Scalar, ({ x }) => [x.add(1)], 'returns Scalar declares a Scalar, but the body returned a tuple'],
    [Scalar, ({ x }) => ({ up: x.add(1) }), 'returns Scalar declares a Scalar, but the body returned an object'],
    [Scalar, ({ i }) => i.add(1), 'returns Scalar declares a Scalar, but the body returned an Index'],
    [Scalar, ({ x }) => x.gt(0), 'returns Scalar declares a Scalar, but the body returned a condition'],
    [Vector(4), ({ v }) => v.add(1), 'returns Vector(4) declares a Vector(4), but the body returned a Vector(3)'],
    [Vector(4), ({ q }) => q.neg(), 'returns Vector(4) declares a Vector(4), but the body returned a Quat'],
    [Condition, ({ x }) => x.add(1), 'returns Condition declares a condition, but the body returned a Scalar'],
    [
      [Scalar, Scalar],
      ({ x }) => [x.add(1)],
      'returns [Scalar, Scalar] declares a tuple of 2, but the body returned a tuple of 1',
    ],
    [
      { up: Scalar },
      ({ x }) => ({ down: x.add(1) }),
      "returns { up: Scalar } declares a key 'up', but the body returned an object without it",
    ],
    [
      { up: Scalar },
      ({ x }) => ({ up: x.add(1), down: x.sub(1) }),
      "returns { up: Scalar } declares no key 'down', but the body returned an object with it",
    ],
    [
      { a: [Scalar, Index] },
      ({ x }) => ({ a: [x.add(1), x.sub(1)] }),
      'returns { a: [Scalar, Index] } declares an Index at .a[1], but the body returned a Scalar there',
    ],
  ]
  test.each(CASES)('%#: %o', (returns, body, message) => {
    expect(refusalOfBody(params, body as never, { returns })).toBe(`E_RETURN: kernel 'k': ${message}`)
  })

  test('nothing and reductions', () => {
    const own = { x: Scalar, y: Mutable(Scalar), total: Reduce('sum') }
    const body = ({ x, y, total }: { x: Scalar; y: Mutable<Scalar>; total: Reduce<Scalar> }) => {
      y.set(x)
      total.contribute(x)
    }
    expect(refusalOfBody(own, body as never, { returns: Scalar })).toBe(
      "E_RETURN: kernel 'k': returns Scalar declares a Scalar, but the body returned nothing",
    )
    const returning = (p: { x: Scalar; y: Mutable<Scalar>; total: Reduce<Scalar> }) => (body(p), { total: p.total })
    expect(traceBody(own, returning, { returns: { total: Reduce('sum') } }).outputNames).toEqual(['total'])
    expect(refusalOfBody(own, returning as never, { returns: { total: Scalar } })).toBe(
      "E_RETURN: kernel 'k': returns { total: Scalar } declares a Scalar at .total, but the body returned a Reduce('sum') there",
    )
  })
})
