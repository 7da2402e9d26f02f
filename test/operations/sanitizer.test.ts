// The tests of plug-ins once more in a process with AddressSanitizer, where clang has its runtime: the structs that the host hands to C
// and reads from C, and the arrays of the caller, are then watched on both sides.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CLANG } from './support/compiler.ts'

const root = join(import.meta.dirname, '../..')

/** The path of the runtime to preload, or the reason why there is none. */
function sanitizerRuntime(): { path: string } | { reason: string } {
  if (CLANG === null) return { reason: 'no clang was found' }
  const architecture = { x64: 'x86_64', arm64: 'aarch64' }[process.arch as string] ?? process.arch
  const name = `libclang_rt.asan-${architecture}.so`
  const path = spawnSync(CLANG, [`-print-file-name=${name}`], { encoding: 'utf8' }).stdout.trim()
  return existsSync(path) ? { path } : { reason: `${CLANG} has no ${name} (Debian: libclang-rt-19-dev)` }
}

const runtime = sanitizerRuntime()
if ('reason' in runtime) console.log(`skipped: plug-ins under AddressSanitizer: ${runtime.reason}`)

function runSanitized(args: readonly string[]) {
  // A test run inside a test run must not take itself for one of the outer run's workers.
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST'))
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: 'utf8',
    env: {
      ...Object.fromEntries(inherited),
      LD_PRELOAD: 'path' in runtime ? runtime.path : '',
      HARRIER_TEST_ASAN: '1',
      NO_COLOR: '1',
      // Node itself leaves memory to the system when it ends.
      ASAN_OPTIONS: 'detect_leaks=0',
    },
  })
  return { status, output: `${stdout}${stderr}` }
}

describe.skipIf('reason' in runtime)('under AddressSanitizer', () => {
  test('the tests of plug-ins hold', { timeout: 600_000 }, () => {
    const files = ['load', 'register', 'execute', 'lifetime'].map((name) => `test/operations/plugins/${name}`)
    // One process for all files: starting one takes longer under the sanitizer than the tests themselves.
    const vitest = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--no-isolate', '--no-file-parallelism']
    const { status, output } = runSanitized([...vitest, ...files])
    expect(output).not.toContain('ERROR: AddressSanitizer')
    expect(output).toMatch(/Test Files\s+4 passed \(4\)/)
    expect(status).toBe(0)
  })

  test('a kernel that writes past its output is caught', { timeout: 120_000 }, () => {
    const { status, output } = runSanitized(['--import', 'tsx', join(root, 'test/operations/support/overrun.ts')])
    expect(output).toMatch(/ERROR: AddressSanitizer: heap-buffer-overflow[\s\S]*WRITE of size 4[\s\S]* in overrun /)
    expect(output).not.toContain('nothing was noticed')
    expect(status).not.toBe(0)
  })
})
