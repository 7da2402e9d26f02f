// Parameter kinds: what a caller binds to a name, and what the body sees there. A kind is a frozen record; everything later layers need
// (role, element type, shape of one sample) stands in it, so that nobody asks for a kind by name.
import { HarrierError } from '../errors.ts'
import type { ReduceOp } from '../ir/graph.ts'
import { KIND } from './brands.ts'
import { isIdentifier } from './names.ts'
import type * as values from './values.ts'

/** Roles in the order in which `argSpec` lists them. */
export const ROLES = [
  'mutable',
  'accum_out',
  'reduce',
  'vec_in',
  'mat_in',
  'per_sample',
  'lookup',
  'terminated',
  'uniform',
] as const
export type Role = (typeof ROLES)[number]

/** Element types of the language; floats are traced as f64 and specialised to f32 later. */
export type ElementType = 'f64' | 'i32' | 'bool'

/** What one sample, table entry or reduction holds. */
export interface Head {
  readonly type: ElementType
  /** [] for a number, [W] for a vector or quaternion, [R, C] for a matrix. */
  readonly shape: readonly number[]
  /** Product of the shape. */
  readonly components: number
  /** Four components w, x, y, z with the algebra of quaternions. */
  readonly quaternion: boolean
}

/** One axis of a table with named axes. */
export interface Axis {
  readonly name: string
  readonly extent: number
}

declare const VALUE: unique symbol
declare const AXES: unique symbol

/**
 * A parameter kind.
 * V is the symbolic type of one entry and A the axes of a table; both exist in types only.
 */
export interface Kind<R extends Role = Role, V = unknown, A = unknown> {
  readonly [KIND]: true
  readonly [VALUE]?: V
  readonly [AXES]?: A
  readonly role: R
  readonly head: Head
  /** As written in a definition: `Vector(3)`. */
  readonly text: string
  /** Tables with named axes, outermost first; row-major, so that the last has stride 1. */
  readonly axes?: readonly Axis[]
  /** Reductions. */
  readonly reduce?: ReduceOp
}

/** Kinds that `Mutable`, `Table`, `Accum`, `Reduce` and `returns` can hold. */
export type PlainKind<V = unknown> = Kind<'per_sample' | 'vec_in' | 'mat_in', V>

type KindParts<R extends Role> = Omit<Kind<R>, typeof KIND | typeof VALUE | typeof AXES>

const makeKind = <R extends Role, V, A = unknown>(parts: KindParts<R>): Kind<R, V, A> =>
  Object.freeze({ [KIND]: true as const, ...parts })

export const headOf = (type: ElementType, shape: readonly number[], quaternion = false): Head =>
  Object.freeze({
    type,
    shape: Object.freeze([...shape]),
    components: shape.reduce((product, extent) => product * extent, 1),
    quaternion,
  })

/** Equal extents, and quaternions only with quaternions. */
export const sameShape = (a: Head, b: Head): boolean =>
  a.quaternion === b.quaternion &&
  a.shape.length === b.shape.length &&
  a.shape.every((extent, k) => extent === b.shape[k])

export const sameHead = (a: Head, b: Head): boolean => a.type === b.type && sameShape(a, b)

export const isKind = (value: unknown): value is Kind => typeof value === 'object' && value !== null && KIND in value

const refuse = (message: string): HarrierError => new HarrierError('E_DEFINITION', message)

const show = (value: unknown): string =>
  isKind(value)
    ? value.text
    : typeof value === 'string'
      ? `'${value}'`
      : typeof value === 'function'
        ? value.name || 'a function'
        : String(value)

const isExtent = (value: unknown): value is number => typeof value === 'number' && Number.isInteger(value) && value >= 1

// Values -----------------------------------------------------------------------------------------------------------------------------

/** One float a sample; plane `(N,)`. */
export const Scalar: Kind<'per_sample', values.Scalar> = makeKind({
  role: 'per_sample',
  head: headOf('f64', []),
  text: 'Scalar',
})
export type Scalar = values.Scalar

/** One int32 a sample; plane `(N,)` of an Int32Array. */
export const Index: Kind<'per_sample', values.Index> = makeKind({
  role: 'per_sample',
  head: headOf('i32', []),
  text: 'Index',
})
export type Index = values.Index

/** W floats a sample; plane `(W, N)`. */
export function Vector<const W extends number>(width: W): Kind<'vec_in', values.Vector<W>> {
  if (!isExtent(width))
    throw refuse(`Vector(${show(width)}): the width must be a whole number of at least 1, as in Vector(3)`)
  return makeKind({ role: 'vec_in', head: headOf('f64', [width]), text: `Vector(${width})` })
}
export type Vector<W extends number = number, E extends values.Element = 'float'> = values.Vector<W, E>

/** A quaternion a sample, components w, x, y, z; plane `(4, N)`. */
export const Quat: Kind<'vec_in', values.Quat> = makeKind({
  role: 'vec_in',
  head: headOf('f64', [4], true),
  text: 'Quat',
})
export type Quat = values.Quat

/** R×C floats a sample; plane `(R*C, N)` row-major, or `(R, C, N)`. */
export function Matrix<const R extends number, const C extends number>(
  rows: R,
  columns: C,
): Kind<'mat_in', values.Matrix<R, C>> {
  const text = `Matrix(${show(rows)}, ${show(columns)})`
  if (!isExtent(rows) || !isExtent(columns)) {
    throw refuse(`${text}: both extents must be whole numbers of at least 1, as in Matrix(2, 3)`)
  }
  return makeKind({ role: 'mat_in', head: headOf('f64', [rows, columns]), text })
}
export type Matrix<
  R extends number = number,
  C extends number = number,
  E extends values.Element = 'float',
