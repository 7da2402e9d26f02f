// Makes a kernel of a derivative: the record that a call needs, from the graph that src/diff made and the record of its primal.
// Invariants: the inputs of the primal come first, in declared order, under their own kinds; a call may leave out those that the graph
// does not read; what the derivative gives comes back in one object, keyed by names.
import type { Derivative, DerivedPlane } from '../../diff/planes.ts'
import { accesses, type Plane } from '../../ir/graph.ts'
import {
  Accum,
  headOf,
  Index,
  Matrix,
  Param,
  Quat,
  Reduce,
  Scalar,
  Table,
  Vector,
  type Head,
  type Kind,
  type PlainKind,
} from '../../trace/kinds.ts'
import { canonicalOrder } from '../../trace/trace.ts'
import type { Returned, TracedKernel, TracedOutput, TracedParameter } from '../../trace/traced.ts'

/** The kind of values with a head. */
function plainKind({ type, shape, quaternion }: Head): PlainKind {
  if (quaternion) return Quat
  const [rows, columns] = shape
  if (rows === undefined) return type === 'i32' ? Index : Scalar
  return columns === undefined ? Vector(rows) : Matrix(rows, columns)
}

/** A kind that holds integers where the kind holds floats. */
const ofIntegers = <K extends Kind>(kind: K): K =>
  Object.freeze({ ...kind, head: headOf('i32', kind.head.shape), text: `${kind.text} of integers` })

/** What the caller binds for an entry that all samples share. */
const sharedKind = (head: Head): Kind => (head.components === 1 ? Param : Table(plainKind(head)))

/** What a sample, an entry or a reduction of a plane of the primal holds. */
const headIn = ({ parameters, outputs }: TracedKernel, plane: number): Head =>
  (parameters.find((parameter) => parameter.plane === plane)?.kind.head ??
    outputs.find((output) => output.plane === plane)?.head)!

/** The kind under which a call binds an input of a derivative. */
function inputKind(primal: TracedKernel, { purpose, of }: DerivedPlane, { role }: Plane): Kind {
  const head = headIn(primal, of)
  const declared = primal.parameters.find(({ plane }) => plane === of)?.kind
  switch (purpose) {
    case 'winner':
      return ofIntegers(sharedKind(head))
    case 'value':
      return sharedKind(head)
    case 'seed':
      return role === 'sample' ? plainKind(head) : role === 'uniform' ? Param : Table(plainKind(head))
    default:
      // The value at launch of a mutable is an input like any other.
      return declared?.role === 'mutable' || declared === undefined ? plainKind(head) : declared
  }
}

/** The positional name of the output that a seed belongs to, as the seed's own. */
function alternativeName({ outputs }: TracedKernel, { purpose, of }: DerivedPlane, name: string): string | undefined {
  if (purpose !== 'seed') return undefined
  const output = outputs.find(({ plane }) => plane === of)
  if (!output || output.positionalNameTaken || output.positionalName === output.name) return undefined
  return name.slice(0, name.length - output.name.length) + output.positionalName
}

/** One output in a result. */
type SlotOf = Extract<Returned, { form: 'slot' }>

export interface DerivedKernelOptions {
  readonly name: string
  /** What a call gives back, given the slots by name; absent: an object of all of them. */
  readonly returned?: (slotOf: (name: string) => SlotOf) => Returned
}

/** The record of a derivative of a kernel. */
export function derivedKernel(
  primal: TracedKernel,
  { graph, planes }: Derivative,
  { name, returned }: DerivedKernelOptions,
): TracedKernel {
  const { read, written } = accesses(graph)
  const parameters: TracedParameter[] = []
  const found: Omit<TracedOutput, 'positionalName' | 'positionalNameTaken'>[] = []

  planes.forEach((derived, number) => {
    const plane = graph.planes[number]!
    const { name: slot, role, components, reduce } = plane
    const uses = { name: slot, plane: number, isRead: read.has(number), isWritten: written.has(number) }
    const head = headIn(primal, derived.of)
    if (role === 'accumulator') {
      const origin = primal.parameters.find((parameter) => parameter.plane === derived.of)
      // The adjoint of a table is as long as the table, and a call makes it; other accumulators are the caller's.
      const lengthOf = derived.purpose === 'adjoint' ? origin?.name : origin?.lengthOf
      parameters.push({ ...uses, kind: Accum(plainKind(head)), ...(lengthOf === undefined ? {} : { lengthOf }) })
      if (lengthOf !== undefined) found.push({ name: slot, head, plane: number, isParameter: true })
    } else if (role === 'reduction') {
      const fold = reduce === 'max' || reduce === 'min' ? reduce : 'sum'
      const kind = Reduce(fold, plainKind(head))
      parameters.push({ ...uses, kind: derived.purpose === 'winner' ? ofIntegers(kind) : kind })
      found.push({ name: slot, head, plane: number, isParameter: true })
    } else if (written.has(number)) {
      const wide = derived.purpose === 'jacobian' ? jacobianHead(head, components) : head
      found.push({ name: slot, head: wide, plane: number, isParameter: false })
    } else {
      const alternative = alternativeName(primal, derived, slot)
      parameters.push({
        ...uses,
        kind: inputKind(primal, derived, plane),
        ...(uses.isRead ? {} : { isOptional: true }),
        ...(alternative === undefined ? {} : { alternativeName: alternative }),
      })
    }
  })

  const outputs = found.map((output, place): TracedOutput => {
    const positionalName = found.length === 1 ? 'out' : `out${place}`
    const isTaken = [...parameters, ...found].some((other) => other.name === positionalName)
    return { ...output, positionalName, positionalNameTaken: isTaken }
  })
  const slotOf = (slot: string): SlotOf => ({
    form: 'slot',
    slot: outputs.findIndex((output) => output.name === slot),
  })
  const allSlots: Returned = {
    form: 'object',
    entries: outputs.map((output) => [output.name, slotOf(output.name)] as const),
  }
  const namesWhere = (fits: (parameter: TracedParameter) => boolean): readonly string[] =>
    parameters.filter(fits).map((parameter) => parameter.name)
  return Object.freeze({
    name,
    isNamed: primal.isNamed,
    doc: undefined,
    math: primal.math,
    graph,
    parameters,
    outputs,
    returned: returned?.(slotOf) ?? allSlots,
    argSpec: canonicalOrder([
      ...parameters
        .filter(({ isOptional }) => !isOptional)
        .map((parameter) => [parameter.kind.role, parameter.name] as const),
      ...outputs.filter(({ isParameter }) => !isParameter).map((output) => ['mutable', output.name] as const),
    ]),
    outputNames: outputs.map((output) => output.name),
    finishMask: undefined,
    tablesRead: namesWhere(({ kind, isRead }) => kind.role === 'lookup' && isRead),
    mutablesRead: [],
    mutablesWritten: [],
    namingNote: undefined,
    usesSampleNumbers: primal.usesSampleNumbers,
  })
}

/** One row for each component of the output; the components of one number make no axis of their own. */
function jacobianHead({ shape, components: rows }: Head, components: number): Head {
  const columns = components / rows
  return headOf('f64', columns === 1 ? shape : [...shape, columns])
}
