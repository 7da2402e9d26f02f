// The time from `kernel()` to the first result: nothing cached, cached, embedded. The limit is `clang -c` of the same code alone.
// Every measurement is a process of its own; the arms take turns.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { add, exp, kernel, mul, neg, Param, Scalar, sqrt } from '../src/index.ts'
import { compilerFlags } from '../src/runtime/compile.ts'
import { createMachine } from '../src/runtime/machine.ts'
import type { FirstCall } from './support/firstCall.ts'
import { timed, type Benchmark, type CellResult, type Measurement } from './support/harness.ts'
import { runBenchmark } from './support/main.ts'

const ROUNDS = 7

const folder = mkdtempSync(join(tmpdir(), 'harrier-bench-cold-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

interface Outcome {
  readonly seconds: number
  readonly result: readonly number[]
}

/** Makes one first call in a process of its own. */
function firstCall(name: FirstCall, backend: 'host' | 'wasm', cache: string): Outcome {
  const file = join(import.meta.dirname, 'support', 'firstCall.ts')
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', file, name], {
    encoding: 'utf8',
    env: { ...process.env, HARRIER_CACHE_DIR: cache, HARRIER_BACKEND: backend, HARRIER_LOG: 'info' },
  })
  if (status !== 0) throw new Error(`the first call of ${name} failed:\n${stderr}`)
  return JSON.parse(stdout)
}

/** Forgets builds, but not what is known about the compiler. */
function forgetBuilds(cache: string): void {
  for (const file of readdirSync(cache)) if (file !== 'memory.json') rmSync(join(cache, file))
}

/** Seconds that the compiler takes for a module, without linking or loading it. */
function compileAlone(llvm: string): number {
  const compiler = createMachine().toolchain().compiler
  if (compiler === undefined) throw new Error('this benchmark needs a clang')
  const args = [...compilerFlags('full'), '-c', '-o', join(folder, 'alone.o'), '-']
  const { seconds, result } = timed(() => spawnSync(compiler.path, args, { input: llvm, encoding: 'utf8' }))
  if (result.status !== 0) throw new Error(result.stderr)
  return seconds
}

function summary(times: readonly number[]): Measurement {
  const sorted = [...times].sort((a, b) => a - b)
  return { median: sorted[sorted.length >> 1]!, low: sorted[0]!, high: sorted.at(-1)! }
}

const SOURCES: Record<FirstCall, string> = {
  scale: kernel('scale', { x: Scalar, a: Param, b: Param }, ({ x, a, b }) => x.mul(a).add(b)).source('llvm'),
  expsqrt: kernel('expsqrt', { x: Scalar }, ({ x }) => add(mul(exp(neg(x)), sqrt(x.add(1))), x)).source('llvm'),
}

/** Times of a kernel by arm, each measured once a round. */
function measureRounds(name: FirstCall): Record<string, number[]> {
  const cache = join(folder, name)
  const times: Record<string, number[]> = {}
  const results: (readonly number[])[] = []
  const take = (arm: string, { seconds, result }: Outcome) => {
    ;(times[arm] ??= []).push(seconds)
    results.push(result)
  }
  for (let round = 0; round < ROUNDS; round++) {
    const unknown = join(folder, `${name}-${round}`)
    take('first ever, compiler unknown', firstCall(name, 'host', unknown))
    if (round === 0) firstCall(name, 'host', cache)
    forgetBuilds(cache)
    take('nothing cached', firstCall(name, 'host', cache))
    take('cached', firstCall(name, 'host', cache))
    forgetBuilds(cache)
    take('embedded, nothing cached', firstCall(name, 'wasm', cache))
    take('embedded, cached', firstCall(name, 'wasm', cache))
    ;(times['limit: clang -c'] ??= []).push(compileAlone(SOURCES[name]))
  }
  const [expected] = results
  const isClose = (a: number, b: number) => Math.abs(a - b) <= 4 * Number.EPSILON * Math.abs(b)
  if (!results.every((result) => result.every((value, i) => isClose(value, expected![i]!)))) {
    throw new Error(`${name}: the first calls give different results: ${JSON.stringify(results)}`)
  }
  return times
}

function verdicts({ label, arms }: CellResult): string[] {
  const time = (name: string) => arms.find((arm) => arm.name === name)?.median ?? Number.NaN
  const milliseconds = (value: number) => `${(value * 1000).toFixed(1)} ms`
  const outcome = (isMet: boolean) => (isMet ? 'met' : 'missed')
  const [cold, cached, alone] = [time('nothing cached'), time('cached'), time('limit: clang -c')]
  return [
    `${label}, nothing cached: ${milliseconds(cold)}, ${(cold / alone).toFixed(2)} of clang -c, aims 200 ms and 1.4: ` +
      outcome(cold <= 0.2 && cold <= 1.4 * alone),
    `${label}, cached: ${milliseconds(cached)}, aim 15 ms: ${outcome(cached <= 0.015)}`,
  ]
}

const benchmark: Benchmark = {
  name: 'cold',
  claim: 'from kernel() to the first result: at most 1.4 of clang -c when nothing is cached, 15 ms from the cache',
  absent: [],

  *cells() {
    for (const name of ['scale', 'expsqrt'] as const) {
      const arms = Object.entries(measureRounds(name)).map(([arm, times]) => ({
        name: arm,
        run() {},
        measured: summary(times),
      }))
      yield { label: name, tolerance: 0, arms }
    }
  },

  judge: (cells) => cells.flatMap(verdicts),
}

await runBenchmark(benchmark)
