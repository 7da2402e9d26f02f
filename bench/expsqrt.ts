// exp(−x)·√(x + 1) + x over a million numbers, f64 and f32: elementary functions inlined into a vector loop. The C arm calls libmvec's
// vector exp (through -fveclib), which is what a good C programmer gets without writing his own.
import { exp, kernel, Scalar, sqrt } from '../src/index.ts'
import { kernelArms } from './support/arms.ts'
import { ratio, type Benchmark } from './support/harness.ts'
import { runBenchmark } from './support/main.ts'
import { compileC } from './support/native.ts'
import { absentModules, pythonArm } from './support/python.ts'

const expsqrt = kernel('expsqrt', { x: Scalar }, ({ x }) => ({
  y: exp(x.neg())
    .mul(sqrt(x.add(1)))
    .add(x),
}))

const N = 1_000_000

/** Clang calls libmvec's vector exp only where the loop may ignore errno and rounding-mode traps. */
const source = (type: 'double' | 'float') => `
#include <math.h>
#include <stdint.h>
void expsqrt(const ${type} *restrict x, ${type} *restrict y, int64_t n) {
  for (int64_t i = 0; i < n; i++) y[i] = exp${type === 'float' ? 'f' : ''}(-x[i]) * sqrt${type === 'float' ? 'f' : ''}(x[i] + 1) + x[i];
}`
const compile = (type: 'double' | 'float', flags: readonly string[]) =>
  compileC(source(type), [...flags, '-mprefer-vector-width=512', '-lm']).function(
    'expsqrt',
    'address',
    'address',
    'i64',
  )

const vectorMath = ['-fveclib=libmvec', '-lmvec']

const benchmark: Benchmark = {
  name: 'expsqrt',
  claim:
    'exp(−x)·√(x + 1) + x over 10⁶ numbers: within 1.1 times of C with vector math, and 12 times plain JS on one thread',
  absent: absentModules('numba', 'numpy'),

  *cells() {
    for (const [label, Floats, type] of [
      ['f64', Float64Array, 'double'],
      ['f32', Float32Array, 'float'],
    ] as const) {
      const x = new Floats(N)
      for (let i = 0; i < N; i++) x[i] = (20 * i) / N
      const [js, scalarC, vectorC] = [new Floats(N), new Floats(N), new Floats(N)]
      const [scalar, vector] = [compile(type, []), compile(type, vectorMath)]
      const arms = kernelArms((options) => {
        const y = new Floats(N)
        return { bound: expsqrt.with(options).bound({ x, y }), answer: () => y }
      })
      const numba = pythonArm(
        'Numba',
        ['numba', 'numpy'],
        { x },
        `
import numba, math
x = inputs['x']; y = np.empty_like(x)
@numba.njit
def expsqrt(x, y):
    for i in range(x.size): y[i] = math.exp(-x[i]) * math.sqrt(x[i] + x.dtype.type(1)) + x[i]
run = lambda: expsqrt(x, y)
answer = lambda: y`,
      )
      yield {
        label: `${label}, N = 10⁶`,
        tolerance: type === 'double' ? 1e-15 : 1e-6,
        work: { amount: N, unit: 'element' },
        arms: [
          {
            name: 'plain JS',
            run() {
              for (let i = 0; i < N; i++) js[i] = Math.exp(-x[i]!) * Math.sqrt(x[i]! + 1) + x[i]!
            },
            answer: () => js,
          },
          ...arms,
          { name: 'C', run: () => scalar(x, scalarC, N), answer: () => scalarC },
          { name: 'C, libmvec', run: () => vector(x, vectorC, N), answer: () => vectorC },
          ...(numba ? [numba] : []),
        ],
      }
    }
  },

  judge: (cells) =>
    cells.map((cell) => {
      const overC = ratio(cell, 'harrier', 'C, libmvec')
      const overJs = ratio(cell, 'plain JS', 'harrier')
      return `${cell.label}: ${overC.toFixed(2)} times the time of C with vector math (aim 1.1: ${overC <= 1.1 ? 'met' : 'missed'}), ${overJs.toFixed(1)} times plain JS (aim 12: ${overJs >= 12 ? 'met' : 'missed'})`
    }),
}

await runBenchmark(benchmark)
