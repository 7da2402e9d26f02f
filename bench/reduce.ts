// Sum, dot product and maximum of 10⁷ numbers, in the one defined order of reductions. The C arm may add in any order that its 32
// accumulators give; the limit is the bandwidth of reading.
import { kernel, Reduce, Scalar } from '../src/index.ts'
import { kernelArms } from './support/arms.ts'
import { ratio, type Benchmark } from './support/harness.ts'
import { runBenchmark } from './support/main.ts'
import { compileC } from './support/native.ts'
import { absentModules, pythonArm } from './support/python.ts'
import { createRandom } from './support/random.ts'

const N = 10_000_000

const sum = kernel('sum', { x: Scalar, total: Reduce('sum') }, ({ x, total }) => total.contribute(x))
const dotProduct = kernel('dot', { x: Scalar, y: Scalar, total: Reduce('sum') }, ({ x, y, total }) =>
  total.contribute(x.mul(y)),
)
const largest = kernel('largest', { x: Scalar, total: Reduce('max') }, ({ x, total }) => total.contribute(x))

/** Thirty-two partial results, so that the compiler may vectorise without reassociating. */
const loopInC = (name: string, start: string, fold: string) => `
void ${name}(const double *x, const double *y, double *total, int64_t n) {
  double s[32]; for (int l = 0; l < 32; l++) s[l] = ${start};
  int64_t i = 0;
  for (; i + 32 <= n; i += 32) for (int l = 0; l < 32; l++) { const double a = s[l], b = ${fold}; s[l] = ${name === 'largest' ? 'a > b ? a : b' : 'a + b'}; }
  double r = ${start};
  for (; i < n; i++) { const int l = 0; const double a = r, b = ${fold}; r = ${name === 'largest' ? 'a > b ? a : b' : 'a + b'}; }
  for (int l = 0; l < 32; l++) r = ${name === 'largest' ? 'r > s[l] ? r : s[l]' : 'r + s[l]'};
  total[0] = r;
}`
const c = compileC(
  `#include <stdint.h>\n${loopInC('sum', '0', 'x[i + l]')}${loopInC('dot', '0', 'x[i + l] * y[i + l]')}${loopInC('largest', '-__builtin_inf()', 'x[i + l]')}`,
)

const benchmark: Benchmark = {
  name: 'reduce',
  claim: 'sum, dot and max of 10⁷ numbers in one defined order: at least 0.9 of C with free order',
  absent: absentModules('numpy'),

  *cells() {
    const random = createRandom(7)
    const draw = () => Float64Array.from({ length: N }, () => random.uniform(-1, 1))
    const [x, y] = [draw(), draw()]
    const works = [
      {
        label: 'sum',
        made: (options: Parameters<typeof sum.with>[0]) => sum.with(options).bound({ x }),
        js: (i: number) => x[i]!,
        numpy: 'x.sum()',
        reads: 8,
      },
      {
        label: 'dot',
        made: (options: Parameters<typeof sum.with>[0]) => dotProduct.with(options).bound({ x, y }),
        js: (i: number) => x[i]! * y[i]!,
        numpy: 'x.dot(y)',
        reads: 16,
      },
      {
        label: 'max',
        made: (options: Parameters<typeof sum.with>[0]) => largest.with(options).bound({ x }),
        js: (i: number) => x[i]!,
        numpy: 'x.max()',
        reads: 8,
      },
    ]
    for (const { label, made, js, numpy, reads } of works) {
      const inC = c.function(label === 'max' ? 'largest' : label, 'address', 'address', 'address', 'i64')
      const [jsTotal, cTotal] = [new Float64Array(1), new Float64Array(1)]
      const arms = kernelArms((options) => {
        const bound = made(options)
        let total = 0
        return {
          bound: { launch: () => (total = Number((bound.launch() as { total: number }).total)) },
          answer: () => [total],
        }
      })
      const numpyArm = pythonArm(
        'NumPy',
        ['numpy'],
        { x, y },
        `x = inputs['x']; y = inputs['y']\nout = [0.0]\ndef run(): out[0] = ${numpy}\nanswer = lambda: out`,
      )
      yield {
        label,
        tolerance: 1e-10,
        work: { amount: reads * N, unit: 'byte' },
        arms: [
          {
            name: 'plain JS',
            run() {
              let total = label === 'max' ? Number.NEGATIVE_INFINITY : 0
              for (let i = 0; i < N; i++) total = label === 'max' ? Math.max(total, js(i)) : total + js(i)
              jsTotal[0] = total
            },
            answer: () => jsTotal,
          },
          ...arms,
          { name: 'C, 32 partial results', run: () => inC(x, y, cTotal, N), answer: () => cTotal },
          ...(numpyArm ? [numpyArm] : []),
        ],
      }
    }
  },

  judge: (cells) =>
    cells.map((cell) => {
      const ofC = ratio(cell, 'C, 32 partial results', 'harrier')
      return `${cell.label}: ${ofC.toFixed(2)} of C (aim 0.9: ${ofC >= 0.9 ? 'met' : 'missed'})`
    }),
}

await runBenchmark(benchmark)
