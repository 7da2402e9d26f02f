// Host backends that generate code for several kinds of processors; those that this one can run.
// Invariant: objects lie in a folder of the test run and are not shared with anything.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHostBackend, type HostBackend } from '../../../src/backends/host/index.ts'
import type { ModuleRequest } from '../../../src/backends/host/machine.ts'
import { generate } from '../../../src/backends/llvm/generate.ts'
import type { HostTarget } from '../../../src/backends/llvm/interface.ts'
import { processor } from '../../../src/runtime/cpu.ts'
import { createMachine } from '../../../src/runtime/machine.ts'

export interface TestTarget {
  readonly name: string
  readonly march: string
  readonly target: HostTarget
}

const native = processor().target
const AVX2: HostTarget = { vectorBytes: 32, vectorRegisters: 16, fma: true, rounding: true, avx512: false }
const SSE2: HostTarget = { vectorBytes: 16, vectorRegisters: 16, fma: false, rounding: false, avx512: false }

/** This processor, and older ones whose code it runs. */
export const TARGETS: readonly TestTarget[] = [
  { name: 'this processor', march: 'native', target: native },
  ...(native.avx512 ? [{ name: 'AVX2', march: 'haswell', target: AVX2 }] : []),
  ...(native.vectorBytes > 16 ? [{ name: 'SSE2', march: 'x86-64', target: SSE2 }] : []),
]

const folder = mkdtempSync(join(tmpdir(), 'harrier-llvm-test-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
let objects = 0

function run(program: string, args: readonly string[], input = ''): string {
  const { status, stdout, stderr } = spawnSync(program, args, { input, encoding: 'utf8', maxBuffer: 1 << 28 })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}\n${stderr.slice(0, 2000)}`)
  return stdout
}

export interface TargetBackend extends HostBackend {
  /** Objects that were built, oldest first. */
  readonly built: readonly string[]
}

/** A host backend for a kind of processor. */
export function backendFor({ march, target }: TestTarget, clang?: string): TargetBackend {
  const machine = createMachine(clang === undefined ? {} : { clang })
  const compiler = machine.toolchain().compiler
  if (compiler === undefined) throw new Error(machine.toolchain().problem)
  const built: string[] = []
  const flags = (level: ModuleRequest['codegenLevel']) => [
    level === 'full' ? '-O2' : '-O0',
    `-march=${march}`,
    '-ffp-contract=off',
    '-fPIC',
    '-Wno-override-module',
    '-x',
    'ir',
    '-',
  ]
  const backend = createHostBackend(
    {
      ...machine,
      processor: () => ({ description: march, target }),
      cache: () => ({
        obtain({ make }) {
          const { code, facts } = make()
          const path = join(folder, `${++objects}.so`)
          writeFileSync(path, code)
          built.push(path)
          return { path, code, facts }
        },
      }),
      compile({ llvm, codegenLevel }) {
        const path = join(folder, `${objects}.o`)
        run(compiler.path, ['-c', '-o', path, ...flags(codegenLevel)], llvm)
        run('ld', ['-shared', '-z', 'nodelete', '-z', 'defs', '-o', `${path}.so`, path])
        return readFileSync(`${path}.so`)
      },
      assemble: ({ llvm, codegenLevel }) => run(compiler.path, ['-S', '-o', '-', ...flags(codegenLevel)], llvm),
    },
    generate,
  )
  return { ...backend, built }
}

/** Instructions of an object's kernel that leave it, other than to start threads; undefined where there is no objdump. */
export function callsIn(path: string): readonly string[] | undefined {
  const { status, stdout } = spawnSync('objdump', ['-d', '--no-show-raw-insn', path], { encoding: 'utf8' })
  if (status !== 0) return undefined
  return stdout.split('\n').filter((line) => /\bcallq?\b/.test(line) && !line.includes('GOMP_parallel'))
}
