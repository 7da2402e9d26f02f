// Tables of the package vega-datasets, read from its CSV files.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

export type Row = Readonly<Record<string, string>>

const folder = join(dirname(createRequire(import.meta.url).resolve('vega-datasets/package.json')), 'data')

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
