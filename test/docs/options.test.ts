// The table of call options in docs/kernels.md has a row for each option that there is, and no other.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { kernel, Scalar } from '../../src/index.ts'

test('the options of docs/kernels.md are those of a call', () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'kernels.md'), 'utf8')
  const [, table = ''] = /\| option \|[^\n]*\n\| ---[^\n]*\n((?:\|[^\n]*\n)+)/.exec(page) ?? []
  const documented = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name)
  const k = kernel('k', { x: Scalar }, ({ x }) => x.neg())
  const message = `kernel 'k': there is no option 'none'; the options are ${documented.join(', ')}`
  expect(() => k.with({ none: 1 } as never)).toThrow(expect.objectContaining({ code: 'E_OPTION', message }))
})
