// Special values, C99 Annex F with the exceptions that ops.ts names: what each function gives at zeros, ones, infinities, NaN and the
// ends of the range, in f64 and f32, with FMA and without.
import { expect, test } from 'vitest'
import { unaryOps } from './support/functions.ts'
import { LOWERING_TARGETS, throughInterpreter } from './support/evaluate.ts'
import { sameBits } from '../support/values.ts'
import type { PlainOp } from '../../src/ir/ops.ts'
import type { FloatType } from '../../src/ir/types.ts'

const inf = Infinity
const nan = NaN

/** Arguments of the unary table, in order. */
const ARGUMENTS = [0, -0, 1, -1, inf, -inf, nan] as const
const E = Math.E
const HALF_PI = Math.PI / 2

/** What is written as a number must come out to the bit; `around` where only the neighbourhood is known in decimal. */
type Expected = number | { readonly around: number }
const around = (x: number): Expected => ({ around: x })

const UNARY: Partial<Record<PlainOp, readonly Expected[]>> = {
  sqrt: [0, -0, 1, nan, inf, nan, nan],
  exp: [1, 1, around(E), around(1 / E), inf, 0, nan],
  exp2: [1, 1, 2, 0.5, inf, 0, nan],
  exp10: [1, 1, 10, around(0.1), inf, 0, nan],
  expm1: [0, -0, around(E - 1), around(1 / E - 1), inf, -1, nan],
  log: [-inf, -inf, 0, nan, inf, nan, nan],
  log2: [-inf, -inf, 0, nan, inf, nan, nan],
  log10: [-inf, -inf, 0, nan, inf, nan, nan],
  log1p: [0, -0, around(Math.LN2), -inf, inf, nan, nan],
  rsqrt: [inf, -inf, 1, nan, 0, nan, nan],
  cbrt: [0, -0, 1, -1, inf, -inf, nan],
  sin: [0, -0, around(0.8414709848078965), around(-0.8414709848078965), nan, nan, nan],
  cos: [1, 1, around(0.5403023058681398), around(0.5403023058681398), nan, nan, nan],
  tan: [0, -0, around(1.5574077246549023), around(-1.5574077246549023), nan, nan, nan],
  asin: [0, -0, around(HALF_PI), around(-HALF_PI), nan, nan, nan],
  acos: [around(HALF_PI), around(HALF_PI), 0, around(Math.PI), nan, nan, nan],
  atan: [0, -0, around(HALF_PI / 2), around(-HALF_PI / 2), around(HALF_PI), around(-HALF_PI), nan],
  sinh: [0, -0, around((E - 1 / E) / 2), around((1 / E - E) / 2), inf, -inf, nan],
  cosh: [1, 1, around((E + 1 / E) / 2), around((E + 1 / E) / 2), inf, inf, nan],
  tanh: [0, -0, around(0.7615941559557649), around(-0.7615941559557649), 1, -1, nan],
  asinh: [0, -0, around(0.881373587019543), around(-0.881373587019543), inf, -inf, nan],
  acosh: [nan, nan, 0, nan, inf, nan, nan],
  atanh: [0, -0, inf, -inf, nan, nan, nan],
  erf: [0, -0, around(0.8427007929497149), around(-0.8427007929497149), 1, -1, nan],
  erfc: [1, 1, around(0.15729920705028513), around(1.842700792949715), 0, 2, nan],
  lgamma: [inf, inf, 0, inf, inf, inf, nan],
  gamma: [inf, -inf, 1, nan, inf, nan, nan],
  round: [0, -0, 1, -1, inf, -inf, nan],
  sign: [0, -0, 1, -1, 1, -1, nan],
  isnan: [0, 0, 0, 0, 0, 0, 1],
  isinf: [0, 0, 0, 0, 1, 1, 0],
  isfinite: [1, 1, 1, 1, 0, 0, 0],
}

/** Functions f with f(x) = x for the smallest subnormal numbers, and those that vanish like c·x are told by their factor. */
const IDENTITY_NEAR_0: readonly PlainOp[] = [
  'expm1',
  'log1p',
  'sin',
  'tan',
  'asin',
  'atan',
  'sinh',
  'tanh',
  'asinh',
  'atanh',
]

