// The store of built code on disk: KEY.so or KEY.wasm beside KEY.json, which holds the checksum and what the build said about itself.
// Invariants: a file appears under its name whole, by a rename; the code appears before the record that vouches for it; code whose
// checksum does not match is never handed out; one process at a time builds a key, the others wait and take its result.
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Build, BuildCache, BuildFacts, BuildRequest } from '../backends/buildCache.ts'
import { HarrierError } from '../errors.ts'
import { codeIdentity } from './codeIdentity.ts'
import type { FileMemory } from './fileMemory.ts'
import { underLock } from './lock.ts'
import { log } from './log.ts'
import { replaceFile } from './wholeFile.ts'

/** HARRIER_CACHE_DIR, else `harrier` in $XDG_CACHE_HOME, else in ~/.cache. */
export function cacheFolder(environment: NodeJS.ProcessEnv = process.env): string {
  if (environment.HARRIER_CACHE_DIR) return environment.HARRIER_CACHE_DIR
  return join(environment.XDG_CACHE_HOME || join(homedir(), '.cache'), 'harrier')
}

/**
 * The name that a build has in the store.
 * @param code identity of the code that makes such builds
 */
export function cacheKey(request: Pick<BuildRequest<BuildFacts>, 'backend' | 'inputs'>, code: string): string {
  return sha256(JSON.stringify([code, request.backend, Object.entries(request.inputs).sort()]))
}

const sha256 = (...parts: readonly (string | Uint8Array)[]) =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest('hex')

/** The content of KEY.json. */
interface Entry {
  /** Over the code, then the facts as JSON. */
  readonly checksum: string
  readonly kernel: string
  readonly backend: string
  readonly facts: BuildFacts
}

export interface CacheOptions {
  readonly folder: string
  readonly memory: FileMemory
  /** Milliseconds to wait for another process that builds the same key, after which this one builds for itself. */
  readonly patience: number
}

export function createCache({ folder, memory, patience }: CacheOptions): BuildCache {
  /** Where builds go after the folder turned out not to take them. */
  let substitute: string | undefined

  function replaceFolder(reason: unknown): string {
    if (substitute !== undefined) throw cannotWrite(substitute, reason)
    const text = reason instanceof Error ? reason.message : String(reason)
    try {
      substitute = mkdtempSync(join(tmpdir(), 'harrier-'))
    } catch (error) {
      throw cannotWrite(`${folder} and ${tmpdir()}`, error)
    }
    const made = substitute
    process.once('exit', () => rmSync(made, { recursive: true, force: true }))
    process.emitWarning(
      `the build cache ${folder} cannot be written (${text}); this process builds into ${made} and removes it when it ends. ` +
        'Set HARRIER_CACHE_DIR to a folder that can be written.',
      { type: 'HarrierWarning', code: 'HARRIER_CACHE' },
    )
    return made
  }

  /** What the store has, from either folder. */
  const find = <Facts extends BuildFacts>(key: string, request: BuildRequest<Facts>) =>
    readEntry(folder, key, request) ?? (substitute === undefined ? undefined : readEntry(substitute, key, request))

  function build<Facts extends BuildFacts>(key: string, request: BuildRequest<Facts>, target: string): Build<Facts> {
    log().info(`building ${request.kernel} (${request.backend}) in ${target} — delete the directory to rebuild`)
    const made = request.make()
    try {
      return { ...made, path: publish(target, key, request, made) }
    } catch (error) {
      return { ...made, path: publish(replaceFolder(error), key, request, made) }
    }
  }

  /** The folder to write to, after making sure that it exists and takes a lock. */
  function locked<Result>(key: string, action: (target: string) => Result): Result {
    const target = substitute ?? folder
    let isOpen = false
    try {
      mkdirSync(target, { recursive: true, mode: 0o700 })
      return underLock(join(target, `${key}.lock`), patience, () => {
        isOpen = true
        return action(target)
      })
    } catch (error) {
      if (isOpen) throw error
      replaceFolder(error)
      return locked(key, action)
    }
  }

  return {
    obtain(request) {
      const key = cacheKey(request, codeIdentity(request.backend, memory))
      return find(key, request) ?? locked(key, (target) => find(key, request) ?? build(key, request, target))
    },
  }
}

function cannotWrite(folder: string, cause: unknown): HarrierError {
  const message = `builds cannot be written to ${folder}; set HARRIER_CACHE_DIR to a folder that can be written and has room`
  return new HarrierError('E_CACHE', message, { cause })
}

/** A build whose content is what it was when it was published. */
function readEntry<Facts extends BuildFacts>(
  folder: string,
  key: string,
  { extension, kernel }: BuildRequest<Facts>,
): Build<Facts> | undefined {
  let entry: Entry & { readonly facts: Facts }
  const path = join(folder, `${key}.${extension}`)
  let code: Uint8Array
  try {
    entry = JSON.parse(readFileSync(join(folder, `${key}.json`), 'utf8'))
    code = readFileSync(path)
  } catch (error) {
    const isAbsent = error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
    if (!isAbsent)
      log().warn(`the cached build of ${kernel} in ${folder} cannot be read and is made again: ${String(error)}`)
    return undefined
  }
  if (checksumOf(code, entry.facts) === entry.checksum) return { path, code, facts: entry.facts }
  log().warn(`the cached build of ${kernel} in ${folder} is damaged and is made again`)
  return undefined
}

const checksumOf = (code: Uint8Array, facts: BuildFacts) => sha256(code, JSON.stringify(facts ?? null))

/** Puts a build under its name and returns the path of its code. */
function publish<Facts extends BuildFacts>(
  folder: string,
  key: string,
  { kernel, backend, extension }: BuildRequest<Facts>,
  { code, facts }: { readonly code: Uint8Array; readonly facts: Facts },
): string {
  const entry: Entry = { checksum: checksumOf(code, facts), kernel, backend, facts }
  const path = join(folder, `${key}.${extension}`)
  replaceFile(path, code)
  replaceFile(join(folder, `${key}.json`), `${JSON.stringify(entry)}\n`)
  return path
}
