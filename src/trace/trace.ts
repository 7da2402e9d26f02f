// Tracing: runs a body once on symbolic values and makes the record of the kernel. Everything that a definition can get wrong is refused
// here or in what is called from here, naming the kernel.
import { HarrierError } from '../errors.ts'
import { accesses, type PlaneRole } from '../ir/graph.ts'
import { rebuild } from '../ir/rebuild.ts'
import { STATE } from './brands.ts'
import { checkConditions } from './conditions.ts'
import { createTrace, refusal, withTrace, type Trace } from './context.ts'
import { Accum, isKind, Matrix, Mutable, Reduce, ROLES, Table, Vector, type Kind, type Role } from './kinds.ts'
import { isIdentifier, isIntegerLike } from './names.ts'
import { nameSlots, type Naming } from './outputNames.ts'
import { makeArgument, type Argument } from './parameters.ts'
import { constantOf } from './promote.ts'
import { checkReturns, leafHead, readReturned, type Returns } from './returns.ts'
import { isPlainObject, type Leaf, type Structure, type Template } from './structure.ts'
import type { ArgumentSpec, Returned, TracedKernel, TracedOutput, TracedParameter } from './traced.ts'
import type { Parameters } from './types.ts'
import { componentsOf, isHandle, show } from './value.ts'

export type Body = (parameters: never) => unknown

export interface TraceOptions {
  /** What the body must return. */
  readonly returns?: Returns
  /** contract: products that feed one sum are fused with it, in the graph; strict (the default): every operation rounds. */
  readonly math?: 'strict' | 'contract'
  /** A description for people. */
  readonly doc?: string
}

// Before the body runs ---------------------------------------------------------------------------------------------------------------

/** Names that calls need for themselves, and why. */
const RESERVED: Readonly<Record<string, string>> = {
  buffer: 'it names the array that an output is written to when kernels are chained in a graph',
  __raptor_samples_axis__: 'it marks which axis of an array holds the samples',
}

/** Functions that make kinds, with the call that a user meant. */
const UNCALLED: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [Vector, 'Vector(3)'],
  [Matrix, 'Matrix(2, 3)'],
  [Mutable, 'Mutable(Scalar)'],
  [Table, 'Table(Scalar)'],
  [Accum, 'Accum(Scalar)'],
  [Reduce, "Reduce('sum')"],
])

function checkParameters(kernel: string, parameters: unknown): Parameters {
  const refuse = (code: 'E_DEFINITION' | 'E_NAME', message: string) =>
    new HarrierError(code, `kernel '${kernel}': ${message}`)
  if (!isPlainObject(parameters)) {
    throw refuse(
      'E_DEFINITION',
      `params is ${show(parameters)}, expected an object from parameter names to kinds, as in { x: Scalar }`,
    )
  }
  for (const [name, kind] of Object.entries(parameters)) {
    if (isIntegerLike(name)) {
      throw refuse(
        'E_NAME',
        `parameter '${name}' is a whole number, which JavaScript would move before the other keys; use another name (p${name})`,
      )
    }
    if (!isIdentifier(name)) {
      throw refuse(
        'E_NAME',
        `parameter '${name}' has no valid name; names are letters, digits and _, not starting with a digit`,
      )
    }
    const reason = Object.hasOwn(RESERVED, name) ? RESERVED[name] : undefined
    if (reason !== undefined) {
      throw refuse('E_NAME', `a parameter cannot be called '${name}': ${reason}; use another name (${name}_in)`)
    }
    if (!isKind(kind)) {
      const call = UNCALLED.get(kind)
      const hint = call === undefined ? '' : `; call it, as in ${call}`
      throw refuse('E_DEFINITION', `parameter '${name}' is ${show(kind)}, expected a kind such as Scalar${hint}`)
    }
    if (kind.head.type === 'bool' && kind.role === 'per_sample') {
      throw refuse(
        'E_DEFINITION',
        `parameter '${name}' is a Condition, which no plane holds; take an Index and compare it, as in ${name}.ne(0)`,
      )
    }
  }
  const names = Object.keys(parameters)
  if (names.includes('data') && names.includes('shape')) {
    throw refuse(
      'E_NAME',
      "parameters 'data' and 'shape' together make a by-name call look like one array; use another name for one of them",
    )
  }
  const masks = names.filter((name) => (parameters[name] as Kind).role === 'terminated')
  if (masks.length > 1) {
    throw refuse(
      'E_DEFINITION',
      `parameters '${masks.join("' and '")}' are both Terminated; a kernel has one finished mask`,
    )
  }
  return parameters as Parameters
}

