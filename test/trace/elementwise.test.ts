// Element-wise functions and methods: values against plain JavaScript, types by promotion, literals, shapes.
import { describe, expect, test } from 'vitest'
import * as h from '../../src/trace/index.ts'
import { RULES } from '../../src/trace/elementwise.ts'
import { Index, Matrix, Param, Quat, Scalar, Vector } from '../../src/trace/index.ts'
import { compute, refusalOfBody, traceBody } from './support/evaluate.ts'

const functions = { ...h }

const xs = [-2.5, -1, -0.75, -0, 0, 0.3, 1, 2.5, 100]
const ys = [1.5, -2, 0.75, 3, -0, 0.3, -1, 2, 7]

/** Functions of one float, as plain JavaScript has them. */
const UNARY = {
  neg: (x: number) => -x,
  abs: Math.abs,
  sqrt: Math.sqrt,
  floor: Math.floor,
  ceil: Math.ceil,
  trunc: Math.trunc,
  sign: Math.sign,
  exp: Math.exp,
  expm1: Math.expm1,
  log: Math.log,
  log2: Math.log2,
  log10: Math.log10,
  log1p: Math.log1p,
  cbrt: Math.cbrt,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  asin: Math.asin,
  acos: Math.acos,
  atan: Math.atan,
  sinh: Math.sinh,
  cosh: Math.cosh,
  tanh: Math.tanh,
  asinh: Math.asinh,
  acosh: Math.acosh,
  atanh: Math.atanh,
  exp2: (x: number) => 2 ** x,
  exp10: (x: number) => 10 ** x,
  rsqrt: (x: number) => 1 / Math.sqrt(x),
  round: (x: number) => Math.sign(x) * Math.round(Math.abs(x)),
  rint: (x: number) => (Math.abs(x) === 2.5 ? Math.sign(x) * 2 : Math.round(x)),
  isnan: (x: number) => Number(Number.isNaN(x)),
  isinf: (x: number) => Number(Math.abs(x) === Infinity),
  isfinite: (x: number) => Number(Number.isFinite(x)),
  toInt: (x: number) => Math.trunc(x) + 0,
  toFloat: (x: number) => x,
} as const

const BINARY = {
  add: (x: number, y: number) => x + y,
  sub: (x: number, y: number) => x - y,
  mul: (x: number, y: number) => x * y,
  div: (x: number, y: number) => x / y,
  pow: (x: number, y: number) => x ** y,
  min: Math.min,
  max: Math.max,
  hypot: Math.hypot,
  atan2: Math.atan2,
  fmod: (x: number, y: number) => x % y,
  mod: (x: number, y: number) => x - y * Math.floor(x / y),
  fdim: (x: number, y: number) => Math.max(x - y, 0),
  copysign: (x: number, y: number) => (Object.is(Math.abs(y), y) ? Math.abs(x) : -Math.abs(x)),
  remainder: (x: number, y: number) =>
    x - y * (Math.abs(x / y - Math.trunc(x / y)) === 0.5 ? 2 * Math.round(x / y / 2) : Math.round(x / y)),
  lt: (x: number, y: number) => Number(x < y),
  le: (x: number, y: number) => Number(x <= y),
  gt: (x: number, y: number) => Number(x > y),
  ge: (x: number, y: number) => Number(x >= y),
  eq: (x: number, y: number) => Number(x === y),
  ne: (x: number, y: number) => Number(x !== y),
} as const

const expectClose = (found: readonly number[], expected: readonly number[]) =>
  found.forEach((value, k) => {
    const wanted = expected[k]!
    if (Number.isNaN(wanted) || !Number.isFinite(wanted)) expect(value).toBe(wanted)
    else expect(Math.abs(value - wanted)).toBeLessThanOrEqual(4e-16 * Math.abs(wanted))
  })

