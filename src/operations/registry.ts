// What is registered: operations by name, kernels by signature, and the rules that decide whether one more may join. The rules run
// in a fixed order and the first that fails decides the error, for callbacks and plug-ins alike. A registry only grows; a group of
// registrations that must succeed or fail as one is made on a copy.
import type { Bindings, BoundOperand } from './bindings.ts'
import { DTYPE_NAMES, type DType } from './dtypes.ts'
import { RegistrationError } from './errors.ts'
import type { KernelOrigin } from './origin.ts'
import { ROLE_LIMIT, type Role, isRole, roleParts } from './roles.ts'
import { show } from './show.ts'
import type { BackendOperandDraft, KernelDraft, OperandDraft, OperationDraft } from './specs.ts'
import { BackendKind, CONTIGUITIES, LAYOUTS, LOCATIONS, OperandAccess, OperandKind } from './vocabulary.ts'
import type { Contiguity, Layout, Location } from './vocabulary.ts'

export interface Operand {
  readonly role: Role
  readonly kind: OperandKind
  readonly access: OperandAccess
}

export interface BackendOperand extends Operand {
  readonly dtype: DType
  readonly computeDtype: DType
  readonly location: Location
  readonly layout: Layout
  readonly contiguity: Contiguity
}

/** What a validator is told of a call. */
export interface ValidatorCall {
  readonly operation: Operation
  readonly bindings: Bindings
  /** In the order of the operation's roles, as the other lists of a call are. */
  readonly operands: readonly BoundOperand[]
  readonly computeDtypes: readonly DType[]
}

/** What a kernel is told of a call. */
export interface KernelCall extends ValidatorCall {
  readonly kernel: Kernel
  readonly cudaDevice: number | null
  readonly stream: bigint | null
}

export interface Operation {
  readonly name: string
  readonly doc: string
  readonly operands: readonly Operand[]
  readonly validators: readonly ((call: ValidatorCall) => void)[]
}

/** A lock that keeps the calls of a kernel apart, on every thread of the process. */
export interface CallLock {
  acquire(): void
  release(): void
}

export interface Kernel {
  readonly operation: string
  readonly backend: BackendKind
  readonly operands: readonly BackendOperand[]
  readonly label: string
  readonly origin: KernelOrigin
  readonly run: (call: KernelCall) => void
  /** Held around each call of a kernel that asked for it; null for one that may run on several threads at once. */
  readonly lock: CallLock | null
}

/** A kernel that asks to be registered: what it says of itself, and what runs. */
export interface Implementation {
  readonly draft: KernelDraft
  readonly implementation: Pick<Kernel, 'origin' | 'run' | 'lock'>
}

export interface Registry {
  readonly operations: Map<string, Operation>
  readonly kernels: Map<string, Kernel>
}

export function emptyRegistry(): Registry {
  return { operations: new Map(), kernels: new Map() }
}

export function copyRegistry({ operations, kernels }: Registry): Registry {
  return { operations: new Map(operations), kernels: new Map(kernels) }
}

/** An enumerated word that this version does not know: a plug-in that asks for it may go on without. */
export class UnknownWordError extends RegistrationError {}

const SEGMENT = '[a-z][a-z0-9_]*'
const EXTENSION_NAME = new RegExp(`^${SEGMENT}$`)
const OPERATION_NAME = new RegExp(`^${SEGMENT}(\\.${SEGMENT})+$`)

/** The first segment that belongs to harrier itself. */
const RESERVED = 'core'

/** Refuses (E_NAME) a name that no extension can have. */
export function checkExtensionName(name: string): void {
  if (typeof name !== 'string' || !EXTENSION_NAME.test(name)) {
    throw new RegistrationError('E_NAME', `extension(${show(name)}): expected a lower-case name such as 'acme'`)
  }
  if (name === RESERVED)
    throw new RegistrationError('E_NAME', `extension('${RESERVED}'): the name is reserved for harrier itself`)
}

/**
 * Adds an operation, or refuses it with the first rule that it breaks: E_NAME, E_DUPLICATE_OPERATION, E_SPEC (an unknown word),
 * E_ROLE_DUPLICATE, E_ROLE_ORDER, E_ROLE_GAP, E_NO_OUTPUT, E_ACCESS.
 * @param extension the name that the operation's must start with; null for a plug-in, which may use any but the reserved one
 */
