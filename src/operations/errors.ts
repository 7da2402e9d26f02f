// The errors of the registry of operations: one base class, one subclass for each stage of a kernel's life, one table of codes.
// An exception that a user's own callback or validator throws is never wrapped: it reaches the caller as the same object.
import type { Role } from './roles.ts'

/** Every code, under the class that carries it, with the sentence that the documentation prints beside it. */
export const KERNEL_ERROR_CODES = {
  RegistrationError: {
    E_SPEC: 'a specification is malformed',
    E_NAME: 'an operation or extension has a name that the grammar refuses',
    E_DUPLICATE_OPERATION: 'an operation of this name is registered already',
    E_ROLE_DUPLICATE: 'two operands have the same role',
    E_ROLE_ORDER: 'operands are not in the order of their roles: inputs, then outputs, each ascending',
    E_ROLE_GAP: 'the numbers of the inputs, or of the outputs, have a gap',
    E_NO_OUTPUT: 'an operation has no output',
    E_ACCESS: 'the access of an operand does not fit its role',
    E_OPERANDS_MISMATCH: 'the operands of a kernel are not those of its operation',
    E_DUPLICATE_KERNEL: 'a kernel of the same signature is registered already',
    E_UNKNOWN_OPERATION: 'a kernel implements an operation that nobody registered',
    E_BUILDER_CLOSED: 'the builder was built or closed and takes nothing more',
  },
  BindingError: {
    E_BINDING_MISSING: 'a role of the operation has no object bound to it',
    E_BINDING_UNKNOWN: 'an object is bound to a role that the operation does not have',
    E_BINDING_TYPE: 'an object is none of the array forms that a role takes',
    E_BINDING_KIND: 'an array has another rank than the operand',
    E_BINDING_DETACHED: 'the buffer of an array was transferred away',
    E_BINDING_BOUNDS: 'a view reaches outside its buffer',
    E_DEVICE_MIXED: 'the arrays of one call are on different devices',
    E_ALIAS: 'an array that is written shares memory with another one',
  },
  DispatchError: {
    E_UNKNOWN_OPERATION: 'the context has no operation of this name',
    E_NO_KERNEL: 'no registered kernel has the signature of the call',
    E_COMPUTE_ROLE: 'a compute dtype is given for a role that the operation does not have',
    E_COMPUTE_DTYPE: 'a compute dtype is none of the known dtypes',
    E_BACKEND_UNAVAILABLE: 'the backend of the chosen kernel cannot run here',
  },
  CallbackError: {
    E_ASYNC_CALLBACK: 'a callback or validator returned a promise',
    E_VALIDATOR_RESULT: 'a validator returned something other than undefined',
    E_KERNEL: 'a compiled kernel or validator returned a non-zero status',
    E_CUDA: 'the device failed before, during or after a kernel',
  },
  PluginError: {
    E_PLUGIN_OPEN: 'the system loader could not open the plug-in',
    E_PLUGIN_SYMBOL: 'the plug-in does not export its entry',
    E_PLUGIN_ABI: 'the plug-in was built for another version of the interface, or breaks its layout rules',
    E_PLUGIN_CAPABILITY: 'the plug-in needs something that this host does not have',
    E_PLUGIN_ENTRY: 'the entry of the plug-in returned a non-zero status',
  },
  ContextError: {
    E_CONTEXT_CLOSED: 'the context is closed',
    E_CONTEXT_BUSY: 'the context is running a call',
  },
} as const

type Codes = typeof KERNEL_ERROR_CODES
type CodeOf<Class extends keyof Codes> = keyof Codes[Class]
export type KernelErrorCode = { [Class in keyof Codes]: CodeOf<Class> }[keyof Codes]

export interface KernelErrorDetails {
  /** The operation in question. */
  readonly operation?: string | undefined
  /** The role in question. */
  readonly role?: Role | undefined
  readonly cause?: unknown
}

/** What every error of this layer is; `code` says which refusal it was, the subclass at which stage. */
export class KernelError<Code extends KernelErrorCode = KernelErrorCode> extends Error {
  override readonly name: string = 'KernelError'
  readonly code: Code
  readonly operation: string | undefined
  readonly role: Role | undefined

  constructor(code: Code, message: string, { operation, role, ...options }: KernelErrorDetails = {}) {
    super(message, options)
    this.code = code
    this.operation = operation
    this.role = role
  }
}

/** Refused while an operation or a kernel was registered, or when the context was built. */
export class RegistrationError extends KernelError<CodeOf<'RegistrationError'>> {
  override readonly name = 'RegistrationError'
}

/** Refused because of the objects that a call binds. */
export class BindingError extends KernelError<CodeOf<'BindingError'>> {
  override readonly name = 'BindingError'
}

/** Refused because no kernel can serve the call. */
export class DispatchError extends KernelError<CodeOf<'DispatchError'>> {
  override readonly name = 'DispatchError'
}

export interface CallbackErrorDetails extends KernelErrorDetails {
  /** The status that a compiled kernel or validator returned. */
  readonly status?: number | undefined
  /** The label of the kernel, or the validator's name. */
  readonly label?: string | undefined
}

/** A callback, validator, compiled kernel or device broke its contract, or a compiled kernel reported a failure. */
export class CallbackError extends KernelError<CodeOf<'CallbackError'>> {
  override readonly name = 'CallbackError'
  readonly status: number | undefined
  readonly label: string | undefined

  constructor(
    code: CodeOf<'CallbackError'>,
    message: string,
    { status, label, ...details }: CallbackErrorDetails = {},
  ) {
    super(code, message, details)
    this.status = status
    this.label = label
  }
}

export interface PluginErrorDetails extends KernelErrorDetails {
  /** The file of the plug-in. */
  readonly file: string
  /** The status that the plug-in's entry returned. */
  readonly status?: number | undefined
}

/** A plug-in could not be loaded. */
export class PluginError extends KernelError<CodeOf<'PluginError'>> {
  override readonly name = 'PluginError'
  readonly file: string
  readonly status: number | undefined

  constructor(code: CodeOf<'PluginError'>, message: string, { file, status, ...details }: PluginErrorDetails) {
    super(code, message, details)
    this.file = file
    this.status = status
  }
}

/** A context was used when it could not be. */
export class ContextError extends KernelError<CodeOf<'ContextError'>> {
  override readonly name = 'ContextError'
}
