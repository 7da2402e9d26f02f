// 100,000 damped oscillators, integrated by the classical Runge–Kutta method until each one has come to rest: a step kernel that
// finishes its own samples, run until all are done. The state of an oscillator stays in registers for its whole life.
import { kernel, Mutable, Param, runUntilDone, Scalar, Terminated, type Condition } from '../src/index.ts'
import { milliseconds } from './support/time.ts'

const N = 100_000
const REST = 1e-3

const step = kernel(
  'oscillator',
  {
    x: Mutable(Scalar),
    v: Mutable(Scalar),
    t: Mutable(Scalar),
    omega: Scalar,
    zeta: Scalar,
    dt: Param,
    resting: Terminated,
  },
  ({ x, v, t, omega, zeta, dt, resting }) => {
    const stiffness = omega.mul(omega)
    const damping = zeta.mul(omega).mul(2)
    const acceleration = (at: typeof omega, speed: typeof omega) => stiffness.mul(at).neg().sub(damping.mul(speed))
    const half = dt.mul(0.5)
    const a1 = acceleration(x, v)
    const [x2, v2] = [x.add(half.mul(v)), v.add(half.mul(a1))]
    const a2 = acceleration(x2, v2)
    const [x3, v3] = [x.add(half.mul(v2)), v.add(half.mul(a2))]
    const a3 = acceleration(x3, v3)
    const [x4, v4] = [x.add(dt.mul(v3)), v.add(dt.mul(a3))]
    const a4 = acceleration(x4, v4)
    const sixth = dt.mul(1 / 6)
    x.set(x.add(sixth.mul(v.add(v2.add(v3).mul(2)).add(v4))))
    v.set(v.add(sixth.mul(a1.add(a2.add(a3).mul(2)).add(a4))))
    t.set(t.add(dt))
    const isSlow: Condition = v
      .mul(v)
      .add(stiffness.mul(x).mul(x))
      .lt(REST * REST)
    resting.when(isSlow)
  },
)

/** Reproducible numbers in [0, 1). */
function* uniform(seed: number): Generator<number, never> {
  let state = seed
  for (;;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    yield state / 2 ** 32
  }
}
const random = uniform(1)
const draw = (low: number, high: number) =>
  Float64Array.from({ length: N }, () => low + (high - low) * random.next().value)
const omega = draw(1, 10)
const zeta = draw(0.05, 0.5)

const start = () => ({
  x: new Float64Array(N).fill(1),
  v: new Float64Array(N),
  t: new Float64Array(N),
  resting: new Uint8Array(N),
})

const state = start()
const report = runUntilDone(step, { ...state, omega, zeta, dt: 0.01 }, { maxSteps: 100_000 })

/** One oscillator in plain JS: its steps until rest, and its last position. */
function plainOscillator(i: number): { steps: number; x: number } {
  const [dt, half, sixth] = [0.01, 0.005, 0.01 * (1 / 6)]
  const stiffness = omega[i]! * omega[i]!
  const damping = zeta[i]! * omega[i]! * 2
  let [x, v, steps] = [1, 0, 0]
  do {
    const a1 = -(stiffness * x) - damping * v
    const [x2, v2] = [x + half * v, v + half * a1]
    const a2 = -(stiffness * x2) - damping * v2
    const [x3, v3] = [x + half * v2, v + half * a2]
    const a3 = -(stiffness * x3) - damping * v3
    const [x4, v4] = [x + dt * v3, v + dt * a3]
    const a4 = -(stiffness * x4) - damping * v4
    x += sixth * (v + (v2 + v3) * 2 + v4)
    v += sixth * (a1 + (a2 + a3) * 2 + a4)
    steps++
  } while (!(v * v + stiffness * x * x < REST * REST))
  return { steps, x }
}

const CHECKED = 2000
for (let i = 0; i < CHECKED; i++) {
  const { steps, x } = plainOscillator(i)
  if (Math.round(state.t[i]! / 0.01) !== steps || state.x[i] !== x)
    throw new Error(
      `oscillator ${i}: at rest after ${state.t[i]} s at ${state.x[i]}, plain JS says ${steps} steps and ${x}`,
    )
}

const sorted = state.t.toSorted()
console.log(
  `${report.n} oscillators, ${report.status}: at rest after ${sorted[0]!.toFixed(2)} to ${sorted.at(-1)!.toFixed(2)} s, half of them after ${sorted[N / 2]!.toFixed(2)} s`,
)
console.log(
  `${report.steps} steps for the longest one, ${report.launches} launch; the first ${CHECKED} equal plain JS to the last bit`,
)
const kernelTime = milliseconds(
  () => runUntilDone(step, { ...start(), omega, zeta, dt: 0.01 }, { maxSteps: 100_000 }),
  3,
)
const plainTime = (milliseconds(() => Array.from({ length: CHECKED }, (_, i) => plainOscillator(i)), 1) * N) / CHECKED
console.log(
  `kernel ${kernelTime.toFixed(0)} ms, plain JS ${plainTime.toFixed(0)} ms, from the checked part (${(plainTime / kernelTime).toFixed(1)} times)`,
)