export function addOperation(
  registry: Registry,
  draft: OperationDraft,
  validators: Operation['validators'],
  extension: string | null,
): void {
  const { name, doc } = draft
  checkOperationName(name, extension)
  if (registry.operations.has(name)) {
    throw new RegistrationError('E_DUPLICATE_OPERATION', `operation '${name}' is registered already`, {
      operation: name,
    })
  }
  const operands = draft.operands.map((operand, place) =>
    checkOperandWords(`operation '${name}': operand ${place}`, name, operand),
  )
  checkRoles(name, operands)
  registry.operations.set(name, { name, doc, operands, validators })
}

function checkOperationName(name: string, extension: string | null): void {
  const refuse = (problem: string): never => {
    throw new RegistrationError('E_NAME', `operation ${show(name)}: ${problem}`, { operation: name })
  }
  if (!OPERATION_NAME.test(name)) refuse("the name must be lower-case words joined by dots, such as 'acme.double'")
  const first = name.slice(0, name.indexOf('.'))
  if (first === RESERVED) refuse(`the first word '${RESERVED}' is reserved for harrier itself`)
  if (extension !== null && first !== extension)
    refuse(`the name must start with that of its extension, '${extension}.'`)
}

function checkOperandWords(subject: string, operation: string, { role, kind, access }: OperandDraft): Operand {
  return {
    role: checkRole(subject, operation, role),
    kind: checkWord(subject, operation, 'kind', kind, Object.values(OperandKind)),
    access: checkWord(subject, operation, 'access', access, Object.values(OperandAccess)),
  }
}

function checkRole(subject: string, operation: string, role: string | undefined): Role {
  if (isRole(role)) return role
  const last = ROLE_LIMIT - 1
  return refuseWord(subject, operation, 'role', role, `'input0' to 'input${last}' or 'output0' to 'output${last}'`)
}

function checkWord<Word extends string>(
  subject: string,
  operation: string,
  field: string,
  found: string | undefined,
  words: readonly Word[],
): Word {
  const word = words.find((candidate) => candidate === found)
  return word ?? refuseWord(subject, operation, field, found, `one of ${words.join(', ')}`)
}

function refuseWord(
  subject: string,
  operation: string,
  field: string,
  found: string | undefined,
  expected: string,
): never {
  if (found === undefined)
    throw new RegistrationError('E_SPEC', `${subject} has no ${field}; expected ${expected}`, { operation })
  throw new UnknownWordError('E_SPEC', `${subject} has the ${field} ${show(found)}; expected ${expected}`, {
    operation,
  })
}

/** The rules on roles: no duplicate, in order, no gap, an output, and an access that fits. */
function checkRoles(operation: string, operands: readonly Operand[]): void {
  const refuse = (
    code: 'E_ROLE_DUPLICATE' | 'E_ROLE_ORDER' | 'E_ROLE_GAP' | 'E_NO_OUTPUT' | 'E_ACCESS',
    role: Role | null,
    text: string,
  ) => {
    throw new RegistrationError(code, `operation '${operation}': ${text}`, {
      operation,
      ...(role === null ? {} : { role }),
    })
  }
  const parts = operands.map(({ role }) => ({ role, ...roleParts(role) }))

  const seen = new Set<Role>()
  for (const { role } of parts) {
    if (seen.has(role)) refuse('E_ROLE_DUPLICATE', role, `two operands have the role ${role}`)
    seen.add(role)
  }
  parts.forEach(({ role, direction, number }, place) => {
    const before = parts[place - 1]
    if (before === undefined) return
    const ordered = before.direction === direction ? before.number < number : direction === 'output'
    if (!ordered)
      refuse(
        'E_ROLE_ORDER',
        role,
        `${role} comes after ${before.role}; inputs come first, then outputs, each ascending`,
      )
  })
  for (const wanted of ['input', 'output'] as const) {
    parts
      .filter(({ direction }) => direction === wanted)
      .forEach(({ role, number }, expected) => {
        if (number !== expected) refuse('E_ROLE_GAP', role, `${role} is there but ${wanted}${expected} is not`)
      })
  }
  if (!parts.some(({ direction }) => direction === 'output')) refuse('E_NO_OUTPUT', null, 'no operand is an output')
  operands.forEach(({ role, access }, place) => {
    const isInput = parts[place]!.direction === 'input'
    if (isInput && access !== 'read') refuse('E_ACCESS', role, `${role} has the access '${access}'; inputs have 'read'`)
    if (!isInput && access === 'read')
      refuse('E_ACCESS', role, `${role} has the access 'read'; outputs have 'write' or 'readwrite'`)
  })
}

