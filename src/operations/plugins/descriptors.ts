// Turns the C descriptors of operations and kernels into the drafts that the registry checks, so that a plug-in's registrations
// meet the same rules as those made in JavaScript. Numbers become words; a number without a word stays visible as such.
import type { Address } from '../../runtime/ffi.ts'
import { RegistrationError } from '../errors.ts'
import { UnknownWordError } from '../registry.ts'
import { ROLE_LIMIT } from '../roles.ts'
import type { BackendOperandDraft, KernelDraft, OperandDraft, OperationDraft } from '../specs.ts'
import { KERNEL_SERIALISE, STRUCTS, WORDS } from './abi.ts'
import { StructSizeError, readList, readSized, readText } from './memory.ts'

/** What the host owns of a registration that it accepted. */
export interface NativeData {
  readonly userData: Address
  /** Called once with `userData`; a null pointer for none. */
  readonly release: Address
}

export interface NativeOperation extends NativeData {
  readonly draft: OperationDraft
  /** A null pointer for none. */
  readonly validate: Address
}

export interface NativeKernel extends NativeData {
  readonly draft: KernelDraft
  readonly execute: Address
  /** Whether calls of `execute` must be kept apart. */
  readonly serialise: boolean
}

/** Reads an `hr_operation_desc` with all that it points to. */
export function readOperation(address: Address): NativeOperation {
  const desc = readSized(STRUCTS.hr_operation_desc, 'hr_operation_desc', address)
  const name = readText('the name of an operation', desc.name)
  const subject = `operation '${name}'`
  checkCount(subject, desc.operand_count)
  const operands = readList(STRUCTS.hr_operand_spec, `${subject}: operand`, desc.operands, desc.operand_count)
  return {
    draft: { name, operands: operands.map(operandDraft), doc: readText(`${subject}: doc`, desc.doc) },
    validate: desc.validate,
    userData: desc.user_data,
    release: desc.release,
  }
}

/** Reads an `hr_kernel_desc` with all that it points to. */
export function readKernel(address: Address): NativeKernel {
  const desc = readSized(STRUCTS.hr_kernel_desc, 'hr_kernel_desc', address)
  const operation = readText('the operation of a kernel', desc.operation)
  const label = readText(`a kernel of '${operation}': label`, desc.label) || 'unnamed'
  const subject = `kernel '${label}' of '${operation}'`
  if ((desc.flags & ~KERNEL_SERIALISE) !== 0) {
    throw new UnknownWordError(
      'E_SPEC',
      `${subject} has the flags 0x${desc.flags.toString(16)}; known is 0x${KERNEL_SERIALISE}`,
      { operation },
    )
  }
  if (desc.execute === 0n) throw new RegistrationError('E_SPEC', `${subject}: execute is a null pointer`, { operation })
  checkCount(subject, desc.operand_count)
  const operands = readList(STRUCTS.hr_backend_operand_spec, `${subject}: operand`, desc.operands, desc.operand_count)
  operands.forEach(({ reserved0 }, place) => {
    if (reserved0 !== 0) {
      throw new StructSizeError('struct_too_new', `${subject}: operand ${place} has reserved0 ${reserved0}; expected 0`)
    }
  })
  return {
    draft: { operation, label, backend: word('backend', desc.backend), operands: operands.map(backendOperandDraft) },
    execute: desc.execute,
    serialise: (desc.flags & KERNEL_SERIALISE) !== 0,
    userData: desc.user_data,
    release: desc.release,
  }
}

function checkCount(subject: string, count: number): void {
  if (count > 2 * ROLE_LIMIT)
    throw new RegistrationError('E_SPEC', `${subject} has ${count} operands; there are ${2 * ROLE_LIMIT} roles`)
}

type Numbers<Draft> = { readonly [Field in keyof Draft]: number }

function operandDraft({ role, kind, access }: Numbers<OperandDraft>): OperandDraft {
  return { role: word('role', role), kind: word('kind', kind), access: word('access', access) }
}

function backendOperandDraft(
  operand: Numbers<Omit<BackendOperandDraft, 'computeDtype'>> & { readonly compute_dtype: number },
): BackendOperandDraft {
  return {
    ...operandDraft(operand),
    dtype: word('dtype', operand.dtype),
    computeDtype: word('dtype', operand.compute_dtype),
    location: word('location', operand.location),
    layout: word('layout', operand.layout),
    contiguity: word('contiguity', operand.contiguity),
  }
}

/** The word for a number: undefined for 0, which is never set on purpose, and the number itself where there is no word. */
function word(enumeration: keyof typeof WORDS, number: number): string | undefined {
  return number === 0 ? undefined : (WORDS[enumeration].get(number) ?? `0x${number.toString(16)}`)
}