/** At the largest number and its negative. */
const AT_LARGEST: Partial<Record<PlainOp, readonly [Expected, Expected]>> = {
  exp: [inf, 0],
  exp2: [inf, 0],
  exp10: [inf, 0],
  expm1: [inf, -1],
  atan: [around(HALF_PI), around(-HALF_PI)],
  tanh: [1, -1],
  sinh: [inf, -inf],
  cosh: [inf, inf],
  erf: [1, -1],
  erfc: [0, 2],
  gamma: [inf, nan],
  lgamma: [inf, inf],
  acosh: [around(1), nan],
}

const BINARY: readonly (readonly [PlainOp, number, number, Expected])[] = [
  ...[0, -0].flatMap((y) => [0, -0, 1, -2, inf, -inf, nan].map((x) => ['pow', x, y, 1] as const)),
  ...[0, 1, -3, inf, -inf, nan].map((y) => ['pow', 1, y, 1] as const),
  ['pow', -1, inf, 1],
  ['pow', -1, -inf, 1],
  ['pow', 0, 3, 0],
  ['pow', -0, 3, -0],
  ['pow', 0, 2.5, 0],
  ['pow', -0, 2, 0],
  ['pow', 0, -3, inf],
  ['pow', -0, -3, -inf],
  ['pow', -0, -2, inf],
  ['pow', 0, -2.5, inf],
  ['pow', 0, -inf, inf],
  ['pow', -0, inf, 0],
  ['pow', -2, 0.5, nan],
  ['pow', -2, 3, -8],
  ['pow', -2, 4, 16],
  ['pow', -2, -1, -0.5],
  ['pow', 0.5, inf, 0],
  ['pow', 0.5, -inf, inf],
  ['pow', 2, inf, inf],
  ['pow', 2, -inf, 0],
  ['pow', -2, inf, inf],
  ['pow', -0.5, inf, 0],
  ['pow', inf, 2, inf],
  ['pow', inf, -2, 0],
  ['pow', -inf, 3, -inf],
  ['pow', -inf, 2, inf],
  ['pow', -inf, 0.5, inf],
  ['pow', -inf, -3, -0],
  ['pow', -inf, -2, 0],
  ['pow', nan, 1, nan],
  ['pow', 2, nan, nan],
  ['pow', -1, 2 ** 24, 1],
  ['pow', 10, 2, 100],
  ['atan2', 0, 0, 0],
  ['atan2', -0, 0, -0],
  ['atan2', 0, -0, around(Math.PI)],
  ['atan2', -0, -0, around(-Math.PI)],
  ['atan2', 0, -1, around(Math.PI)],
  ['atan2', -0, -1, around(-Math.PI)],
  ['atan2', 0, 1, 0],
  ['atan2', -0, 1, -0],
  ['atan2', 1, 0, around(HALF_PI)],
  ['atan2', -1, -0, around(-HALF_PI)],
  ['atan2', inf, inf, around(Math.PI / 4)],
  ['atan2', inf, -inf, around((3 * Math.PI) / 4)],
  ['atan2', -inf, inf, around(-Math.PI / 4)],
  ['atan2', -inf, -inf, around((-3 * Math.PI) / 4)],
  ['atan2', 1, inf, 0],
  ['atan2', -1, inf, -0],
  ['atan2', 1, -inf, around(Math.PI)],
  ['atan2', -1, -inf, around(-Math.PI)],
  ['atan2', inf, 1, around(HALF_PI)],
  ['atan2', -inf, -1, around(-HALF_PI)],
  ['atan2', nan, 1, nan],
  ['atan2', 1, nan, nan],
  ['atan2', nan, inf, nan],
  ['atan2', inf, nan, nan],
  ['hypot', inf, nan, inf],
  ['hypot', nan, -inf, inf],
  ['hypot', -inf, 0, inf],
  ['hypot', nan, 1, nan],
  ['hypot', 1, nan, nan],
  ['hypot', 0, -0, 0],
  ['hypot', 3, -4, 5],
  ['copysign', 3, -0, -3],
  ['copysign', -3, 0, 3],
  ['copysign', inf, -1, -inf],
  ['fdim', 5, 3, 2],
  ['fdim', 3, 5, 0],
  ['fdim', inf, inf, 0],
  ['fdim', nan, 1, nan],
  ['fdim', 1, nan, nan],
  ['fmod', -7, 3, -1],
  ['fmod', 7, -3, 1],
  ['fmod', -6, 3, -0],
  ['fmod', 1, 0, nan],
  ['fmod', inf, 2, nan],
  ['fmod', 5, inf, 5],
  ['fmod', 5, nan, nan],
  ['fmod', nan, 5, nan],
  ['fmod', -0, 5, -0],
  ['remainder', 7, 2, -1],
  ['remainder', 5, 2, 1],
  ['remainder', -7, 2, 1],
  ['remainder', 1, 0, nan],
  ['remainder', inf, 1, nan],
  ['remainder', -6, 3, -0],
  ['remainder', 5, inf, 5],
  ['mod', -7, 3, 2],
  ['mod', 7, -3, -2],
  ['mod', -6, 3, 0],
  ['mod', 6, -3, -0],
  ['mod', 1, 0, nan],
  ['mod', 5, nan, nan],
]

