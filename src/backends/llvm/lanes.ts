// How a scalar type of the graph looks in LLVM: alone, as a vector of `width` lanes, in intrinsic names, as a literal.
// Invariant: floats print as hex bits (a decimal that is not exact is a parse error), an f32 as the bits of the double it equals.
import { bitsOf } from '../../ir/exact.ts'
import { BYTES, type Literal, type Type } from '../../ir/types.ts'

/** Types of the emitted code: those of the graph, bytes, and addresses. Signedness is in the instructions. */
export type LaneType = Type | 'i8' | 'ptr'

const NAME: Record<LaneType, string> = {
  f64: 'double',
  f32: 'float',
  i32: 'i32',
  u32: 'i32',
  i64: 'i64',
  bool: 'i1',
  i8: 'i8',
  ptr: 'ptr',
}

const MANGLED: Record<LaneType, string> = {
  f64: 'f64',
  f32: 'f32',
  i32: 'i32',
  u32: 'i32',
  i64: 'i64',
  bool: 'i1',
  i8: 'i8',
  ptr: 'p0',
}

/** The integer type of the same width. */
export const BITS_OF: Record<Type, LaneType> = {
  f64: 'i64',
  f32: 'i32',
  i32: 'i32',
  u32: 'i32',
  i64: 'i64',
  bool: 'i8',
}

/** The type of an element in memory: conditions are bytes. */
export const MEMORY_TYPE: Record<Type, LaneType> = {
  f64: 'f64',
  f32: 'f32',
  i32: 'i32',
  u32: 'u32',
  i64: 'i64',
  bool: 'i8',
}

export const laneType = (type: LaneType, width: number): string =>
  width === 1 ? NAME[type] : `<${width} x ${NAME[type]}>`

/** The type as it stands in the name of an overloaded intrinsic. */
export const mangled = (type: LaneType, width: number): string =>
  width === 1 ? MANGLED[type] : `v${width}${MANGLED[type]}`

export const sizeOf = (type: LaneType): number => (type === 'i8' ? 1 : type === 'ptr' ? 8 : BYTES[type])

const hex = (bits: bigint): string => `0x${bits.toString(16).toUpperCase().padStart(16, '0')}`

/** A literal as a scalar operand. */
export function literalText(type: Type, literal: Literal): string {
  switch (type) {
    case 'f64':
    case 'f32':
      return hex(bitsOf(literal as number))
    case 'i32':
    case 'u32':
    case 'i64':
    case 'bool':
      return String(literal)
  }
}

/** The positive zero of a type, or `false`. */
export const isZeroLiteral = (type: Type, literal: Literal): boolean =>
  type === 'bool' ? literal === false : type === 'i64' ? literal === 0n : Object.is(literal, 0)

/** Constant vector first, first + 1, … */
export const countingVector = (type: 'i32' | 'i64', width: number, first: number): string =>
  width === 1
    ? String(first)
    : `<${Array.from({ length: width }, (_, lane) => `${NAME[type]} ${first + lane}`).join(', ')}>`

/** The lanes that a shufflevector picks. */
export const shuffleMask = (lanes: readonly number[]): string =>
  `<${lanes.length} x i32> <${lanes.map((lane) => `i32 ${lane}`).join(', ')}>`
