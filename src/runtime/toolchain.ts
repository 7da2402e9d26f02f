// Finding the compiler and the linker, and knowing them again without starting them.
// Invariants: a compiler is started for its version once, and again only after one of its files changed (by size, time of change or
// inode); an identity differs whenever one of those files does; a compiler that the user names is taken or refused, never replaced.
import { spawnSync } from 'node:child_process'
import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { areSame, statesOf, type FileMemory, type FileState, type Remembered } from './fileMemory.ts'

/** The first version that reads IR with opaque pointers as we print it, and the last one that we know of. */
export const OLDEST_CLANG = 15
export const NEWEST_CLANG = 22

export interface Compiler {
  /** As it was found. */
  readonly path: string
  readonly realPath: string
  /** As in 19.1.7. */
  readonly version: string
  readonly major: number
  /** Version text and the state of every file that it consists of, for the keys of the build cache. */
  readonly identity: string
}

export interface SkippedCompiler {
  readonly path: string
  /** Why it was not taken, as in `version 14.0.6, older than 15`. */
  readonly reason: string
}

export interface Toolchain {
  readonly compiler: Compiler | undefined
  /** A linker that can be run directly; without one the compiler links. */
  readonly linker: { readonly path: string; readonly identity: string } | undefined
  /** Compilers that were looked at before and not taken. */
  readonly skipped: readonly SkippedCompiler[]
  /** One sentence on what was looked for and what to do; empty when there is a compiler. */
  readonly problem: string
}

export interface ToolchainSearch {
  /** A path or name that the program asks for; wins over HARRIER_CLANG. */
  readonly clang?: string | undefined
  readonly environment: NodeJS.ProcessEnv
  /** Keeps versions between processes. */
  readonly memory: FileMemory
}

const WAY_OUT =
  'Install one (Debian, Ubuntu: apt-get install clang-19; Fedora: dnf install clang; macOS: brew install llvm), ' +
  'or set HARRIER_CLANG to the path of one'

/** Finds the compiler: the option, else HARRIER_CLANG, else the first of clang, clang-22 … clang-15 on PATH that is new enough. */
export function findToolchain({ clang, environment, memory }: ToolchainSearch): Toolchain {
  const linker = findLinker(environment)
  const named = [['the option clang', clang] as const, ['HARRIER_CLANG', environment.HARRIER_CLANG] as const].find(
    ([, value]) => value !== undefined && value !== '',
  )

  if (named !== undefined) {
    const [source, value] = named
    const path = onPath(value!, environment)
    if (path === undefined) {
      return {
        compiler: undefined,
        linker,
        skipped: [],
        problem: `${source} is '${value}', which is no program. ${WAY_OUT}.`,
      }
    }
    const found = inspect(path, memory)
    if ('version' in found) return { compiler: found, linker, skipped: [], problem: '' }
    const problem = `${source} is '${value}', which is not usable: ${found.reason}. ${WAY_OUT}.`
    return { compiler: undefined, linker, skipped: [found], problem }
  }

  const skipped: SkippedCompiler[] = []
  for (const name of SEARCHED_NAMES) {
    const path = onPath(name, environment)
    if (path === undefined) continue
    const found = inspect(path, memory)
    if ('version' in found) return { compiler: found, linker, skipped, problem: '' }
    skipped.push(found)
  }
  const seen = skipped.map(({ path, reason }) => `${path} (${reason})`).join(', ')
  const found = seen === '' ? '' : `; found and skipped: ${seen}`
  return {
    compiler: undefined,
    linker,
    skipped,
    problem: `no clang of version ${OLDEST_CLANG} or newer is on PATH${found}. ${WAY_OUT}.`,
  }
}

const SEARCHED_NAMES = [
  'clang',
  ...Array.from({ length: NEWEST_CLANG - OLDEST_CLANG + 1 }, (_, index) => `clang-${NEWEST_CLANG - index}`),
]

/** The path of a program by its path or name, or undefined when there is no such program. */
function onPath(name: string, environment: NodeJS.ProcessEnv): string | undefined {
  const candidates =
    isAbsolute(name) || name.includes('/')
      ? [resolve(name)]
      : (environment.PATH ?? '')
          .split(delimiter)
          .filter((folder) => folder !== '')
          .map((folder) => join(folder, name))
  return candidates.find((path) => {
    // First, as a failed access makes an error with its stack, and most folders of PATH do not hold the program.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/** Linkers that take the arguments that we know, on Linux; other systems link by the compiler. */
const LINKERS = process.platform === 'linux' ? ['ld', 'ld.lld'] : []

function findLinker(environment: NodeJS.ProcessEnv): Toolchain['linker'] {
  const path = LINKERS.map((name) => onPath(name, environment)).find((found) => found !== undefined)
  return path === undefined ? undefined : { path, identity: JSON.stringify(statesOf([realpathSync(path)])) }
}

const VERSION = /clang version ((\d+)[\w.-]*)/

/** A compiler that was found, or why it cannot be used. */
function inspect(path: string, memory: FileMemory): Compiler | SkippedCompiler {
  const realPath = realpathSync(path)
  const known = memory.get(realPath)
  const isCurrent =
    known !== undefined && known.files.length > 0 && areSame(statesOf(known.files.map(pathOf)), known.files)
  const found = isCurrent ? known : ask(realPath)
  const version = VERSION.exec(found.text)
  if (version === null) return { path, reason: found.text }
  if (found !== known) memory.set(realPath, found)
  const major = Number(version[2])
  if (major < OLDEST_CLANG) return { path, reason: `version ${version[1]}, older than ${OLDEST_CLANG}` }
  return { path, realPath, version: version[1]!, major, identity: JSON.stringify(found) }
}

const pathOf = ({ path }: FileState) => path

const ASK_MILLISECONDS = 20_000

/** First line of `--version`, or why it did not give one, and the files that the compiler now consists of. */
function ask(realPath: string): Remembered {
  const files = statesOf([realPath, ...librariesOf(realPath)])
  const { status, stdout, error } = spawnSync(realPath, ['--version'], { encoding: 'utf8', timeout: ASK_MILLISECONDS })
  const line = stdout?.split('\n', 1)[0] ?? ''
  if (error !== undefined) return { files, text: `it could not be run: ${error.message}` }
  if (status !== 0) return { files, text: `\`--version\` ended with code ${status}` }
  return { files, text: VERSION.test(line) ? line : `\`--version\` names no clang version but '${line}'` }
}

/** Real paths of the LLVM libraries that a compiler loads; none when it has them inside, or when the system cannot list them. */
function librariesOf(realPath: string): string[] {
  const { stdout } = spawnSync('ldd', [realPath], { encoding: 'utf8', timeout: ASK_MILLISECONDS })
  return [...(stdout ?? '').matchAll(/^\s*lib(?:LLVM|clang)\S* => (\/\S+)/gm)].map(([, path]) => realpathSync(path!))
}