const ARRAYS = { f64: Float64Array, f32: Float32Array }
const TYPES: readonly FloatType[] = ['f64', 'f32']
const cases = TYPES.flatMap((type) => LOWERING_TARGETS.map((target) => ({ type, target })))

function agrees(got: number, expected: Expected, type: FloatType): boolean {
  if (typeof expected === 'number') return sameBits(got, expected)
  return Math.abs(got - expected.around) <= Math.abs(expected.around) * (type === 'f64' ? 2 ** -51 : 2 ** -22)
}

test.each(cases)('unary functions, $type, $target', ({ type, target }) => {
  const ops = Object.keys(UNARY) as PlainOp[]
  const x = new ARRAYS[type](ARGUMENTS)
  const got = throughInterpreter(target)(
    ops.map((op) => ({ op, operands: [x] })),
    type,
  )
  const wrong = ops.flatMap((op, k) =>
    UNARY[op]!.flatMap((expected, i) =>
      agrees(got[k]![i]!, expected, type) ? [] : [`${op}(${ARGUMENTS[i]}) = ${got[k]![i]}`],
    ),
  )
  expect(wrong).toEqual([])
})

test('the table covers every unary function', () => {
  expect(unaryOps.filter((op) => !(op in UNARY))).toEqual([])
})

test.each(cases)('functions of two numbers, $type, $target', ({ type, target }) => {
  const got = throughInterpreter(target)(
    BINARY.map(([op, x, y]) => ({ op, operands: [new ARRAYS[type]([x]), new ARRAYS[type]([y])] })),
    type,
  )
  const wrong = BINARY.flatMap(([op, x, y, expected], k) =>
    agrees(got[k]![0]!, expected, type) ? [] : [`${op}(${x}, ${y}) = ${got[k]![0]}`],
  )
  expect(wrong).toEqual([])
})

test.each(cases)('the smallest and the largest numbers, $type, $target', ({ type, target }) => {
  const smallest = type === 'f64' ? 2 ** -1074 : 2 ** -149
  const largest = type === 'f64' ? Number.MAX_VALUE : (2 - 2 ** -23) * 2 ** 127
  const evaluate = throughInterpreter(target)
  const near = new ARRAYS[type]([smallest, -smallest])
  const small = evaluate(
    IDENTITY_NEAR_0.map((op) => ({ op, operands: [near] })),
    type,
  )
  const ends = new ARRAYS[type]([largest, -largest])
  const ops = Object.keys(AT_LARGEST) as PlainOp[]
  const large = evaluate(
    ops.map((op) => ({ op, operands: [ends] })),
    type,
  )
  // acosh of the largest number has no round value: log(2x) to the accuracy of a decimal.
  const expectedAt = (op: PlainOp, i: number): Expected =>
    op === 'acosh' && i === 0 ? around(Math.log(largest) + Math.LN2) : AT_LARGEST[op]![i]!
  const wrong = [
    ...IDENTITY_NEAR_0.flatMap((op, k) =>
      sameBits(small[k]![0]!, near[0]!) && sameBits(small[k]![1]!, near[1]!) ? [] : [op],
    ),
    ...ops.flatMap((op, k) =>
      [0, 1].flatMap((i) =>
        agrees(large[k]![i]!, expectedAt(op, i), type) ? [] : [`${op}(${ends[i]}) = ${large[k]![i]}`],
      ),
    ),
  ]
  expect(wrong).toEqual([])
  // Even functions and those that are 1 there, finite ones at the far end.
  const [cosine, root, far] = evaluate(
    [
      { op: 'cos', operands: [near] },
      { op: 'rsqrt', operands: [near] },
      { op: 'sin', operands: [ends] },
    ],
    type,
  )
  expect([cosine![0], cosine![1]]).toEqual([1, 1])
  expect(root![0]).toBeGreaterThan(type === 'f64' ? 4e161 : 2e22)
  expect(Math.abs(far![0]!)).toBeLessThanOrEqual(1)
  expect(far![0]).toBe(-far![1]!)
})
