// Every row of the derivative table, forward against central differences and reverse against forward.
import { describe, expect, test } from 'vitest'
import { registerCustomDerivative } from '../../src/diff/custom.ts'
import { rules } from '../../src/diff/rules.ts'
import type { Builder } from '../../src/ir/build.ts'
import type { Graph, Value } from '../../src/ir/graph.ts'
import type { ValueOp } from '../../src/ir/ops.ts'
import { expectDerivatives, createRandom } from './support/check.ts'
import { graphOf, plane, scalarGraph } from './support/graphs.ts'
import type { Planes } from './support/evaluate.ts'

type DifferentiatedOp = Exclude<
  ValueOp,
  | 'const'
  | 'sampleIndex'
  | 'sampleCount'
  | 'entryCount'
  | 'eq'
  | 'ne'
  | 'lt'
  | 'le'
  | 'and'
  | 'or'
  | 'xor'
  | 'not'
  | 'shl'
  | 'shrSigned'
  | 'shrUnsigned'
  | 'bitcast'
  | 'floor'
  | 'ceil'
  | 'trunc'
  | 'rint'
  | 'round'
  | 'sign'
  | 'isnan'
  | 'isinf'
  | 'isfinite'
  | 'idiv'
  | 'floorDiv'
  | 'floorMod'
  | 'random'
  | 'stopGradient'
>

interface Case {
  readonly graph: Graph
  readonly inputs: Planes
  readonly samples: number
}

/** Points, one a sample, for an op of as many operands as a point has numbers. */
function points(op: (b: Builder, ...operands: Value[]) => Value, ...at: readonly (readonly number[])[]): Case {
  const names = ['x', 'y', 'z'].slice(0, at[0]!.length).map((name) => `${name}in`)
  const graph = scalarGraph(names, op)
  return {
    graph,
    inputs: Object.fromEntries(names.map((name, k) => [name, at.map((point) => point[k]!)])),
    samples: at.length,
  }
}

/** A one-operand op at many points. */
const at = (op: (b: Builder, x: Value) => Value, ...xs: readonly number[]) => points(op, ...xs.map((x) => [x]))

const index = (b: Builder, x: Value) => b.convert(b.floor(x), 'i32')

registerCustomDerivative('rules.test:cube', {
  label: 'cube',
  jvp: (b, [x], [dot]) => [b.mul(b.mul(b.const('f64', 3), b.mul(x!, x!)), dot!)],
  vjp: (b, [x], adjoints) => [b.mul(b.mul(b.const('f64', 3), b.mul(x!, x!)), adjoints.get(0)!)],
})

