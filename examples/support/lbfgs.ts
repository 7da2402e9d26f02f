// Minimises a smooth function of a few parameters by L-BFGS with a backtracking line search.
// Source: J. Nocedal, S. Wright, "Numerical Optimization" (2006), algorithms 7.4 (two-loop recursion) and 3.1 (sufficient decrease).

/** A point's value and gradient. */
export interface Evaluation {
  readonly value: number
  readonly gradient: readonly number[]
}

export interface Minimum extends Evaluation {
  readonly at: readonly number[]
  readonly iterations: number
}

const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, x, k) => sum + x * b[k]!, 0)
const along = (a: readonly number[], step: number, b: readonly number[]): number[] => a.map((x, k) => x + step * b[k]!)

/** Pairs of steps and changes of the gradient that stand for the curvature. */
const MEMORY = 8
/** Part of the decrease that the slope promises which a step must bring. */
const SUFFICIENT = 1e-4

/** Stops when the gradient is below `tolerance` times its size at the start, or no step brings a decrease. */
export function minimise(
  evaluate: (at: readonly number[]) => Evaluation,
  start: readonly number[],
  tolerance = 1e-10,
  most = 500,
): Minimum {
  const pairs: { readonly step: number[]; readonly change: number[]; readonly weight: number }[] = []
  let at = [...start]
  let { value, gradient } = evaluate(at)
  const small = tolerance * Math.sqrt(dot(gradient, gradient))
  for (let iterations = 0; ; iterations++) {
    if (iterations === most || Math.sqrt(dot(gradient, gradient)) <= small) return { at, value, gradient, iterations }
    // Two-loop recursion: the gradient through the inverse Hessian that the pairs stand for.
    let direction = gradient.map((x) => -x)
    const factors = pairs.toReversed().map(({ step, change, weight }) => {
      const factor = weight * dot(step, direction)
      direction = along(direction, -factor, change)
      return factor
    })
    const last = pairs.at(-1)
    const scale = last
      ? dot(last.step, last.change) / dot(last.change, last.change)
      : 1 / Math.sqrt(dot(gradient, gradient))
    direction = direction.map((x) => x * scale)
    pairs.forEach(({ step, change, weight }, k) => {
      direction = along(direction, factors[pairs.length - 1 - k]! - weight * dot(change, direction), step)
    })
    const slope = dot(gradient, direction)
    let length = 1
    let next = evaluate(along(at, length, direction))
    while (!(next.value <= value + SUFFICIENT * length * slope) && length > 1e-12) {
      length /= 2
      next = evaluate(along(at, length, direction))
    }
    if (!(next.value < value)) return { at, value, gradient, iterations }
    const step = direction.map((x) => x * length)
    const change = along([...next.gradient], -1, gradient)
    const curvature = dot(step, change)
    if (curvature > 0) pairs.push({ step, change, weight: 1 / curvature })
    if (pairs.length > MEMORY) pairs.shift()
    at = along(at, 1, step)
    ;({ value, gradient } = next)
  }
}
