// Kepler orbits of eccentricity 0 to 0.9 over ten periods, by Fehlberg's adaptive method of order 8: every orbit takes its own number
// of attempted steps, 320 to 700 accepted ones. Arms agree to what the step control allows, not to the bit, as each has its own pow.
import { abs, clip, kernel, loop, max, min, pow, Scalar, sqrt, where } from '../src/index.ts'
import { kernelArms } from './support/arms.ts'
import { A, B, ERROR } from './support/fehlberg78.ts'
import { ratio, type Benchmark } from './support/harness.ts'
import { runBenchmark } from './support/main.ts'
import { compileC } from './support/native.ts'
import { absentModules, pythonArm } from './support/python.ts'
import { createRandom } from './support/random.ts'

const END = 64
const TOLERANCE = 1e-10
const MOST_ATTEMPTS = 4000
const FLOP_PER_ATTEMPT = 1106

type Vector6 = readonly Scalar[]

/** Derivative of position and velocity under a central attraction of strength 1. */
function derivative(y: Vector6): Vector6 {
  const [rx, ry, rz, vx, vy, vz] = y as readonly [Scalar, Scalar, Scalar, Scalar, Scalar, Scalar]
  const r2 = rx.mul(rx).add(ry.mul(ry)).add(rz.mul(rz))
  const pull = sqrt(r2).mul(r2)
  return [vx, vy, vz, rx.div(pull).neg(), ry.div(pull).neg(), rz.div(pull).neg()]
}

/** Σ weight·stage over the weights that are not zero. */
const combine = (weights: readonly number[], stages: readonly Vector6[], d: number): Scalar =>
  weights
    .flatMap((weight, s) => (weight === 0 ? [] : [stages[s]![d]!.mul(weight)]))
    .reduce((sum, term) => sum.add(term))

const orbits = kernel(
  'orbits',
  { rx: Scalar, ry: Scalar, rz: Scalar, vx: Scalar, vy: Scalar, vz: Scalar },
  ({ rx, ry, rz, vx, vy, vz }) => {
    const start = { rx, ry, rz, vx, vy, vz, t: 0, h: 1, attempts: 0 }
    const end = loop(
      MOST_ATTEMPTS,
      start,
      (_, state) => {
        const y = [state.rx, state.ry, state.rz, state.vx, state.vy, state.vz]
        const h = min(state.h, state.t.neg().add(END))
        const stages: Vector6[] = []
        for (const row of A)
          stages.push(derivative(row.length === 0 ? y : y.map((value, d) => value.add(h.mul(combine(row, stages, d))))))
        const next = y.map((value, d) => value.add(h.mul(combine(B, stages, d))))
        const ratio = next
          .map((value, d) => {
            const [first, tenth, eleventh, twelfth] = [0, 10, 11, 12].map((stage) => stages[stage]![d]!) as [
              Scalar,
              Scalar,
              Scalar,
              Scalar,
            ]
            const error = first.add(tenth).sub(eleventh).sub(twelfth).mul(h).mul(ERROR)
            return abs(error).div(max(abs(value), abs(y[d]!)).mul(TOLERANCE).add(TOLERANCE))
          })
          .reduce((worst, each) => max(worst, each))
        const accepted = ratio.lt(1)
        const factor = clip(pow(ratio, where(accepted, -1 / 9, -1 / 8)).mul(0.9), 0.2, 5)
        const keep = (d: number) => where(accepted, next[d]!, y[d]!)
        return {
          rx: keep(0),
          ry: keep(1),
          rz: keep(2),
          vx: keep(3),
          vy: keep(4),
          vz: keep(5),
          t: where(accepted, state.t.add(h), state.t),
          h: h.mul(factor),
          attempts: state.attempts.add(1),
        }
      },
      { while: ({ t }) => t.lt(END) },
    )
    const radius = sqrt(end.rx.mul(end.rx).add(end.ry.mul(end.ry)).add(end.rz.mul(end.rz)))
    return { radius, attempts: end.attempts }
  },
)

const table = (open: string, close: string) => {
  const rows = A.map((row) => `${open}${Array.from({ length: 13 }, (_, s) => row[s] ?? 0).join(', ')}${close}`)
  return `${open}${rows.join(', ')}${close}`
}

