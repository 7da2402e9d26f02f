// Matrices: entries, rows and columns, products, `mat`, and `det`, `inverse`, `solve` of small square ones.
import type { Value } from '../ir/graph.ts'
import { STATE } from './brands.ts'
import { currentTrace, refusal, type Trace } from './context.ts'
import { headOf, type ElementType } from './kinds.ts'
import {
  columnsOf,
  determinant,
  inverse as invert,
  LARGEST,
  product,
  solve as solveRows,
  type Rows,
} from './linearAlgebra.ts'
import { componentsAs, operation, requireValue, type OperationInput } from './operation.ts'
import { commonType, componentAs, readOperands, type Item } from './promote.ts'
import { elementwiseMethods } from './scalar.ts'
import {
  callLabel,
  headText,
  isTraced,
  makeFromComponents,
  makeScalar,
  setPrototype,
  show,
  type Traced,
  type ValueState,
} from './value.ts'
import type {
  Element,
  ElementOf,
  FloatOf,
  Make,
  Matrix,
  Product,
  Promote,
  Scalar,
  ScalarOperand,
  ShapeOf,
  SymbolicValue,
} from './values.ts'
import { bothAs, componentOf, readIndex, requireOneNumber, selectByIndex } from './vector.ts'

const isMatrix = ({ head }: ValueState): boolean => head.shape.length === 2
const isVector = ({ head }: ValueState): boolean => head.shape.length === 1 && !head.quaternion

const extents = ({ head }: ValueState): readonly [rows: number, columns: number] => [head.shape[0]!, head.shape[1]!]

const toRows = (entries: readonly Value[], columns: number): Rows =>
  Array.from({ length: entries.length / columns }, (_, r) => entries.slice(r * columns, (r + 1) * columns))

const matrixOperand = (input: OperationInput, k = 0): ValueState =>
  requireValue(input, input.items[k]!, isMatrix, 'a matrix')

const makeMatrix = (trace: Trace, rows: Rows, label: string): Traced =>
  makeFromComponents(
    trace,
    headOf(rows[0]![0]!.type as ElementType, [rows.length, rows[0]!.length]),
    rows.flat(),
    label,
  )

const makeVector = (trace: Trace, components: readonly Value[], label: string): Traced =>
  makeFromComponents(trace, headOf(components[0]!.type as ElementType, [components.length]), components, label)

// Entries ----------------------------------------------------------------------------------------------------------------------------

const at = operation('at', 3, (input) => {
  const { trace, name, label, items } = input
  const state = matrixOperand(input)
  const [rows, columns] = extents(state)
  const [, r, c] = items.map((item, k) => (k === 0 ? item : requireOneNumber(input, item, 'one index'))) as Item[]
  const row = readIndex(trace, name, r!, rows, 'row')
  const column = readIndex(trace, name, c!, columns, 'column')
  if (typeof row === 'number' && typeof column === 'number') {
    return makeScalar(trace, state.component(row * columns + column), label)
  }
  const b = trace.builder
  const entries = toRows(componentsAs(trace, state, state.head.type), columns)
  const chosen = typeof row === 'number' ? entries[row]! : columnsOf(entries).map((list) => selectByIndex(b, row, list))
  return makeScalar(trace, typeof column === 'number' ? chosen[column]! : selectByIndex(b, column, chosen), label)
})

/** Row or column number k, a plain number. */
const line = (name: 'row' | 'col', what: 'row' | 'column') =>
  operation(name, 2, (input) => {
    const { trace, label, items } = input
    const state = matrixOperand(input)
    const [rows, columns] = extents(state)
    const { literal } = items[1]!
    if (typeof literal !== 'number') {
      throw refusal(
        trace,
        'E_TYPE',
        `${name}: the number of a ${what} is a plain whole number; m.at(r, c) takes int32 values`,
      )
    }
    const k = readIndex(trace, name, items[1]!, name === 'row' ? rows : columns, what) as number
    const entries = toRows(componentsAs(trace, state, state.head.type), columns)
    return makeVector(trace, name === 'row' ? entries[k]! : columnsOf(entries)[k]!, label)
  })

