// Damped oscillators by the classical Runge–Kutta method, each with its own stop step. spread: stop steps spread over two decades, log-
// uniform; uniform: all stop together. 44 useful floating-point operations a step. Aim: 18 times Numba a thread, strict numbers.
import { availableParallelism } from 'node:os'
import { Index, kernel, loop, Mutable, runUntilDone, Scalar, Terminated } from '../src/index.ts'
import { kernelArms } from './support/arms.ts'
import { ratio, type Arm, type Benchmark } from './support/harness.ts'
import { runBenchmark } from './support/main.ts'
import { compileC } from './support/native.ts'
import { absentModules, pythonArm } from './support/python.ts'
import { createRandom } from './support/random.ts'

const DT = 0.01
const FLOP_PER_STEP = 44

interface State {
  readonly x: Scalar
  readonly v: Scalar
}

/** One step of an oscillator. */
function advance({ x, v }: State, omega: Scalar, zeta: Scalar): State {
  const stiffness = omega.mul(omega).neg()
  const damping = zeta.mul(omega).mul(2)
  const acceleration = (at: Scalar, speed: Scalar) => stiffness.mul(at).sub(damping.mul(speed))
  const a1 = acceleration(x, v)
  const [x2, v2] = [x.add(v.mul(DT / 2)), v.add(a1.mul(DT / 2))]
  const a2 = acceleration(x2, v2)
  const [x3, v3] = [x.add(v2.mul(DT / 2)), v.add(a2.mul(DT / 2))]
  const a3 = acceleration(x3, v3)
  const [x4, v4] = [x.add(v3.mul(DT)), v.add(a3.mul(DT))]
  const a4 = acceleration(x4, v4)
  const weight = DT * 0.16666666666666666
  return {
    x: x.add(v.add(v2.add(v3).mul(2)).add(v4).mul(weight)),
    v: v.add(a1.add(a2.add(a3).mul(2)).add(a4).mul(weight)),
  }
}

const oscillators = kernel(
  'oscillators',
  { x0: Scalar, v0: Scalar, omega: Scalar, zeta: Scalar, stop: Index },
  ({ x0, v0, omega, zeta, stop }) => {
    const { x, v } = loop(stop, { x: x0, v: v0 }, (_, state) => advance(state, omega, zeta))
    return { x, v }
  },
)

const step = kernel(
  'oscillator_step',
  {
    x: Mutable(Scalar),
    v: Mutable(Scalar),
    k: Mutable(Index),
    omega: Scalar,
    zeta: Scalar,
    stop: Index,
    done: Terminated,
  },
  ({ x, v, k, omega, zeta, stop, done }) => {
    const next = advance({ x, v }, omega, zeta)
    const taken = k.add(1)
    x.set(next.x)
    v.set(next.v)
    k.set(taken)
    done.when(taken.ge(stop))
  },
)

const c = compileC(`
#include <stdint.h>
void oscillators(const double *x0, const double *v0, const double *omega, const double *zeta, const int32_t *stop, double *xs, double *vs, int64_t n) {
  const double dt = ${DT}, h = ${DT / 2}, w = ${DT} * 0.16666666666666666;
  for (int64_t i = 0; i < n; i++) {
    double x = x0[i], v = v0[i];
    const double s = -(omega[i] * omega[i]), d = zeta[i] * omega[i] * 2;
    for (int32_t k = 0; k < stop[i]; k++) {
      const double a1 = s * x - d * v, x2 = x + v * h, v2 = v + a1 * h, a2 = s * x2 - d * v2, x3 = x + v2 * h, v3 = v + a2 * h;
      const double a3 = s * x3 - d * v3, x4 = x + v3 * dt, v4 = v + a3 * dt, a4 = s * x4 - d * v4;
      x = x + ((v + (v2 + v3) * 2) + v4) * w;
      v = v + ((a1 + (a2 + a3) * 2) + a4) * w;
    }
    xs[i] = x; vs[i] = v;
  }
}`)
const cOscillators = c.function(
  'oscillators',
  'address',
  'address',
  'address',
  'address',
  'address',
  'address',
  'address',
  'i64',
)

function inputs(n: number, longest: number, distribution: 'spread' | 'uniform') {
  const random = createRandom(n + longest)
  const draw = (low: number, high: number) => Float64Array.from({ length: n }, () => random.uniform(low, high))
  const stop = Int32Array.from({ length: n }, (_, i) => {
    if (distribution === 'uniform' || i === 0) return longest
    const steps = Math.ceil(Math.exp(random.uniform(Math.log(longest / 100), Math.log(longest))))
    return Math.min(Math.max(steps, 1, longest / 100), longest)
  })
  return { omega: draw(1, 10), zeta: draw(0.01, 0.2), x0: draw(-1, 1), v0: draw(-1, 1), stop }
}

