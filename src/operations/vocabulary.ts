// The closed sets of words that specifications are written in, apart from roles and dtypes. Their numbers in the C interface are in
// plugins/abi.ts.

/** How many axes an operand has: none, one, two, or any number. */
export const OperandKind = { SCALAR: 'scalar', VECTOR: 'vector', MATRIX: 'matrix', TENSOR: 'tensor' } as const
export type OperandKind = (typeof OperandKind)[keyof typeof OperandKind]

/** What a kernel does to an operand. Inputs are read; outputs are written, or read and written. */
export const OperandAccess = { READ: 'read', WRITE: 'write', READ_WRITE: 'readwrite' } as const
export type OperandAccess = (typeof OperandAccess)[keyof typeof OperandAccess]

/** Where and how a kernel runs. */
export const BackendKind = {
  CPU_SCALAR: 'cpu-scalar',
  CPU_SIMD: 'cpu-simd',
  CPU_PARALLEL: 'cpu-parallel',
  CUDA: 'cuda',
} as const
export type BackendKind = (typeof BackendKind)[keyof typeof BackendKind]

/** The order in which the backends are searched for host arrays. */
export const HOST_BACKENDS = ['cpu-parallel', 'cpu-simd', 'cpu-scalar'] as const satisfies readonly BackendKind[]

/** The backend for arrays of which at least one is on a device. */
export const DEVICE_BACKENDS = ['cuda'] as const satisfies readonly BackendKind[]

/** Which memory the elements are in. */
export const LOCATIONS = ['host', 'cuda', 'cuda-pinned', 'cuda-managed'] as const
export type Location = (typeof LOCATIONS)[number]

/** The order of the elements in memory; `strided` is every order that is neither of the others. */
export const LAYOUTS = ['row-major', 'column-major', 'strided'] as const
export type Layout = (typeof LAYOUTS)[number]

/** Whether a kernel needs its elements without holes between them. */
export const CONTIGUITIES = ['contiguous', 'any'] as const
export type Contiguity = (typeof CONTIGUITIES)[number]

/** The rank of each kind; null where any rank will do. */
export const KIND_RANKS: Record<OperandKind, number | null> = { scalar: 0, vector: 1, matrix: 2, tensor: null }
