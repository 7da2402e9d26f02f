// What a call needs to know of a traced kernel: what it binds and what it gives back, read off the record that tracing left.
import type { Role } from '../trace/kinds.ts'
import type { TracedKernel } from '../trace/traced.ts'
import type { PlaneType } from './view.ts'

/** Anything that a call binds by name: a parameter or an output slot. */
export interface Slot {
  readonly name: string
  readonly role: Role
  /** Number of its plane in the graph. */
  readonly plane: number
  /** Type of its numbers; f64 stands for the float type of the call. */
  readonly type: PlaneType
  /** Shape of one sample or entry: [] for a number, [3], [R, C]. */
  readonly head: readonly number[]
  readonly components: number
  readonly read: boolean
  readonly written: boolean
  /** Made by the call unless handed in. */
  readonly isOutput: boolean
  /** Entries of a table with named axes; absent where any length fits. */
  readonly length?: number
  /** An accumulator made by the call is as long as the table of this name. */
  readonly lengthOf?: string
  /** May be left out of a call: the kernel does not read it. */
  readonly optional?: boolean
}

export interface Signature {
  readonly kernel: string
  /** In declared order. */
  readonly parameters: readonly Slot[]
  /** Parameters that a positional call lists: all but those that the call makes, as reductions, which take no argument. */
  readonly positional: readonly Slot[]
  /** One a plane, parameters first. */
  readonly slots: readonly Slot[]
  /** Other names of slots: `out`, `out0` … for outputs that have a name of their own, `bar_out0` for their seeds. */
  readonly aliases: ReadonlyMap<string, Slot>
}

/** Planes with one entry a sample: they say how many samples a call has. */
export const isPerSample = ({ role }: Slot): boolean =>
  role === 'per_sample' || role === 'vec_in' || role === 'mat_in' || role === 'mutable' || role === 'terminated'

export function signatureOf({ name, parameters, outputs }: TracedKernel): Signature {
  const declared = parameters.map((declaration): Slot => {
    const { name: parameter, kind, plane, isRead, isWritten, isOptional, lengthOf } = declaration
    const length = kind.axes?.reduce((product, { extent }) => product * extent, 1)
    return {
      name: parameter,
      role: kind.role,
      plane,
      type: kind.head.type,
      head: kind.head.shape,
      components: kind.head.components,
      read: isRead,
      written: isWritten,
      isOutput: kind.role === 'reduce' || lengthOf !== undefined,
      ...(length === undefined ? {} : { length }),
      ...(lengthOf === undefined ? {} : { lengthOf }),
      ...(isOptional ? { optional: true } : {}),
    }
  })
  const returned = outputs
    .filter(({ isParameter }) => !isParameter)
    .map(({ name: output, plane, head }): Slot => ({
      name: output,
      role: 'mutable',
      plane,
      type: head.type,
      head: head.shape,
      components: head.components,
      read: false,
      written: true,
      isOutput: true,
    }))
  const slots = [...declared, ...returned]
  const aliases = new Map<string, Slot>()
  for (const { name: output, positionalName, positionalNameTaken, plane } of outputs) {
    const slot = slots.find((candidate) => candidate.plane === plane)
    if (slot && !positionalNameTaken && positionalName !== output) aliases.set(positionalName, slot)
  }
  for (const { alternativeName, plane } of parameters) {
    if (alternativeName !== undefined)
      aliases.set(
        alternativeName,
        slots.find((slot) => slot.plane === plane)!,
      )
  }
  return {
    kernel: name,
    parameters: declared,
    positional: declared.filter(({ isOutput }) => !isOutput),
    slots,
    aliases,
  }
}