describe('values', () => {
  test.each(Object.entries(UNARY))('%s of a float', (name, plain) => {
    const f = functions[name as keyof typeof UNARY]
    expectClose(
      compute({ x: Scalar }, ({ x }) => f(x), { x: xs }, xs.length),
      xs.map(plain),
    )
  })

  test.each(Object.entries(BINARY))('%s of two floats', (name, plain) => {
    const f = functions[name as keyof typeof BINARY]
    const found = compute({ x: Scalar, y: Scalar }, ({ x, y }) => f(x, y), { x: xs, y: ys }, xs.length)
    expectClose(
      found,
      xs.map((x, k) => plain(x, ys[k]!)),
    )
  })

  test('special functions are the ops of their names', () => {
    for (const name of ['erf', 'erfc', 'lgamma', 'gamma'] as const) {
      const { graph } = traceBody({ x: Scalar }, ({ x }) => ({ y: functions[name](x) }))
      expect(graph.body.nodes.map(({ op }) => op)).toEqual(['load', name, 'store'])
    }
  })

  test('every rule of the table is a public function, and methods give what functions give', () => {
    const missing = Object.keys(RULES).filter((name) => typeof functions[name as keyof typeof RULES] !== 'function')
    expect(missing).toEqual([])
    for (const name of ['add', 'sub', 'mul', 'div', 'pow', 'lt', 'le', 'gt', 'ge', 'eq', 'ne'] as const) {
      const k = traceBody({ x: Scalar, y: Scalar }, ({ x, y }) => ({ method: x[name](y), free: functions[name](x, y) }))
      const [a, b] = k.graph.body.nodes.filter((node) => node.op === 'store')
      expect(a!.operands[0]).toBe(b!.operands[0])
    }
  })

  test('clip, fma, where, three operands', () => {
    expect(compute({ x: Scalar }, ({ x }) => h.clip(x, -1, 2), { x: xs }, xs.length)).toEqual(
      xs.map((x) => Math.min(Math.max(x, -1), 2)),
    )
    expect(compute({ x: Scalar }, ({ x }) => h.fma(x, x, -6.25), { x: [2.5, 3] }, 2)).toEqual([0, 2.75])
    expect(compute({ x: Scalar }, ({ x }) => h.where(x.gt(0), x, x.neg()), { x: xs }, xs.length)).toEqual(
      xs.map((x) => (x > 0 ? x : -x)),
    )
  })

  test('where does not leak a NaN of the side not taken', () => {
    expect(compute({ x: Scalar }, ({ x }) => h.where(x.ge(0), h.sqrt(x), 0), { x: [4, -4, 0] }, 3)).toEqual([2, 0, 0])
  })

  test('and, or, not, discard', () => {
    const body = ({ x }: { x: Scalar }) => {
      h.discard(x.gt(5))
      return h.or(h.and(x.gt(0), x.lt(1)), x.eq(2).and(x.ne(3)).or(false)).not()
    }
    expect(compute({ x: Scalar }, body, { x: [0.5, 1, 2] }, 3)).toEqual([0, 1, 0])
  })
})

/** Element type of the only output. */
const typeOf = (body: (p: { x: Scalar; i: Index; c: h.Condition }) => unknown) =>
  traceBody({ x: Scalar, i: Index }, ({ x, i }) => body({ x, i, c: x.gt(0) })).outputs[0]!.head.type

