// Links of the README and of docs/ lead to files that exist.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')
const pages = ['README.md', ...readdirSync(join(ROOT, 'docs')).map((file) => join('docs', file))].filter((path) =>
  path.endsWith('.md'),
)

test.each(pages)('%s', (page) => {
  const targets = [...readFileSync(join(ROOT, page), 'utf8').matchAll(/\]\((?!https?:)([^)#\s]+)[^)]*\)/g)].map(
    ([, target]) => target!,
  )
  expect(targets.filter((target) => !existsSync(join(ROOT, dirname(page), target)))).toEqual([])
})
