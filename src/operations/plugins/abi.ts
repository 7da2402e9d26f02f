// The C interface of plug-ins in numbers, version 1.0: struct layouts and enumerations. The header include/harrier/plugin.h says
// the same in C; a test compiles one against the other. Numbers are only ever added.
import { DTYPES, DTYPE_NAMES, type DType } from '../dtypes.ts'
import { OperandRole, type Role, roleParts } from '../roles.ts'
import type { BackendKind, Contiguity, Layout, Location, OperandAccess, OperandKind } from '../vocabulary.ts'
import { structLayout } from './layout.ts'

export const ABI_MAJOR = 1
export const ABI_MINOR = 0

export const ENTRY_SYMBOL = `hr_plugin_entry_v${ABI_MAJOR}`
export const VERSION_SYMBOL = 'hr_plugin_abi_version'

export const STRUCTS = {
  hr_string: structLayout({ ptr: 'address', len: 'u64' }),
  hr_error: structLayout({ struct_size: 'u32', code: 'i32', capacity: 'u32', length: 'u32', message: 'address' }),
  hr_operand_spec: structLayout({ struct_size: 'u32', role: 'u32', kind: 'u32', access: 'u32' }),
  hr_backend_operand_spec: structLayout({
    struct_size: 'u32',
    role: 'u32',
    kind: 'u32',
    access: 'u32',
    dtype: 'u32',
    compute_dtype: 'u32',
    location: 'u32',
    layout: 'u32',
    contiguity: 'u32',
    reserved0: 'u32',
  }),
  hr_tensor: structLayout({
    struct_size: 'u32',
    role: 'u32',
    kind: 'u32',
    access: 'u32',
    dtype: 'u32',
    compute_dtype: 'u32',
    location: 'u32',
    layout: 'u32',
    device: 'i32',
    flags: 'u32',
    rank: 'u32',
    reserved0: 'u32',
    data: 'address',
    byte_length: 'u64',
    shape: 'address',
    strides: 'address',
  }),
  hr_invocation: structLayout({
    struct_size: 'u32',
    backend: 'u32',
    operand_count: 'u32',
    cuda_device: 'i32',
    operands: 'address',
    stream: 'address',
    error: 'address',
    next: 'address',
  }),
  hr_operation_desc: structLayout({
    struct_size: 'u32',
    operand_count: 'u32',
    name: 'text',
    operands: 'address',
    validate: 'address',
    user_data: 'address',
    release: 'address',
    doc: 'text',
  }),
  hr_kernel_desc: structLayout({
    struct_size: 'u32',
    operand_count: 'u32',
    operation: 'text',
    backend: 'u32',
    flags: 'u32',
    operands: 'address',
    execute: 'address',
    user_data: 'address',
    release: 'address',
    label: 'text',
  }),
  hr_host_api: structLayout({
    struct_size: 'u32',
    abi_major: 'u16',
    abi_minor: 'u16',
    capabilities: 'u64',
    host_name: 'text',
    host_version: 'text',
    cuda_device_count: 'i32',
    cuda_driver_version: 'i32',
    next: 'address',
    register_operation: 'address',
    register_kernel: 'address',
  }),
  hr_plugin_info: structLayout({
    struct_size: 'u32',
    abi_major: 'u16',
    min_host_minor: 'u16',
    required_capabilities: 'u64',
    name: 'text',
    version: 'text',
    shutdown: 'address',
    plugin_state: 'address',
  }),
} as const

/** What functions of either side return; a plug-in's own statuses start at 1000. */
export const STATUS = {
  ok: 0,
  invalid_argument: 1,
  out_of_memory: 2,
  abi_mismatch: 3,
  struct_too_small: 4,
  struct_too_new: 5,
  unsupported: 6,
  capability_missing: 7,
  duplicate: 8,
  not_found: 9,
  internal: 10,
  exception: 11,
  cuda: 20,
} as const
export type StatusName = keyof typeof STATUS
export const FIRST_PLUGIN_STATUS = 1000