const row = line('row', 'row')
const col = line('col', 'column')

// Products and shapes ----------------------------------------------------------------------------------------------------------------

const matmulOperation = operation<
  <
    R extends number,
    C extends number,
    E extends Element,
    B extends SymbolicValue<Element, readonly [C] | readonly [C, number]>,
  >(
    left: SymbolicValue<E, readonly [R, C]>,
    right: B,
  ) => Product<R, E, B>
>('matmul', 2, (input) => {
  const { trace, name, label, items } = input
  const left = matrixOperand(input)
  const right = requireValue(input, items[1]!, (state) => isMatrix(state) || isVector(state), 'a vector or matrix')
  const [, inner] = extents(left)
  if (right.head.shape[0] !== inner) {
    throw refusal(
      trace,
      'E_TYPE',
      `${name}: ${headText(left.head)} times ${headText(right.head)} does not fit; the right operand needs ${inner} ${isVector(right) ? 'components' : 'rows'}`,
    )
  }
  const { x, y } = bothAs(trace, name, left, right)
  const result = product(trace.builder, toRows(x, inner), toRows(y, isVector(right) ? 1 : right.head.shape[1]!))
  return isVector(right) ? makeVector(trace, result.flat(), label) : makeMatrix(trace, result, label)
})

const transposeOperation = operation<<A extends AnyMatrix>(m: A) => Transposed<A>>('transpose', 1, (input) => {
  const state = matrixOperand(input)
  const rows = toRows(componentsAs(input.trace, state, state.head.type), extents(state)[1])
  return makeMatrix(input.trace, columnsOf(rows), input.label)
})

/** A square matrix of floats or, for `type` undefined, of its own type; at most `largest` rows. */
function squareOperand(input: OperationInput, type: ElementType | undefined, largest = Infinity): Rows {
  const { trace, name } = input
  const state = matrixOperand(input)
  const [rows, columns] = extents(state)
  if (rows !== columns) throw refusal(trace, 'E_TYPE', `${name}: ${headText(state.head)} is not square`)
  if (rows > largest) {
    throw refusal(
      trace,
      'E_TYPE',
      `${name}: ${headText(state.head)} is larger than ${largest}×${largest}, the largest it takes`,
    )
  }
  return toRows(componentsAs(trace, state, type ?? commonType(trace, name, [{ state }], 'number')), columns)
}

const traceOperation = operation<<A extends Square>(m: A) => Make<Promote<ElementOf<A>, ElementOf<A>>, 'number'>>(
  'trace',
  1,
  (input) => {
    const { trace, label } = input
    const diagonal = squareOperand(input, undefined).map((entries, k) => entries[k]!)
    return makeScalar(
      trace,
      diagonal.reduce((sum, entry) => trace.builder.add(sum, entry)),
      label,
    )
  },
)

const detOperation = operation<(m: Square) => Scalar>('det', 1, (input) =>
  makeScalar(input.trace, determinant(input.trace.builder, squareOperand(input, 'f64', LARGEST)), input.label),
)

const inverseOperation = operation<<A extends Square>(m: A) => FloatOf<A>>('inverse', 1, (input) =>
  makeMatrix(input.trace, invert(input.trace.builder, squareOperand(input, 'f64', LARGEST)), input.label),
)

const solveOperation = operation<
  <R extends number, B extends SymbolicValue<Element, readonly [R] | readonly [R, number]>>(
    m: SymbolicValue<Element, readonly [R, R]>,
    right: B,
  ) => FloatOf<B>
>('solve', 2, (input) => {
  const { trace, name, label, items } = input
  const matrix = squareOperand(input, 'f64', LARGEST)
  const right = requireValue(input, items[1]!, (state) => isMatrix(state) || isVector(state), 'a vector or matrix')
  if (right.head.shape[0] !== matrix.length) {
    throw refusal(
      trace,
      'E_TYPE',
      `${name}: the right side ${headText(right.head)} needs ${matrix.length} ${isVector(right) ? 'components' : 'rows'}, as many as the matrix`,
    )
  }
  const columns = isVector(right) ? 1 : right.head.shape[1]!
  const result = solveRows(trace.builder, matrix, toRows(componentsAs(trace, right, 'f64'), columns))
  return isVector(right) ? makeVector(trace, result.flat(), label) : makeMatrix(trace, result, label)
})

