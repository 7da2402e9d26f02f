// Disassembles compiled kernels, to see that nothing outside them is called: an elementary function that became a call into the C
// library would be slower, less exact and different from machine to machine.
import { spawnSync } from 'node:child_process'

const DISASSEMBLERS = ['objdump', 'llvm-objdump', 'llvm-objdump-19']

export interface Disassembler {
  readonly program: string
}

/** A disassembler of this machine, or why there is none. */
export function findDisassembler(): Disassembler | { readonly missing: string } {
  const program = DISASSEMBLERS.find((name) => spawnSync(name, ['--version']).status === 0)
  return program === undefined
    ? { missing: `no machine code was looked at: none of ${DISASSEMBLERS.join(', ')} is on PATH` }
    : { program }
}

/** Instructions that call anything but the OpenMP runtime, each with its object and function. */
export function callsIn(objects: readonly string[], { program }: Disassembler): string[] {
  if (objects.length === 0) return []
  const { status, stdout, stderr } = spawnSync(program, ['-d', '--no-show-raw-insn', ...objects], {
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  })
  if (status !== 0) throw new Error(`${program} failed: ${stderr}`)
  const calls: string[] = []
  let object = ''
  let symbol = ''
  for (const line of stdout.split('\n')) {
    object = /^(.*):\s+file format/.exec(line)?.[1] ?? object
    symbol = /^[0-9a-f]+ <(.*)>:$/.exec(line)?.[1] ?? symbol
    // x86, then Arm; a tail call out of the object would go through its procedure linkage table.
    const leaves = /\s(callq?|blr?)\s/.test(line) || /\s(jmpq?|b)\s.*@plt>/.test(line)
    if (leaves && !line.includes('<GOMP_parallel@plt>')) calls.push(`${object}: ${symbol}: ${line.trim()}`)
  }
  return calls
}
