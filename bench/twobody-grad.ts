// One Runge–Kutta step of a planar two-body orbit, its reverse derivative and its forward derivative, for 1 to 10⁶ orbits, beside C
// with the derivatives written by hand. Aim: the reverse derivative takes at most twice the time of the step.
import { jvp, kernel, rsqrt, vec, Vector, vjp } from '../src/index.ts'
import { kernelArms } from './support/arms.ts'
import { ratio, type Benchmark, type CellResult } from './support/harness.ts'
import { runBenchmark } from './support/main.ts'
import { compileC } from './support/native.ts'
import { createRandom } from './support/random.ts'

const DT = 0.01
const SIZES = [1, 32, 4096, 65_536, 1_048_576] as const

/** Velocity and acceleration: r̈ = −r/|r|³. */
function flow(state: Vector<4>): Vector<4> {
  const [x, y, vx, vy] = state
  const squared = x.mul(x).add(y.mul(y))
  const pull = rsqrt(squared.mul(squared).mul(squared)).neg()
  return vec(vx, vy, x.mul(pull), y.mul(pull))
}

const step = kernel('twobody', { s: Vector(4) }, ({ s }) => {
  const k1 = flow(s)
  const k2 = flow(s.add(k1.mul(DT / 2)))
  const k3 = flow(s.add(k2.mul(DT / 2)))
  const k4 = flow(s.add(k3.mul(DT)))
  return {
    next: s.add(
      k1
        .add(k2.add(k3).mul(2))
        .add(k4)
        .mul(DT / 6),
    ),
  }
})

// The adjoint of an acceleration a = −p·w, w = |p|⁻³: with ā the adjoint of a, that of p is −w·ā + 3(p·ā)·w/|p|²·p.
const c = compileC(`
#include <math.h>
#include <stdint.h>
typedef struct { double x, y, vx, vy; } state;
static inline double weight(double x, double y) { const double q = x * x + y * y; return 1 / sqrt(q * q * q); }
static inline state flow(state s) { const double w = -weight(s.x, s.y); return (state){s.vx, s.vy, s.x * w, s.y * w}; }
static inline state move(state s, state k, double h) { return (state){s.x + k.x * h, s.y + k.y * h, s.vx + k.vx * h, s.vy + k.vy * h}; }
/* Adds the adjoint of the flow at s to b, given the adjoint k of its value. */
static inline state pull(state s, state k) {
  const double q = s.x * s.x + s.y * s.y, w = 1 / sqrt(q * q * q), along = 3 * (s.x * k.vx + s.y * k.vy) * w / q;
  return (state){along * s.x - w * k.vx, along * s.y - w * k.vy, k.x, k.y};
}
/* The change of the flow at s along d. */
static inline state push(state s, state d) {
  const double q = s.x * s.x + s.y * s.y, w = 1 / sqrt(q * q * q), along = 3 * (s.x * d.x + s.y * d.y) * w / q;
  return (state){d.vx, d.vy, along * s.x - w * d.x, along * s.y - w * d.y};
}
static inline state scaled(state s, double h) { return (state){s.x * h, s.y * h, s.vx * h, s.vy * h}; }
#define LOAD(a) (state){a[i], a[n + i], a[2 * n + i], a[3 * n + i]}
#define STORE(a, s) a[i] = s.x, a[n + i] = s.y, a[2 * n + i] = s.vx, a[3 * n + i] = s.vy
#define STAGES const state s = LOAD(in), k1 = flow(s), s2 = move(s, k1, ${DT / 2}), k2 = flow(s2), s3 = move(s, k2, ${DT / 2}), k3 = flow(s3), s4 = move(s, k3, ${DT})
void primal(const double *restrict in, double *restrict out, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    STAGES, k4 = flow(s4);
    const state sum = move(move(k1, move(k2, k3, 1), 2), k4, 1), next = move(s, sum, ${DT} / 6);
    STORE(out, next);
  }
}
void reverse(const double *restrict in, const double *restrict seed, double *restrict out, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    STAGES;
    const state b = LOAD(seed);
    const state b4 = pull(s4, scaled(b, ${DT} / 6));
    const state b3 = pull(s3, move(scaled(b, ${DT} / 3), b4, ${DT}));
    const state b2 = pull(s2, move(scaled(b, ${DT} / 3), b3, ${DT / 2}));
    const state b1 = pull(s, move(scaled(b, ${DT} / 6), b2, ${DT / 2}));
    const state sum = move(move(move(move(b, b4, 1), b3, 1), b2, 1), b1, 1);
    STORE(out, sum);
  }
}
void forward(const double *restrict in, const double *restrict along, double *restrict out, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    STAGES;
    const state d = LOAD(along), d1 = push(s, d), d2 = push(s2, move(d, d1, ${DT / 2})), d3 = push(s3, move(d, d2, ${DT / 2}));
    const state d4 = push(s4, move(d, d3, ${DT})), sum = move(move(d1, move(d2, d3, 1), 2), d4, 1), next = move(d, sum, ${DT} / 6);
    STORE(out, next);
  }
}`)
const native = {
  primal: c.function('primal', 'address', 'address', 'i64'),
  vjp: c.function('reverse', 'address', 'address', 'address', 'i64'),
  jvp: c.function('forward', 'address', 'address', 'address', 'i64'),
}

