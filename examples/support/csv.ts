// Tables of the package vega-datasets, read from its CSV files.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export type Row = Readonly<Record<string, string>>

const folder = fileURLToPath(new URL('../data', import.meta.resolve('vega-datasets')))

/** Rows of a CSV file as objects by column name; commas inside quotes do not separate. */
export function readCsv(file: string): readonly Row[] {
  const [head = [], ...rows] = readFileSync(join(folder, file), 'utf8')
    .trim()
    .split(/\r?\n/)
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
        ([, quoted, bare]) => quoted?.replaceAll('""', '"') ?? bare ?? '',
      ),
    )
  return rows.map((cells) => Object.fromEntries(head.map((name, k) => [name, cells[k] ?? ''])))
}

/** One column of numbers. */
export const numbers = (rows: readonly Row[], name: string): Float64Array =>
  Float64Array.from(rows, (row) => Number(row[name]))
