// What each computed basic op is in LLVM IR: one row an op, written for the template printer of code.ts. Rows give the bits of
// src/ir/semantics.ts for every operand.
import { HarrierError } from '../../errors.ts'
import type { ComputedOp } from '../../ir/ops.ts'
import { isFloat, type FloatType, type Type } from '../../ir/types.ts'
import { BITCAST, CONVERT } from './conversions.ts'
import type { HostTarget } from './interface.ts'
import {
  ROUND_BY_INSTRUCTION,
  roundByArithmetic,
  scaleByFactors,
  scaleByInstruction,
  type RoundingOp,
} from './rounding.ts'

/** The template of an op, for the type that T of its signature stands for, a result type and a number of lanes. */
export type Row = (operand: Type, result: Type, width: number) => string

type Kind = 'float' | 'signed' | 'unsigned' | 'bool'
const KIND: Record<Type, Kind> = {
  f64: 'float',
  f32: 'float',
  i32: 'signed',
  i64: 'signed',
  u32: 'unsigned',
  bool: 'bool',
}

const always =
  (template: string): Row =>
  () =>
    template

const byKind =
  (templates: Partial<Record<Kind, string>>): Row =>
  (type) => {
    const template = templates[KIND[type]]
    if (template === undefined) throw new HarrierError('E_INTERNAL', `llvm: no row for operands of type ${type}`)
    return template
  }

const number = (float: string, integer: string): Row => byKind({ float, signed: integer, unsigned: integer })

/** Chooses by comparison; the operands of equal integers are alike. */
const choose = (compare: string) => `
  %isFirst = icmp ${compare} $T $0, $1
  select $i1 %isFirst, $T $0, $T $1`

/** The first operand where it compares, else the second: the second too where they are equal or not ordered. */
const prefer = (compare: string, a: string, b: string, result: string) => `
  ${result}.is = fcmp ${compare} $T ${a}, ${b}
  ${result} = select $i1 ${result}.is, $T ${a}, $T ${b}`

/** Both orders of operands give the same bits, except for zeros of two signs and for NaN: the bits joined or met decide there. */
const joinBits = (logic: string) => `
  ${prefer(logic === 'or' ? 'olt' : 'ogt', '$0', '$1', '%a')}
  ${prefer(logic === 'or' ? 'olt' : 'ogt', '$1', '$0', '%b')}
  %a.bits = bitcast $T %a to $I
  %b.bits = bitcast $T %b to $I
  %bits = ${logic} $I %a.bits, %b.bits`

const shift =
  (instruction: string): Row =>
  (type) =>
    `
  %count = and $T $1, $T(${type === 'i64' ? 63 : 31})
  ${instruction} $T $0, %count`

const compare = (float: string, signed: string, unsigned: string): Row =>
  byKind({
    float: `fcmp ${float} $T $0, $1`,
    signed: `icmp ${signed} $T $0, $1`,
    unsigned: `icmp ${unsigned} $T $0, $1`,
    bool: `icmp ${unsigned} $T $0, $1`,
  })

const rounding =
  (op: RoundingOp, { rounding: has }: HostTarget): Row =>
  (type) =>
    has ? ROUND_BY_INSTRUCTION[op] : roundByArithmetic(type as FloatType)[op]

export const rows = (target: HostTarget): Record<ComputedOp, Row> => ({
  add: number('fadd $T $0, $1', 'add $T $0, $1'),
  sub: number('fsub $T $0, $1', 'sub $T $0, $1'),
  mul: number('fmul $T $0, $1', 'mul $T $0, $1'),
  div: always('fdiv $T $0, $1'),
  neg: number('fneg $T $0', 'sub $T $T(0), $0'),
  abs: byKind({
    float: 'call $T @llvm.fabs.#T($T $0)',
    signed: `
      %opposite = sub $T $T(0), $0
      %isBelow = icmp slt $T $0, $T(0)
      select $i1 %isBelow, $T %opposite, $T $0`,
    unsigned: BITCAST,
  }),
  // A NaN joined with anything is a NaN; −0 joined with 0 is −0.
  min: byKind({
    float: `
      ${joinBits('or')}
      bitcast $I %bits to $T`,
    signed: choose('slt'),
    unsigned: choose('ult'),
  }),
  // 0 met with −0 is 0; NaN needs its own test.
  max: byKind({
    float: `
      ${joinBits('and')}
      %met = bitcast $I %bits to $T
      %isNaN = fcmp uno $T $0, $1
      %nan = fadd $T $0, $1
      select $i1 %isNaN, $T %nan, $T %met`,
    signed: choose('sgt'),
    unsigned: choose('ugt'),
  }),
  fma: always('call $T @llvm.fma.#T($T $0, $T $1, $T $2)'),
  sqrt: always('call $T @llvm.sqrt.#T($T $0)'),
  floor: rounding('floor', target),
  ceil: rounding('ceil', target),
  trunc: rounding('trunc', target),
  rint: rounding('rint', target),
  ldexp: (type, _, width) =>
    (target.avx512 ? scaleByInstruction(type as FloatType, width) : undefined) ?? scaleByFactors(type as FloatType),

  eq: compare('oeq', 'eq', 'eq'),
  ne: compare('une', 'ne', 'ne'),
  lt: compare('olt', 'slt', 'ult'),
  le: compare('ole', 'sle', 'ule'),
  and: always('and $T $0, $1'),
  or: always('or $T $0, $1'),
  xor: always('xor $T $0, $1'),
  not: (type) => `xor $T $0, $T(${type === 'bool' ? 1 : -1})`,
  shl: shift('shl'),
  shrSigned: shift('ashr'),
  shrUnsigned: shift('lshr'),
  select: always('select $i1 $0, $T $1, $T $2'),

  convert: (from, to) => CONVERT[from][to],
  bitcast: always(BITCAST),
})

/** min and max where the first operand is a literal other than 0 and NaN: one comparison decides, and NaN passes. */
export const AGAINST_LITERAL: Partial<Record<ComputedOp, string>> = {
  min: `
    %isBelow = fcmp olt $T $0, $1
    select $i1 %isBelow, $T $0, $T $1`,
  max: `
    %isAbove = fcmp ogt $T $0, $1
    select $i1 %isAbove, $T $0, $T $1`,
}

/** Whether `against literal` rows serve: a float that is neither 0 nor NaN. */
export const isOrdinary = (type: Type, literal: unknown): boolean =>
  isFloat(type) && literal !== 0 && !Number.isNaN(literal)
