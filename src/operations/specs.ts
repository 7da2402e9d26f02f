// The plain objects that operations and kernels are registered with, and the first check of each: that it is well-formed. What
// comes out is a draft: a copy whose words (roles, kinds, dtypes, …) are still to be checked by the registry, so that a later change
// of the caller's object changes nothing.
import type { Bindings } from './bindings.ts'
import type { DType } from './dtypes.ts'
import { RegistrationError } from './errors.ts'
import type { Role, RoleMap } from './roles.ts'
import { show } from './show.ts'
import type { BackendKind, Contiguity, Layout, Location, OperandAccess, OperandKind } from './vocabulary.ts'

/** One operand of an operation. */
export interface OperandSpec {
  readonly role: Role
  readonly kind: OperandKind
  /** `read` when absent. */
  readonly access?: OperandAccess | undefined
}

/** Checks the objects of a call before a kernel is chosen; throws to reject the call, and returns nothing. */
export type Validator = (bindings: Bindings) => void

export interface OperationSpec {
  /** The extension's name, a dot, and a name within it: `acme.double`. */
  readonly name: string
  /** Inputs first, then outputs, each numbered from 0 in order. */
  readonly operands: readonly OperandSpec[]
  /** Run in order before each call. */
  readonly validators?: readonly Validator[] | undefined
  /** What the operation computes. */
  readonly doc?: string | undefined
}

/** One operand of a kernel: that of the operation, and the one sort of array that the kernel takes for it. */
export interface BackendOperandSpec extends OperandSpec {
  /** `float32` when absent. */
  readonly dtype?: DType | undefined
  /** The dtype that the kernel computes in; `dtype` when absent. */
  readonly computeDtype?: DType | undefined
  /** `host` when absent. */
  readonly location?: Location | undefined
  /** `row-major` when absent. */
  readonly layout?: Layout | undefined
  /** `contiguous` when absent. */
  readonly contiguity?: Contiguity | undefined
}

/** One call of a kernel, as a callback sees it. */
export interface Invocation<Bound extends Bindings = Bindings> {
  readonly operation: string
  readonly backend: BackendKind
  /** The caller's own objects by role; the map is frozen, the objects are as they are. */
  readonly bindings: Bound
  /** The dtype that each operand is computed in. */
  readonly computeDtypes: RoleMap<DType>
  /** The device that is current; null on a CPU backend. */
  readonly cudaDevice: number | null
  /** The stream to enqueue everything on; null on a CPU backend. */
  readonly stream: bigint | null
}

/** A kernel written in JavaScript. */
export interface CallbackKernelSpec<Bound extends Bindings = Bindings> {
  readonly operation: string
  readonly backend: BackendKind
  /** The operands of the operation, in its order. */
  readonly operands: readonly BackendOperandSpec[]
  /** Writes every output before it returns. What it returns is ignored, except that a promise is refused. */
  callback(invocation: Invocation<Bound>): void
  /** What messages and descriptions call this kernel; the callback's name when absent. */
  readonly label?: string | undefined
}

/** An operand whose words may be missing or unknown. */
export interface OperandDraft {
  readonly role: string | undefined
  readonly kind: string | undefined
  readonly access: string | undefined
}

/** A kernel's operand whose words may be missing or unknown. */
export interface BackendOperandDraft extends OperandDraft {
  readonly dtype: string | undefined
  readonly computeDtype: string | undefined
  readonly location: string | undefined
  readonly layout: string | undefined
  readonly contiguity: string | undefined
}

export interface OperationDraft {
  readonly name: string
  readonly operands: readonly OperandDraft[]
  readonly doc: string
}

export interface KernelDraft {
  readonly operation: string
  readonly backend: string | undefined
  readonly operands: readonly BackendOperandDraft[]
  readonly label: string
}

/** What a field of a specification must be. */
export interface Form {
  readonly expected: string
  readonly holds: (value: unknown) => boolean
}

export type FieldTable<Spec> = { readonly [Field in keyof Spec]-?: Form }

