// What each computed op becomes: one expression of vector instructions, a row an op.
// Invariant: a row reads its operands any number of times (they are locals) and no expression here has an effect or can trap.
import type { ComputedOp, OpName } from '../../ir/ops.ts'
import { isFloat, type FloatType, type IntegerType, type Literal, type Type } from '../../ir/types.ts'
import { conversion } from './convert.ts'
import { byLane, extract, laneBytes, maskFor, scalar, shape, widenMask, type Lanes } from './lanes.ts'

/** The lowering for targets without FMA writes `fma` out, so that no graph that arrives here holds it. */
export type EmittedOp = Exclude<ComputedOp, 'fma'>

/** What a row may ask about the place it stands in. */
export interface Place {
  readonly lanes: Lanes
  /** A literal in every lane. */
  constant(literal: Literal, type: Type): string
  /** Name of a local for an intermediate value. */
  temporary(): string
  /** The literal that an operand is, if it is one. */
  literal(operand: number): Literal | undefined
  /** Whether an operand is the same in every lane. */
  isUniform(operand: number): boolean
}

/** @param operand T of the signature @param result type of the value */
type Row = (place: Place, operands: readonly string[], operand: Type, result: Type) => string

type Rule = (name: string, operands: readonly string[]) => string

/** The instruction `name` of the shape of the operands. */
const instruction =
  (name: string): Rule =>
  (shapeName, operands) =>
    `(${shapeName}.${name} ${operands.join(' ')})`

/** One rule for every type. */
const plain =
  (name: string): Row =>
  ({ lanes }, operands, type) =>
    instruction(name)(shape(type, lanes), operands)

/** Instructions on all 128 bits, whatever the type. */
const bits =
  (name: string): Row =>
  (_, operands) =>
    `(v128.${name} ${operands.join(' ')})`

/** A rule for floats and one for each integer type. */
const typed =
  (float: Rule, integers: Record<IntegerType, Rule>): Row =>
  ({ lanes }, operands, type) =>
    (isFloat(type) ? float : integers[type as IntegerType])(shape(type, lanes), operands)

/** The smaller or larger of two i64, for which there is no instruction. */
const choose =
  (comparison: 'lt_s' | 'gt_s'): Rule =>
  (name, [a, b]) =>
    `(v128.bitselect ${a} ${b} (${name}.${comparison} ${a} ${b}))`

/** Bits of the sign of a float, and all others, as literals of the integer type of its width. */
const SIGN: Record<FloatType, { type: IntegerType; sign: Literal; rest: Literal }> = {
  f64: { type: 'i64', sign: -(2n ** 63n), rest: 2n ** 63n - 1n },
  f32: { type: 'i32', sign: -(2 ** 31), rest: 2 ** 31 - 1 },
}

/** On floats by a mask that is made once a call: engines make theirs anew at each use. */
const signBits =
  (mask: 'sign' | 'rest', operation: 'xor' | 'and', integer: Row): Row =>
  (place, operands, type, result) => {
    if (!isFloat(type)) return integer(place, operands, type, result)
    return `(v128.${operation} ${operands[0]} ${place.constant(SIGN[type][mask], SIGN[type].type)})`
  }

/** A comparison; equality of conditions is equality of their masks. */
const comparison =
  (float: string, signed: string, unsigned: string): Row =>
  ({ lanes }, operands, type) => {
    const name = isFloat(type) ? float : type === 'u32' ? unsigned : signed
    const mask = instruction(name)(shape(type, lanes), operands)
    return laneBytes(type, lanes) === 4 ? widenMask(mask, lanes) : mask
  }

/** Vector shifts take one count for all lanes; counts that differ are applied lane by lane. Both take the count modulo the width. */
const shift =
  (vector: string, single: string): Row =>
  ({ lanes, literal, isUniform }, [x, count], type) => {
    const name = shape(type, lanes)
    const known = literal(1)
    if (known !== undefined)
      return `(${name}.${vector} ${x} (i32.const ${BigInt.asUintN(type === 'i64' ? 6 : 5, BigInt(known))}))`
    if (isUniform(1)) {
      const first = extract(type, lanes, 0, count!)
      return `(${name}.${vector} ${x} ${type === 'i64' ? `(i32.wrap_i64 ${first})` : first})`
    }
    return byLane(
      type,
      lanes,
      (k) => `(${scalar(type)}.${single} ${extract(type, lanes, k, x!)} ${extract(type, lanes, k, count!)})`,
    )
  }