const cases: Record<DifferentiatedOp, Case | readonly Case[]> = {
  load: at((_, x) => x, -2, 0, 3),
  uniform: {
    graph: graphOf([plane('x'), plane('a', 'uniform'), plane('y')], (b, p) =>
      b.store(p['y']!, 0, b.mul(b.mul(b.load(p['x']!, 0), b.uniform(p['a']!)), b.uniform(p['a']!))),
    ),
    inputs: { x: [1, -2, 3, 0.5, 7], a: 1.5 },
    samples: 5,
  },
  gather: {
    graph: graphOf([plane('i', 'sample', 'i32'), plane('t', 'table'), plane('y')], (b, p) => {
      const read = b.gather(p['t']!, 0, b.load(p['i']!, 0))
      b.store(p['y']!, 0, b.mul(read, read))
    }),
    inputs: { i: [0, 3, 1, 1, 2], t: [1, -2, 3, 0.5] },
    samples: 5,
  },
  parameter: at(
    (b, x) => b.loop({ count: b.const('i32', 4), initial: [x], body: (_, [c]) => [b.mul(c!, c!)] })[0]!,
    0.9,
    1.1,
  ),
  result: at(
    (b, x) =>
      b.branch(
        b.gt(x, b.zero('f64')),
        () => [b.mul(x, x)],
        () => [b.neg(x)],
      )[0]!,
    -1,
    2,
  ),
  recall: at(
    (b, x) => {
      const tape = b.tape({ type: 'f64', capacity: 3 })
      const count = b.const('i32', 3)
      b.loop({
        count,
        initial: [],
        body(k) {
          b.record(tape, k, b.mul(x, b.add(b.convert(k, 'f64'), b.const('f64', 1))))
          return []
        },
      })
      return b.loop({ count, initial: [b.const('f64', 1)], body: (k, [c]) => [b.mul(c!, b.recall(tape, k))] })[0]!
    },
    1.5,
    -0.5,
  ),
  custom: at((b, x) => b.custom('rules.test:cube', 0, b.mul(x, b.mul(x, x)), [x]), -1, 2),

  add: points((b, x, y) => b.add(x!, y!), [1, 2], [-3, 0.1]),
  sub: points((b, x, y) => b.sub(x!, y!), [1, 2], [-3, 0.1]),
  mul: [points((b, x, y) => b.mul(x!, y!), [1, 2], [-3, 0.1], [0, 5]), at((b, x) => b.mul(x, x), 3, -2)],
  div: points((b, x, y) => b.div(x!, y!), [1, 2], [-3, 0.1], [5, -7]),
  neg: at((b, x) => b.neg(x), 1, -2),
  abs: at((b, x) => b.abs(x), 1, -2),
  min: points((b, x, y) => b.min(x!, y!), [1, 2], [2, 1], [-3, -5]),
  max: points((b, x, y) => b.max(x!, y!), [1, 2], [2, 1], [-3, -5]),
  fma: points((b, x, y, z) => b.fma(x!, y!, z!), [1, 2, 3], [-2, 0.5, 7]),
  sqrt: at((b, x) => b.sqrt(x), 0.25, 2, 900),
  ldexp: at((b, x) => b.ldexp(x, b.const('i32', 3)), 1, -2),
  select: points((b, x, y, z) => b.select(b.gt(x!, b.zero('f64')), y!, z!), [1, 2, 3], [-1, 2, 3]),
  convert: at((b, x) => b.convert(b.convert(b.mul(x, x), 'f64'), 'f64'), 1, 2),

  exp: at((b, x) => b.exp(x), -3, 0, 1, 5),
  exp2: at((b, x) => b.exp2(x), -3, 0, 1, 5),
  exp10: at((b, x) => b.exp10(x), -3, 0, 1, 2),
  expm1: at((b, x) => b.expm1(x), -3, 0, 1e-3, 2),
  log: at((b, x) => b.log(x), 0.1, 1, 30),
  log2: at((b, x) => b.log2(x), 0.1, 1, 30),
  log10: at((b, x) => b.log10(x), 0.1, 1, 30),
  log1p: at((b, x) => b.log1p(x), -0.5, 0, 3),
  pow: [
    points((b, x, y) => b.pow(x!, y!), [2, 3], [0.5, -1.5], [3, 0.2]),
    ...[0, 1, 2, 3, 0.5, -1.5].map((p) => at((b, x) => b.pow(x, b.const('f64', p)), 0.3, 1, 2.5)),
    at((b, x) => b.pow(b.const('f64', 2), x), -1, 0, 3),
  ],
  rsqrt: at((b, x) => b.rsqrt(x), 0.2, 1, 40),
  cbrt: at((b, x) => b.cbrt(x), -8, 0.2, 40),
  hypot: points((b, x, y) => b.hypot(x!, y!), [3, 4], [-1, 0.5], [0, 2]),
  sin: at((b, x) => b.sin(x), -3, 0, 1, 40),
  cos: at((b, x) => b.cos(x), -3, 0, 1, 40),
  tan: at((b, x) => b.tan(x), -1, 0, 1.2),
  asin: at((b, x) => b.asin(x), -0.9, 0, 0.5),
  acos: at((b, x) => b.acos(x), -0.9, 0, 0.5),
  atan: at((b, x) => b.atan(x), -9, 0, 0.5),
  atan2: points((b, x, y) => b.atan2(x!, y!), [1, 2], [1, -2], [-1, -2], [-3, 0.5]),
  sinh: at((b, x) => b.sinh(x), -3, 0, 2),
  cosh: at((b, x) => b.cosh(x), -3, 0, 2),
  tanh: at((b, x) => b.tanh(x), -3, 0, 2),
  asinh: at((b, x) => b.asinh(x), -3, 0, 2),
  acosh: at((b, x) => b.acosh(x), 1.1, 2, 30),
  atanh: at((b, x) => b.atanh(x), -0.9, 0, 0.5),
  erf: at((b, x) => b.erf(x), -1, 0, 0.5, 3),
  erfc: at((b, x) => b.erfc(x), -1, 0, 0.5, 3),
  lgamma: at((b, x) => b.lgamma(x), -2.5, -0.3, 0.2, 1.4616321449683622, 3, 30),
  gamma: at((b, x) => b.gamma(x), -2.5, -0.3, 0.2, 1.5, 3, 8),
  copysign: points((b, x, y) => b.copysign(x!, y!), [1, -2], [-3, 5], [2, 2]),
  fdim: points((b, x, y) => b.fdim(x!, y!), [1, -2], [-3, 5], [7, 2]),
  fmod: points((b, x, y) => b.fmod(x!, y!), [7.3, 2], [-7.3, 2], [7.3, -2.1]),
  remainder: points((b, x, y) => b.remainder(x!, y!), [7.3, 2], [-7.4, 2.2], [7.5, -2.1]),
  mod: points((b, x, y) => b.mod(x!, y!), [7.3, 2], [-7.3, 2], [7.3, -2.1]),
  guardedMul: points((b, x, y) => b.guardedMul(x!, y!), [1, 2], [-3, 0.1]),
}

describe('each row of the derivative table', () => {
  for (const [op, list] of Object.entries(cases)) {
    test(`${op}`, () => {
      for (const { graph, inputs, samples } of [list].flat() as Case[]) expectDerivatives(graph, inputs, samples)
    })
  }

  test('has a case unless its derivative is zero', () => {
    const differentiated = Object.entries(rules).flatMap(([op, { kind }]) => (kind === 'zero' ? [] : [op]))
    expect(Object.keys(cases).toSorted()).toEqual(differentiated.toSorted())
  })
})

describe('rows with a zero derivative', () => {
  const zeros: Partial<Record<ValueOp, (b: Builder, x: Value) => Value>> = {
    floor: (b, x) => b.floor(x),
    ceil: (b, x) => b.ceil(x),
    trunc: (b, x) => b.trunc(x),
    rint: (b, x) => b.rint(x),
    round: (b, x) => b.round(x),
    sign: (b, x) => b.sign(x),
    lt: (b, x) => b.convert(b.lt(x, b.const('f64', 2)), 'f64'),
    random: (b, x) => b.random('f64', index(b, x), b.sampleIndex(), b.zero('i32')),
    stopGradient: (b, x) => b.stopGradient(b.mul(x, x)),
    bitcast: (b, x) => b.bitcast(b.and(b.bitcast(x, 'i64'), b.const('i64', -1n << 52n)), 'f64'),
    idiv: (b, x) => b.convert(b.idiv(index(b, x), b.const('i32', 3)), 'f64'),
  }
  const random = createRandom(7)
  for (const [op, f] of Object.entries(zeros)) {
    test(`${op}`, () => {
      const graph = scalarGraph(['x'], f)
      const inputs = { x: Array.from({ length: 5 }, () => 3.3 * random()) }
      expectDerivatives(graph, inputs, 5, { differences: false })
    })
  }
})
