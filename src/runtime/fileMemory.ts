// What was once found out about files, remembered between processes for as long as those files do not change.
// Invariants: a file counts as unchanged when its size, times and inode are what they were; the memory only saves time, so one that
// cannot be read or written is as good as empty.
import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { replaceFile } from './wholeFile.ts'

/** What tells one state of a file from another without reading it. */
export interface FileState {
  readonly path: string
  readonly size: number
  /** Times of the last change of content, and of anything else: archives restore the first only. */
  readonly modified: number
  readonly changed: number
  readonly inode: number
}

export interface Remembered {
  readonly files: readonly FileState[]
  readonly text: string
}

export interface FileMemory {
  get(subject: string): Remembered | undefined
  set(subject: string, remembered: Remembered): void
}

export function stateOf(path: string): FileState | undefined {
  const file = statSync(path, { throwIfNoEntry: false })
  return file && { path, size: file.size, modified: file.mtimeMs, changed: file.ctimeMs, inode: file.ino }
}

export const statesOf = (paths: readonly string[]): readonly FileState[] =>
  paths.map(stateOf).filter((state) => state !== undefined)

export const areSame = (states: readonly FileState[], others: readonly FileState[]): boolean =>
  JSON.stringify(states) === JSON.stringify(others)

/** The memory that a JSON file holds. */
export function openMemory(path: string): FileMemory {
  const read = (): Record<string, Remembered> => {
    try {
      return JSON.parse(readFileSync(path, 'utf8'))
    } catch {
      return {}
    }
  }
  const known = read()
  return {
    get(subject) {
      const found = known[subject]
      return typeof found?.text === 'string' && Array.isArray(found.files) ? found : undefined
    },
    set(subject, remembered) {
      known[subject] = remembered
      try {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
        // Read again, as other processes may have added theirs.
        replaceFile(path, JSON.stringify({ ...read(), [subject]: remembered }))
      } catch {
        // The next process finds out again.
      }
    },
  }
}
