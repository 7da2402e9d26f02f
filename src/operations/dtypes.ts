// Element types of operands: the size of each and the typed arrays that can hold it. 16-bit floats, 8-bit floats, bool and complex
// numbers have no typed array of their own, so a view names its dtype beside an array of the same storage.

export type TypedArray =
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Float32Array
  | Float64Array

/** `Float16Array` exists in newer versions of JavaScript only, so it is known by its name. */
type TypedArrayName = TypedArray[typeof Symbol.toStringTag] | 'Float16Array'

interface DTypeRow {
  /** Bytes of one element. */
  readonly bytes: number
  /** The classes of typed array whose elements are of this dtype. */
  readonly own: readonly TypedArrayName[]
  /** The classes that can hold such elements when a view names the dtype. */
  readonly borrowed: readonly TypedArrayName[]
}

/** Every dtype. Complex numbers are pairs, real part first. */
export const DTYPES = {
  int8: { bytes: 1, own: ['Int8Array'], borrowed: [] },
  int16: { bytes: 2, own: ['Int16Array'], borrowed: [] },
  int32: { bytes: 4, own: ['Int32Array'], borrowed: [] },
  int64: { bytes: 8, own: ['BigInt64Array'], borrowed: [] },
  uint8: { bytes: 1, own: ['Uint8Array', 'Uint8ClampedArray'], borrowed: [] },
  uint16: { bytes: 2, own: ['Uint16Array'], borrowed: [] },
  uint32: { bytes: 4, own: ['Uint32Array'], borrowed: [] },
  uint64: { bytes: 8, own: ['BigUint64Array'], borrowed: [] },
  float16: { bytes: 2, own: ['Float16Array'], borrowed: ['Uint16Array'] },
  float32: { bytes: 4, own: ['Float32Array'], borrowed: [] },
  float64: { bytes: 8, own: ['Float64Array'], borrowed: [] },
  bfloat16: { bytes: 2, own: [], borrowed: ['Uint16Array'] },
  complex64: { bytes: 8, own: [], borrowed: ['Float32Array'] },
  complex128: { bytes: 16, own: [], borrowed: ['Float64Array'] },
  bool: { bytes: 1, own: [], borrowed: ['Uint8Array'] },
  float8_e4m3fn: { bytes: 1, own: [], borrowed: ['Uint8Array'] },
  float8_e5m2: { bytes: 1, own: [], borrowed: ['Uint8Array'] },
} as const satisfies Record<string, DTypeRow>

export type DType = keyof typeof DTYPES

const rows: readonly (readonly [DType, DTypeRow])[] = (Object.keys(DTYPES) as DType[]).map((name) => [
  name,
  DTYPES[name],
])

/** Every dtype, in the order of the table. */
export const DTYPE_NAMES: readonly DType[] = rows.map(([name]) => name)

const OWN: ReadonlyMap<string, DType> = new Map(
  rows.flatMap(([dtype, row]) => row.own.map((name) => [name, dtype] as const)),
)

export function isDType(text: unknown): text is DType {
  return typeof text === 'string' && Object.hasOwn(DTYPES, text)
}

/** The dtype of a bare typed array, by the name of its class; undefined for anything else, a DataView included. */
export function dtypeOfClass(className: string): DType | undefined {
  return OWN.get(className)
}

/** The classes of typed array that can hold a dtype. */
export function storageOf(dtype: DType): readonly string[] {
  const row: DTypeRow = DTYPES[dtype]
  return [...row.own, ...row.borrowed]
}
