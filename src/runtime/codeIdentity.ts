// What identifies the code that turns graphs into text: a digest of that code, so that a build is never taken from the store that
// another version of the emitter made, and no version number has to be kept by hand.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Folders beside this one that hold lowering and emitting. */
const FOLDERS = ['../ir/', '../backends/']

let known: string | undefined

/** Hex digest over the files of the emitting code; over the bundle, where a bundler made one file of the whole program. */
export function codeIdentity(): string {
  return (known ??= digest(filesOf(FOLDERS)))
}

function filesOf(folders: readonly string[]): string[] {
  try {
    return folders.flatMap((folder) => {
      const path = fileURLToPath(new URL(folder, import.meta.url))
      return readdirSync(path, { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.(ts|js)$/.test(name) && !name.endsWith('.d.ts'))
        .sort()
        .map((name) => join(path, name))
    })
  } catch {
    return [fileURLToPath(import.meta.url)]
  }
}

function digest(files: readonly string[]): string {
  const hash = createHash('sha256')
  for (const file of files) hash.update(readFileSync(file)).update('\0')
  return hash.digest('hex')
}