const c = compileC(
  `
#include <math.h>
#include <stdint.h>
static const double A[13][13] = ${table('{', '}')};
static const double B[13] = {${B.join(', ')}};
static inline __attribute__((always_inline)) void derivative(const double *y, double *d) {
  const double r2 = y[0] * y[0] + y[1] * y[1] + y[2] * y[2], pull = sqrt(r2) * r2;
  d[0] = y[3]; d[1] = y[4]; d[2] = y[5]; d[3] = -(y[0] / pull); d[4] = -(y[1] / pull); d[5] = -(y[2] / pull);
}
void orbits(const double *start, double *radius, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    double y[6], k[13][6], next[6], t = 0, h = 1;
    for (int d = 0; d < 6; d++) y[d] = start[d * n + i];
    for (int attempt = 0; attempt < ${MOST_ATTEMPTS} && t < ${END}; attempt++) {
      if (h > ${END} - t) h = ${END} - t;
#pragma clang loop unroll(full)
      for (int s = 0; s < 13; s++) {
        double at[6];
#pragma clang loop unroll(full)
        for (int d = 0; d < 6; d++) {
          double sum = 0;
#pragma clang loop unroll(full)
          for (int q = 0; q < s; q++) if (A[s][q] != 0) sum += A[s][q] * k[q][d];
          at[d] = y[d] + h * sum;
        }
        derivative(at, k[s]);
      }
      double worst = 0;
      for (int d = 0; d < 6; d++) {
        double sum = 0;
#pragma clang loop unroll(full)
        for (int q = 0; q < 13; q++) if (B[q] != 0) sum += B[q] * k[q][d];
        next[d] = y[d] + h * sum;
        const double error = (k[0][d] + k[10][d] - k[11][d] - k[12][d]) * h * ${ERROR};
        const double each = fabs(error) / (fmax(fabs(next[d]), fabs(y[d])) * ${TOLERANCE} + ${TOLERANCE});
        if (each > worst) worst = each;
      }
      const double used = h;
      const int accepted = worst < 1;
      double factor = 0.9 * pow(worst, accepted ? -1.0 / 9 : -1.0 / 8);
      factor = factor < 0.2 ? 0.2 : factor > 5 ? 5 : factor;
      h *= factor;
      if (accepted) { t += used; for (int d = 0; d < 6; d++) y[d] = next[d]; }
    }
    radius[i] = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]);
  }
}`,
  ['-lm'],
)
const cOrbits = c.function('orbits', 'address', 'address', 'i64')

const NUMBA = `
import numba, math
start = inputs['start']; n = start.size // 6
A = np.array(${table('[', ']')}); B = np.array([${B.join(', ')}]); radius = np.empty(n)
@numba.njit
def derivative(y, d):
    r2 = y[0] * y[0] + y[1] * y[1] + y[2] * y[2]; pull = math.sqrt(r2) * r2
    d[0] = y[3]; d[1] = y[4]; d[2] = y[5]; d[3] = -(y[0] / pull); d[4] = -(y[1] / pull); d[5] = -(y[2] / pull)
@numba.njit
def orbits(start, n, radius):
    y = np.empty(6); k = np.empty((13, 6)); following = np.empty(6); at = np.empty(6)
    for i in range(n):
        t = 0.0; h = 1.0; attempt = 0
        for d in range(6): y[d] = start[d * n + i]
        while attempt < ${MOST_ATTEMPTS} and t < ${END}:
            attempt += 1
            h = min(h, ${END} - t)
            for s in range(13):
                for d in range(6):
                    total = 0.0
                    for q in range(s): total += A[s, q] * k[q, d]
                    at[d] = y[d] + h * total
                derivative(at, k[s])
            worst = 0.0
            for d in range(6):
                total = 0.0
                for q in range(13): total += B[q] * k[q, d]
                following[d] = y[d] + h * total
                error = (k[0, d] + k[10, d] - k[11, d] - k[12, d]) * h * ${ERROR}
                worst = max(worst, abs(error) / (max(abs(following[d]), abs(y[d])) * ${TOLERANCE} + ${TOLERANCE}))
            used = h; accepted = worst < 1.0
            h *= min(max(0.9 * worst ** (-1.0 / 9 if accepted else -1.0 / 8), 0.2), 5.0)
            if accepted:
                t += used
                for d in range(6): y[d] = following[d]
        radius[i] = math.sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2])
run = lambda: orbits(start, n, radius)
answer = lambda: radius`

/** Orbits from periapsis in random orientation, component-major; the first has the largest eccentricity. */
function startingStates(n: number): Float64Array {
  const random = createRandom(n)
  const start = new Float64Array(6 * n)
  for (let i = 0; i < n; i++) {
    const e = i === 0 ? 0.9 : random.uniform(0, 0.9)
    const inclination = Math.acos(random.uniform(-1, 1))
    const [node, argument] = [random.uniform(0, 2 * Math.PI), random.uniform(0, 2 * Math.PI)]
    const [cn, sn, ca, sa, ci, si] = [
      Math.cos(node),
      Math.sin(node),
      Math.cos(argument),
      Math.sin(argument),
      Math.cos(inclination),
      Math.sin(inclination),
    ]
    const p = [cn * ca - sn * sa * ci, sn * ca + cn * sa * ci, sa * si]
    const q = [-cn * sa - sn * ca * ci, -sn * sa + cn * ca * ci, ca * si]
    const speed = Math.sqrt((1 + e) / (1 - e))
    for (let d = 0; d < 3; d++) {
      start[d * n + i] = p[d]! * (1 - e)
      start[(d + 3) * n + i] = q[d]! * speed
    }
  }
  return start
}

