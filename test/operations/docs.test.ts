// docs/operations.md tells every code with the sentence that the sources have for it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { KERNEL_ERROR_CODES } from '../../src/operations/index.ts'

test('the table of errors on docs/operations.md is that of the sources', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8')
  const rows = page.split('\n').filter((line) => /^\| `\w+Error` \|/.test(line))
  const expected = Object.entries(KERNEL_ERROR_CODES).flatMap(([name, codes]) =>
    Object.entries(codes).map(([code, meaning]) => `| \`${name}\` | \`${code}\` | ${meaning} |`),
  )
  expect(rows).toEqual(expected)
})
