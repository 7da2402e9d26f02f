// Draws the cells of a benchmark as grouped bars on a logarithmic time axis, with Vega-Lite.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, View } from 'vega'
import { compile } from 'vega-lite'
import type { CellResult } from './harness.ts'

export async function plot(name: string, claim: string, cells: readonly CellResult[]): Promise<void> {
  const values = cells.flatMap(({ label, arms }) =>
    arms.map((arm) => ({ cell: label, arm: arm.name, milliseconds: arm.median * 1e3 })),
  )
  const { spec } = compile({
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
    title: { text: name, subtitle: claim },
    data: { values },
    mark: 'bar',
    encoding: {
      x: { field: 'cell', type: 'nominal', sort: null, axis: { title: null, labelAngle: 0 } },
      xOffset: { field: 'arm', sort: null },
      y: { field: 'milliseconds', type: 'quantitative', scale: { type: 'log' }, axis: { title: 'median time, ms' } },
      color: { field: 'arm', type: 'nominal', sort: null },
    },
  })
  const svg = await new View(parse(spec), { renderer: 'none' }).toSVG()
  const file = join(import.meta.dirname, '..', 'results', `${name}.svg`)
  writeFileSync(file, svg)
  console.log(`wrote ${file}`)
}