describe('promotion', () => {
  const CASES: readonly (readonly [
    string,
    'f64' | 'i32' | 'bool',
    (p: { x: Scalar; i: Index; c: h.Condition }) => unknown,
  ])[] = [
    ['i + x', 'f64', ({ x, i, c }) => (h.discard(c), i.add(x))],
    ['i + i', 'i32', ({ i, c }) => (h.discard(c), i.add(i))],
    ['i + 1', 'i32', ({ i, c }) => (h.discard(c), i.add(1))],
    ['1 + i', 'i32', ({ i, c }) => (h.discard(c), h.add(1, i))],
    ['i + 1.5', 'f64', ({ i, c }) => (h.discard(c), i.add(1.5))],
    ['i + NaN', 'f64', ({ i, c }) => (h.discard(c), i.add(NaN))],
    ['i / i', 'f64', ({ i, c }) => (h.discard(c), i.div(i))],
    ['pow(i, 2)', 'f64', ({ i, c }) => (h.discard(c), i.pow(2))],
    ['c + c', 'i32', ({ c }) => h.add(c, c)],
    ['c + i', 'i32', ({ c, i }) => h.add(c, i)],
    ['c + 1', 'f64', ({ c }) => h.add(c, 1)],
    ['c + x', 'f64', ({ c, x }) => h.add(c, x)],
    ['where(c, 1, 0)', 'f64', ({ c }) => h.where(c, 1, 0)],
    ['where(c, i, 0)', 'i32', ({ c, i }) => h.where(c, i, 0)],
    ['where(c, i, 0.5)', 'f64', ({ c, i }) => h.where(c, i, 0.5)],
    ['where(c, c, false)', 'bool', ({ c }) => h.where(c, c, false)],
    ['where(c, c, i)', 'i32', ({ c, i }) => h.where(c, c, i)],
    ['add(1, 2)', 'f64', ({ c }) => (h.discard(c), h.add(1, 2))],
    ['min(i, 3)', 'i32', ({ c, i }) => (h.discard(c), h.min(i, 3))],
    ['neg(i)', 'i32', ({ c, i }) => (h.discard(c), h.neg(i))],
    ['exp(i)', 'f64', ({ c, i }) => (h.discard(c), h.exp(i))],
    ['mod(i, 3)', 'i32', ({ c, i }) => (h.discard(c), h.mod(i, 3))],
    ['mod(x, 3)', 'f64', ({ c, x }) => (h.discard(c), h.mod(x, 3))],
    ['idiv(7, 2)', 'i32', ({ c }) => (h.discard(c), h.idiv(7, 2))],
    ['floorDiv(i, 2)', 'i32', ({ c, i }) => (h.discard(c), h.floorDiv(i, 2))],
    ['toInt(x)', 'i32', ({ c, x }) => (h.discard(c), h.toInt(x))],
    ['toFloat(i)', 'f64', ({ c, i }) => (h.discard(c), h.toFloat(i))],
    ['toInt(c)', 'i32', ({ c }) => h.toInt(c)],
    ['eq(i, 1)', 'bool', ({ c, i }) => (h.discard(c), h.eq(i, 1))],
    ['eq(c, true)', 'bool', ({ c }) => h.eq(c, true)],
    ['true', 'bool', ({ c }) => (h.discard(c), { on: true })],
    ['3', 'f64', ({ c }) => (h.discard(c), { three: 3 })],
  ]
  test.each(CASES)('%s is %s', (_, type, body) => expect(typeOf(body)).toBe(type))

  test('integers wrap, divide, and convert as defined', () => {
    const at = (body: (p: { i: Index }) => unknown, i: number) => compute({ i: Index }, body as never, { i: [i] })[0]
    expect(at(({ i }) => i.add(1), 2147483647)).toBe(-2147483648)
    expect(at(({ i }) => h.idiv(i, 2), -7)).toBe(-3)
    expect(at(({ i }) => h.floorDiv(i, 2), -7)).toBe(-4)
    expect(at(({ i }) => h.mod(i, 3), -7)).toBe(2)
    expect(at(({ i }) => h.idiv(i, 0), -7)).toBe(0)
    expect(at(({ i }) => i.div(2), -7)).toBe(-3.5)
    expect(at(({ i }) => i.add(-0), -7)).toBe(-7)
  })

  test('Param and Scalar are floats alike', () => {
    expect(compute({ x: Scalar, a: Param }, ({ x, a }) => x.mul(a), { x: [1, 2], a: 2.5 }, 2)).toEqual([2.5, 5])
  })
})

describe('shapes', () => {
  test('vectors and matrices, element by element, beside one number', () => {
    const params = { v: Vector(3), m: Matrix(2, 2), x: Scalar }
    const inputs = { v: [1, 2, 3], m: [1, 2, 3, 4], x: [10] }
    expect(compute(params, ({ v }) => v.mul(v).sub(1), inputs)).toEqual([0, 3, 8])
    expect(compute(params, ({ v, x }) => x.sub(v), inputs)).toEqual([9, 8, 7])
    expect(compute(params, ({ m, x }) => h.max(m, 2).add(x), inputs)).toEqual([12, 12, 13, 14])
    expect(compute(params, ({ v }) => h.exp(h.log(v)).lt(2.5), inputs)).toEqual([1, 1, 0])
  })

  test('a vector of conditions selects component by component', () => {
    const params = { v: Vector(3), w: Vector(3) }
    const inputs = { v: [1, 5, 3], w: [4, 2, 6] }
    expect(compute(params, ({ v, w }) => h.where(v.gt(w), v, 0), inputs)).toEqual([0, 5, 0])
    expect(compute(params, ({ v, w }) => h.where(v.x.gt(w.x), v, w), inputs)).toEqual([4, 2, 6])
  })

  test('quaternions keep their tag through add, sub, neg, scaling and where', () => {
    const heads = traceBody({ q: Quat, p: Quat, x: Scalar }, ({ q, p, x }) => ({
      sum: q.add(p),
      difference: q.sub(p),
      negative: q.neg(),
      scaled: q.mul(x),
      scaledFirst: h.mul(x, q),
      quotient: q.div(2),
      chosen: h.where(x.gt(0), q, p),
    })).outputs.map(({ head }) => head.quaternion)
    expect(heads).toEqual(Array.from({ length: 7 }, () => true))
  })
})

