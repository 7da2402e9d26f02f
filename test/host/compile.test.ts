// What a caller sees when building goes wrong: code, names, way out, the tool's own words as cause, and outputs left alone.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { HarrierError } from '../../src/errors.ts'
import { openMemory } from '../../src/runtime/fileMemory.ts'
import { findToolchain } from '../../src/runtime/toolchain.ts'
import { handwrittenBackend, scaleCode, scaleGraph, type HandwrittenOptions } from './support/handwritten.ts'
import { fakeClang } from './support/fakeClang.ts'
import { privateFolder, runChild } from './support/processes.ts'

process.env.HARRIER_LOG = 'silent'

const WAY_OUT =
  'Install one (Debian, Ubuntu: apt-get install clang-19; Fedora: dnf install clang; macOS: brew install llvm), ' +
  'or set HARRIER_CLANG to the path of one.'

/** What building the hand-written kernel throws, with the folder of its cache. */
function failure({ env = {}, ...options }: Omit<HandwrittenOptions, 'environment'> & { env?: NodeJS.ProcessEnv }) {
  const folder = privateFolder()
  const environment = { ...process.env, HARRIER_CACHE_DIR: folder, ...env }
  try {
    handwrittenBackend({ ...options, environment }).build(scaleGraph(), { name: 'broken' })
  } catch (error) {
    if (!(error instanceof HarrierError)) throw error
    const left = readdirSync(folder).filter((name) => name !== 'memory.json')
    const cause = error.cause instanceof Error ? error.cause.message : error.cause
    return { code: error.code, message: error.message, cause, left }
  }
  throw new Error('the build succeeded')
}

/** A clang that answers `--version` and then does what the shell commands say. */
const pretend = (body: string) => fakeClang(join(privateFolder(), 'clang'), 'clang version 19.1.0', body).path

describe('the compiler', () => {
  test('refuses the code: its first complaint in the message, all of it as cause', () => {
    const clang = pretend('echo "<stdin>:3:1: error: no such thing" >&2; echo "1 error generated." >&2; exit 7')
    expect(failure({ clang })).toEqual({
      code: 'E_COMPILE',
      message:
        `kernel 'broken': ${clang} refused the generated code (it ended with code 7): <stdin>:3:1: error: no such thing; ` +
        "set HARRIER_CLANG to another clang or HARRIER_BACKEND to 'wasm', and please report this with what k.source('llvm') gives",
      cause: '<stdin>:3:1: error: no such thing\n1 error generated.',
      left: [],
    })
  })

  test('the real one does', () => {
    const { code, cause, left } = failure({ code: () => 'define nonsense' })
    expect({ code, left }).toEqual({ code: 'E_COMPILE', left: [] })
    expect(cause).toMatch(/error: .*expected/)
  })

  test('is stopped when it takes longer than HARRIER_COMPILE_TIMEOUT', () => {
    const clang = pretend('exec sleep 30')
    const start = Date.now()
    expect(failure({ clang, env: { HARRIER_COMPILE_TIMEOUT: '0.3' } })).toMatchObject({
      code: 'E_COMPILE',
      message:
        `kernel 'broken': ${clang} was stopped after 0.3 seconds; ` +
        'set HARRIER_COMPILE_TIMEOUT to a larger number of seconds, or make the kernel smaller (a loop() instead of an unrolled for)',
      left: [],
    })
    expect(Date.now() - start).toBeLessThan(20_000)
  })

  test('is ended by a signal', () => {
    const clang = pretend('kill -TERM $$')
    expect(failure({ clang }).message).toContain(`${clang} refused the generated code (it was ended by SIGTERM)`)
  })

  test.each(['soon', '0', '-3'])('HARRIER_COMPILE_TIMEOUT = %s is refused', (text) => {
    expect(failure({ env: { HARRIER_COMPILE_TIMEOUT: text } })).toMatchObject({
      code: 'E_OPTION',
      message: `HARRIER_COMPILE_TIMEOUT is '${text}'; it takes a number of seconds above 0`,
    })
  })
})

