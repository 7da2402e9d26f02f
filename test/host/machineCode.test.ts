// That the check of the whole run (test/support/noCalls.ts) sees what it looks for.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createMachine } from '../../src/runtime/machine.ts'
import { callsIn, findDisassembler } from '../support/machineCode.ts'
import { scaleCode } from './support/handwritten.ts'
import { privateFolder } from './support/processes.ts'

function object(llvm: string): string {
  const path = join(privateFolder(), 'kernel.so')
  writeFileSync(path, createMachine().compile({ kernel: 'test', llvm, codegenLevel: 'full' }))
  return path
}

const WEAK = 'declare extern_weak void @GOMP_parallel(ptr, ptr, i32, i32)\n'

test('calls into another library, direct, in tail position and through a pointer, are seen; starting threads is none', (context) => {
  const disassembler = findDisassembler()
  if ('missing' in disassembler) context.skip(disassembler.missing)
  const clean = object(`${WEAK}${scaleCode('kernel')}`)
  const direct = object(`
declare extern_weak double @sin(double)
define double @kernel(double %x) {
  %s = call double @sin(double %x)
  %r = fadd double %s, 1.0
  ret double %r
}`)
  const tail = object(`
declare extern_weak double @cos(double)
define double @kernel(double %x) {
  %r = tail call double @cos(double %x)
  ret double %r
}`)
  const indirect = object(`
define double @kernel(ptr %f, double %x) {
  %s = call double %f(double %x)
  %r = fadd double %s, 1.0
  ret double %r
}`)
  const found = callsIn([clean, direct, tail, indirect], disassembler as { program: string })
  expect(found.map((line) => line.split(': ')[0])).toEqual([direct, tail, indirect])
  expect(found[0]).toContain('sin')
  expect(found[1]).toContain('cos')
})
