// A capability without a test is not claimed: every row of the certification table names a test that exists.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')
const rows = readFileSync(join(ROOT, 'docs', 'interop.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| crossing') && !line.startsWith('| ---'))
  .map((line) => line.split(' | '))

test('there are rows, each with a test', () => {
  expect(rows.length).toBeGreaterThan(5)
})

test.each(rows.map((cells) => [cells[0]!.slice(2), cells.at(-1)!] as const))('%s', (_, cell) => {
  const [, file, name] = /^`(.+)`: (.+?) \|$/.exec(cell) ?? []
  expect(cell).toMatch(/^`test\/.+\.test\.ts`: /)
  expect(readFileSync(join(ROOT, file!), 'utf8')).toContain(name)
})