test('code that calls something outside itself is a defect of ours, found when it is linked', () => {
  const code = (symbol: string) => `
declare double @fmod(double, double)
define double @${symbol}(double %x) {
  %r = call double @fmod(double %x, double %x)
  ret double %r
}`
  expect(failure({ code })).toMatchObject({
    code: 'E_INTERNAL',
    message:
      "kernel 'broken': the generated code calls fmod, but a kernel calls nothing outside itself; " +
      "please report this with what k.source('ir') gives",
    cause: expect.stringContaining('undefined reference'),
    left: [],
  })
})

describe('no compiler', () => {
  test('missing: building and asking say the same, with the way out', () => {
    const environment = { PATH: privateFolder(), HARRIER_CACHE_DIR: privateFolder() }
    const problem = `no clang of version 15 or newer is on PATH. ${WAY_OUT}`
    expect(failure({ env: environment })).toMatchObject({ code: 'E_TOOLCHAIN', message: problem, left: [] })
    expect(handwrittenBackend({ environment }).availability()).toEqual({ available: false, reason: problem })
  })

  test('too old: named with its version', () => {
    const { path } = fakeClang(join(privateFolder(), 'clang'), 'Debian clang version 14.0.6')
    expect(failure({ env: { HARRIER_CLANG: path } })).toMatchObject({
      code: 'E_TOOLCHAIN',
      message: `HARRIER_CLANG is '${path}', which is not usable: version 14.0.6, older than 15. ${WAY_OUT}`,
      left: [],
    })
  })
})

describe('without a linker on PATH', () => {
  /** The real compiler, in an environment whose PATH is another. */
  function clangWithPath(path: string): string {
    const memory = openMemory(join(privateFolder(), 'memory.json'))
    const { realPath } = findToolchain({ environment: process.env, memory }).compiler!
    return pretend(`PATH='${path}' exec '${realPath}' "$@"`)
  }

  test('the compiler links, by the one that it finds', async () => {
    const path = clangWithPath(process.env.PATH!)
    const env = { HARRIER_CACHE_DIR: privateFolder(), HARRIER_CLANG: path, PATH: privateFolder() }
    const { code, out, err } = await runChild('build', { env })
    expect({ code, err: err.replace(/^building .*\n/, '') }).toEqual({ code: 0, err: '' })
    expect(JSON.parse(out).out).toEqual([1, 3, 5, 7])
  })

  test('nor anywhere else: the way out is to install one', () => {
    const clang = clangWithPath('/nowhere')
    expect(failure({ clang, env: { PATH: privateFolder() } })).toMatchObject({
      code: 'E_COMPILE',
      message:
        `kernel 'broken': ${clang} refused the generated code (it ended with code 1): ` +
        `clang: error: unable to execute command: Executable "ld" doesn't exist!; ` +
        "install a linker (Debian, Ubuntu: apt-get install binutils) or set HARRIER_BACKEND to 'wasm'; " +
        "if there is one, please report this with what k.source('llvm') gives",
      left: [],
    })
  })
})

test('code that takes more stack than there is', () => {
  const code = (symbol: string) => scaleCode(symbol, 0, 6 * 2 ** 20)
  const { code: errorCode, message, left } = failure({ code })
  expect({ errorCode, message, left }).toEqual({
    errorCode: 'E_COMPILE',
    message:
      "kernel 'broken': its code takes 6.0 MiB of stack, at most 4.0 MiB are there; " +
      "make the kernel smaller (a loop() instead of an unrolled for), or set HARRIER_BACKEND to 'wasm'",
    left: [],
  })
})

test('a call whose build fails writes to no output and says which kernel it was', async () => {
  const clang = pretend('exit 1')
  const env = { HARRIER_CACHE_DIR: privateFolder(), HARRIER_CLANG: clang, HARRIER_BACKEND: 'host' }
  const { out } = await runChild('failingCall', { env })
  expect(JSON.parse(out)).toEqual({ code: 'E_COMPILE', names: true, mine: [7, 7, 7, 7] })
})
