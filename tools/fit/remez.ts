// Minimax fit of Σ cᵢ·x^pᵢ to a target by Remez exchange in 512-bit arithmetic, then rounding of the coefficients one by one.
// Invariant: the returned coefficients are representable in their formats, and the reported error is that of the rounded ones.
import { abs, div, fromNumber, log2Of, mul, ONE, roundBits, toNumber, type Fixed } from './fixed.ts'

export interface Problem {
  readonly target: (x: Fixed) => Fixed
  /** Factor of the error that is minimised, as a function of x; 1 where absent. */
  readonly weight?: (x: Fixed) => Fixed
  readonly from: number
  readonly to: number
  /** Exponents of the terms, ascending. */
  readonly powers: readonly number[]
  /** Significant bits that each coefficient is rounded to, by position; the last entry serves the rest. 106 and 48 mean a pair of
   * doubles or of f32. */
  readonly bits: readonly number[]
  /** Coefficients fixed beforehand, by position. */
  readonly fixed?: Readonly<Record<number, Fixed>>
}

export interface Solution {
  readonly coefficients: readonly Fixed[]
  /** log2 of the largest weighted error of the rounded polynomial on the grid. */
  readonly error: number
  /** The same before rounding. */
  readonly idealError: number
}

/** Solves A·x = b by elimination with partial pivoting. */
function solve(matrix: Fixed[][], right: Fixed[]): Fixed[] {
  const n = right.length
  for (let column = 0; column < n; column++) {
    let pivot = column
    for (let row = column + 1; row < n; row++)
      if (abs(matrix[row]![column]!) > abs(matrix[pivot]![column]!)) pivot = row
    ;[matrix[column], matrix[pivot]] = [matrix[pivot]!, matrix[column]!]
    ;[right[column], right[pivot]] = [right[pivot]!, right[column]!]
    const top = matrix[column]!
    for (let row = column + 1; row < n; row++) {
      const line = matrix[row]!
      const factor = div(line[column]!, top[column]!)
      for (let k = column; k < n; k++) line[k] = line[k]! - mul(factor, top[k]!)
      right[row] = right[row]! - mul(factor, right[column]!)
    }
  }
  for (let row = n - 1; row >= 0; row--) {
    let sum = right[row]!
    for (let k = row + 1; k < n; k++) sum -= mul(matrix[row]![k]!, right[k]!)
    right[row] = div(sum, matrix[row]![row]!)
  }
  return right
}

interface Sample {
  readonly x: Fixed
  readonly powers: readonly Fixed[]
  readonly weight: Fixed
}

const errorAt = (sample: Sample, value: Fixed, terms: readonly number[], coefficients: readonly Fixed[]): Fixed => {
  let sum = value
  terms.forEach((term, i) => (sum -= mul(coefficients[i]!, sample.powers[term]!)))
  return mul(sum, sample.weight)
}

/** Drops extrema until `wanted` are left, the weakest first, in a way that keeps their signs alternating. */
function thin(peaks: number[], errors: readonly Fixed[], wanted: number): void {
  const size = (place: number): Fixed => abs(errors[peaks[place]!]!)
  while (peaks.length > wanted) {
    const last = peaks.length - 1
    let weakest = 0
    for (let place = 1; place <= last; place++) if (size(place) < size(weakest)) weakest = place
    if (weakest === 0) peaks.shift()
    else if (weakest === last) peaks.pop()
    else if (peaks.length === wanted + 1) {
      if (size(0) < size(last)) peaks.shift()
      else peaks.pop()
    } else {
      // Its two neighbours have one sign: the smaller goes with it.
      const first = size(weakest - 1) < size(weakest + 1) ? weakest - 1 : weakest
      peaks.splice(first, 2)
    }
  }
}

/**
 * One Remez fit of the sampled values by the named terms. Where the lowest power changes sign with x, so does the weight: the error
 * divided by that power is what alternates.
 */