type AnyMatrix = SymbolicValue<Element, readonly [number, number]>
type Square = SymbolicValue<Element, readonly [number, number]>
type Transposed<A extends AnyMatrix> =
  ShapeOf<A> extends readonly [infer R extends number, infer C extends number]
    ? Make<Extract<ElementOf<A>, Element>, readonly [C, R]>
    : never

/** Matrix times vector, or matrix times matrix. */
export const matmul = matmulOperation.free

/** Rows become columns. */
export const transpose = transposeOperation.free

/** Sum of the diagonal of a square matrix. */
export const trace = traceOperation.free

/** Determinant of a square matrix up to 4×4, by expansion. */
export const det = detOperation.free

/** Inverse of a square matrix up to 4×4, as adjugate over determinant; infinities and NaN for a singular one. */
export const inverse = inverseOperation.free

/** x with m·x = right for a square m up to 4×4, by elimination with partial pivoting; `right` is a vector or a matrix. */
export const solve = solveOperation.free

// Building ---------------------------------------------------------------------------------------------------------------------------

type MatrixRow = readonly ScalarOperand[] | SymbolicValue<Element, readonly [number]>
type RowLength<Row> = Row extends readonly unknown[]
  ? Row['length']
  : ShapeOf<Row> extends readonly [infer W extends number]
    ? W
    : never
type RowElement<Row> = Row extends SymbolicValue
  ? ElementOf<Row>
  : Row extends readonly (infer A)[]
    ? ElementOf<A>
    : never

/** A matrix of its rows, each an array of entries or a vector: `mat([[a, b], [c, d]])`. */
export function mat<const Rs extends readonly [MatrixRow, ...MatrixRow[]]>(
  rows: Rs,
): Matrix<Rs['length'], RowLength<Rs[0]>, Promote<RowElement<Rs[number]>, RowElement<Rs[number]>>>
export function mat(rows: unknown): unknown {
  const form = 'expected rows of equal length, as in mat([[a, b], [c, d]])'
  if (!Array.isArray(rows) || rows.length === 0) {
    throw refusal(currentTrace('mat()'), 'E_TYPE', `mat: found ${show(rows)}, ${form}`)
  }
  const lists = rows.map((entries: unknown): readonly unknown[] => {
    if (Array.isArray(entries)) return entries
    if (isTraced(entries) && isVector(entries[STATE])) {
      return Array.from({ length: entries[STATE].head.components }, (_, k) => componentOf(entries, k, String(k)))
    }
    throw refusal(currentTrace('mat()'), 'E_TYPE', `mat: found ${show(entries)} as a row, ${form}`)
  })
  const [first] = lists
  const uneven = lists.findIndex((list) => list.length !== first!.length)
  if (uneven > 0 || first!.length === 0) {
    const found = `row 0 has ${first!.length} entries${uneven > 0 ? ` and row ${uneven} has ${lists[uneven]!.length}` : ''}`
    throw refusal(currentTrace('mat()'), 'E_TYPE', `mat: ${found}, ${form}`)
  }
  const { trace: under, items } = readOperands('mat', lists.flat())
  const input: OperationInput = { trace: under, items, name: 'mat', label: callLabel('mat', ['…'], false) }
  for (const item of items) requireOneNumber(input, item, 'one number an entry')
  const type = commonType(under, 'mat', items, 'any')
  return makeMatrix(
    under,
    toRows(
      items.map((item) => componentAs(under, item, 0, type)),
      first!.length,
    ),
    'mat(…)',
  )
}

const prototype = Object.freeze({
  ...elementwiseMethods,
  at: at.method,
  row: row.method,
  col: col.method,
  matmul: matmulOperation.method,
  transpose: transposeOperation.method,
  trace: traceOperation.method,
  det: detOperation.method,
  inverse: inverseOperation.method,
  solve: solveOperation.method,
})

setPrototype('matrix', () => prototype)
