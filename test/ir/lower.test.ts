// Lowering as a pass, and fma in basic ops: the same bits as exact arithmetic, for every operand.
import { describe, expect, test } from 'vitest'
import { createBuilder } from '../../src/ir/build.ts'
import { fusedMultiplyAdd, scale } from '../../src/ir/exact.ts'
import type { Graph, Plane, Value } from '../../src/ir/graph.ts'
import { compile } from '../../src/ir/interpret.ts'
import { lower } from '../../src/ir/lower/lower.ts'
import { definition, isDerived, isPlain, OP_NAMES } from '../../src/ir/ops.ts'
import { print } from '../../src/ir/print.ts'
import type { FloatType, Type } from '../../src/ir/types.ts'
import { violations } from '../../src/ir/verify.ts'
import { typesOf } from '../support/randomGraph.ts'
import { fraction, plus, round, times } from '../support/rational.ts'
import { GRID, random, sameBits, showNumber, type Random } from '../support/values.ts'

const TARGETS = [
  { fma: true, scaling: true },
  { fma: true, scaling: false },
  { fma: false, scaling: false },
]

describe('every derived op', () => {
  const ops = OP_NAMES.filter(isDerived)

  /** A graph that stores the op of loaded values. */
  function graphOf(op: (typeof ops)[number], type: Type): Graph {
    const operandTypes = definition(op).operands.map((wanted) => (wanted === 'T' ? type : wanted))
    const b = createBuilder(
      operandTypes.map((of, k): Plane => ({ name: `x${k}`, role: 'sample', type: of, components: 1 })),
    )
    const operands = operandTypes.map((_, k) => b.load(k, 0)) as [Value, ...Value[]]
    const value =
      op === 'random'
        ? b.random(type, operands[0], operands[1]!, operands[2]!)
        : op === 'custom'
          ? b.custom('rule', 0, operands[0], operands)
          : isPlain(op)
            ? b.apply(op, operands)
            : undefined
    if (value === undefined) throw new Error(`no way to build ${op}`)
    b.store(b.plane({ name: 'y', role: 'sample', type: value.type, components: 1 }), 0, value)
    return b.finishGraph()
  }

  const typesTried = (op: (typeof ops)[number]): readonly Type[] =>
    op === 'random' ? ['f64', 'f32'] : typesOf(op).filter((type) => type !== 'u32' && type !== 'i64')

  const cases = ops.flatMap((op) => TARGETS.map((target) => ({ op, target })))

  test.each(cases)('$op, $target', ({ op, target }) => {
    for (const type of typesTried(op)) {
      const lowered = lower(graphOf(op, type), target)
      expect(violations(lowered, { lowered: target })).toEqual([])
      // Nothing is left for another round.
      expect(print(lower(lowered, target))).toBe(print(lowered))
    }
  })
})

type Triple = readonly [number, number, number]

interface Format {
  readonly lowest: number
  readonly normal: number
  readonly highest: number
  readonly largest: number
  readonly ulp: number
}

const FORMATS: Record<FloatType, Format> = {
  f64: { lowest: -1074, normal: -1022, highest: 1023, largest: Number.MAX_VALUE, ulp: 2 ** -52 },
  f32: { lowest: -149, normal: -126, highest: 127, largest: (2 - 2 ** -23) * 2 ** 127, ulp: 2 ** -23 },
}

const ARRAYS = { f64: Float64Array, f32: Float32Array }

/** The inverse of an odd number modulo 2^52. */
function inverse(x: bigint): bigint {
  let found = 1n
  // Newton: each step doubles the number of right bits.
  for (let k = 0; k < 6; k++) found = BigInt.asUintN(52, found * (2n - x * found))
  return found
}