function exchange(unsigned: readonly Sample[], values: readonly Fixed[], terms: readonly number[]): Fixed[] {
  const n = terms.length
  const samples = unsigned.map((sample) =>
    sample.powers[terms[0]!]! < 0n ? { ...sample, weight: -sample.weight } : sample,
  )
  const last = samples.length - 1
  let reference = Array.from({ length: n + 1 }, (_, i) =>
    Math.round((last * (1 - Math.cos((Math.PI * (i + 0.5)) / (n + 1)))) / 2),
  )
  let best: Fixed[] = []
  let least: Fixed | undefined
  for (let round = 0; round < 40; round++) {
    const matrix = reference.map((at, i) => {
      const sample = samples[at]!
      const row = terms.map((term) => mul(sample.powers[term]!, sample.weight))
      row.push(i % 2 ? -ONE : ONE)
      return row
    })
    const solution = solve(
      matrix,
      reference.map((at) => mul(values[at]!, samples[at]!.weight)),
    )
    const level = abs(solution[n]!)
    const coefficients = solution.slice(0, n)
    const errors = samples.map((sample, i) => errorAt(sample, values[i]!, terms, coefficients))
    // Largest error of each run of one sign.
    const peaks: number[] = []
    errors.forEach((error, i) => {
      const previous = peaks.at(-1)
      if (previous === undefined || errors[previous]! < 0n !== error < 0n) peaks.push(i)
      else if (abs(error) > abs(errors[previous]!)) peaks[peaks.length - 1] = i
    })
    thin(peaks, errors, n + 1)
    const largest = errors.reduce((most, error) => (abs(error) > most ? abs(error) : most), 0n)
    if (least === undefined || largest < least) {
      least = largest
      best = coefficients
    }
    if (peaks.length < n + 1 || largest - level <= largest / 2000n) break
    reference = peaks
  }
  return best
}

/** Fits a problem and rounds its coefficients from the first power up, refitting the rest after each. */
export function fit(problem: Problem): Solution {
  const count = Math.max(240, problem.powers.length * 24)
  const low = fromNumber(problem.from)
  const width = fromNumber(problem.to) - low
  const samples: Sample[] = Array.from({ length: count }, (_, i) => {
    const x = low + mul(width, fromNumber((1 - Math.cos((Math.PI * i) / (count - 1))) / 2))
    const powers: Fixed[] = []
    let power = ONE
    let exponent = 0
    for (const p of problem.powers) {
      while (exponent < p) {
        power = mul(power, x)
        exponent++
      }
      powers.push(power)
    }
    return { x, powers, weight: problem.weight ? problem.weight(x) : ONE }
  })
  let values = samples.map(({ x }) => problem.target(x))
  const terms = problem.powers.map((_, i) => i)
  const all: Fixed[] = []
  let idealError = 0n
  for (let i = 0; i < terms.length; i++) {
    const rest = terms.slice(i)
    const fitted = problem.fixed?.[i] === undefined || i === 0 ? exchange(samples, values, rest) : [0n]
    if (i === 0)
      samples.forEach((sample, j) => {
        const error = abs(errorAt(sample, values[j]!, rest, fitted))
        if (error > idealError) idealError = error
      })
    const bits = problem.bits[Math.min(i, problem.bits.length - 1)]!
    const value = problem.fixed?.[i] ?? (isPair(bits) ? roundPair(fitted[0]!, bits / 2) : roundBits(fitted[0]!, bits))
    all.push(value)
    values = values.map((v, j) => v - mul(value, samples[j]!.powers[i]!))
  }
  const worst = values.reduce((most, v, j) => {
    const error = abs(mul(v, samples[j]!.weight))
    return error > most ? error : most
  }, 0n)
  return { coefficients: all, error: log2Of(worst), idealError: log2Of(idealError) }
}

/** 106 and 48 bits stand for two numbers of half as many. */
export const isPair = (bits: number): boolean => bits === 106 || bits === 48

/** A value rounded to the sum of two numbers of the given precision. */
export function roundPair(a: Fixed, bits: number): Fixed {
  const high = roundBits(a, bits)
  return high + roundBits(a - high, bits)
}

/** A value as its nearest number of the given precision and the nearest of the rest. */
export function split(a: Fixed, bits = 53): readonly [number, number] {
  const high = roundBits(a, bits)
  return [toNumber(high), toNumber(roundBits(a - high, bits))]
}
