// Pages that scripts print from the code are current.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { withRulesTable } from '../../tools/print-derivatives.ts'
import { errorsPage } from '../../tools/print-errors.ts'
import { functionsPage } from '../../tools/print-features.ts'
import { irPage } from '../../tools/print-ops.ts'

const page = (name: string) => readFileSync(join(import.meta.dirname, '..', '..', 'docs', name), 'utf8')

test('docs/errors.md is what tools/print-errors.ts prints', () => {
  expect(page('errors.md')).toBe(errorsPage())
})

test('docs/functions.md is what tools/print-features.ts prints', () => {
  expect(page('functions.md')).toBe(functionsPage())
})

test('docs/ir.md is what tools/print-ops.ts prints', () => {
  expect(page('ir.md')).toBe(irPage())
})

test('the table of rules in docs/derivatives.md is what tools/print-derivatives.ts prints', () => {
  expect(page('derivatives.md')).toBe(withRulesTable(page('derivatives.md')))
})