function checkOptions(kernel: string, options: unknown): TraceOptions {
  const refuse = (message: string) => new HarrierError('E_OPTION', `kernel '${kernel}': ${message}`)
  if (options === undefined) return {}
  const known = ['returns', 'math', 'doc']
  if (!isPlainObject(options)) throw refuse(`the options are ${show(options)}, expected { ${known.join(', ')} }`)
  const unknown = Object.keys(options).find((key) => !known.includes(key))
  if (unknown !== undefined) throw refuse(`there is no option '${unknown}'; a definition takes ${known.join(', ')}`)
  const { math, doc } = options
  if (math !== undefined && math !== 'strict' && math !== 'contract') {
    throw refuse(`math is ${show(math)}, expected 'strict' or 'contract'`)
  }
  if (doc !== undefined && typeof doc !== 'string') throw refuse(`doc is ${show(doc)}, expected a string`)
  return options as TraceOptions
}

/** Only a class constructor has a prototype property that cannot be written. */
const isClass = (body: object): boolean => Object.getOwnPropertyDescriptor(body, 'prototype')?.writable === false

function checkBody(kernel: string, body: unknown): asserts body is Body {
  const refuse = (message: string) => new HarrierError('E_DEFINITION', `kernel '${kernel}': ${message}`)
  if (typeof body !== 'function') {
    throw refuse(`the body is ${show(body)}, expected a function of the parameters, as in ({ x }) => x.mul(2)`)
  }
  if (isClass(body)) throw refuse('the body is a class; make it a plain function that returns what one sample gives')
}

// After it ---------------------------------------------------------------------------------------------------------------------------

/** The refusal of a parameter that must be written to and is not. */
function checkSinks(trace: Trace): void {
  const idle = trace.sinks.filter(({ isUsed }) => !isUsed)
  if (idle.length === 0) return
  throw refusal(
    trace,
    'E_DEFINITION',
    idle
      .map(
        ({ parameter, call }) =>
          `parameter '${parameter}' is declared as an output and never written; call ${call}, or remove it`,
      )
      .join('; '),
  )
}

const toReturned = (template: Template): Returned => {
  switch (template.form) {
    case 'leaf':
      return { form: 'slot', slot: template.leaf }
    case 'array':
      return { form: 'array', items: template.items.map(toReturned) }
    case 'object':
      return { form: 'object', entries: template.entries.map(([key, item]) => [key, toReturned(item)] as const) }
  }
}

/** Declares the planes of returned values and stores them. */
function storeOutputs(trace: Trace, leaves: readonly Leaf[], { slots }: Naming): readonly TracedOutput[] {
  const b = trace.builder
  return leaves.map((leaf, slot): TracedOutput => {
    const head = leafHead(leaf)
    const naming = slots[slot]!
    if (isHandle(leaf)) return { ...naming, head, plane: leaf[STATE].reduction!.plane, isParameter: true }
    const role: PlaneRole = 'sample'
    const plane = b.plane({ name: naming.name, role, type: head.type, components: head.components })
    const components =
      typeof leaf === 'number' || typeof leaf === 'boolean'
        ? [constantOf(trace, leaf, head.type)]
        : componentsOf(leaf[STATE])
    components.forEach((value, k) => b.store(plane, k, value))
    return { ...naming, head, plane, isParameter: false }
  })
}

/** Entries of an `argSpec` in canonical order: by role, then by code unit. */
export function canonicalOrder(entries: readonly (readonly [Role, string])[]): ArgumentSpec {
  return [...entries].sort(([role, name], [otherRole, otherName]) => {
    const byRole = ROLES.indexOf(role) - ROLES.indexOf(otherRole)
    return byRole !== 0 ? byRole : name < otherName ? -1 : name > otherName ? 1 : 0
  })
}

