// Reads plain data out of a plug-in's memory: structs that start with their own size, lists of them, and text. What is read is
// copied. Pointers are taken on trust; sizes, counts and encodings are not.
import { type Address, readMemory } from '../../runtime/ffi.ts'
import { RegistrationError } from '../errors.ts'
import { type Fields, type StructLayout, type StructValue, readStruct, structLayout } from './layout.ts'

/** A struct whose size this host cannot take: smaller than version 1.0 has it, or with a tail that asks for something unknown. */
export class StructSizeError extends Error {
  readonly status: 'struct_too_small' | 'struct_too_new'

  constructor(status: StructSizeError['status'], message: string) {
    super(message)
    this.status = status
  }
}

/** No struct of this interface grows beyond this; a larger `struct_size` is garbage, and reading that far could end the process. */
export const LARGEST_STRUCT = 1024

/** The longest text that is taken, in bytes; a larger length is garbage. */
const LONGEST_TEXT = 65_536

const SIZE_ALONE = structLayout({ struct_size: 'u32' })

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Reads a struct that starts with `struct_size`, as version 1.0 knows it.
 * @throws StructSizeError for a size below that of 1.0, or bytes beyond it that are not all zero; E_SPEC for a null pointer
 */
export function readSized<Members extends Fields>(
  layout: StructLayout<Members>,
  subject: string,
  address: Address,
): StructValue<Members> {
  return readStruct(layout, asView(readSizedBytes(layout.size, subject, address)))
}

/** Reads the same struct from bytes that hold it and {@link LARGEST_STRUCT} in all. */
export function readSizedFrom<Members extends Fields>(
  layout: StructLayout<Members>,
  subject: string,
  bytes: Uint8Array,
): StructValue<Members> {
  return readStruct(layout, asView(takeSized(layout.size, subject, (length) => bytes.subarray(0, length))))
}

/** Reads structs that follow each other; the size of the first is the distance from one to the next, and all have it. */
export function readList<Members extends Fields>(
  layout: StructLayout<Members>,
  subject: string,
  address: Address,
  count: number,
): StructValue<Members>[] {
  const stride = count === 0 ? 0 : readSizedBytes(layout.size, `${subject} 0`, address).length
  return Array.from({ length: count }, (_, index) => {
    const bytes = readSizedBytes(layout.size, `${subject} ${index}`, address + BigInt(index * stride))
    if (bytes.length !== stride) {
      throw new RegistrationError(
        'E_SPEC',
        `${subject} ${index} has struct_size ${bytes.length} and ${subject} 0 has ${stride}; all elements of a list have one size`,
      )
    }
    return readStruct(layout, asView(bytes))
  })
}

function readSizedBytes(known: number, subject: string, address: Address): Uint8Array {
  if (address === 0n) throw new RegistrationError('E_SPEC', `${subject} is a null pointer`)
  return takeSized(known, subject, (length) => readMemory(address, length))
}

/** The bytes of a struct that starts with its size, from a function that fetches as many as it is asked for. */
function takeSized(known: number, subject: string, fetch: (length: number) => Uint8Array): Uint8Array {
  const { struct_size: size } = readStruct(SIZE_ALONE, asView(fetch(SIZE_ALONE.size)))
  if (size < known) {
    throw new StructSizeError(
      'struct_too_small',
      `${subject} has struct_size ${size}; version 1.0 needs at least ${known}`,
    )
  }
  if (size > LARGEST_STRUCT) {
    throw new StructSizeError(
      'struct_too_new',
      `${subject} has struct_size ${size}; this host reads at most ${LARGEST_STRUCT}`,
    )
  }
  const bytes = fetch(size)
  const stranger = bytes.findIndex((byte, offset) => offset >= known && byte !== 0)
  if (stranger >= 0) {
    throw new StructSizeError(
      'struct_too_new',
      `${subject} has struct_size ${size}, of which this host knows ${known} bytes, and asks for something in byte ${stranger}`,
    )
  }
  return bytes
}

/** Reads UTF-8 text of a known length; E_SPEC when it is too long, a null pointer with a length, or not UTF-8. */
export function readText(
  subject: string,
  { address, length }: { readonly address: Address; readonly length: bigint },
): string {
  if (length === 0n) return ''
  if (address === 0n) throw new RegistrationError('E_SPEC', `${subject} has the length ${length} and a null pointer`)
  if (length > LONGEST_TEXT)
    throw new RegistrationError('E_SPEC', `${subject} has the length ${length}; the limit is ${LONGEST_TEXT} bytes`)
  try {
    return strictUtf8.decode(readMemory(address, Number(length)))
  } catch (cause) {
    throw new RegistrationError('E_SPEC', `${subject} is not UTF-8`, { cause })
  }
}

export function asView({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}
