// This machine, as the host backend asks for it: compiler, processor, cache, loader and threads in one object.
// Invariant: nothing is looked for before it is asked for, as most processes find what they need in the cache.
import { join } from 'node:path'
import type { Entries, Machine, ModuleRequest } from '../backends/host/machine.ts'
import { HarrierError } from '../errors.ts'
import { cacheFolder, createCache } from './cache.ts'
import { compileAssembly, compileLimit, compilerFlags, compileShared, LINKER_FLAGS } from './compile.ts'
import { processor } from './cpu.ts'
import { addressOf, asyncNativeFunction, nativeFunction, openLibrary, type Address } from './ffi.ts'
import { openMemory } from './fileMemory.ts'
import { log } from './log.ts'
import { loadOpenMp } from './openmp.ts'
import { defaultThreadCount } from './threads.ts'
import { findToolchain, type Compiler, type Toolchain } from './toolchain.ts'

export interface MachineOptions {
  /** The compiler to use; wins over HARRIER_CLANG. */
  readonly clang?: string
  readonly environment?: NodeJS.ProcessEnv
}

export interface ThisMachine extends Machine {
  /** For reports: what was found, and what was looked at and skipped. */
  toolchain(): Toolchain
}

/** Time that an owner of a build lock has beyond the compiler's limit, to link and to write. */
const LOCK_MARGIN = 10_000

export function createMachine({ clang, environment = process.env }: MachineOptions = {}): ThisMachine {
  const folder = once(() => cacheFolder(environment))
  const memory = once(() => openMemory(join(folder(), 'memory.json')))
  const toolchain = once(() => findToolchain({ clang, environment, memory: memory() }))
  const openMp = once(() => loadOpenMp(() => toolchain().compiler?.realPath))

  function compiler(): Compiler {
    const found = toolchain()
    if (found.compiler === undefined) throw new HarrierError('E_TOOLCHAIN', found.problem)
    return found.compiler
  }

  const tools = () => ({ compiler: compiler(), linker: toolchain().linker, limit: compileLimit(environment) })

  return {
    toolchain,

    compiler() {
      const { compiler: found, problem } = toolchain()
      return found === undefined
        ? { found: false, problem }
        : { found: true, detail: `clang ${found.version} (${found.path})` }
    },

    processor,

    cache: once(() =>
      createCache({ folder: folder(), memory: memory(), patience: compileLimit(environment) + LOCK_MARGIN }),
    ),

    buildInputs: () => ({
      compiler: compiler().identity,
      linker: toolchain().linker?.identity ?? '',
      flags: [compilerFlags('full'), compilerFlags('light'), LINKER_FLAGS],
      processor: processor().identity,
    }),

    compile(request) {
      reportLight(request)
      return compileShared(tools(), request)
    },

    assemble: (request) => compileAssembly(tools(), request),

    load(path, symbol) {
      // First, as the reference of a kernel to GOMP_parallel is bound when the kernel is loaded.
      openMp()
      return loadEntries(path, symbol)
    },

    openMp,

    threads: once(() => defaultThreadCount(environment)),

    addressOf,
  }
}

function once<Result>(make: () => Result): () => Result {
  let made: { readonly result: Result } | undefined
  return () => (made ??= { result: make() }).result
}

function reportLight({ kernel, codegenLevel }: ModuleRequest): void {
  if (codegenLevel === 'full') return
  log().info(
    `kernel '${kernel}' is so large that optimising it would take minutes: it is compiled without, and runs more slowly. ` +
      'A loop() instead of an unrolled for makes it smaller.',
  )
}

function loadEntries(path: string, symbol: string): Entries {
  let library
  try {
    library = openLibrary(path)
  } catch (cause) {
    throw new HarrierError(
      'E_CACHE',
      `the system does not load ${path}: ${cause instanceof Error ? cause.message : String(cause)}; ` +
        'set HARRIER_CACHE_DIR to a folder on a file system from which programs may run',
      { cause },
    )
  }
  const entry = (name: string): Address => {
    const address = library.symbol(name)
    if (address === undefined) throw new HarrierError('E_INTERNAL', `${path} has no entry '${name}'`)
    return address
  }
  const [sequential, parallel] = [entry(symbol), entry(`${symbol}_parallel`)]
  return {
    run: nativeFunction(sequential, 'void', ['address', 'i64', 'i64']),
    runParallel: nativeFunction(parallel, 'void', ['address', 'i64', 'i64', 'i32']),
    runAsync: asyncNativeFunction(sequential, 'void', ['address', 'i64', 'i64']),
    runParallelAsync: asyncNativeFunction(parallel, 'void', ['address', 'i64', 'i64', 'i32']),
  }
}
