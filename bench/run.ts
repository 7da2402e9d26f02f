// `npm run bench [-- name …] [--plot]`: runs the benchmarks named, or all, one after another, each in a process of its own.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const folder = import.meta.dirname
const known = readdirSync(folder)
  .filter((file) => file.endsWith('.ts') && file !== 'run.ts')
  .map((file) => file.slice(0, -'.ts'.length))

const flags = process.argv.slice(2).filter((argument) => argument.startsWith('--'))
const names = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const unknown = names.filter((name) => !known.includes(name))
if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(', ')}; there are ${known.join(', ')}.`)
  process.exit(1)
}

const failed = (names.length > 0 ? names : known).filter((name) => {
  const { status } = spawnSync(process.execPath, ['--import', 'tsx', join(folder, `${name}.ts`), ...flags], {
    stdio: 'inherit',
  })
  return status !== 0
})
if (failed.length > 0) {
  console.error(`failed: ${failed.join(', ')}`)
  process.exit(1)
}