/** Operands where one rounding too many, too few or at the wrong place shows. */
function hardTriples(type: FloatType, count: number, next: Random): readonly Triple[] {
  const { lowest, normal, highest, largest, ulp } = FORMATS[type]
  const between = (low: number, high: number) => low + Math.floor(next() * (high - low + 1))
  const sign = () => (next() < 0.5 ? -1 : 1)
  // Few bits make ties likely; all bits make them unlikely.
  const significand = () => (next() < 0.5 ? 1 + between(0, 15) / 16 : 1 + next())
  const scaled = (x: number, exponent: number) => scale(x, exponent, type)
  const any = () => sign() * scaled(significand(), between(lowest, highest))
  const fromGrid = () => Number(GRID[type][between(0, GRID[type].length - 1)])
  const kinds: readonly (() => Triple)[] = [
    () => [any(), any(), any()],
    () => [next() < 0.5 ? fromGrid() : any(), fromGrid(), next() < 0.5 ? fromGrid() : any()],
    // The addend nearly cancels the product.
    () => {
      const [a, b] = [sign() * scaled(significand(), between(-60, 60)), significand()]
      return [a, b, -a * b * (1 + between(-4, 4) * ulp)]
    },
    // The addend is half a unit of the product, or a little beside.
    () => {
      const [a, b] = [sign() * significand(), scaled(significand(), between(-20, 20))]
      return [a, b, sign() * a * b * (ulp / 2) * (1 + between(-2, 2) * ulp)]
    },
    // The result is below the normal range.
    () => {
      const exponent = between(lowest - 12, normal + 2)
      const part = between(Math.ceil(normal / 2), Math.floor(-normal / 2))
      const addend = [
        0,
        sign() * scaled(significand(), between(lowest, normal)),
        sign() * between(1, 9) * 2 ** lowest,
        any(),
      ]
      return [scaled(significand(), part), sign() * scaled(significand(), exponent - part), addend[between(0, 3)]!]
    },
    // In f64 the product is all but half way between two numbers, by a few of the last of its 106 bits; the addend, about as far
    // below, decides. Both are large, so that they are scaled.
    () => {
      const b = 2n ** 52n + BigInt(between(0, 2 ** 20)) * 2n + 1n
      const beside = BigInt(between(-9, 9))
      const a = 2n ** 52n + BigInt.asUintN(52, (2n ** 51n + beside) * inverse(b))
      const addend = -Math.sign(Number(beside)) * scaled(significand(), 1021 - between(80, 125))
      return [scaled(Number(a), 510 - 52), scaled(Number(b), 511 - 52), addend]
    },
    // The product overflows when rounded, or just not; the addend may bring it back.
    () => {
      const part = between(1, highest - 1)
      const [a, b] = [scaled(significand(), part), scaled(significand(), highest - part + between(-1, 1))]
      return [a, sign() * b, sign() * largest * (next() < 0.5 ? 1 : next())]
    },
  ]
  return Array.from(
    { length: count },
    (_, k) => kinds[k % kinds.length]!().map((x) => (type === 'f32' ? Math.fround(x) : x)) as unknown as Triple,
  )
}

function exactly(type: FloatType, [a, b, c]: Triple): number {
  if (![a, b, c].every(Number.isFinite) || a === 0 || b === 0) {
    return Number.isFinite(a) && Number.isFinite(b) ? (Number.isFinite(c) ? a * b + c : c) : a * b + c
  }
  const sum = plus(times(fraction(a), fraction(b)), fraction(c))
  return round(sum, type)
}

describe.each<FloatType>(['f64', 'f32'])('fma in %s', (type) => {
  const triples = hardTriples(type, 12_000, random(7))
  const wrongBy = (found: (triple: Triple, k: number) => number): readonly string[] =>
    triples.flatMap((triple, k) => {
      const [expected, value] = [exactly(type, triple), found(triple, k)]
      return sameBits(expected, value)
        ? []
        : [`fma(${triple.map(showNumber).join(', ')}): ${showNumber(value)}, not ${showNumber(expected)}`]
    })

  test('in the interpreter', () => {
    expect(wrongBy(([a, b, c]) => fusedMultiplyAdd(a, b, c, type)).slice(0, 3)).toEqual([])
  })

  test('in basic ops', () => {
    const b = createBuilder(['a', 'b', 'c', 'y'].map((name): Plane => ({ name, role: 'sample', type, components: 1 })))
    b.store(3, 0, b.fma(b.load(0, 0), b.load(1, 0), b.load(2, 0)))
    const arrays = [0, 1, 2].map((k) => ARRAYS[type].from(triples.map((triple) => triple[k]!)))
    const y = new ARRAYS[type](triples.length)
    const bindings = [...arrays, y].map((array) => ({ array, pitch: 0, length: triples.length }))
    compile(lower(b.finishGraph(), { fma: false, scaling: false }))(bindings, {
      sampleCount: y.length,
      begin: 0,
      end: y.length,
    })
    expect(wrongBy((_, k) => y[k]!).slice(0, 3)).toEqual([])
  })
})