describe('refusals', () => {
  const params = { x: Scalar, i: Index, v: Vector(3), w: Vector(2), m: Matrix(2, 2), q: Quat }
  type Values = { x: Scalar; i: Index; v: Vector<3>; w: Vector<2>; m: Matrix<2, 2>; q: Quat }
  const CASES: readonly (readonly [string, (p: Values) => unknown, string])[] = [
    [
      'widths',
      ({ v, w }) => v.add(w as never),
      'E_TYPE: add: Vector(3) and Vector(2) do not fit; operands have equal shapes, or are one number',
    ],
    [
      'vector and matrix',
      ({ v, m }) => h.mul(v, m as never),
      'E_TYPE: mul: Vector(3) and Matrix(2, 2) do not fit; operands have equal shapes, or are one number',
    ],
    [
      'undefined',
      ({ x }) => x.add(undefined as never),
      'E_TYPE: add: operand 2 is undefined, expected a number or a traced value',
    ],
    [
      'text',
      () => h.exp('2' as never),
      "E_TYPE: exp: operand 1 is the string '2', expected a number or a traced value",
    ],
    [
      'a BigInt',
      ({ i }) => i.add(1n as never),
      'E_TYPE: add: operand 2 is the BigInt 1n, expected a number or a traced value',
    ],
    [
      'a plain array',
      ({ v }) => v.add([1, 2, 3] as never),
      'E_TYPE: add: operand 2 is an array, expected a number or a traced value',
    ],
    [
      'too many operands',
      () => (h.min as (...all: number[]) => unknown)(1, 2, 3),
      'E_TYPE: min: takes 2 operands, found 3',
    ],
    ['too few operands', ({ x }) => (x.add as () => unknown)(), 'E_TYPE: add: takes 1 operand, found 0'],
    [
      'a float as integer',
      ({ x }) => h.idiv(x as unknown as Index, 2),
      'E_TYPE: idiv: found x (Scalar), expected an integer; convert it with toInt()',
    ],
    ['a fraction as integer', ({ i }) => h.idiv(i, 2.5), 'E_TYPE: idiv: found 2.5, expected a whole number'],
    [
      'a number as condition',
      ({ x }) => h.and(x as never, true),
      'E_TYPE: and: found x (Scalar), expected a condition, such as x.gt(0) or i.ne(0)',
    ],
    [
      'where without condition',
      ({ x }) => h.where(1 as never, x, 0),
      'E_TYPE: where: found 1, expected a condition, such as x.gt(0) or i.ne(0)',
    ],
    [
      'a literal beyond int32',
      ({ i }) => i.mul(3e9),
      'E_TYPE: mul: 3000000000 does not fit an int32, the type of the values beside it; convert those with toFloat() to compute in floats',
    ],
    [
      'quaternion times quaternion',
      ({ q }) => q.mul(q as never),
      'E_TYPE: mul: a Quat is not a list of numbers here; use quatMul(p, q)',
    ],
    [
      'number over quaternion',
      ({ q, x }) => h.div(x, q),
      'E_TYPE: div: a Quat is not a list of numbers here; use quatMul(p, quatRecip(q))',
    ],
    [
      'quaternion plus number',
      ({ q }) => h.add(q, 1 as never),
      'E_TYPE: add: a Quat is not a list of numbers here; both operands must be quaternions; asPure(v) makes one of a vector',
    ],
    [
      'exp of a quaternion',
      ({ q }) => h.exp(q),
      'E_TYPE: exp: a Quat is not a list of numbers here; use its components q.w, q.x, q.y, q.z',
    ],
    ['abs of a quaternion', ({ q }) => h.abs(q), 'E_TYPE: abs: a Quat is not a list of numbers here; use norm(q)'],
  ]
  test.each(CASES)('%s', (_, body, message) => {
    const [code, ...text] = message.split(': ')
    expect(refusalOfBody(params, body as never)).toBe(`${code}: kernel 'k': ${text.join(': ')}`)
  })
})
