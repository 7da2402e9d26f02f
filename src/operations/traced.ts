// Kernels made by `kernel()` as implementations of operations: one for float32 and one for float64, on the CPU. Each plane and number
// that the kernel binds is given a role; kind, access and dtype of the operands follow from the kernel's own signature.
import { INTERNALS, type HasInternals, isKernel } from '../runtime/internals.ts'
import { samplesLast } from '../runtime/markers.ts'
import { createSession } from '../runtime/session.ts'
import type { Slot } from '../runtime/signature.ts'
import type { PlaneType } from '../runtime/view.ts'
import type { Binding } from './bindings.ts'
import type { DType } from './dtypes.ts'
import { RegistrationError } from './errors.ts'
import type { Implementation, KernelCall } from './registry.ts'
import { OperandRole, type Role } from './roles.ts'
import { show } from './show.ts'
import { type FieldTable, TEXT, checkForm, optional } from './specs.ts'
import type { OperandAccess, OperandKind } from './vocabulary.ts'

/** A kernel made by `kernel()` as an implementation. */
export interface TracedKernelSpec {
  readonly operation: string
  /** Its options, as set by `with`, hold in every call, apart from `dtype`. */
  readonly kernel: HasInternals
  /** The role of every parameter and output, by its name. */
  readonly roles: Readonly<Record<string, Role>>
  /** What messages and descriptions call it; the kernel's name when absent. Each build adds its float type. */
  readonly label?: string | undefined
}

/** Whether a specification is one of a traced kernel rather than of a callback; it may still be malformed. */
export function isTracedSpec(spec: object): spec is TracedKernelSpec {
  return typeof spec === 'object' && spec !== null && 'kernel' in spec
}

const FIELDS: FieldTable<TracedKernelSpec> = {
  operation: TEXT,
  kernel: { expected: 'a kernel made by kernel()', holds: isKernel },
  roles: {
    expected: 'an object from the name of each parameter and output to its role',
    holds: (value) => typeof value === 'object' && value !== null,
  },
  label: optional(TEXT),
}

/** The dtype of a plane in each build; f64 stands for the float type of the build. */
const BUILDS: { readonly [Float in 'f32' | 'f64']: Readonly<Record<PlaneType, DType>> } = {
  f32: { f64: 'float32', f32: 'float32', i32: 'int32', bool: 'uint8' },
  f64: { f64: 'float64', f32: 'float32', i32: 'int32', bool: 'uint8' },
}

/** What a kernel does to a plane of each role. Its outputs, which have the role `mutable` as well, are written only. */
const ACCESS: Record<Slot['role'], OperandAccess> = {
  per_sample: 'read',
  vec_in: 'read',
  mat_in: 'read',
  lookup: 'read',
  uniform: 'read',
  mutable: 'readwrite',
  accum_out: 'readwrite',
  terminated: 'readwrite',
  reduce: 'write',
}

const KINDS_BY_RANK: readonly OperandKind[] = ['scalar', 'vector', 'matrix']

/** The implementations that a traced kernel makes: its float32 and float64 builds, or one when it has no floats. E_SPEC when malformed. */
export function implementTraced(spec: TracedKernelSpec): Implementation[] {
  checkForm('registerKernel', spec, FIELDS)
  const { operation, kernel, label = kernel[INTERNALS].traced.name } = spec
  const { traced, builds, options, session } = kernel[INTERNALS]
  const bound = slotsInRoleOrder(spec)
  const hasFloats = session.signature.slots.some(({ type }) => type === 'f64')
  const floatTypes = hasFloats ? (['f32', 'f64'] as const) : (['f64'] as const)

  return floatTypes.map((dtype) => {
    const build = createSession(traced, builds, { ...options, dtype })
    return {
      draft: {
        operation,
        backend: 'cpu-parallel',
        label: hasFloats ? `${label} (${dtype})` : label,
        operands: bound.map(({ slot, role }) => ({
          role,
          kind: kindOf(slot),
          access: slot.isOutput && slot.role === 'mutable' ? 'write' : ACCESS[slot.role],
          dtype: BUILDS[dtype][slot.type],
          computeDtype: BUILDS[dtype][slot.type],
          location: 'host',
          layout: 'row-major',
          contiguity: 'contiguous',
        })),
      },
      implementation: {
        origin: { kind: 'traced', name: traced.name },
        run: (call) => void build.run(planesOf(call, bound)),
        lock: null,
      },
    }
  })
}

interface BoundSlot {
  readonly slot: Slot
  readonly role: Role
}

/** The kernel's slots with their roles, in the order in which an operation lists them. */
function slotsInRoleOrder({ kernel, roles }: TracedKernelSpec): BoundSlot[] {
  const { kernel: name, slots, aliases } = kernel[INTERNALS].session.signature
  const refuse = (problem: string): never => {
    throw new RegistrationError('E_SPEC', `registerKernel: kernel '${name}' ${problem}`)
  }
  const bound = Object.entries(roles).map(([key, role]): BoundSlot => {
    const slot = slots.find((candidate) => candidate.name === key) ?? aliases.get(key)
    return slot === undefined
      ? refuse(`binds nothing called '${key}'; it binds ${slots.map((candidate) => candidate.name).join(', ')}`)
      : { slot, role }
  })
  for (const slot of slots) {
    const found = bound.filter((candidate) => candidate.slot === slot)
    if (found.length === 0 && !slot.optional) refuse(`binds '${slot.name}', which is given no role`)
    if (found.length > 1)
      refuse(`is given two roles for '${slot.name}': ${found.map(({ role }) => show(role)).join(' and ')}`)
  }
  const order = Object.values(OperandRole)
  return bound.sort((left, right) => order.indexOf(left.role) - order.indexOf(right.role))
}

/** A number, one entry for each sample or table entry, or as many axes more as one of them has. */
function kindOf({ role, head, length, components }: Slot): OperandKind {
  if (role === 'uniform') return 'scalar'
  if (role === 'reduce') return components === 1 ? 'scalar' : 'vector'
  if (length !== undefined) return 'vector'
  return KINDS_BY_RANK[head.length + 1] ?? 'tensor'
}

/** The caller's own arrays by the names of the kernel. */
function planesOf({ operands }: KernelCall, bound: readonly BoundSlot[]): Record<string, unknown> {
  return Object.fromEntries(bound.map(({ slot }, place) => [slot.name, argumentOf(slot, operands[place]!.object)]))
}

function argumentOf(slot: Slot, object: Binding): unknown {
  if (slot.role === 'uniform') return 'data' in object ? Number(object.data[object.offset ?? 0]) : object
  // The last axis of an operand is the one of the samples, also where a square array could be read both ways.
  const hasOwnAxes = slot.head.length > 0 && slot.role !== 'reduce'
  return hasOwnAxes ? samplesLast(object) : object
}
