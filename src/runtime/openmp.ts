// The OpenMP runtime, whose GOMP_parallel runs the parallel entries of compiled kernels.
// Invariants: it is loaded before any kernel is, since a kernel's reference to GOMP_parallel is weak and bound once, when the kernel
// is loaded; it is never unloaded, as its threads outlive every call.
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { nativeFunction, openLibrary, openProgram, STACK_BYTES } from './ffi.ts'

/** GCC's runtime first: it is on every machine with a C++ library. LLVM's has the same entry under several names. */
const NAMES =
  process.platform === 'darwin'
    ? ['libomp.dylib', '/opt/homebrew/opt/libomp/lib/libomp.dylib', '/usr/local/opt/libomp/lib/libomp.dylib']
    : ['libgomp.so.1', 'libomp.so.5', 'libomp.so', 'libiomp5.so']

/** libomp lies beside the compiler that it belongs to, where the system's loader does not look. */
function besideCompiler(compiler: string | undefined): string[] {
  if (compiler === undefined) return []
  const folder = join(dirname(compiler), '..', 'lib')
  try {
    return readdirSync(folder)
      .filter((name) => /^lib(omp|gomp)\.(so|dylib)(\.\d+)?$/.test(name))
      .map((name) => join(folder, name))
  } catch {
    return []
  }
}

/** What the runtime reads when it starts; a user's own choice stands. */
const SETTINGS = {
  // By default its threads spin between calls, which burns a core.
  OMP_WAIT_POLICY: 'passive',
  OMP_STACKSIZE: `${STACK_BYTES / 1024}K`,
}

function prepareEnvironment(): void {
  // Through C, as an assignment to process.env does not reach native code from a worker.
  const setenv = openProgram().symbol('setenv')
  if (setenv === undefined) return
  const set = nativeFunction(setenv, 'i32', ['text', 'text', 'i32'])
  for (const [name, value] of Object.entries(SETTINGS)) set(name, value, 0)
}

let loaded: { readonly name: string | undefined } | undefined

/**
 * Loads the runtime at the first call of the process (of each worker, where it is the same one again).
 * @param compiler gives the real path of the compiler, beside which a runtime is looked for when the system's loader has none
 * @returns the name or path that it was loaded by, or undefined when this machine has none and parallel calls run on one thread
 */
export function loadOpenMp(compiler: () => string | undefined): string | undefined {
  if (loaded !== undefined) return loaded.name
  prepareEnvironment()
  const name = NAMES.find(isRuntime) ?? besideCompiler(compiler()).find(isRuntime)
  loaded = { name }
  return name
}

function isRuntime(name: string): boolean {
  try {
    return openLibrary(name, 'global').symbol('GOMP_parallel') !== undefined
  } catch {
    return false
  }
}
