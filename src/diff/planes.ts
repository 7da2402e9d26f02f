// The planes of a derivative: which planes of the primal it takes over, what it adds to them, and what they are called.
// Invariants: a derivative takes every input of its primal, in order; what it adds is keyed by name, bar_<name> for adjoints and
// dot_<name> for tangents; no two planes of a derivative have one name: a name that is taken gets a number, bar2_<name>, dot2_<name>.
import { HarrierError } from '../errors.ts'
import type { Builder } from '../ir/build.ts'
import { accesses, type Graph, type Plane, type Value } from '../ir/graph.ts'
import { isFloat } from '../ir/types.ts'

/** A name as a function of its mark: '' for the name as it is, '2', '3' … where the one before is taken. */
export type NameForm = (mark: string) => string

export const adjointName =
  (name: string): NameForm =>
  (mark) =>
    `bar${mark}_${name}`
export const tangentName =
  (name: string): NameForm =>
  (mark) =>
    `dot${mark}_${name}`

export interface DerivativeOptions {
  /** Name of the primal; for messages. */
  readonly kernel?: string
  /** Names of float inputs to differentiate by; absent: all. */
  readonly wrt?: readonly string[]
  /** Names of planes that are inputs as well as outputs, whether the graph reads them or not; absent: those it both reads and writes. */
  readonly mutables?: readonly string[]
}

/** What a plane of a derivative is for. */
export type Purpose =
  /** An input of the primal. */
  | 'primal'
  /** Number of the sample whose contribution a `max` or `min` reduction took: an input of its derivatives. */
  | 'winner'
  /** Adjoint of an output of the primal: an input of the reverse kernel. */
  | 'seed'
  /** Adjoint of an input: an output of the reverse kernel. */
  | 'adjoint'
  /** An output of the primal, written beside its derivative. */
  | 'value'
  /** All partial derivatives of an output by one input. */
  | 'jacobian'
  /** Tangent of an input: an input of the forward kernel. */
  | 'tangent'
  /** Tangent of an output: an output of the forward kernel. */
  | 'outputTangent'

export interface DerivedPlane {
  readonly purpose: Purpose
  /** Number of the plane of the primal that it belongs to. */
  readonly of: number
}

export interface Derivative {
  readonly graph: Graph
  /** One entry for each plane of the graph. */
  readonly planes: readonly DerivedPlane[]
}

/** One plane of the primal, as a derivative sees it. */
export interface PrimalPlane extends Plane {
  readonly number: number
  readonly isInput: boolean
  readonly isOutput: boolean
  /** What its value after the launch is called. */
  readonly outputName: string
}

export function primalPlanes(graph: Graph, mutables?: readonly string[]): readonly PrimalPlane[] {
  const { read, written } = accesses(graph)
  return graph.planes.map((plane, number) => {
    const { name, role } = plane
    const isShared = role === 'accumulator' || role === 'reduction'
    const isWritten = isShared || (role === 'sample' && written.has(number))
    const isMutable = isWritten && !isShared && (mutables ? mutables.includes(name) : read.has(number))
    return {
      ...plane,
      number,
      isInput: !isWritten || isMutable,
      isOutput: isWritten,
      outputName: isMutable ? `${name}_out` : name,
    }
  })
}

/** The inputs to differentiate by; throws E_DERIVATIVE where `wrt` names anything else. */
export function chooseInputs(
  mode: 'vjp' | 'jvp',
  planes: readonly PrimalPlane[],
  { kernel = 'kernel', wrt }: DerivativeOptions,
): readonly PrimalPlane[] {
  const candidates = planes.filter(({ isInput, type }) => isInput && isFloat(type))
  if (!wrt) return candidates
  const problems = wrt.flatMap((name) => {
    if (candidates.some((plane) => plane.name === name)) return []
    const found = planes.find((plane) => plane.name === name)
    if (!found) return [`'${name}' is no parameter`]
    return found.isInput ? [`'${name}' holds ${found.type}, not floats`] : [`'${name}' is no input`]
  })
  if (problems.length > 0) {
    const names = candidates.map(({ name }) => name).join(', ') || 'none'
    throw new HarrierError(
      'E_DERIVATIVE',
      `${mode} of kernel '${kernel}': wrt: ${problems.join(', ')}; the float inputs are: ${names}`,
    )
  }
  return candidates.filter(({ name }) => wrt.includes(name))
}