> = values.Matrix<R, C, E>

/** One float for all samples; a number in a call. */
export const Param: Kind<'uniform', values.Scalar> = makeKind({
  role: 'uniform',
  head: headOf('f64', []),
  text: 'Param',
})

/** For `returns` only: the truth value that a comparison gives; no plane of conditions is an input. */
export const Condition: Kind<'per_sample', values.Condition> = makeKind({
  role: 'per_sample',
  head: headOf('bool', []),
  text: 'Condition',
})
export type Condition = values.Condition

// Kinds of kinds ---------------------------------------------------------------------------------------------------------------------

const PLAIN_ROLES: readonly Role[] = ['per_sample', 'vec_in', 'mat_in']
const PLAIN_TEXT = 'Scalar, Index, Vector(W), Quat or Matrix(R, C)'

/** The head of a kind that another kind holds; `text` is the call, for the refusal. */
function plainHead(text: string, kind: unknown): Head {
  if (isKind(kind) && PLAIN_ROLES.includes(kind.role) && kind.head.type !== 'bool') return kind.head
  throw refuse(`${text}: expected ${PLAIN_TEXT}`)
}

/** A value that the body reads and writes in place, in the caller's array; plane as its kind. */
export function Mutable<V>(kind: PlainKind<V>): Kind<'mutable', V> {
  const text = `Mutable(${show(kind)})`
  return makeKind({ role: 'mutable', head: plainHead(text, kind), text })
}
export type Mutable<V extends values.SymbolicValue> = values.Mutable<V>

/**
 * A lookup that all samples share, read by `t.at(i)`; its plane has a length of its own.
 * With axes (`Table({ row: 4, col: 3 })`) it holds floats, row-major, and is read by `t.at({ row: i, col: j })`.
 */
export function Table<const A extends Readonly<Record<string, number>>>(axes: A): Kind<'lookup', values.Scalar, A>
export function Table<V>(kind: PlainKind<V>): Kind<'lookup', V, undefined>
export function Table(entries: unknown): Kind<'lookup'> {
  if (isKind(entries)) {
    const text = `Table(${entries.text})`
    return makeKind({ role: 'lookup', head: plainHead(text, entries), text })
  }
  if (typeof entries !== 'object' || entries === null || Array.isArray(entries)) {
    throw refuse(`Table(${show(entries)}): expected ${PLAIN_TEXT}, or named axes as in Table({ row: 4, col: 3 })`)
  }
  const axes = Object.entries(entries as Record<string, unknown>).map(([name, extent]) => {
    if (!isIdentifier(name)) {
      throw refuse(
        `Table: axis '${name}' has no valid name; names are letters, digits and _, not starting with a digit`,
      )
    }
    if (!isExtent(extent))
      throw refuse(`Table: axis '${name}' has extent ${show(extent)}, expected a whole number of at least 1`)
    return Object.freeze({ name, extent })
  })
  if (axes.length === 0) throw refuse('Table({}): name at least one axis, as in Table({ row: 4, col: 3 })')
  const length = axes.reduce((product, { extent }) => product * extent, 1)
  if (length > 2 ** 31 - 1) throw refuse(`Table: its axes give ${length} entries; an int32 index reaches 2147483647`)
  return makeKind({
    role: 'lookup',
    head: headOf('f64', []),
    text: `Table({ ${axes.map(({ name, extent }) => `${name}: ${extent}`).join(', ')} })`,
    axes: Object.freeze(axes),
  })
}
export type Table<V extends values.SymbolicValue, A = undefined> = values.Table<V, A>

/** An array that the kernel adds to: `acc.add(v)` the entry of this sample, `acc.add(v, index)` any entry. */
export function Accum<V>(kind: PlainKind<V>): Kind<'accum_out', V> {
  const text = `Accum(${show(kind)})`
  return makeKind({ role: 'accum_out', head: plainHead(text, kind), text })
}
export type Accum<V extends values.SymbolicValue> = values.Accum<V>

const REDUCTIONS = ['sum', 'prod', 'max', 'min', 'all', 'any'] as const satisfies readonly ReduceOp[]

/** One value folded from what the samples contribute: `sum prod max min` of a kind (default Scalar), `all any` of conditions. */
export function Reduce(op: 'all' | 'any'): Kind<'reduce', values.Condition>
export function Reduce(op: 'sum' | 'prod' | 'max' | 'min'): Kind<'reduce', values.Scalar>
export function Reduce<V>(op: 'sum' | 'prod' | 'max' | 'min', kind: PlainKind<V>): Kind<'reduce', V>
export function Reduce(op: ReduceOp, kind?: PlainKind): Kind<'reduce'> {
  if (!REDUCTIONS.includes(op)) {
    throw refuse(`Reduce(${show(op)}): the operation must be one of ${REDUCTIONS.map(show).join(', ')}`)
  }
  const logical = op === 'all' || op === 'any'
  if (logical && kind !== undefined) {
    throw refuse(`Reduce('${op}', ${show(kind)}): '${op}' folds conditions and takes no kind; write Reduce('${op}')`)
  }
  const text = kind === undefined ? `Reduce('${op}')` : `Reduce('${op}', ${show(kind)})`
  const head = logical ? headOf('bool', []) : kind === undefined ? Scalar.head : plainHead(text, kind)
  return makeKind({ role: 'reduce', head, text, reduce: op })
}
export type Reduce<V extends values.SymbolicValue> = values.Reduce<V>

/** The finished mask; plane `(N,)` of a Uint8Array, 1 where a sample is finished and skipped. */
export const Terminated: Kind<'terminated', values.Condition> = makeKind({
  role: 'terminated',
  head: headOf('bool', []),
  text: 'Terminated',
})
export type Terminated = values.Terminated