function plainJs({ x0, v0, omega, zeta, stop }: ReturnType<typeof inputs>, x: Float64Array, v: Float64Array): void {
  const weight = DT * 0.16666666666666666
  for (let i = 0; i < x0.length; i++) {
    let [xi, vi] = [x0[i]!, v0[i]!]
    const stiffness = -(omega[i]! * omega[i]!)
    const damping = zeta[i]! * omega[i]! * 2
    for (let k = 0; k < stop[i]!; k++) {
      const a1 = stiffness * xi - damping * vi
      const x2 = xi + vi * (DT / 2)
      const v2 = vi + a1 * (DT / 2)
      const a2 = stiffness * x2 - damping * v2
      const x3 = xi + v2 * (DT / 2)
      const v3 = vi + a2 * (DT / 2)
      const a3 = stiffness * x3 - damping * v3
      const x4 = xi + v3 * DT
      const v4 = vi + a3 * DT
      const a4 = stiffness * x4 - damping * v4
      xi += (vi + (v2 + v3) * 2 + v4) * weight
      vi += (a1 + (a2 + a3) * 2 + a4) * weight
    }
    x[i] = xi
    v[i] = vi
  }
}

const NUMBA = `
import numba
x0, v0, omega, zeta, stop = (inputs[name] for name in ('x0', 'v0', 'omega', 'zeta', 'stop'))
xs = np.empty_like(x0); vs = np.empty_like(v0)
@numba.njit
def oscillators(x0, v0, omega, zeta, stop, xs, vs):
    dt = ${DT}; h = ${DT / 2}; w = ${DT} * 0.16666666666666666
    for i in range(x0.size):
        x = x0[i]; v = v0[i]; s = -(omega[i] * omega[i]); d = zeta[i] * omega[i] * 2.0
        for k in range(stop[i]):
            a1 = s * x - d * v; x2 = x + v * h; v2 = v + a1 * h; a2 = s * x2 - d * v2; x3 = x + v2 * h; v3 = v + a2 * h
            a3 = s * x3 - d * v3; x4 = x + v3 * dt; v4 = v + a3 * dt; a4 = s * x4 - d * v4
            x = x + ((v + (v2 + v3) * 2.0) + v4) * w
            v = v + ((a1 + (a2 + a3) * 2.0) + a4) * w
        xs[i] = x; vs[i] = v
run = lambda: oscillators(x0, v0, omega, zeta, stop, xs, vs)
answer = lambda: np.concatenate([xs, vs])`

const both = (x: Float64Array, v: Float64Array) => Float64Array.from([...x, ...v])

/** The step kernel run until done; each run starts from the initial state, whose copy is part of the time. */
function untilDoneArm(data: ReturnType<typeof inputs>, longest: number): Arm {
  const n = data.x0.length
  const state = { x: new Float64Array(n), v: new Float64Array(n), k: new Int32Array(n), done: new Uint8Array(n) }
  const single = step.with({ backend: 'host', threads: 1 })
  return {
    name: 'harrier, steps until done',
    run() {
      state.x.set(data.x0)
      state.v.set(data.v0)
      state.k.fill(0)
      state.done.fill(0)
      runUntilDone(single, { ...state, omega: data.omega, zeta: data.zeta, stop: data.stop }, { maxSteps: longest })
    },
    answer: () => both(state.x, state.v),
  }
}

const benchmark: Benchmark = {
  name: 'oscillators',
  claim:
    'oscillators that stop at different steps: at least 18 times scalar Numba a thread at spread-1000, N = 10⁵, strict numbers',
  absent: absentModules('numba', 'numpy'),

  *cells() {
    for (const [distribution, longest, n] of [
      ['spread', 100, 1e3],
      ['spread', 100, 1e5],
      ['spread', 1000, 1e3],
      ['spread', 1000, 1e4],
      ['spread', 1000, 1e5],
      ['uniform', 1000, 1e4],
    ] as const) {
      const data = inputs(n, longest, distribution)
      const steps = data.stop.reduce((sum, count) => sum + count, 0)
      const js = [new Float64Array(n), new Float64Array(n)] as const
      const native = [new Float64Array(n), new Float64Array(n)] as const
      const arms = kernelArms((options) => {
        const [x, v] = [new Float64Array(n), new Float64Array(n)]
        return { bound: oscillators.with(options).bound({ ...data, x, v }), answer: () => both(x, v) }
      })
      const numba = pythonArm('Numba', ['numba', 'numpy'], data, NUMBA)
      yield {
        label: `${distribution}-${longest}, N = ${n.toExponential()}`,
        tolerance: 0,
        work: { amount: steps * FLOP_PER_STEP, unit: 'FLOP' },
        arms: [
          { name: 'plain JS', run: () => plainJs(data, ...js), answer: () => both(...js) },
          ...arms,
          untilDoneArm(data, longest),
          {
            name: 'C',
            run: () => cOscillators(data.x0, data.v0, data.omega, data.zeta, data.stop, ...native, n),
            answer: () => both(...native),
          },
          ...(numba ? [numba] : []),
        ],
      }
    }
  },

  judge: (cells) =>
    cells.map((cell) => {
      const overNumba = ratio(cell, 'Numba', 'harrier')
      const overC = ratio(cell, 'C', 'harrier')
      const aim = cell.label === 'spread-1000, N = 1e+5' ? ` (aim 18: ${overNumba >= 18 ? 'met' : 'missed'})` : ''
      return `${cell.label}: ${overNumba.toFixed(1)} times Numba${aim}, ${overC.toFixed(1)} times C, on one of ${availableParallelism()} cores`
    }),
}

await runBenchmark(benchmark)