/**
 * Limits of the exponents n of factors 2ⁿ that are normal numbers, and a step below: scaling by it leaves, where it is inexact at
 * all, so little that the factors that must follow give 0 anyhow. Thus no product is rounded twice.
 */
const SCALE: Record<FloatType, { lowest: number; highest: number; step: number; fraction: number }> = {
  f64: { lowest: -1022, highest: 1023, step: -1022 + 53, fraction: 52 },
  f32: { lowest: -126, highest: 127, step: -126 + 24, fraction: 23 },
}

/** x·2ⁿ: one product where every 2ⁿ is a normal number, which is all but always so, else three. */
const scale: Row = ({ lanes, constant, temporary }, [x, count], type) => {
  const { lowest, highest, step, fraction } = SCALE[type as FloatType]
  const name = shape(type, lanes)
  const all = (value: number) => constant(value, 'i32')
  const power = (n: string) =>
    type === 'f64'
      ? `(i64x2.shl (i64x2.add (i64x2.extend_low_i32x4_s ${n}) ${constant(BigInt(highest), 'i64')}) (i32.const ${fraction}))`
      : `(i32x4.shl (i32x4.add ${n} ${all(highest)}) (i32.const ${fraction}))`
  // Undefined upper lanes may send common counts the long way, which gives the same.
  const isFar = `(v128.or (i32x4.gt_s ${count} ${all(highest)}) (i32x4.lt_s ${count} ${all(lowest)}))`
  const [first, second, third] = [temporary(), temporary(), temporary()]
  const read = (local: string) => `(local.get ${local})`
  const part = (n: string) =>
    `(v128.bitselect ${all(step)} (i32x4.min_s ${n} ${all(highest)}) (i32x4.lt_s ${n} ${all(lowest)}))`
  const afterFirst = `(i32x4.sub ${count} ${read(first)})`
  const afterSecond = `(i32x4.sub ${afterFirst} ${read(second)})`
  const product = [first, second, third].reduce((factor, n) => `(${name}.mul ${factor} ${power(read(n))})`, x!)
  return `(if (result v128) (v128.any_true ${isFar})
  (then
    (local.set ${first} ${part(count!)})
    (local.set ${second} ${part(afterFirst)})
    (local.set ${third} (i32x4.max_s (i32x4.min_s ${afterSecond} ${all(highest)}) ${all(lowest)}))
    ${product})
  (else (${name}.mul ${x} ${power(count!)})))`
}

const isZero = (literal: Literal | undefined): boolean => Object.is(literal, 0) || literal === 0n || literal === false

/** A choice; a zero needs no blending. */
const select: Row = ({ lanes, literal }, [condition, a, b], _, type) => {
  const mask = maskFor(type, condition!, lanes)
  if (isZero(literal(1))) return `(v128.andnot ${b} ${mask})`
  if (isZero(literal(2))) return `(v128.and ${a} ${mask})`
  return `(v128.bitselect ${a} ${b} ${mask})`
}

export const rows: Record<EmittedOp, Row> = {
  add: plain('add'),
  sub: plain('sub'),
  mul: plain('mul'),
  div: plain('div'),
  neg: signBits('sign', 'xor', plain('neg')),
  abs: signBits('rest', 'and', (place, operands, type, result) =>
    type === 'u32' ? operands[0]! : plain('abs')(place, operands, type, result),
  ),
  min: typed(instruction('min'), {
    i32: instruction('min_s'),
    u32: instruction('min_u'),
    i64: choose('lt_s'),
  }),
  max: typed(instruction('max'), {
    i32: instruction('max_s'),
    u32: instruction('max_u'),
    i64: choose('gt_s'),
  }),
  sqrt: plain('sqrt'),
  floor: plain('floor'),
  ceil: plain('ceil'),
  trunc: plain('trunc'),
  rint: plain('nearest'),
  ldexp: scale,

  eq: comparison('eq', 'eq', 'eq'),
  ne: comparison('ne', 'ne', 'ne'),
  lt: comparison('lt', 'lt_s', 'lt_u'),
  le: comparison('le', 'le_s', 'le_u'),
  and: bits('and'),
  or: bits('or'),
  xor: bits('xor'),
  not: bits('not'),
  shl: shift('shl', 'shl'),
  shrSigned: shift('shr_s', 'shr_s'),
  shrUnsigned: shift('shr_u', 'shr_u'),
  select,

  convert: ({ lanes, constant }, [x], from, to) => conversion(x!, from, to, lanes, constant),
  // The same bits in a register of another name.
  bitcast: (_, [x]) => x!,
}

export const isEmitted = (op: OpName): op is EmittedOp => op in rows