function plainJs(start: Float64Array, radius: Float64Array): void {
  const n = radius.length
  const [y, next, at] = [new Float64Array(6), new Float64Array(6), new Float64Array(6)]
  const k = new Float64Array(13 * 6)
  for (let i = 0; i < n; i++) {
    for (let d = 0; d < 6; d++) y[d] = start[d * n + i]!
    let [t, h] = [0, 1]
    for (let attempt = 0; attempt < MOST_ATTEMPTS && t < END; attempt++) {
      h = Math.min(h, END - t)
      for (let s = 0; s < 13; s++) {
        const row = A[s]!
        for (let d = 0; d < 6; d++) {
          let sum = 0
          for (let q = 0; q < s; q++) sum += row[q]! * k[q * 6 + d]!
          at[d] = y[d]! + h * sum
        }
        const r2 = at[0]! * at[0]! + at[1]! * at[1]! + at[2]! * at[2]!
        const pull = Math.sqrt(r2) * r2
        for (let d = 0; d < 3; d++) {
          k[s * 6 + d] = at[d + 3]!
          k[s * 6 + d + 3] = -(at[d]! / pull)
        }
      }
      let worst = 0
      for (let d = 0; d < 6; d++) {
        let sum = 0
        for (let q = 0; q < 13; q++) sum += B[q]! * k[q * 6 + d]!
        next[d] = y[d]! + h * sum
        const error = (k[d]! + k[60 + d]! - k[66 + d]! - k[72 + d]!) * h * ERROR
        worst = Math.max(
          worst,
          Math.abs(error) / (Math.max(Math.abs(next[d]!), Math.abs(y[d]!)) * TOLERANCE + TOLERANCE),
        )
      }
      const used = h
      h *= Math.min(Math.max(0.9 * worst ** (worst < 1 ? -1 / 9 : -1 / 8), 0.2), 5)
      if (worst < 1) {
        t += used
        y.set(next)
      }
    }
    radius[i] = Math.sqrt(y[0]! * y[0]! + y[1]! * y[1]! + y[2]! * y[2]!)
  }
}

const NAMES = ['rx', 'ry', 'rz', 'vx', 'vy', 'vz'] as const

const benchmark: Benchmark = {
  name: 'orbits',
  claim: 'adaptive Kepler orbits of order 8, each with its own steps: at least 5 times Numba a thread',
  absent: absentModules('numba', 'numpy'),

  *cells() {
    for (const n of [1000, 10_000]) {
      const start = startingStates(n)
      const [js, native] = [new Float64Array(n), new Float64Array(n)]
      const planes = Object.fromEntries(NAMES.map((name, d) => [name, start.subarray(d * n, (d + 1) * n)])) as Record<
        (typeof NAMES)[number],
        Float64Array
      >
      let attempted = 0
      const arms = kernelArms((options) => {
        const [radius, attempts] = [new Float64Array(n), new Float64Array(n)]
        const bound = orbits.with(options).bound({ ...planes, radius, attempts })
        return {
          bound: {
            launch() {
              bound.launch()
              attempted = attempts.reduce((total, count) => total + count, 0)
            },
          },
          answer: () => radius,
        }
      })
      const numba = pythonArm('Numba', ['numba', 'numpy'], { start }, NUMBA)
      yield {
        label: `N = ${n.toExponential()}`,
        // Measured error of the method: 2e-7 at most; two step sequences may differ by as much.
        tolerance: 1e-5,
        work: { amount: attempted * FLOP_PER_ATTEMPT, unit: 'FLOP' },
        arms: [
          { name: 'plain JS', run: () => plainJs(start, js), answer: () => js },
          ...arms,
          { name: 'C', run: () => cOrbits(start, native, n), answer: () => native },
          ...(numba ? [numba] : []),
        ],
      }
    }
  },

  judge: (cells) =>
    cells.map((cell) => {
      const overNumba = ratio(cell, 'Numba', 'harrier')
      return `${cell.label}: ${overNumba.toFixed(1)} times Numba (aim 5: ${overNumba >= 5 ? 'met' : 'missed'}), ${ratio(cell, 'C', 'harrier').toFixed(1)} times C`
    }),
}

await runBenchmark(benchmark)