/**
 * Adds a kernel, or refuses it with the first rule that it breaks: E_SPEC (an unknown word), E_OPERANDS_MISMATCH, E_DUPLICATE_KERNEL.
 * The operation may be registered later: {@link checkComplete} has the last word.
 */
export function addKernel(
  registry: Registry,
  draft: KernelDraft,
  implementation: Pick<Kernel, 'origin' | 'run' | 'lock'>,
): void {
  const { operation: name, label } = draft
  const subject = `kernel '${label}' of '${name}'`
  const backend = checkWord(subject, name, 'backend', draft.backend, Object.values(BackendKind))
  const operands = draft.operands.map((operand, place) =>
    checkBackendOperand(`${subject}: operand ${place}`, name, operand),
  )
  const kernel: Kernel = { operation: name, backend, operands, label, ...implementation }

  const operation = registry.operations.get(name)
  if (operation !== undefined) checkOperandsMatch(operation, kernel)
  const signature = kernelSignature(kernel)
  const other = registry.kernels.get(signature)
  if (other !== undefined) {
    throw new RegistrationError(
      'E_DUPLICATE_KERNEL',
      `${subject}: kernel '${other.label}' has the same signature: ${describeSignature(backend, operands)}`,
      { operation: name },
    )
  }
  registry.kernels.set(signature, kernel)
}

function checkBackendOperand(subject: string, operation: string, draft: BackendOperandDraft): BackendOperand {
  const operand: BackendOperand = {
    ...checkOperandWords(subject, operation, draft),
    dtype: checkWord(subject, operation, 'dtype', draft.dtype, DTYPE_NAMES),
    computeDtype: checkWord(subject, operation, 'computeDtype', draft.computeDtype, DTYPE_NAMES),
    location: checkWord(subject, operation, 'location', draft.location, LOCATIONS),
    layout: checkWord(subject, operation, 'layout', draft.layout, LAYOUTS),
    contiguity: checkWord(subject, operation, 'contiguity', draft.contiguity, CONTIGUITIES),
  }
  if (operand.layout === 'strided' && operand.contiguity === 'contiguous') {
    throw new RegistrationError(
      'E_SPEC',
      `${subject} is strided and contiguous, which no array is; expected the contiguity 'any'`,
      { operation, role: operand.role },
    )
  }
  return operand
}

function checkOperandsMatch(operation: Operation, kernel: Kernel): void {
  const asText = ({ role, kind, access }: Operand) => `${role} ${kind} ${access}`
  const expected = operation.operands.map(asText).join(', ')
  const found = kernel.operands.map(asText).join(', ')
  if (found !== expected) {
    throw new RegistrationError(
      'E_OPERANDS_MISMATCH',
      `kernel '${kernel.label}' of '${operation.name}' has the operands (${found}); the operation has (${expected})`,
      { operation: operation.name },
    )
  }
}

/** The check that waits until everything is registered: each kernel's operation exists (E_UNKNOWN_OPERATION) and has its operands. */
export function checkComplete(registry: Registry): void {
  for (const kernel of registry.kernels.values()) {
    const operation = registry.operations.get(kernel.operation)
    if (operation === undefined) {
      const known = [...registry.operations.keys()].sort().join(', ') || 'none'
      throw new RegistrationError(
        'E_UNKNOWN_OPERATION',
        `kernel '${kernel.label}' implements '${kernel.operation}', which is not registered; registered operations: ${known}`,
        { operation: kernel.operation },
      )
    }
    checkOperandsMatch(operation, kernel)
  }
}

/** What makes a kernel unique among all others, as one text. */
function kernelSignature({ operation, backend, operands }: Kernel): string {
  return `${operation} ${describeSignature(backend, operands)}`
}

/** A signature as messages show it. */
export function describeSignature(
  backend: string,
  operands: readonly Readonly<
    Record<'role' | 'dtype' | 'computeDtype' | 'location' | 'layout' | 'contiguity', string>
  >[],
): string {
  const parts = operands.map(({ role, dtype, computeDtype, location, layout, contiguity }) => {
    const computed = computeDtype === dtype ? '' : ` computed in ${computeDtype}`
    return `${role}: ${dtype}${computed} ${location} ${layout} ${contiguity}`
  })
  return `${backend} (${parts.join('; ')})`
}
