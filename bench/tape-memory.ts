// Reverse mode through 1,000 recorded steps of each sample: the memory beside the caller's arrays is that of the samples in flight,
// whatever their number. Peaks are those of the resident set of the process, read from the kernel of the operating system.
import { readFileSync, writeFileSync } from 'node:fs'
import { grad, kernel, loop, Param, Scalar, vjp } from '../src/index.ts'
import { vjp as reverse } from '../src/diff/vjp.ts'
import { INTERNALS } from '../src/runtime/internals.ts'
import { processor } from '../src/runtime/cpu.ts'
import { type Benchmark } from './support/harness.ts'
import { runBenchmark } from './support/main.ts'

const STEPS = 1000
const SIZES = [10_000, 100_000, 1_000_000] as const

/** The logistic map: each step needs the value before it. */
const logistic = kernel('logistic', { x: Scalar, r: Param }, ({ x, r }) => ({
  y: loop(STEPS, { c: x }, (_, { c }) => ({ c: r.mul(c).mul(c.neg().add(1)) })).c,
}))

const TAPES = ['checkpoints', 'full'] as const
const bytesOfTapes = (tape: (typeof TAPES)[number]): number =>
  reverse(logistic[INTERNALS].traced.graph, { tape }).graph.tapes.reduce((sum, { capacity }) => sum + 8 * capacity, 0)

/** Bytes of the resident set that the process has had at most since the last reset. */
function peak(): number {
  const kilobytes = /VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))
  return Number(kilobytes![1]) * 1024
}
/** Writing 5 makes the present size the peak. */
const resetPeak = () => writeFileSync('/proc/self/clear_refs', '5')

const lines: string[] = []

function measurePeak(tape: (typeof TAPES)[number], n: number): void {
  const x = Float64Array.from({ length: n }, (_, i) => (i + 0.5) / n)
  const [seed, bar] = [new Float64Array(n).fill(1), new Float64Array(n).fill(1)]
  const options = { backend: 'host', threads: 1 } as const
  const bound = vjp(logistic, { wrt: ['x'], tape })
    .with(options)
    .bound({ x, r: 3.5, bar_y: seed, bar_x: bar })
  resetPeak()
  const before = peak()
  bound.launch()
  const grown = peak() - before
  lines.push(
    `${tape}, N = ${n.toLocaleString('en-US')}: the resident set grew by ${(grown / 1024).toFixed(0)} kB in the launch; recording every step of all samples would take ${((8 * STEPS * n) / 2 ** 20).toFixed(0)} MB`,
  )
}

const benchmark: Benchmark = {
  name: 'tape-memory',
  claim: `reverse mode through ${STEPS} steps takes the memory of the samples in flight, whatever their number`,
  absent: [],

  *cells() {
    for (const tape of TAPES) for (const n of SIZES) measurePeak(tape, n)
    const n = SIZES[0]
    const x = Float64Array.from({ length: n }, (_, i) => (i + 0.5) / n)
    yield {
      label: `time, N = ${n.toLocaleString('en-US')}`,
      // The map is chaotic elsewhere; at 3.5 it settles, and both schedules do the same arithmetic.
      tolerance: 0,
      work: { amount: n * STEPS, unit: 'step' },
      arms: TAPES.map((tape) => {
        const gradient = grad(logistic.with({ backend: 'host', threads: 1 }), { wrt: ['x'], tape })
        let made: Float64Array = new Float64Array(n)
        return { name: tape, run: () => void (made = gradient(x, 3.5).x), answer: () => made }
      }),
    }
  },

  judge() {
    const width = processor().target.vectorBytes / 8
    const [checkpoints, full] = TAPES.map((tape) => bytesOfTapes(tape))
    const limit = 2 * Math.sqrt(STEPS) * 8
    return [
      ...lines,
      `tapes a sample in flight: checkpoints ${checkpoints} bytes (2·√steps of one carry: ${limit.toFixed(0)}; ${checkpoints! < limit ? 'below' : 'not below'}), full ${full} bytes; times ${width} samples a vector and the threads`,
    ]
  },
}

await runBenchmark(benchmark)
