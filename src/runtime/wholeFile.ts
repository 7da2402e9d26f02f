// Files that readers see whole or not at all.
import { renameSync, rmSync, writeFileSync } from 'node:fs'

/**
 * Writes a file beside its place and renames it. A process that is killed in between leaves a `.partial` file, which nobody reads.
 * Throws what the file system throws.
 */
export function replaceFile(path: string, content: Uint8Array | string): void {
  const partial = `${path}.${process.pid}.partial`
  try {
    writeFileSync(partial, content, { mode: 0o700 })
    renameSync(partial, path)
  } catch (error) {
    removeIfThere(partial)
    throw error
  }
}

function removeIfThere(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // Where the folder itself cannot be reached there is nothing to remove.
  }
}
