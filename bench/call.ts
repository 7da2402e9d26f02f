// What a call costs beside its work: one sample and four, bound and not. The limit is the bare native call.
import { kernel, Param, Scalar } from '../src/index.ts'
import type { Benchmark, CellResult } from './support/harness.ts'
import { runBenchmark } from './support/main.ts'
import { compileC } from './support/native.ts'

const scale = kernel('scale', { x: Scalar, a: Param, b: Param }, ({ x, a, b }) => ({ y: x.mul(a).add(b) }))

const c = compileC(`
#include <stdint.h>
void nothing(const double *block) { (void)block; }
void scale(const double *x, double *y, const double *ab, int64_t n) { const double a = ab[0], b = ab[1]; for (int64_t i = 0; i < n; i++) y[i] = x[i] * a + b; }
`)
const cNothing = c.function('nothing', 'address')
const cScale = c.function('scale', 'address', 'address', 'address', 'i64')

const MICROSECOND = 1e-6

/** Seconds of an arm in the cell of that many samples. */
function timeIn(cells: readonly CellResult[], samples: number, name: string): number {
  const cell = cells.find(({ label }) => label === labelOf(samples))
  return cell?.arms.find((arm) => arm.name === name)?.median ?? Number.NaN
}

const labelOf = (samples: number) => (samples === 1 ? '1 sample' : `${samples} samples`)

function aim(cells: readonly CellResult[], samples: number, name: string, limit: number): string {
  const micros = timeIn(cells, samples, name) / MICROSECOND
  return `${name} on ${labelOf(samples)}: ${micros.toFixed(2)} µs, aim ${limit} µs: ${micros <= limit ? 'met' : 'missed'}`
}

const benchmark: Benchmark = {
  name: 'call',
  claim: 'a bound call of one sample takes at most 0.4 µs, k(x, a, b) on four samples at most 2 µs',
  absent: [],

  *cells() {
    for (const samples of [1, 4]) {
      const x = Float64Array.from({ length: samples }, (_, i) => i + 0.5)
      const [y, native] = [new Float64Array(samples), new Float64Array(samples)]
      const factors = new Float64Array([2, 1])
      const block = new Float64Array(16)
      const host = scale.with({ backend: 'host' })
      const bound = host.bound({ x, a: 2, b: 1, y })
      const embedded = scale.with({ backend: 'wasm' })
      let js: Float64Array = y
      let called: Float64Array = y
      yield {
        label: labelOf(samples),
        tolerance: 0,
        arms: [
          {
            name: 'plain JS',
            run() {
              js = new Float64Array(samples)
              for (let i = 0; i < samples; i++) js[i] = x[i]! * 2 + 1
            },
            answer: () => js,
          },
          { name: 'bound.launch()', run: () => void bound.launch(), answer: () => y },
          { name: 'k(x, a, b)', run: () => void (called = host(x, 2, 1).y), answer: () => called },
          { name: 'k({ x, a, b, y })', run: () => void host({ x, a: 2, b: 1, y }), answer: () => y },
          { name: 'k(x, a, b), wasm', run: () => void (called = embedded(x, 2, 1).y), answer: () => called },
          {
            name: 'C through the same native call',
            run: () => cScale(x, native, factors, samples),
            answer: () => native,
          },
          { name: 'limit: bare native call', run: () => cNothing(block) },
        ],
      }
    }
  },

  judge: (cells) => [aim(cells, 1, 'bound.launch()', 0.4), aim(cells, 4, 'k(x, a, b)', 2)],
}

await runBenchmark(benchmark)
