// Small dense linear algebra on SSA values of one type. A matrix is a list of rows. Sums run from left to right; nothing is reassociated.
import type { Builder } from '../ir/build.ts'
import type { Value } from '../ir/graph.ts'

export type Row = readonly Value[]
export type Rows = readonly Row[]

/** Largest size that `determinant`, `inverse` and `solve` take. */
export const LARGEST = 4

const sum = (b: Builder, terms: readonly Value[]): Value => terms.reduce((total, term) => b.add(total, term))

export const dotProduct = (b: Builder, x: Row, y: Row): Value =>
  sum(
    b,
    x.map((value, k) => b.mul(value, y[k]!)),
  )

export const columnsOf = (rows: Rows): Rows => rows[0]!.map((_, c) => rows.map((row) => row[c]!))

export const product = (b: Builder, left: Rows, right: Rows): Rows => {
  const columns = columnsOf(right)
  return left.map((row) => columns.map((column) => dotProduct(b, row, column)))
}

/** a·d − b·c. */
const minor = (b: Builder, [p, q]: Row, [r, s]: Row): Value => b.sub(b.mul(p!, s!), b.mul(q!, r!))

const without = (row: Row, c: number): Row => row.filter((_, k) => k !== c)

/** Determinant by expansion along the first row; the 2×2 minors of equal rows and columns are shared by the builder. */
export function determinant(b: Builder, rows: Rows): Value {
  if (rows.length === 1) return rows[0]![0]!
  if (rows.length === 2) return minor(b, rows[0]!, rows[1]!)
  const [first, ...rest] = rows
  return expand(b, first!, (c) =>
    determinant(
      b,
      rest.map((row) => without(row, c)),
    ),
  )
}

/** Σ (−1)^c · row[c] · cofactor(c). */
function expand(b: Builder, row: Row, cofactor: (c: number) => Value): Value {
  let total = b.mul(row[0]!, cofactor(0))
  for (let c = 1; c < row.length; c++) {
    const term = b.mul(row[c]!, cofactor(c))
    total = c % 2 === 0 ? b.add(total, term) : b.sub(total, term)
  }
  return total
}

/** Inverse as adjugate over determinant; entries are ±Infinity or NaN for a singular matrix. */
export function inverse(b: Builder, rows: Rows): Rows {
  const n = rows.length
  const one = b.const(rows[0]![0]!.type, 1)
  if (n === 1) return [[b.div(one, rows[0]![0]!)]]
  const cofactor = (r: number, c: number): Value => {
    const value = determinant(
      b,
      rows.filter((_, k) => k !== r).map((row) => without(row, c)),
    )
    return (r + c) % 2 === 0 ? value : b.neg(value)
  }
  const reciprocal = b.div(one, determinant(b, rows))
  return rows.map((row, r) => row.map((_, c) => b.mul(cofactor(c, r), reciprocal)))
}

/**
 * Solves A·X = B by Gaussian elimination with partial pivoting. The pivot is moved up by comparing and selecting, as each sample may need
 * another row; infinities and NaN come out for a singular matrix.
 */
export function solve(b: Builder, matrix: Rows, right: Rows): Rows {
  const n = matrix.length
  const a = matrix.map((row, r) => [...row, ...right[r]!])
  const width = a[0]!.length
  for (let k = 0; k < n; k++) {
    for (let r = k + 1; r < n; r++) {
      const swaps = b.lt(b.abs(a[k]![k]!), b.abs(a[r]![k]!))
      for (let c = k; c < width; c++) {
        const [upper, lower] = [a[k]![c]!, a[r]![c]!]
        a[k]![c] = b.select(swaps, lower, upper)
        a[r]![c] = b.select(swaps, upper, lower)
      }
    }
    for (let r = k + 1; r < n; r++) {
      const factor = b.div(a[r]![k]!, a[k]![k]!)
      for (let c = k + 1; c < width; c++) a[r]![c] = b.sub(a[r]![c]!, b.mul(factor, a[k]![c]!))
    }
  }
  const solution: Value[][] = a.map((row) => row.slice(n))
  for (let r = n - 1; r >= 0; r--) {
    for (let c = 0; c < width - n; c++) {
      let rest = solution[r]![c]!
      for (let k = r + 1; k < n; k++) rest = b.sub(rest, b.mul(a[r]![k]!, solution[k]![c]!))
      solution[r]![c] = b.div(rest, a[r]![r]!)
    }
  }
  return solution
}
