// The checks of a call that need all its operands at once: kinds, devices, compute dtypes, and memory that is written and shared.
import type { Bindings, BoundOperand } from './bindings.ts'
import { bindOperand } from './bindings.ts'
import { DTYPE_NAMES, type DType, isDType } from './dtypes.ts'
import { BindingError, DispatchError } from './errors.ts'
import type { Operation } from './registry.ts'
import { type RoleMap, isRole } from './roles.ts'
import { show } from './show.ts'
import { KIND_RANKS } from './vocabulary.ts'

/** Binds an object to every role of the operation, in its order: E_BINDING_MISSING, E_BINDING_UNKNOWN, then what each object is. */
export function bindAll(operation: Operation, bindings: Bindings): BoundOperand[] {
  const { name } = operation
  const roles = operation.operands.map(({ role }) => role)
  if (typeof bindings !== 'object' || bindings === null) {
    throw new BindingError(
      'E_BINDING_TYPE',
      `${name}: the bindings are ${show(bindings)}; expected an object from role to array`,
      {
        operation: name,
      },
    )
  }
  const found = roles.map((role) => {
    const object = bindings[role]
    if (object === undefined) {
      throw new BindingError(
        'E_BINDING_MISSING',
        `${name}: nothing is bound to ${role}; the roles are ${roles.join(', ')}`,
        {
          operation: name,
          role,
        },
      )
    }
    return { role, object }
  })
  for (const key of Object.keys(bindings)) {
    if (!roles.some((role) => role === key)) {
      throw new BindingError(
        'E_BINDING_UNKNOWN',
        `${name}: '${key}' is no role of the operation; the roles are ${roles.join(', ')}`,
        {
          operation: name,
          ...(isRole(key) ? { role: key } : {}),
        },
      )
    }
  }
  return found.map(({ role, object }) => bindOperand(name, role, object))
}

/** Refuses an array whose rank is not that of the operand's kind (E_BINDING_KIND). */
export function checkKinds(operation: Operation, bound: readonly BoundOperand[]): void {
  operation.operands.forEach(({ role, kind }, place) => {
    const rank = KIND_RANKS[kind]
    const { shape } = bound[place]!
    if (rank !== null && shape.length !== rank) {
      throw new BindingError(
        'E_BINDING_KIND',
        `${operation.name}: ${role} is a ${kind}, of rank ${rank}; found rank ${shape.length}, shape ${show(shape)}`,
        { operation: operation.name, role },
      )
    }
  })
}

/** The one device that the arrays are on, or null when all are on the host; E_DEVICE_MIXED when there are several. */
export function commonDevice(operation: Operation, bound: readonly BoundOperand[]): number | null {
  const onDevice = bound.filter(({ location }) => location !== 'host')
  const first = onDevice[0]
  if (first === undefined) return null
  const other = onDevice.find(({ device }) => device !== first.device)
  if (other !== undefined) {
    throw new BindingError(
      'E_DEVICE_MIXED',
      `${operation.name}: ${first.role} is on device ${first.device} and ${other.role} on device ${other.device}; ` +
        'expected all device arrays of a call on one device',
      { operation: operation.name, role: other.role },
    )
  }
  return first.device
}

/** The compute dtype of each operand: the one asked for, else the dtype of the array. E_COMPUTE_ROLE, E_COMPUTE_DTYPE. */
export function selectComputeDTypes(
  operation: Operation,
  bound: readonly BoundOperand[],
  asked: RoleMap<DType> | undefined,
): DType[] {
  const roles = operation.operands.map(({ role }) => role)
  for (const [key, dtype] of Object.entries<unknown>(asked ?? {})) {
    if (!roles.some((role) => role === key)) {
      throw new DispatchError(
        'E_COMPUTE_ROLE',
        `${operation.name}: computeDtypes names '${key}', which is no role of the operation; the roles are ${roles.join(', ')}`,
        { operation: operation.name, ...(isRole(key) ? { role: key } : {}) },
      )
    }
    if (!isDType(dtype)) {
      throw new DispatchError(
        'E_COMPUTE_DTYPE',
        `${operation.name}: computeDtypes gives ${key} the dtype ${show(dtype)}; expected one of ${DTYPE_NAMES.join(', ')}`,
        { operation: operation.name, ...(isRole(key) ? { role: key } : {}) },
      )
    }
  }
  return bound.map(({ role, dtype }) => asked?.[role] ?? dtype)
}

/** Refuses (E_ALIAS) an array that is written when any other array of the call lies in part in the same bytes. */
export function checkAliases(operation: Operation, bound: readonly BoundOperand[]): void {
  operation.operands.forEach(({ role, access }, place) => {
    if (access === 'read') return
    const written = bound[place]!
    const other = bound.find(
      (operand) => operand !== written && operand.begin < written.end && written.begin < operand.end,
    )
    if (other !== undefined) {
      throw new BindingError(
        'E_ALIAS',
        `${operation.name}: ${role} is written and shares memory with ${other.role}; pass an array of its own for one of them`,
        { operation: operation.name, role },
      )
    }
  })
}
