// Queues of samples in the scratch memory of a thread, a column for each value: lanes go in packed and come out spread over the free
// lanes of a vector.
// Invariant: columns are longer than the queue by a vector, as whole vectors are written and read at its end.
import { BYTES, type Type } from '../../ir/types.ts'
import { lanesOf, type Context } from './context.ts'
import { countingVector, laneType, mangled } from './lanes.ts'

export interface Column {
  readonly type: Type
  /** Bytes from the start of the thread's part. */
  readonly offset: number
}

export interface QueuePlan {
  readonly columns: readonly Column[]
  readonly capacity: number
  readonly bytes: number
}

/** Lanes of the widest vector. */
const PADDING = 64

export function planQueue(types: readonly Type[], capacity: number, offset: number): QueuePlan {
  let end = offset
  const columns = types.map((type) => {
    const start = end
    end += Math.ceil(((capacity + PADDING) * BYTES[columnType(type)]) / 64) * 64
    return { type, offset: start }
  })
  return { columns, capacity, bytes: end - offset }
}

/** Conditions stand as i32 in queues. */
export const columnType = (type: Type): Exclude<Type, 'bool'> => (type === 'bool' ? 'i32' : type)

export function toColumn(context: Context, type: Type, value: string): string {
  if (type !== 'bool') return value
  return context.code.value(`zext ${lanesOf(context, 'bool')} ${value} to ${lanesOf(context, 'i32')}`)
}

export function fromColumn(context: Context, type: Type, value: string): string {
  if (type !== 'bool') return value
  return context.code.value(`icmp ne ${lanesOf(context, 'i32')} ${value}, zeroinitializer`)
}

/** Address of the entry of a column at a place (i64). */
export function entryOf({ code }: Context, scratch: string, { type, offset }: Column, place: string): string {
  const column = code.value(`getelementptr i8, ptr ${scratch}, i64 ${offset}`)
  return code.value(`getelementptr ${laneType(columnType(type), 1)}, ptr ${column}, i64 ${place}`)
}

/** How many lanes of a mask hold (i64). */
export function countLanes({ code, width }: Context, mask: string): string {
  const bits = code.value(`bitcast ${laneType('bool', width)} ${mask} to i${width}`)
  const wide = width === 64 ? bits : code.value(`zext i${width} ${bits} to i64`)
  return code.call('i64', 'llvm.ctpop.i64', [`i64 ${wide}`])
}

/** The number of a lane among the lanes of a mask (i32 lanes; anything outside the mask). */
export function rankLanes(context: Context, mask: string): string {
  const { code, width, options } = context
  const lanes = lanesOf(context, 'i32')
  const counting = code.value(`add ${lanes} ${countingVector('i32', width, 0)}, zeroinitializer`)
  if (options.target.avx512) return expandRegister(context, 'i32', counting, 'zeroinitializer', mask)
  const below = code.value(
    `add ${lanes} <${Array.from({ length: width }, (_, lane) => `i32 ${2 ** lane - 1}`).join(', ')}>, zeroinitializer`,
  )
  const bits = code.value(`bitcast ${lanesOf(context, 'bool')} ${mask} to i${width}`)
  const wide = code.splat('i32', code.value(`zext i${width} ${bits} to i32`), width)
  const before = code.value(`and ${lanes} ${wide}, ${below}`)
  return code.call(lanes, `llvm.ctpop.${mangled('i32', width)}`, [`${lanes} ${before}`])
}

function expandRegister(context: Context, type: Type, value: string, rest: string, mask: string): string {
  const lanes = lanesOf(context, type)
  return context.code.call(lanes, `llvm.x86.avx512.mask.expand.${mangled(type, context.width)}`, [
    `${lanes} ${value}`,
    `${lanes} ${rest}`,
    `${lanesOf(context, 'bool')} ${mask}`,
  ])
}

/** Writes the lanes of a mask to consecutive entries. */
export function storePacked(context: Context, type: Type, value: string, mask: string, address: string): void {
  const { code, width, options } = context
  const column = columnType(type)
  const lanes = laneType(column, width)
  const stored = toColumn(context, type, value)
  if (options.target.avx512) {
    // Packing in a register and storing all of it: packing into memory is microcode on some processors.
    const packed = code.call(lanes, `llvm.x86.avx512.mask.compress.${mangled(column, width)}`, [
      `${lanes} ${stored}`,
      `${lanes} zeroinitializer`,
      `${laneType('bool', width)} ${mask}`,
    ])
    code.line(`store ${lanes} ${packed}, ptr ${address}, align ${BYTES[column]}`)
  } else {
    code.call('void', `llvm.masked.compressstore.${mangled(column, width)}`, [
      `${lanes} ${stored}`,
      `ptr ${address}`,
      `${laneType('bool', width)} ${mask}`,
    ])
  }
}

/** Reads consecutive entries into the lanes of a mask; the other lanes keep what `rest` holds, in column form. */
export function loadSpread(context: Context, type: Type, rest: string, mask: string, address: string): string {
  const { code, width, options } = context
  const column = columnType(type)
  const lanes = laneType(column, width)
  if (options.target.avx512) {
    const packed = code.value(`load ${lanes}, ptr ${address}, align ${BYTES[column]}`)
    return expandRegister(context, column, packed, rest, mask)
  }
  return code.call(lanes, `llvm.masked.expandload.${mangled(column, width)}`, [
    `ptr ${address}`,
    `${laneType('bool', width)} ${mask}`,
    `${lanes} ${rest}`,
  ])
}
