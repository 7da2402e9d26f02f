// Gives a test run a build cache of its own, and when the run is over disassembles every kernel in it: none may call anything.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { callsIn, findDisassembler } from './machineCode.ts'

const LISTED = 20

export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'harrier-test-cache-'))
  process.env.HARRIER_CACHE_DIR = folder
  return function teardown() {
    try {
      const objects = readdirSync(folder)
        .filter((name) => name.endsWith('.so'))
        .map((name) => join(folder, name))
      const disassembler = findDisassembler()
      if ('missing' in disassembler) {
        console.warn(disassembler.missing)
        return
      }
      const calls = callsIn(objects, disassembler)
      if (calls.length > 0) {
        // An error thrown here would be printed, but the run would still count as passed.
        console.error(`FAIL: kernels of the tests call something:\n${calls.slice(0, LISTED).join('\n')}`)
        process.exitCode = 1
        return
      }
      console.log(`no calls in the machine code of ${objects.length} kernels`)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
