// Takes a plug-in's registrations while its entry runs. Every call ends in a status: the functions are called from C, where an
// exception would be lost. A refusal of an unknown word or of a capability lets the plug-in go on; the first of any other kind is
// kept, and fails the load whatever the plug-in makes of it.
import { type Address } from '../../runtime/ffi.ts'
import { RegistrationError } from '../errors.ts'
import type { PluginOrigin } from '../origin.ts'
import { type Registry, UnknownWordError, addKernel, addOperation } from '../registry.ts'
import { STATUS, type StatusName } from './abi.ts'
import { type NativeData, readKernel, readOperation } from './descriptors.ts'
import { writeErrorText } from './error-text.ts'
import { runNativeKernel, runNativeValidator } from './invoke.ts'
import { type OwnedCallLock, openCallLock } from './lock.ts'
import { StructSizeError } from './memory.ts'

/** What the host owns of a plug-in: to be given back once, kernels first, then operations. */
export interface Owned {
  readonly kernels: NativeData[]
  readonly operations: NativeData[]
  readonly locks: OwnedCallLock[]
}

export interface Registrar {
  /** Where accepted registrations go: a copy that is thrown away when the load fails. */
  readonly registry: Registry
  readonly origin: PluginOrigin
  readonly owned: Owned
  /** The refusal that fails the load. */
  failure: unknown
}

/** This host cannot give what a kernel asks for; a plug-in may go on without the kernel. */
class CapabilityError extends Error {}

/** Registers the operation of an `hr_operation_desc`; returns the status for the plug-in. */
export function registerNativeOperation(registrar: Registrar, desc: Address, error: Address): number {
  return answer(registrar, error, () => {
    const { draft, validate, ...data } = readOperation(desc)
    const validators = validate === 0n ? [] : [runNativeValidator(validate, data.userData)]
    addOperation(registrar.registry, draft, validators, null)
    registrar.owned.operations.push(data)
  })
}

/** Registers the kernel of an `hr_kernel_desc`; returns the status for the plug-in. */
export function registerNativeKernel(registrar: Registrar, desc: Address, error: Address): number {
  return answer(registrar, error, () => {
    const { draft, execute, serialise, ...data } = readKernel(desc)
    const lock = serialise ? lockOf(draft.label, execute) : null
    try {
      addKernel(registrar.registry, draft, {
        origin: registrar.origin,
        run: runNativeKernel(execute, data.userData),
        lock,
      })
    } catch (refusal) {
      lock?.close()
      throw refusal
    }
    registrar.owned.kernels.push(data)
    if (lock !== null) registrar.owned.locks.push(lock)
  })
}

function lockOf(label: string, execute: Address): OwnedCallLock {
  try {
    return openCallLock(execute)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new CapabilityError(`kernel '${label}': this host cannot keep its calls apart: ${reason}`, { cause })
  }
}

function answer(registrar: Registrar, error: Address, register: () => void): number {
  try {
    register()
    return STATUS.ok
  } catch (refusal) {
    const status = statusOf(refusal)
    if (status !== 'unsupported' && status !== 'capability_missing') registrar.failure ??= refusal
    writeErrorText(error, STATUS[status], refusal instanceof Error ? refusal.message : String(refusal))
    return STATUS[status]
  }
}

function statusOf(refusal: unknown): StatusName {
  if (refusal instanceof StructSizeError) return refusal.status
  if (refusal instanceof CapabilityError) return 'capability_missing'
  if (refusal instanceof UnknownWordError) return 'unsupported'
  if (refusal instanceof RegistrationError) {
    return refusal.code === 'E_DUPLICATE_OPERATION' || refusal.code === 'E_DUPLICATE_KERNEL'
      ? 'duplicate'
      : 'invalid_argument'
  }
  return 'internal'
}
