// Memory of one argument block, and how values get into its slots (see ../llvm/arguments.ts).
// Invariant: the memory lies outside the JavaScript heap and does not move, so its address is taken once.
import type { Type } from '../../ir/types.ts'
import { SLOT_BYTES } from '../llvm/arguments.ts'
import type { Machine } from './machine.ts'

export interface ArgumentBlock {
  readonly address: bigint
  readonly memory: ArrayBuffer
  setAddress(slot: number, address: bigint): void
  /** A whole number from 0 to 2⁵³. */
  setWhole(slot: number, value: number): void
  setUniform(slot: number, type: Type, value: number): void
}

const TWO_TO_32 = 2 ** 32

/** Words of a slot, low one first: every processor that the host backend knows is little-endian. */
const WORDS = SLOT_BYTES / 4

/** @param source a block of the same size to start as a copy of; else all slots are 0 */
export function createArgumentBlock(
  slotCount: number,
  machine: Pick<Machine, 'addressOf'>,
  source?: ArgumentBlock,
): ArgumentBlock {
  const memory = source === undefined ? new ArrayBuffer(slotCount * SLOT_BYTES) : source.memory.slice(0)
  const views = {
    f64: new Float64Array(memory),
    f32: new Float32Array(memory),
    i32: new Int32Array(memory),
    i64: new BigInt64Array(memory),
  }
  const setters: Record<Type, (slot: number, value: number) => void> = {
    f64: (slot, value) => (views.f64[slot] = value),
    f32: (slot, value) => (views.f32[slot * WORDS] = value),
    i32: (slot, value) => (views.i32[slot * WORDS] = value),
    u32: (slot, value) => (views.i32[slot * WORDS] = value),
    i64: (slot, value) => (views.i64[slot] = BigInt(value)),
    bool: (slot, value) => (views.i32[slot * WORDS] = value === 0 ? 0 : 1),
  }
  return {
    address: machine.addressOf(memory),
    memory,
    setAddress: (slot, address) => (views.i64[slot] = address),
    setWhole(slot, value) {
      // As two words: a bigint would have to be made first, which costs as much as a third of a native call.
      views.i32[slot * WORDS] = value
      views.i32[slot * WORDS + 1] = value / TWO_TO_32
    },
    setUniform: (slot, type, value) => setters[type](slot, value),
  }
}
