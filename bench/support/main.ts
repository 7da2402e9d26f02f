// Runs one benchmark from beginning to end: what every file of bench/ ends with.
import { measure, type Benchmark, type CellResult } from './harness.ts'
import { plot } from './plot.ts'
import { machine, report } from './report.ts'

export async function runBenchmark(benchmark: Benchmark): Promise<void> {
  console.log(
    Object.entries(machine())
      .map(([name, value]) => `${name}: ${value}`)
      .join(', '),
  )
  const results: CellResult[] = []
  for await (const cell of benchmark.cells()) results.push(measure(cell))
  report(benchmark, results, benchmark.judge(results))
  if (process.argv.includes('--plot')) await plot(benchmark.name, benchmark.claim, results)
}
