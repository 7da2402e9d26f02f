// C structs as bytes: a layout is a table from field to type, offsets follow from natural alignment as every 64-bit C compiler we
// target computes them, and values are read and written field by field.
import { endianness } from 'node:os'

const LITTLE_ENDIAN = endianness() === 'LE'

interface FieldValues {
  u16: number
  u32: number
  i32: number
  u64: bigint
  address: bigint
  /** A pointer and a length in bytes. */
  text: { readonly address: bigint; readonly length: bigint }
}

type FieldType = keyof FieldValues

interface FieldCodec<Value> {
  readonly size: number
  readonly alignment: number
  readonly read: (bytes: DataView, at: number) => Value
  readonly write: (bytes: DataView, at: number, value: Value) => void
}

const CODECS: { readonly [Type in FieldType]: FieldCodec<FieldValues[Type]> } = {
  u16: {
    size: 2,
    alignment: 2,
    read: (bytes, at) => bytes.getUint16(at, LITTLE_ENDIAN),
    write: (bytes, at, value) => bytes.setUint16(at, value, LITTLE_ENDIAN),
  },
  u32: {
    size: 4,
    alignment: 4,
    read: (bytes, at) => bytes.getUint32(at, LITTLE_ENDIAN),
    write: (bytes, at, value) => bytes.setUint32(at, value, LITTLE_ENDIAN),
  },
  i32: {
    size: 4,
    alignment: 4,
    read: (bytes, at) => bytes.getInt32(at, LITTLE_ENDIAN),
    write: (bytes, at, value) => bytes.setInt32(at, value, LITTLE_ENDIAN),
  },
  u64: {
    size: 8,
    alignment: 8,
    read: (bytes, at) => bytes.getBigUint64(at, LITTLE_ENDIAN),
    write: (bytes, at, value) => bytes.setBigUint64(at, value, LITTLE_ENDIAN),
  },
  address: {
    size: 8,
    alignment: 8,
    read: (bytes, at) => bytes.getBigUint64(at, LITTLE_ENDIAN),
    write: (bytes, at, value) => bytes.setBigUint64(at, value, LITTLE_ENDIAN),
  },
  text: {
    size: 16,
    alignment: 8,
    read: (bytes, at) => ({
      address: bytes.getBigUint64(at, LITTLE_ENDIAN),
      length: bytes.getBigUint64(at + 8, LITTLE_ENDIAN),
    }),
    write: (bytes, at, { address, length }) => {
      bytes.setBigUint64(at, address, LITTLE_ENDIAN)
      bytes.setBigUint64(at + 8, length, LITTLE_ENDIAN)
    },
  },
}

export type Fields = { readonly [name: string]: FieldType }

interface Member {
  readonly name: string
  readonly type: FieldType
  readonly offset: number
}

export interface StructLayout<Members extends Fields = Fields> {
  readonly size: number
  /** In order. */
  readonly members: readonly Member[]
  /** The type of each member by its name, for the compiler. */
  readonly types: Members
}

export type StructValue<Members extends Fields> = { readonly [Name in keyof Members]: FieldValues[Members[Name]] }

/** Lays out a struct whose members are given in order. */
export function structLayout<const Members extends Fields>(types: Members): StructLayout<Members> {
  let end = 0
  let alignment = 1
  const members = Object.entries(types).map(([name, type]) => {
    const codec = CODECS[type]
    const offset = roundUp(end, codec.alignment)
    end = offset + codec.size
    alignment = Math.max(alignment, codec.alignment)
    return { name, type, offset }
  })
  return { size: roundUp(end, alignment), members, types }
}

export function readStruct<Members extends Fields>(
  layout: StructLayout<Members>,
  bytes: DataView,
  at = 0,
): StructValue<Members> {
  const values = layout.members.map(({ name, type, offset }) => [name, CODECS[type].read(bytes, at + offset)] as const)
  // Object.fromEntries forgets which name has a value of which type.
  return Object.fromEntries(values) as StructValue<Members>
}

/** Writes the members that are given; the others keep the bytes that they have. */
export function writeStruct<Members extends Fields>(
  layout: StructLayout<Members>,
  bytes: DataView,
  at: number,
  values: Partial<StructValue<Members>>,
): void {
  for (const { name, type, offset } of layout.members) writeField(type, bytes, at + offset, values[name])
}

function writeField<Type extends FieldType>(
  type: Type,
  bytes: DataView,
  at: number,
  value: FieldValues[Type] | undefined,
): void {
  if (value !== undefined) CODECS[type].write(bytes, at, value)
}

function roundUp(value: number, multiple: number): number {
  return Math.ceil(value / multiple) * multiple
}

/** Writes whole numbers as an array of `int64_t`. */
export function writeInt64s(bytes: DataView, at: number, values: readonly number[]): void {
  values.forEach((value, index) => bytes.setBigInt64(at + 8 * index, BigInt(value), LITTLE_ENDIAN))
}
