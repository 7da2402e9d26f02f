// C arms: the loop that a good C programmer writes, built by the clang that builds the kernels, with -O3 for this machine and strict numbers.
import { spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addressOf, nativeFunction, openLibrary, type NativeParameter } from '../../src/runtime/ffi.ts'

const clang = (): string => {
  const names = [process.env['HARRIER_CLANG'], 'clang', ...Array.from({ length: 8 }, (_, k) => `clang-${22 - k}`)]
  const found = names.find((name) => name && spawnSync(name, ['--version']).status === 0)
  if (!found) throw new Error('the C arms need a clang on PATH, or HARRIER_CLANG')
  return found
}

export interface CModule {
  /** An exported `void` function whose parameters are pointers (typed arrays are passed by address) and 64-bit whole numbers. */
  function(
    name: string,
    ...parameters: readonly NativeParameter[]
  ): (...values: readonly (NodeJS.TypedArray | number)[]) => void
}

/** Compiles C source to a shared library and opens it. */
export function compileC(source: string, flags: readonly string[] = []): CModule {
  const folder = mkdtempSync(join(tmpdir(), 'harrier-bench-'))
  const library = join(folder, 'arm.so')
  const args = [
    '-O3',
    '-march=native',
    '-ffp-contract=off',
    '-fno-math-errno',
    '-fPIC',
    '-shared',
    '-x',
    'c',
    '-',
    '-o',
    library,
    ...flags,
  ]
  const { status, stderr } = spawnSync(clang(), args, { input: source, encoding: 'utf8' })
  if (status !== 0) throw new Error(`the C arm does not compile:\n${stderr}`)
  const opened = openLibrary(library)
  return {
    function(name, ...parameters) {
      const symbol = opened.symbol(name)
      if (symbol === undefined) throw new Error(`the C arm has no function ${name}`)
      const call = nativeFunction(symbol, 'void', parameters)
      return (...values) =>
        call(
          ...(values.map((value) => (typeof value === 'number' ? value : addressOf(value))) as Parameters<typeof call>),
        )
    },
  }
}
