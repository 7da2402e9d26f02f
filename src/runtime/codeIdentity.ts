// What identifies the code that turns graphs into text: a digest of that code, so that a build is never taken from the store that
// another version of the emitter made, and no version number has to be kept by hand.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { BackendName } from '../backends/backend.ts'
import { areSame, statesOf, type FileMemory } from './fileMemory.ts'

/** Folders that decide what a backend builds, as seen from this one. */
const FOLDERS: Record<BackendName, readonly string[]> = {
  host: ['../ir/', '../backends/llvm/', '../backends/host/'],
  wasm: ['../ir/', '../backends/wasm/'],
  reference: ['../ir/'],
}

/** Found once a process: the code that runs does not change under it. */
const identities = new Map<BackendName, string>()

/**
 * Hex digest over the files of the emitting code; over the bundle, where a bundler made one file of the whole program.
 * @param memory saves reading some sixty files that have not changed
 */
export function codeIdentity(backend: BackendName, memory: FileMemory): string {
  const known = identities.get(backend)
  if (known !== undefined) return known
  const made = identify(backend, memory)
  identities.set(backend, made)
  return made
}

function identify(backend: BackendName, memory: FileMemory): string {
  const paths = filesOf(FOLDERS[backend])
  const files = statesOf(paths)
  const subject = `code of ${backend}`
  const known = memory.get(subject)
  if (known !== undefined && areSame(known.files, files)) return known.text
  const text = digest(paths)
  memory.set(subject, { files, text })
  return text
}

function filesOf(folders: readonly string[]): string[] {
  try {
    return folders.flatMap((folder) => codeUnder(fileURLToPath(new URL(folder, import.meta.url))))
  } catch {
    return [fileURLToPath(import.meta.url)]
  }
}

/** The files of code in a folder and those below it. (The recursive form of readdir takes ten times as long.) */
function codeUnder(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  return entries.flatMap((entry) => {
    const path = `${folder}${entry.name}`
    if (entry.isDirectory()) return codeUnder(`${path}/`)
    return /\.(ts|js)$/.test(entry.name) && !entry.name.endsWith('.d.ts') ? [path] : []
  })
}

function digest(paths: readonly string[]): string {
  const hash = createHash('sha256')
  for (const path of paths) hash.update(readFileSync(path)).update('\0')
  return hash.digest('hex')
}
