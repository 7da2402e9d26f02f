// Algebraic identities: wherever the builder gives something else than the op it was asked for, that is the same on the value grid.
import { describe, expect, test } from 'vitest'
import { createBuilder } from '../../src/ir/build.ts'
import type { Plane, Value } from '../../src/ir/graph.ts'
import { definition, isPlain, type ComputedOp } from '../../src/ir/ops.ts'
import { isComputed, semantics } from '../../src/ir/semantics.ts'
import { canBitcast, isFloat, TYPES, type Literal, type Type } from '../../src/ir/types.ts'
import { COMPUTED_OPS, typesOf } from '../support/randomGraph.ts'
import { GRID, sameBits, showNumber } from '../support/values.ts'

// Two variables of each type: components 0 and 1 of a plane.
const planes = TYPES.map((type): Plane => ({ name: `v_${type}`, role: 'sample', type, components: 2 }))
const b = createBuilder(planes)
const variable = (type: Type, component: 0 | 1): Value => b.load(TYPES.indexOf(type), component)

/** Values of the two variables: each grid value with another. */
const pairsOf = (type: Type): readonly (readonly [Literal, Literal])[] =>
  GRID[type].map((x, k) => [x, GRID[type][(7 * k + 3) % GRID[type].length]!])
const PAIRS = Object.fromEntries(TYPES.map((type) => [type, pairsOf(type)])) as unknown as Record<
  Type,
  ReturnType<typeof pairsOf>
>
const MOST_PAIRS = Math.max(...Object.values(PAIRS).map((pairs) => pairs.length))

/** T of the signature, from the operands. */
const sharedType = (op: ComputedOp, operands: readonly Value[]): Type =>
  operands[Math.max(0, definition(op).operands.indexOf('T'))]!.type

function applyTo(op: ComputedOp, operands: readonly Value[], result: Type, literals: readonly Literal[]): Literal {
  const [x, y = x, z = x] = literals as [Literal, Literal?, Literal?]
  return semantics[op](sharedType(op, operands), result)(x, y, z)
}

/** What a value is for the k-th pair of every type. */
function evaluate(value: Value, k: number): Literal {
  if (value.op === 'const') return value.literal
  if (value.op === 'load') return PAIRS[value.type][k % PAIRS[value.type].length]![value.component]!
  if (!isComputed(value.op)) throw new Error(`there is no ${value.op} here`)
  return applyTo(
    value.op,
    value.operands,
    value.type,
    value.operands.map((operand) => evaluate(operand, k)),
  )
}

/** Operands of a type that identities look for: variables, literals, and ops that undo each other or do nothing twice. */
function candidates(type: Type): readonly Value[] {
  const [x, y] = [variable(type, 0), variable(type, 1)]
  const unary = COMPUTED_OPS.flatMap((op) =>
    isPlain(op) && definition(op).operands.length === 1 && typesOf(op).includes(type) && definition(op).result === 'T'
      ? [b.apply(op, [x])]
      : [],
  )
  const conversions = TYPES.flatMap((from) => {
    const source = variable(from, 0)
    return [b.convert(source, type), ...(canBitcast(from, type) ? [b.bitcast(source, type)] : [])]
  })
  const literals = GRID[type].map((literal) => b.const(type, literal))
  return [...new Set([x, y, ...unary, ...conversions, ...literals])]
}

const CANDIDATES = Object.fromEntries(TYPES.map((type) => [type, candidates(type)])) as unknown as Record<
  Type,
  readonly Value[]
>

/** Three operands are few of each kind, as all combinations would be too many. */
const thinned = (values: readonly Value[]): readonly Value[] =>
  values.filter((value, k) => value.op !== 'const' || isOneOrZero(value.literal) || k % 23 === 0)
const isOneOrZero = (literal: Literal) => [0, 1, -1].includes(Number(literal))

function combinations(types: readonly Type[]): readonly (readonly Value[])[] {
  return types.reduce<readonly (readonly Value[])[]>(
    (rows, type) => {
      const values = types.length === 3 ? thinned(CANDIDATES[type]) : CANDIDATES[type]
      return rows.flatMap((row) => values.map((value) => [...row, value]))
    },
    [[]],
  )
}

interface Outcome {
  /** How often an identity applied. */
  readonly applied: number
  readonly wrong: readonly string[]
}

function check(op: ComputedOp, type: Type, result: Type): Outcome {
  let applied = 0
  const wrong: string[] = []
  for (const operands of combinations(definition(op).operands.map((wanted) => (wanted === 'T' ? type : wanted)))) {
    if (operands.every((operand) => operand.op === 'const')) continue
    const made =
      op === 'convert'
        ? b.convert(operands[0]!, result)
        : op === 'bitcast'
          ? b.bitcast(operands[0]!, result)
          : b.apply(op, operands)
    if (made.op === op && made.operands.every((operand, k) => operand === operands[k])) continue
    applied++
    for (let k = 0; k < MOST_PAIRS; k++) {
      const literals = operands.map((operand) => evaluate(operand, k))
      const expected = applyTo(op, operands, result, literals)
      const found = evaluate(made, k)
      if (sameBits(expected, found)) continue
      const shape = operands.map((operand) => (operand.op === 'const' ? showNumber(operand.literal) : operand.op))
      const values = literals.map(showNumber).join(', ')
      wrong.push(
        `${op}(${shape.join(', ')}) became ${made.op}: at (${values}) ${showNumber(found)}, not ${showNumber(expected)}`,
      )
      break
    }
  }
  return { applied, wrong }
}

const resultsOf = (op: ComputedOp, type: Type): readonly Type[] => {
  if (op === 'convert') return TYPES
  if (op === 'bitcast') return TYPES.filter((to) => canBitcast(type, to))
  const { result } = definition(op)
  return [result === 'T' || result === undefined ? type : result]
}

describe('identities are exact', () => {
  test.each(COMPUTED_OPS)('%s', (op) => {
    const outcomes = typesOf(op).flatMap((type) => resultsOf(op, type).map((result) => check(op, type, result)))
    expect(outcomes.flatMap(({ wrong }) => wrong).slice(0, 5)).toEqual([])
    // Every op but one has an identity, and this test must have met it.
    expect(outcomes.some(({ applied }) => applied > 0)).toBe(op !== 'sqrt')
  })
})

test('what looks like an identity and is none stays', () => {
  const x = variable('f64', 0)
  const k = (literal: number) => b.const('f64', literal)
  expect(isFloat(x.type)).toBe(true)
  // −0 + 0 is 0; Infinity · 0 and NaN · 0 are NaN; x − x is NaN for an infinite x; a third is no exact factor.
  expect(b.add(x, k(0)).op).toBe('add')
  expect(b.sub(x, k(-0)).op).toBe('sub')
  expect(b.mul(x, k(0)).op).toBe('mul')
  expect(b.sub(x, x).op).toBe('sub')
  expect(b.div(x, x).op).toBe('div')
  expect(b.div(x, k(3)).op).toBe('div')
  expect(b.eq(x, x).op).toBe('eq')
  // The factor 2^1023 would be exact, but its reciprocal is subnormal.
  expect(b.div(x, k(2 ** 1023)).op).toBe('div')
  expect(b.div(x, k(4))).toBe(b.mul(x, k(0.25)))
})
