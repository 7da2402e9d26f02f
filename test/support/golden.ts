// Golden texts: files that a test compares with, rewritten when BLESS=1 is set. What is rewritten is to be reviewed as code.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect } from 'vitest'

/** Longer ones nobody reviews. */
const MOST_LINES = 60

/** Compares a text with a file. */
export function expectGolden(path: string, text: string): void {
  expect(text.split('\n').length, `lines of ${path}`).toBeLessThanOrEqual(MOST_LINES)
  if (process.env['BLESS'] === '1') {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  expect(existsSync(path), `${path} is missing; run with BLESS=1 to write it`).toBe(true)
  expect(text).toBe(readFileSync(path, 'utf8'))
}
