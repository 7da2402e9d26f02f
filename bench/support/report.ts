// Prints what a benchmark found: a table for people, JSON for machines, an SVG when asked for.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import type { ArmResult, Benchmark, CellResult } from './harness.ts'

const RESULTS = join(import.meta.dirname, '..', 'results')

const seconds = (value: number): string => {
  const [scale, unit] = value < 1e-6 ? [1e9, 'ns'] : value < 1e-3 ? [1e6, 'µs'] : value < 1 ? [1e3, 'ms'] : [1, 's']
  return `${(value * scale).toPrecision(3)} ${unit}`
}

/** What the figures depend on. */
export function machine(): Readonly<Record<string, string>> {
  const model =
    /model name\s*:\s*(.*)/.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1] ?? os.cpus()[0]?.model ?? 'unknown'
  return {
    cpu: model,
    cores: String(os.availableParallelism()),
    os: `${os.type()} ${os.release()}`,
    node: process.version,
  }
}

function row(arm: ArmResult, reference: number, work: CellResult['work']): readonly string[] {
  const spread = arm.median > 0 ? `±${(((arm.high - arm.low) / arm.median) * 50).toFixed(0)} %` : ''
  const rate = work ? `${(work.amount / arm.median).toExponential(2)} ${work.unit}/s` : ''
  const ulp = arm.ulp === undefined ? '' : `${arm.ulp.toFixed(2)} ULP`
  return [
    arm.name,
    seconds(arm.median),
    spread,
    `${(reference / arm.median).toFixed(2)}×`,
    rate,
    arm.firstCall === undefined ? '' : seconds(arm.firstCall),
    ulp,
  ]
}

/** Aligned columns; those that are empty throughout are left out. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const kept = head.map((_, k) => k).filter((k) => rows.some((cells) => cells[k] !== ''))
  const widths = kept.map((k) => Math.max(...[head, ...rows].map((cells) => cells[k]!.length)))
  const line = (cells: readonly string[]) =>
    kept
      .map((k, place) => (place === 0 ? cells[k]!.padEnd(widths[place]!) : cells[k]!.padStart(widths[place]!)))
      .join('  ')
  return [line(head), ...rows.map(line)].join('\n')
}

export function report(
  { name, claim, absent }: Benchmark,
  cells: readonly CellResult[],
  verdicts: readonly string[],
): void {
  console.log(`\n${name}: ${claim}`)
  for (const cell of cells) {
    const reference = (cell.arms.find((arm) => arm.name === 'plain JS') ?? cell.arms[0]!).median
    console.log(`\n${cell.label}`)
    console.log(
      table(
        ['arm', 'median', 'spread', 'vs JS', 'rate', 'first call', 'accuracy'],
        cell.arms.map((arm) => row(arm, reference, cell.work)),
      ),
    )
  }
  for (const line of absent) console.log(`absent: ${line}`)
  for (const line of verdicts) console.log(line)
  mkdirSync(RESULTS, { recursive: true })
  writeFileSync(
    join(RESULTS, `${name}.json`),
    `${JSON.stringify({ name, claim, machine: machine(), cells, absent, verdicts }, null, 1)}\n`,
  )
}
