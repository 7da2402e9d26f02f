// Every TypeScript block of the README and of docs/ runs, and every value that a comment claims is compared.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runSnippets } from '../support/snippets.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const pages = [
  join(ROOT, 'README.md'),
  ...readdirSync(join(ROOT, 'docs')).map((file) => join(ROOT, 'docs', file)),
].filter((path) => path.endsWith('.md') && existsSync(path) && /^```ts\s*$/m.test(readFileSync(path, 'utf8')))

test.each(pages.map((path) => [path.slice(ROOT.length + 1), path] as const))('%s', async (_, path) => {
  const claims = await runSnippets(path)
  expect(claims.map(({ line, found }) => `${line}: ${found}`)).toEqual(
    claims.map(({ line, expected }) => `${line}: ${expected}`),
  )
})