export const TEXT: Form = { expected: 'a string', holds: (value) => typeof value === 'string' }
const LIST: Form = { expected: 'an array', holds: Array.isArray }
const FUNCTION: Form = { expected: 'a function', holds: (value) => typeof value === 'function' }

export function optional({ expected, holds }: Form): Form {
  return { expected: `${expected}, or absent`, holds: (value) => value === undefined || holds(value) }
}

const OPERATION_FIELDS: FieldTable<OperationSpec> = {
  name: TEXT,
  operands: LIST,
  validators: optional(LIST),
  doc: optional(TEXT),
}

const OPERAND_FIELDS: FieldTable<OperandSpec> = { role: TEXT, kind: TEXT, access: optional(TEXT) }

const BACKEND_OPERAND_FIELDS: FieldTable<BackendOperandSpec> = {
  ...OPERAND_FIELDS,
  dtype: optional(TEXT),
  computeDtype: optional(TEXT),
  location: optional(TEXT),
  layout: optional(TEXT),
  contiguity: optional(TEXT),
}

const CALLBACK_KERNEL_FIELDS: FieldTable<CallbackKernelSpec> = {
  operation: TEXT,
  backend: TEXT,
  operands: LIST,
  callback: FUNCTION,
  label: optional(TEXT),
}

/** Checks the form of an operation's specification (E_SPEC) and copies it. */
export function draftOperation(spec: OperationSpec): OperationDraft {
  checkForm('registerOperation', spec, OPERATION_FIELDS)
  spec.operands.forEach((operand, place) => checkForm(`registerOperation: operand ${place}`, operand, OPERAND_FIELDS))
  spec.validators?.forEach((validator, place) => {
    if (typeof validator !== 'function') {
      malformed(`registerOperation: validator ${place} is ${show(validator)}; expected a function of the bindings`)
    }
  })
  return { name: spec.name, operands: spec.operands.map(draftOperand), doc: spec.doc ?? '' }
}

/** Checks the form of a callback kernel's specification (E_SPEC) and copies it. */
export function draftCallbackKernel(spec: CallbackKernelSpec): KernelDraft {
  checkForm('registerKernel', spec, CALLBACK_KERNEL_FIELDS)
  spec.operands.forEach((operand, place) =>
    checkForm(`registerKernel: operand ${place}`, operand, BACKEND_OPERAND_FIELDS),
  )
  return {
    operation: spec.operation,
    backend: spec.backend,
    operands: spec.operands.map(draftBackendOperand),
    label: spec.label ?? (spec.callback.name || 'callback'),
  }
}

function draftOperand({ role, kind, access = 'read' }: OperandSpec): OperandDraft {
  return { role, kind, access }
}

/** Fills in the defaults of a kernel's operand. */
export function draftBackendOperand(operand: BackendOperandSpec): BackendOperandDraft {
  const {
    dtype = 'float32',
    computeDtype = dtype,
    location = 'host',
    layout = 'row-major',
    contiguity = 'contiguous',
  } = operand
  return { ...draftOperand(operand), dtype, computeDtype, location, layout, contiguity }
}

/** Refuses (E_SPEC) what is no object, has a field that the table does not name, or a field of another form. */
export function checkForm<Spec>(subject: string, spec: unknown, fields: FieldTable<Spec>): void {
  const names = Object.keys(fields)
  if (typeof spec !== 'object' || spec === null || Array.isArray(spec)) {
    malformed(`${subject} is ${show(spec)}; expected an object { ${names.join(', ')} }`)
  }
  const given: ReadonlyMap<string, unknown> = new Map(Object.entries(spec))
  for (const name of given.keys()) {
    if (!names.includes(name)) malformed(`${subject} has a field '${name}'; the fields are ${names.join(', ')}`)
  }
  for (const [name, { expected, holds }] of Object.entries<Form>(fields)) {
    if (!holds(given.get(name))) malformed(`${subject}: ${name} is ${show(given.get(name))}; expected ${expected}`)
  }
}

function malformed(message: string): never {
  throw new RegistrationError('E_SPEC', message)
}
