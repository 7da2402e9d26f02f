import { expect, test, vi } from 'vitest'
import { createMachine } from '../../src/runtime/machine.ts'
import { privateFolder, runChild } from './support/processes.ts'

const logOf = async (level: string, folder: string) =>
  (await runChild('build', { env: { HARRIER_LOG: level, HARRIER_CACHE_DIR: folder } })).err

test('a first build is one plain line on standard error; a cached one is silent', async () => {
  const folder = privateFolder()
  expect(await logOf('info', folder)).toBe(`building scale (host) in ${folder} — delete the directory to rebuild\n`)
  expect(await logOf('info', folder)).toBe('')
})

test('HARRIER_LOG sets the level', async () => {
  expect(await logOf('warn', privateFolder())).toBe('')
  expect(await logOf('silent', privateFolder())).toBe('')
})

test('a level that does not exist is refused', async () => {
  expect(await logOf('loud', privateFolder())).toContain(
    "HarrierError: HARRIER_LOG is 'loud'; it takes trace, debug, info, warn, error, fatal, silent",
  )
})

test('a kernel that is too large to be optimised is named as in other messages', () => {
  const folder = privateFolder()
  const machine = createMachine({ environment: { ...process.env, HARRIER_CACHE_DIR: folder } })
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  machine.compile({ kernel: 'large', llvm: 'define void @k() {\n  ret void\n}\n', codegenLevel: 'light' })
  const lines = write.mock.calls.map(([line]) => line)
  write.mockRestore()
  expect(lines).toEqual([
    "kernel 'large' is so large that optimising it would take minutes: it is compiled without, and runs more slowly. " +
      'A loop() instead of an unrolled for makes it smaller.\n',
  ])
})