/** Runs the body in its trace, and everything that can be checked when it has returned. */
function runBody(trace: Trace, parameters: Parameters, body: Body, { returns }: TraceOptions) {
  const names = Object.keys(parameters)
  const made = names.map((name) => makeArgument(trace, name, parameters[name]!))
  const given = Object.freeze(Object.fromEntries(names.map((name, k) => [name, made[k]!.value])))
  const structure = readReturned(trace, body(given as never))
  checkConditions(trace)
  if (returns !== undefined) checkReturns(trace, returns, structure)
  const naming = structure ? nameSlots(trace, body, structure, names) : { slots: [], note: undefined }
  checkSinks(trace)
  checkEffect(trace, names, structure)
  // Values are read before the first store; a mutable that is returned gives its last content.
  const outputs = structure ? storeOutputs(trace, structure.leaves, naming) : []
  for (const { finish } of made) finish()
  return { made, structure, naming, outputs }
}

function checkEffect(trace: Trace, names: readonly string[], structure: Structure | undefined): void {
  if (trace.sinks.length === 0 && (structure?.leaves.length ?? 0) === 0) {
    throw refusal(
      trace,
      'E_DEFINITION',
      `the body returned ${structure ? 'no value' : 'nothing'} and writes to nothing; return a value, or declare a Mutable, Accum, Reduce or Terminated and write to it`,
    )
  }
  if (names.length === 0 && !trace.usesSampleNumbers) {
    throw refusal(
      trace,
      'E_DEFINITION',
      'it has no parameters and does not use sampleIndex(), so that every sample would be equal; declare a parameter',
    )
  }
}

/**
 * Traces a body.
 * @param name the kernel's name; undefined: that of the body function, else `kernel`
 */
export function trace(name: string | undefined, params: unknown, body: unknown, options?: unknown): TracedKernel {
  const kernel = name ?? (typeof body === 'function' && body.name !== '' ? body.name : 'kernel')
  const parameters = checkParameters(kernel, params)
  const checkedOptions = checkOptions(kernel, options)
  checkBody(kernel, body)
  const under = createTrace(kernel)
  const { made, structure, naming, outputs } = withTrace(under, () => runBody(under, parameters, body, checkedOptions))
  // Rebuilding drops what no output needs, so that a plane counts as read only if its content matters.
  const graph = rebuild(under.builder.finishGraph())
  const { read, written } = accesses(graph)
  const traced = Object.keys(parameters).map((parameter, k): TracedParameter => {
    const { plane } = made[k] as Argument
    return {
      name: parameter,
      kind: parameters[parameter]!,
      plane,
      isRead: read.has(plane),
      isWritten: written.has(plane),
    }
  })
  const namesWhere = (fits: (parameter: TracedParameter) => boolean): readonly string[] =>
    traced.filter(fits).map((parameter) => parameter.name)
  return Object.freeze({
    name: kernel,
    isNamed: name !== undefined,
    doc: checkedOptions.doc,
    math: checkedOptions.math ?? 'strict',
    graph,
    parameters: traced,
    outputs,
    returned: structure ? toReturned(structure.template) : ({ form: 'nothing' } as const),
    argSpec: canonicalOrder([
      ...traced.map((parameter) => [parameter.kind.role, parameter.name] as const),
      ...outputs.filter(({ isParameter }) => !isParameter).map((output) => ['mutable', output.name] as const),
    ]),
    outputNames: outputs.map((output) => output.name),
    finishMask: traced.find(({ kind }) => kind.role === 'terminated')?.plane,
    tablesRead: namesWhere(({ kind, isRead }) => kind.role === 'lookup' && isRead),
    mutablesRead: namesWhere(({ kind, isRead }) => kind.role === 'mutable' && isRead),
    mutablesWritten: namesWhere(({ kind, isWritten }) => kind.role === 'mutable' && isWritten),
    namingNote: naming.note,
    usesSampleNumbers: under.usesSampleNumbers,
  })
}