export const KIND_NUMBERS: Record<OperandKind, number> = { scalar: 1, vector: 2, matrix: 3, tensor: 4 }
export const ACCESS_NUMBERS: Record<OperandAccess, number> = { read: 1, write: 2, readwrite: 3 }
export const BACKEND_NUMBERS: Record<BackendKind, number> = {
  'cpu-scalar': 1,
  'cpu-simd': 2,
  'cpu-parallel': 3,
  cuda: 16,
}
/** As DLPack numbers its device types. */
export const LOCATION_NUMBERS: Record<Location, number> = { host: 1, cuda: 2, 'cuda-pinned': 3, 'cuda-managed': 13 }
export const LAYOUT_NUMBERS: Record<Layout, number> = { 'row-major': 1, 'column-major': 2, strided: 3 }
export const CONTIGUITY_NUMBERS: Record<Contiguity, number> = { contiguous: 1, any: 2 }

/** The type code of DLPack in the low byte; the bits of one element follow above it. */
const DTYPE_CODES: Record<DType, number> = {
  int8: 0,
  int16: 0,
  int32: 0,
  int64: 0,
  uint8: 1,
  uint16: 1,
  uint32: 1,
  uint64: 1,
  float16: 2,
  float32: 2,
  float64: 2,
  bfloat16: 4,
  complex64: 5,
  complex128: 5,
  bool: 6,
  float8_e4m3fn: 10,
  float8_e5m2: 12,
}

export function dtypeNumber(dtype: DType): number {
  return DTYPE_CODES[dtype] | ((DTYPES[dtype].bytes * 8) << 8)
}

const ROLE_BASES = { input: 0x0100, output: 0x0200 } as const

export function roleNumber(role: Role): number {
  const { direction, number } = roleParts(role)
  return ROLE_BASES[direction] + number
}

/** From the number to the word, for each enumeration that a plug-in's descriptors use. */
export const WORDS = {
  role: wordsByNumber(Object.values(OperandRole).map((role) => [role, roleNumber(role)])),
  kind: wordsByNumber(Object.entries(KIND_NUMBERS)),
  access: wordsByNumber(Object.entries(ACCESS_NUMBERS)),
  backend: wordsByNumber(Object.entries(BACKEND_NUMBERS)),
  dtype: wordsByNumber(DTYPE_NAMES.map((dtype) => [dtype, dtypeNumber(dtype)])),
  location: wordsByNumber(Object.entries(LOCATION_NUMBERS)),
  layout: wordsByNumber(Object.entries(LAYOUT_NUMBERS)),
  contiguity: wordsByNumber(Object.entries(CONTIGUITY_NUMBERS)),
} as const

function wordsByNumber(entries: readonly (readonly [string, number])[]): ReadonlyMap<number, string> {
  return new Map(entries.map(([word, number]) => [number, word]))
}

/** Bit of `hr_kernel_desc.flags`: calls of the kernel must not overlap. */
export const KERNEL_SERIALISE = 1

/** Bit of `hr_tensor.flags`: the elements follow each other without holes. */
export const TENSOR_CONTIGUOUS = 1

/** Bits of `hr_host_api.capabilities` and `hr_plugin_info.required_capabilities`. */
export const CAPABILITY_BITS = { cpu: 0, cuda_built_in: 1, cuda_usable: 2 } as const
export type CapabilityName = keyof typeof CAPABILITY_BITS

/** Bytes of text that the host has room for in the `hr_error` of an entry or a call. */
export const ERROR_CAPACITY = 1024

/** A status as messages show it: `5 (struct too new)`. */
export function describeStatus(status: number): string {
  const name = Object.entries(STATUS).find(([, number]) => number === status)?.[0]
  if (name !== undefined) return `${status} (${name.replaceAll('_', ' ')})`
  return status >= FIRST_PLUGIN_STATUS ? `${status} (the plug-in's own)` : `${status}`
}