/** The outputs that have an adjoint or a tangent; throws E_DERIVATIVE for a reduction that has neither. */
export function differentiableOutputs(
  mode: 'vjp' | 'jvp',
  planes: readonly PrimalPlane[],
  { kernel = 'kernel' }: DerivativeOptions,
): readonly PrimalPlane[] {
  const refused = planes.filter(
    ({ role, reduce, type }) =>
      role === 'reduction' && (reduce === 'prod' || (mode === 'vjp' && !isFloat(type) && reduce !== 'sum')),
  )
  if (refused.length > 0) {
    const names = refused.map(({ name, reduce }) => `'${name}' is a Reduce('${reduce}')`).join(', ')
    throw new HarrierError(
      'E_DERIVATIVE',
      `${mode} of kernel '${kernel}': ${names}; a derivative exists for the reductions sum, max and min: ` +
        `return the contributions as a plane and reduce them outside${refused.some(({ reduce }) => reduce === 'prod') ? ', or write a product as exp of a sum of logarithms' : ''}`,
    )
  }
  return planes.filter(({ isOutput, type }) => isOutput && isFloat(type))
}

/** The first form of a name that no plane has. */
function freeName(planes: readonly Plane[], form: NameForm): string {
  const isTaken = (name: string) => planes.some((plane) => plane.name === name)
  let name = form('')
  for (let mark = 2; isTaken(name); mark++) name = form(String(mark))
  return name
}

/** The planes of a derivative that are there for one purpose: what each is called, and the plane of the primal that it belongs to. */
export const planesFor = (
  { graph, planes }: Derivative,
  wanted: Purpose,
): readonly { readonly name: string; readonly number: number; readonly of: number }[] =>
  planes.flatMap(({ purpose, of }, number) =>
    purpose === wanted ? [{ name: graph.planes[number]!.name, number, of }] : [],
  )

/** A plane of a derivative before it has a name. */
export type Unnamed = Omit<Plane, 'name'>

/** Declares the planes of a derivative. */
export function createDerivedPlanes(b: Builder) {
  const derived: DerivedPlane[] = []
  const primalNumbers = new Map<number, number>()

  function declare(purpose: Purpose, { number }: PrimalPlane, form: NameForm, plane: Unnamed): number {
    derived.push({ purpose, of: number })
    return b.plane({ name: freeName(b.planes, form), ...plane })
  }

  return {
    planes: derived as readonly DerivedPlane[],
    declare,
    /** Takes over an input of the primal; a finished mask becomes a plain plane of conditions, as a derivative finishes nothing. */
    declarePrimal(plane: PrimalPlane) {
      const { role, type, components } = plane
      const kept: Unnamed = { role: role === 'mask' ? 'sample' : role, type, components }
      primalNumbers.set(plane.number, declare('primal', plane, ownName(plane), kept))
    },
    /** Declares an output of the primal that the derivative writes too. */
    declareValue(plane: PrimalPlane) {
      const { role, type, components, reduce } = plane
      const kept: Unnamed = { role, type, components, ...(reduce && { reduce }) }
      primalNumbers.set(plane.number, declare('value', plane, ownName(plane), kept))
    },
    /** The number in the derivative of an input of the primal, or of an output that the derivative writes too. */
    primalNumber: (number: number): number => primalNumbers.get(number)!,
  }
}

/** Reads component `component` of a plane that holds one entry for all samples: a uniform, or a table of one entry where it is wide. */
export const readShared = (b: Builder, plane: number, component: number): Value =>
  b.planes[plane]!.role === 'uniform' ? b.uniform(plane) : b.gather(plane, component, b.zero('i32'))

/** A plane with one entry of some components for all samples. */
export const sharedPlane = (type: Plane['type'], components: number): Unnamed => ({
  role: components === 1 ? 'uniform' : 'table',
  type,
  components,
})

/** Inputs of the primal have their names first, so that they keep them. */
export const ownName =
  ({ name }: Plane): NameForm =>
  (mark) =>
    name + mark

export const winnerName =
  ({ name }: Plane): NameForm =>
  (mark) =>
    `${name}_at${mark}`

/** Declares what says which sample won each `max` and `min` reduction. */
export function declareWinners(
  outputs: readonly PrimalPlane[],
  declare: (purpose: Purpose, plane: PrimalPlane, form: NameForm, declared: Unnamed) => number,
): ReadonlyMap<number, number> {
  const selecting = outputs.filter(({ reduce }) => reduce === 'max' || reduce === 'min')
  return new Map(
    selecting.map((plane) => [
      plane.number,
      declare('winner', plane, winnerName(plane), sharedPlane('i32', plane.components)),
    ]),
  )
}

/** What a table holds at an index, and 0 outside, where reads and scatters have no derivative. */
export function gatherOrZero(b: Builder, plane: number, component: number, index: Value): Value {
  const isInside = b.and(b.ge(index, b.zero('i32')), b.lt(index, b.entryCount(plane)))
  const found = b.gather(plane, component, index)
  return b.select(isInside, found, b.zero(found.type))
}

/** Whether this sample is the one whose contribution a `max` or `min` reduction took. */
export const hasWon = (b: Builder, winner: number, component: number): Value =>
  b.eq(b.sampleIndex(), readShared(b, winner, component))
