// European call options: price, and the five first derivatives (delta, dual delta, rho, vega, theta) of a million options by reverse mode,
// beside C with the closed forms of the derivatives written by hand. Aim: within 1.1 times of C.
import { erfc, exp, kernel, log, Scalar, sqrt, vjp } from '../src/index.ts'
import { kernelArms } from './support/arms.ts'
import { ratio, type Benchmark } from './support/harness.ts'
import { runBenchmark } from './support/main.ts'
import { compileC } from './support/native.ts'
import { createRandom } from './support/random.ts'

const N = 1_000_000
const NAMES = ['spot', 'strike', 'rate', 'volatility', 'time'] as const

/** Distribution function of the standard normal. */
const normal = (x: Scalar): Scalar => erfc(x.mul(-Math.SQRT1_2)).mul(0.5)

const price = kernel(
  'blackscholes',
  { spot: Scalar, strike: Scalar, rate: Scalar, volatility: Scalar, time: Scalar },
  ({ spot, strike, rate, volatility, time }) => {
    const spread = volatility.mul(sqrt(time))
    const up = log(spot.div(strike))
      .add(rate.add(volatility.mul(volatility).mul(0.5)).mul(time))
      .div(spread)
    const down = up.sub(spread)
    return { price: spot.mul(normal(up)).sub(strike.mul(exp(rate.mul(time).neg())).mul(normal(down))) }
  },
)
const greeks = vjp(price)

const c = compileC(
  `
#include <math.h>
#include <stdint.h>
static inline double normal(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }
void price(const double *restrict S, const double *restrict K, const double *restrict r, const double *restrict v, const double *restrict T, double *restrict out, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    const double spread = v[i] * sqrt(T[i]), up = (log(S[i] / K[i]) + (r[i] + v[i] * v[i] * 0.5) * T[i]) / spread, down = up - spread;
    out[i] = S[i] * normal(up) - K[i] * exp(-(r[i] * T[i])) * normal(down);
  }
}
void greeks(const double *restrict S, const double *restrict K, const double *restrict r, const double *restrict v, const double *restrict T,
            double *restrict delta, double *restrict dual, double *restrict rho, double *restrict vega, double *restrict theta, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    const double root = sqrt(T[i]), spread = v[i] * root, up = (log(S[i] / K[i]) + (r[i] + v[i] * v[i] * 0.5) * T[i]) / spread;
    const double discount = exp(-(r[i] * T[i])), below = normal(up - spread), density = exp(-0.5 * up * up) * 0.3989422804014327;
    delta[i] = normal(up);
    dual[i] = -discount * below;
    rho[i] = K[i] * T[i] * discount * below;
    vega[i] = S[i] * density * root;
    theta[i] = S[i] * density * v[i] / (2 * root) + r[i] * K[i] * discount * below;
  }
}`,
  ['-fveclib=libmvec', '-lmvec', '-lm'],
)
const pointers = (count: number) => Array.from({ length: count }, () => 'address' as const)
const native = {
  price: c.function('price', ...pointers(6), 'i64'),
  greeks: c.function('greeks', ...pointers(10), 'i64'),
}

const random = createRandom(N)
const draw = (low: number, high: number) => Float64Array.from({ length: N }, () => random.uniform(low, high))
const options = {
  spot: draw(50, 150),
  strike: draw(50, 150),
  rate: draw(0.01, 0.08),
  volatility: draw(0.1, 0.6),
  time: draw(0.1, 3),
}
const inputs = NAMES.map((name) => options[name])

const benchmark: Benchmark = {
  name: 'blackscholes',
  claim: 'prices and five greeks of 10⁶ options by reverse mode: within 1.1 times of C with hand-written greeks',
  absent: ['plain JS: JavaScript has no error function'],

  *cells() {
    const fromC = new Float64Array(N)
    yield {
      label: 'price',
      tolerance: 1e-7,
      work: { amount: N, unit: 'option' },
      arms: [
        ...kernelArms((call) => {
          const made = new Float64Array(N)
          return { bound: price.with(call).bound({ ...options, price: made }), answer: () => made }
        }),
        { name: 'C', run: () => native.price(...inputs, fromC, N), answer: () => fromC },
      ],
    }
    const ones = new Float64Array(N).fill(1)
    const five = () => NAMES.map(() => new Float64Array(N))
    const byHand = five()
    /** Deep out of the money a greek is a difference of nothing: all are compared with the size of the largest of their option. */
    const together = (planes: readonly Float64Array[]) => () =>
      Float64Array.from({ length: N }, (_, i) => planes.reduce((sum, plane) => sum + Math.abs(plane[i]!), 0))
    yield {
      label: 'five greeks',
      tolerance: 1e-7,
      work: { amount: N, unit: 'option' },
      arms: [
        ...kernelArms((call) => {
          const made = five()
          const planes = Object.fromEntries(NAMES.map((name, k) => [`bar_${name}`, made[k]]))
          return {
            bound: greeks.with(call).bound({ ...options, bar_price: ones, ...planes } as never),
            answer: together(made),
          }
        }),
        { name: 'C', run: () => native.greeks(...inputs, ...byHand, N), answer: together(byHand) },
      ],
    }
  },

  judge(cells) {
    const [prices, derivatives] = [cells[0]!, cells[1]!]
    const time = (cell: (typeof cells)[number]) => cell.arms.find(({ name }) => name === 'harrier')!.median
    const ofC = ratio(derivatives, 'harrier', 'C')
    return [
      `price: ${ratio(prices, 'harrier', 'C').toFixed(2)} of the time of C`,
      `greeks: ${ofC.toFixed(2)} of the time of C with hand-written greeks (aim 1.1: ${ofC <= 1.1 ? 'met' : 'missed'}), ${(time(derivatives) / time(prices)).toFixed(2)} times the price (aim 4: ${time(derivatives) <= 4 * time(prices) ? 'met' : 'missed'})`,
    ]
  },
}

await runBenchmark(benchmark)
