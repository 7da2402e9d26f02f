// How samples lie in a 128-bit register. A kernel that computes in any 64-bit type holds 2 samples a register, any other 4.
// Invariants: with 2 lanes, a 32-bit value occupies lanes 0 and 1 of four and the other two are undefined; a condition is a mask as
// wide as a lane, all ones or all zeros, so 64 bits with 2 lanes and 32 bits with 4.
import { bitsOf } from '../../ir/exact.ts'
import { isConstruct, isEffect, walk, type Graph } from '../../ir/graph.ts'
import type { Literal, Type } from '../../ir/types.ts'

export type Lanes = 2 | 4

const isWide = (type: Type): boolean => type === 'f64' || type === 'i64'

export function laneCount(graph: Graph): Lanes {
  for (const node of walk(graph.body)) {
    const types = isConstruct(node) ? node.types : isEffect(node) ? [] : [node.type]
    const used = node.operands.map(({ type }) => type)
    if ([...types, ...used].some(isWide)) return 2
  }
  return 4
}

/** Name of the vector instructions of a type. */
export const shape = (type: Type, lanes: Lanes): 'f64x2' | 'i64x2' | 'f32x4' | 'i32x4' => {
  switch (type) {
    case 'f64':
      return 'f64x2'
    case 'i64':
      return 'i64x2'
    case 'f32':
      return 'f32x4'
    case 'i32':
    case 'u32':
      return 'i32x4'
    case 'bool':
      return lanes === 2 ? 'i64x2' : 'i32x4'
  }
}

/** Name of the scalar instructions of a type; a condition is an i32. */
export const scalar = (type: Type): 'f64' | 'f32' | 'i64' | 'i32' => (type === 'u32' || type === 'bool' ? 'i32' : type)

/** Bytes that one lane takes in a register, and in scratch memory. */
export const laneBytes = (type: Type, lanes: Lanes): 4 | 8 => (isWide(type) || (type === 'bool' && lanes === 2) ? 8 : 4)

/** A mask as wide as 32-bit lanes. */
export const narrowMask = (mask: string, lanes: Lanes): string =>
  lanes === 4 ? mask : `(i8x16.shuffle 0 1 2 3 8 9 10 11 0 1 2 3 8 9 10 11 ${mask} ${mask})`

/** A condition from a mask of 32-bit lanes. */
export const widenMask = (mask: string, lanes: Lanes): string =>
  lanes === 4 ? mask : `(i64x2.extend_low_i32x4_s ${mask})`

/** A condition as a mask that fits the lanes of a type. */
export const maskFor = (type: Type, mask: string, lanes: Lanes): string =>
  laneBytes(type, lanes) === 4 ? narrowMask(mask, lanes) : mask

const words = new DataView(new ArrayBuffer(4))

/** The bits of a literal as it fills a lane. */
function laneBits(literal: Literal, type: Type): bigint {
  if (type === 'bool') return literal ? -1n : 0n
  if (type === 'f64') return BigInt.asIntN(64, bitsOf(Number(literal)))
  if (type !== 'f32') return BigInt(literal)
  words.setFloat32(0, Number(literal))
  return BigInt(words.getInt32(0))
}

/** A literal in every lane. */
export function splat(literal: Literal, type: Type, lanes: Lanes): string {
  const bits = laneBits(literal, type)
  return laneBytes(type, lanes) === 8
    ? `(v128.const i64x2 ${bits} ${bits})`
    : `(v128.const i32x4 ${Array(4).fill(BigInt.asIntN(32, bits)).join(' ')})`
}

/** A vector whose lanes are computed one by one. */
export function byLane(type: Type, lanes: Lanes, lane: (index: number) => string): string {
  const name = shape(type, lanes)
  let vector = `(${name}.splat ${lane(0)})`
  for (let index = 1; index < lanes; index++) vector = `(${name}.replace_lane ${index} ${vector} ${lane(index)})`
  return vector
}

/** One lane of a value of a type other than bool. */
export const extract = (type: Type, lanes: Lanes, index: number, vector: string): string =>
  `(${shape(type, lanes)}.extract_lane ${index} ${vector})`
