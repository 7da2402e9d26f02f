// Compiles small C and C++ sources of the tests into shared libraries, with the first clang (or C++ compiler) of this machine. Under
// HARRIER_TEST_ASAN=1 everything is compiled with AddressSanitizer; the process must then have its runtime preloaded.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { getInclude } from '../../../src/operations/index.ts'

const here = dirname(fileURLToPath(import.meta.url))
const versions = [22, 21, 20, 19, 18, 17, 16, 15]

export const CLANG = firstWorking([
  process.env.HARRIER_CLANG,
  'clang',
  ...versions.map((version) => `clang-${version}`),
])
export const CXX = firstWorking(['clang++', ...versions.map((version) => `clang++-${version}`), 'g++'])

/** Flags of every fixture: a plug-in's own, the strictest warnings, and the folder of fixture.h. */
const COMMON = ['-g', '-O1', '-fPIC', '-shared', '-fvisibility=hidden', '-Wall', '-Wextra', '-Werror', '-pedantic']

export const SANITIZED = process.env.HARRIER_TEST_ASAN === '1'
export const SANITIZER_FLAGS = ['-fsanitize=address', '-shared-libasan', '-fno-omit-frame-pointer']

const folder = mkdtempSync(join(tmpdir(), 'harrier-plugins-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
let count = 0

function firstWorking(names: readonly (string | undefined)[]): string | null {
  return names.find((name) => name !== undefined && spawnSync(name, ['--version']).status === 0) ?? null
}

export interface CompileOptions {
  readonly language?: 'c' | 'c++'
  readonly flags?: readonly string[]
}

/** Compiles one source into a shared library and returns its path. Throws the compiler's words when it refuses. */
export function compileLibrary(source: string, { language = 'c', flags = [] }: CompileOptions = {}): string {
  count += 1
  const file = join(folder, `plugin-${count}.${language === 'c' ? 'c' : 'cpp'}`)
  const library = join(folder, `plugin-${count}.so`)
  writeFileSync(file, source)
  const compiler = language === 'c' ? CLANG : CXX
  if (compiler === null) throw new Error(`no ${language} compiler was found`)
  const { status, stderr } = spawnSync(
    compiler,
    [
      language === 'c' ? '-std=c11' : '-std=c++17',
      ...COMMON,
      ...(SANITIZED ? SANITIZER_FLAGS : []),
      `-I${getInclude()}`,
      `-I${here}`,
      ...flags,
      '-o',
      library,
      file,
    ],
    // The sanitizer's runtime is preloaded into this process, not into the compiler.
    { encoding: 'utf8', env: { ...process.env, LD_PRELOAD: '' } },
  )
  if (status !== 0 || !existsSync(library)) throw new Error(`${compiler} refused the source:\n${stderr}`)
  return library
}

/** Compiles a plug-in whose source needs only what fixture.h offers. */
export function compilePlugin(body: string, options?: CompileOptions): string {
  return compileLibrary(`#include "fixture.h"\n${body}\n`, options)
}
