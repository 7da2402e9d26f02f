// a·x + b over 10³ … 10⁷ numbers: nothing but memory traffic. The limit is a C loop that copies the same bytes.
import { availableParallelism } from 'node:os'
import { kernel, Param, Scalar } from '../src/index.ts'
import { kernelArms } from './support/arms.ts'
import { ratio, type Benchmark } from './support/harness.ts'
import { runBenchmark } from './support/main.ts'
import { compileC } from './support/native.ts'
import { absentModules, pythonArm } from './support/python.ts'

const scale = kernel('scale', { x: Scalar, a: Param, b: Param }, ({ x, a, b }) => ({ y: x.mul(a).add(b) }))

const c = compileC(`
#include <stdint.h>
void scale(const double *x, double *y, const double *ab, int64_t n) { const double a = ab[0], b = ab[1]; for (int64_t i = 0; i < n; i++) y[i] = x[i] * a + b; }
void copy(const double *x, double *y, int64_t n) { for (int64_t i = 0; i < n; i++) y[i] = x[i]; __asm__ volatile("" ::: "memory"); }
`)
const cScale = c.function('scale', 'address', 'address', 'address', 'i64')
const cCopy = c.function('copy', 'address', 'address', 'i64')

const benchmark: Benchmark = {
  name: 'scale',
  claim: 'a·x + b runs at the speed of memory: at least 0.95 of C from 10⁴ numbers on',
  absent: absentModules('numba', 'numpy'),

  *cells() {
    for (const n of [1e3, 1e4, 1e5, 1e6, 1e7]) {
      const x = Float64Array.from({ length: n }, (_, i) => Math.sin(i))
      const js = new Float64Array(n)
      const native = new Float64Array(n)
      const copied = new Float64Array(n)
      const factors = new Float64Array([2.5, 1])
      const arms = kernelArms((options) => {
        const y = new Float64Array(n)
        return { bound: scale.with(options).bound({ x, a: 2.5, b: 1, y }), answer: () => y }
      })
      const numba = pythonArm(
        'Numba',
        ['numba', 'numpy'],
        { x },
        `
import numba
x = inputs['x']; y = np.empty_like(x)
@numba.njit
def scale(x, y, a, b):
    for i in range(x.size): y[i] = x[i] * a + b
run = lambda: scale(x, y, 2.5, 1.0)
answer = lambda: y`,
      )
      yield {
        label: `N = ${n.toExponential()}`,
        tolerance: 0,
        work: { amount: 16 * n, unit: 'byte' },
        arms: [
          {
            name: 'plain JS',
            run() {
              for (let i = 0; i < n; i++) js[i] = x[i]! * 2.5 + 1
            },
            answer: () => js,
          },
          ...arms,
          { name: 'C', run: () => cScale(x, native, factors, n), answer: () => native },
          { name: 'limit: C copy', run: () => cCopy(x, copied, n) },
          ...(numba ? [numba] : []),
        ],
      }
    }
  },

  judge: (cells) =>
    cells
      .filter(({ label }) => label !== 'N = 1e+3')
      .map((cell) => {
        const ofC = ratio(cell, 'C', 'harrier')
        return `${cell.label}: ${ofC.toFixed(2)} of C on one of ${availableParallelism()} cores, aim 0.95: ${ofC >= 0.95 ? 'met' : 'missed'}`
      }),
}

await runBenchmark(benchmark)
