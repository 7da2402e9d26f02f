// LLVM IR to a shared object or to assembly, by running the compiler and the linker.
// Invariants: programs are started directly, never through a shell; the text goes in through standard input; files lie in a private
// folder that is removed before the call returns; a program that exceeds the time limit is killed.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MOST_STACK } from '../backends/llvm/interface.ts'
import { HarrierError } from '../errors.ts'
import type { Compiler, Toolchain } from './toolchain.ts'

/** full: as usual; light: no optimisation while instructions are chosen, which for very large kernels takes minutes. */
export type CodegenLevel = 'full' | 'light'

/** The programs that a module goes through. */
export interface Tools {
  readonly compiler: Compiler
  readonly linker: Toolchain['linker']
  /** Milliseconds that one program may take. */
  readonly limit: number
}

export interface CompileRequest {
  /** Names of the kernels in the module, for messages. */
  readonly kernel: string
  readonly llvm: string
  readonly codegenLevel: CodegenLevel
}

/** What a compiler is run with, apart from the names of files: part of the keys of the build cache. */
export function compilerFlags(level: CodegenLevel): string[] {
  const optimisation = { full: '-O2', light: '-O0' }[level]
  // No contraction: a product and a sum round as the graph says. The target triple of the module is the compiler's own. The limit of the
  // frame stands in the module.
  const warnings = ['-Wno-override-module', '-Werror=frame-larger-than']
  return [optimisation, '-march=native', '-ffp-contract=off', '-fPIC', ...warnings, '-x', 'ir']
}

/** nodelete: the OpenMP runtime's threads outlive a call, and unloading the code under them crashes the process. */
export const LINKER_FLAGS = ['-shared', '-z', 'nodelete', '-z', 'defs', '--build-id=none']

/** Where there is no linker to run directly, the compiler runs one, with what its system needs. */
const COMPILER_LINK_FLAGS = [
  '-shared',
  '-nostdlib',
  ...(process.platform === 'linux' ? ['-Wl,-z,nodelete,-z,defs'] : []),
]

const DEFAULT_LIMIT_SECONDS = 120

/** Milliseconds that a compiler may take: HARRIER_COMPILE_TIMEOUT, in seconds. */
export function compileLimit(environment: NodeJS.ProcessEnv = process.env): number {
  const { HARRIER_COMPILE_TIMEOUT: text } = environment
  const seconds = text === undefined || text === '' ? DEFAULT_LIMIT_SECONDS : Number(text)
  if (seconds > 0 && Number.isFinite(seconds)) return seconds * 1000
  throw new HarrierError('E_OPTION', `HARRIER_COMPILE_TIMEOUT is '${text}'; it takes a number of seconds above 0`)
}

/** Compiles a module of LLVM IR and links it into a shared object. @throws E_COMPILE, E_INTERNAL */
export function compileShared(tools: Tools, request: CompileRequest): Uint8Array {
  return inPrivateFolder((folder) => {
    const [object, shared] = [join(folder, 'kernel.o'), join(folder, 'kernel.so')]
    compile(tools, request, ['-c', '-o', object])
    const { compiler, linker } = tools
    const [program, flags] = linker === undefined ? [compiler.path, COMPILER_LINK_FLAGS] : [linker.path, LINKER_FLAGS]
    run(tools, request, { program, args: [...flags, '-o', shared, object], input: '', wayOut: NO_LINKER })
    return readFileSync(shared)
  })
}

/** The assembly that a module of LLVM IR compiles to, for people. @throws E_COMPILE */
export function compileAssembly(tools: Tools, request: CompileRequest): string {
  return inPrivateFolder((folder) => {
    const assembly = join(folder, 'kernel.s')
    compile(tools, request, ['-S', '-o', assembly])
    return readFileSync(assembly, 'utf8')
  })
}

function compile(tools: Tools, request: CompileRequest, output: readonly string[]): void {
  const args = [...compilerFlags(request.codegenLevel), ...output, '-']
  run(tools, request, { program: tools.compiler.path, args, input: request.llvm, wayOut: OTHER_COMPILER })
}

const OTHER_COMPILER =
  "set HARRIER_CLANG to another clang or HARRIER_BACKEND to 'wasm', and please report this with what k.source('llvm') gives"

const NO_LINKER =
  "install a linker (Debian, Ubuntu: apt-get install binutils) or set HARRIER_BACKEND to 'wasm'; " +
  "if there is one, please report this with what k.source('llvm') gives"

interface Start {
  readonly program: string
  readonly args: readonly string[]
  readonly input: string
  /** What to do when the program fails. */
  readonly wayOut: string
}

function inPrivateFolder<Result>(action: (folder: string) => Result): Result {
  const folder = mkdtempSync(join(tmpdir(), 'harrier-build-'))
  try {
    return action(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Enough for a compiler's complaint about every line of a large module. */
const MESSAGE_BYTES = 64 * 1024 * 1024

function run({ limit }: Tools, { kernel }: CompileRequest, { program, args, input, wayOut }: Start): void {
  const { status, signal, error, stderr } = spawnSync(program, args, {
    input,
    encoding: 'utf8',
    timeout: limit,
    killSignal: 'SIGKILL',
    maxBuffer: MESSAGE_BYTES,
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  if (status === 0 && error === undefined) return

  const text = stderr?.trim() ?? ''
  const cause = text === '' ? error : new Error(text, error && { cause: error })
  const code = error !== undefined && 'code' in error ? error.code : undefined
  if (code === 'ETIMEDOUT') {
    throw new HarrierError(
      'E_COMPILE',
      `kernel '${kernel}': ${program} was stopped after ${limit / 1000} seconds; ` +
        'set HARRIER_COMPILE_TIMEOUT to a larger number of seconds, or make the kernel smaller (a loop() instead of an unrolled for)',
      { cause },
    )
  }
  const frame = /stack frame size \((\d+)\)/.exec(text)
  if (frame !== null) {
    throw new HarrierError(
      'E_COMPILE',
      `kernel '${kernel}': its code takes ${inMebibytes(Number(frame[1]))} MiB of stack, at most ${inMebibytes(MOST_STACK)} MiB are there; ` +
        "make the kernel smaller (a loop() instead of an unrolled for), or set HARRIER_BACKEND to 'wasm'",
      { cause },
    )
  }
  const missing = [...text.matchAll(/undefined (?:reference to|symbol:?) [`'"]?([\w.$]+)/g)].map(([, symbol]) => symbol)
  if (missing.length > 0) {
    throw new HarrierError(
      'E_INTERNAL',
      `kernel '${kernel}': the generated code calls ${[...new Set(missing)].join(', ')}, but a kernel calls nothing outside itself; ` +
        "please report this with what k.source('ir') gives",
      { cause },
    )
  }
  // A program that ends before it read its input also gives an error about the broken pipe.
  const how =
    signal !== null
      ? `it was ended by ${signal}`
      : status !== null
        ? `it ended with code ${status}`
        : String(error?.message)
  throw new HarrierError(
    'E_COMPILE',
    `kernel '${kernel}': ${program} refused the generated code (${how}): ${firstComplaint(text)}; ${wayOut}`,
    { cause },
  )
}

const inMebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(1)

const firstComplaint = (text: string) =>
  text.split('\n').find((line) => line.includes('error')) ?? text.split('\n', 1)[0] ?? ''