/** Orbits of radius 0.6 to 1.4 at any angle, with tangential speeds of 0.6 to 1.2. */
function orbits(n: number): Float64Array {
  const random = createRandom(n)
  const state = new Float64Array(4 * n)
  for (let i = 0; i < n; i++) {
    const [radius, angle, speed] = [random.uniform(0.6, 1.4), random.uniform(0, 2 * Math.PI), random.uniform(0.6, 1.2)]
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)]
    state.set([radius * cos], i)
    state.set([radius * sin], n + i)
    state.set([-speed * sin], 2 * n + i)
    state.set([speed * cos], 3 * n + i)
  }
  return state
}

/** The step in plain JS over one array of components. */
function plainStep(state: Float64Array, next: Float64Array): void {
  const n = state.length / 4
  for (let i = 0; i < n; i++) {
    const [x, y, vx, vy] = [state[i]!, state[n + i]!, state[2 * n + i]!, state[3 * n + i]!]
    const pull = (px: number, py: number) => {
      const squared = px * px + py * py
      return -1 / Math.sqrt(squared * squared * squared)
    }
    const w1 = pull(x, y)
    const [x2, y2, vx2, vy2] = [x + (vx * DT) / 2, y + (vy * DT) / 2, vx + (x * w1 * DT) / 2, vy + (y * w1 * DT) / 2]
    const w2 = pull(x2, y2)
    const [x3, y3, vx3, vy3] = [
      x + (vx2 * DT) / 2,
      y + (vy2 * DT) / 2,
      vx + (x2 * w2 * DT) / 2,
      vy + (y2 * w2 * DT) / 2,
    ]
    const w3 = pull(x3, y3)
    const [x4, y4, vx4, vy4] = [x + vx3 * DT, y + vy3 * DT, vx + x3 * w3 * DT, vy + y3 * w3 * DT]
    const w4 = pull(x4, y4)
    next[i] = x + ((vx + 2 * (vx2 + vx3) + vx4) * DT) / 6
    next[n + i] = y + ((vy + 2 * (vy2 + vy3) + vy4) * DT) / 6
    next[2 * n + i] = vx + ((x * w1 + 2 * (x2 * w2 + x3 * w3) + x4 * w4) * DT) / 6
    next[3 * n + i] = vy + ((y * w1 + 2 * (y2 * w2 + y3 * w3) + y4 * w4) * DT) / 6
  }
}

const KINDS = ['primal', 'vjp', 'jvp'] as const
type Kind = (typeof KINDS)[number]
const KERNELS = {
  primal: { of: step, extra: undefined, out: 'next' },
  vjp: { of: vjp(step), extra: 'bar_next', out: 'bar_s' },
  jvp: { of: jvp(step), extra: 'dot_s', out: 'dot_next' },
} as const satisfies Record<Kind, unknown>

const labelOf = (kind: Kind, n: number) => `${kind}, N = ${n.toLocaleString('en-US')}`
const find = (cells: readonly CellResult[], kind: Kind, n: number) =>
  cells.find(({ label }) => label === labelOf(kind, n))!
const medianOf = (cell: CellResult, name: string) => cell.arms.find((arm) => arm.name === name)!.median

const benchmark: Benchmark = {
  name: 'twobody-grad',
  claim: 'a two-body step and its derivatives: reverse at most twice the time of the step',
  // The arm of PyTorch would need it on the machine that measures; no figure is claimed for it.
  absent: ['PyTorch (Debian: python3-torch)'],

  *cells() {
    for (const n of SIZES) {
      const s = orbits(n)
      const random = createRandom(2 * n + 1)
      const along = Float64Array.from({ length: 4 * n }, () => random.uniform(-1, 1))
      for (const kind of KINDS) {
        const { of, extra, out } = KERNELS[kind]
        const shaped = (data: Float64Array) => ({ data, shape: [4, n] })
        const arms = kernelArms((options) => {
          const result = new Float64Array(4 * n)
          const planes = { s: shaped(s), ...(extra ? { [extra]: shaped(along) } : {}), [out]: shaped(result) }
          return { bound: of.with(options).bound(planes as never), answer: () => result }
        })
        const [fromC, fromJs] = [new Float64Array(4 * n), new Float64Array(4 * n)]
        const runC = kind === 'primal' ? () => native.primal(s, fromC, n) : () => native[kind](s, along, fromC, n)
        yield {
          label: labelOf(kind, n),
          // Components pass through 0, where the last bits of the terms show.
          tolerance: 1e-9,
          work: { amount: n, unit: 'orbit' },
          arms: [
            ...(kind === 'primal' ? [{ name: 'plain JS', run: () => plainStep(s, fromJs), answer: () => fromJs }] : []),
            ...arms,
            { name: 'C', run: runC, answer: () => fromC },
          ],
        }
      }
    }
  },

  judge: (cells) =>
    SIZES.flatMap((n) => {
      const over = (kind: Kind) =>
        medianOf(find(cells, kind, n), 'harrier') / medianOf(find(cells, 'primal', n), 'harrier')
      const overC = (kind: Kind) => ratio(find(cells, kind, n), 'harrier', 'C').toFixed(2)
      return `N = ${n.toLocaleString('en-US')}: vjp ${over('vjp').toFixed(2)} times the step (aim 2: ${over('vjp') <= 2 ? 'met' : 'missed'}), jvp ${over('jvp').toFixed(2)}; of C with hand-written derivatives: step ${overC('primal')}, vjp ${overC('vjp')}, jvp ${overC('jvp')}`
    }),
}

await runBenchmark(benchmark)
