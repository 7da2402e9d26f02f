// The text side of an `hr_error`: a struct in host memory with room for a message, which either side fills. There is no terminator;
// what was cut in the middle of a character is read back to a whole one.
import { type Address, readMemory, writeMemory } from '../../runtime/ffi.ts'
import { ERROR_CAPACITY, STRUCTS } from './abi.ts'
import { readStruct, writeStruct } from './layout.ts'
import { asView } from './memory.ts'

const HEADER = STRUCTS.hr_error

/** Fills the `hr_error` at an address with a code and as much text as it has room for; a null pointer is passed over. */
export function writeErrorText(error: Address, code: number, text: string): void {
  if (error === 0n) return
  const header = readMemory(error, HEADER.size)
  const { struct_size, capacity, message } = readStruct(HEADER, asView(header))
  if (struct_size < HEADER.size) return
  const room = new Uint8Array(message === 0n ? 0 : Math.min(capacity, ERROR_CAPACITY))
  const { written } = new TextEncoder().encodeInto(text, room)
  writeMemory(message, room.subarray(0, written))
  writeStruct(HEADER, asView(header), 0, { code, length: written })
  writeMemory(error, header)
}

/** Lays out an empty `hr_error` at the start of some bytes, with the rest of them for its message. */
export function placeError(bytes: Uint8Array, address: Address): void {
  writeStruct(HEADER, asView(bytes), 0, {
    struct_size: HEADER.size,
    code: 0,
    capacity: bytes.length - HEADER.size,
    length: 0,
    message: address + BigInt(HEADER.size),
  })
}

/** The text that was written into bytes laid out by {@link placeError}; empty when there is none. */
export function readErrorText(bytes: Uint8Array): string {
  const { length } = readStruct(HEADER, asView(bytes))
  const text = bytes.subarray(HEADER.size, HEADER.size + Math.min(length, bytes.length - HEADER.size))
  // A decoder that expects more input leaves out a character that is not complete.
  return new TextDecoder().decode(text, { stream: true })
}
