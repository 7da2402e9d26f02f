// What the emitter is asked for and what it gives: the border between code generation and whoever compiles and calls the code.
import { BLOCK } from '../../ir/reduction.ts'
import type { BuildOptions } from '../backend.ts'

/** What the processor that runs the code has. */
export interface HostTarget {
  /** Bytes of the widest vector registers: 64 only together with {@link HostTarget.avx512}. */
  readonly vectorBytes: 16 | 32 | 64
  /** Number of vector registers: 32 with AVX-512 and on AArch64, else 16. */
  readonly vectorRegisters: 16 | 32
  /** A fused multiply-add instruction; without it a graph holds no `fma`. */
  readonly fma: boolean
  /** Instructions that round to whole numbers: SSE4.1, AArch64. */
  readonly rounding: boolean
  /** AVX-512 F, DQ, BW and VL: masked accesses, hardware gathers, scaling by powers of two. */
  readonly avx512: boolean
}

/** Bytes of stack that a kernel may take. A kernel that needs more is refused by the compiler, as running it would end the process. */
export const MOST_STACK = 2 ** 22

export interface EmitOptions extends Pick<BuildOptions, 'sampleStrides' | 'check' | 'width' | 'divergence'> {
  /** Exported symbols are `symbol` and `symbol_parallel`; every internal one starts with `symbol.`. */
  readonly symbol: string
  readonly target: HostTarget
}

/** How the samples of a kernel go through vector registers; for `explain`, and for tests that cut sizes around it. */
export interface KernelShape {
  /** Samples a vector register holds. */
  readonly width: number
  /** Vectors that run side by side: an iteration of the sample loop covers width · vectors samples. */
  readonly vectors: number
  /** straight: no loop ends by data; else how such loops run. */
  readonly divergence: 'straight' | 'masked' | 'interleaved' | 'refilled'
}

/** Scratch memory that a kernel needs; plain data, so that artifacts can keep it. See {@link scratchBytes}. */
export interface ScratchPlan {
  /** Bytes that every launch needs. */
  readonly fixed: number
  /** Bytes for each block of 4,096 samples that the range touches. */
  readonly perBlock: number
  /** Bytes for each thread. */
  readonly perThread: number
  /** Bytes for each thread of a launch that has more than one, beside {@link ScratchPlan.perThread}. */
  readonly perTeamThread: number
}

export interface Emitted {
  /** Function definitions of this kernel, without declarations. */
  readonly definitions: string
  /** Declarations of the intrinsics and of the thread runtime that the definitions use. */
  readonly declarations: readonly string[]
  readonly shape: KernelShape
  readonly scratch: ScratchPlan
  /** Instructions printed, and the most uses of one of them: code generation is near-linear in the first, quadratic in the second. */
  readonly instructions: number
  readonly mostUses: number
  /** light: compile without optimising code generation, as the kernel is too large for it (above 5,000 uses of a value or 50,000 instructions). */
  readonly codegenLevel: 'full' | 'light'
}

/** One module of any number of kernels: declarations may not repeat in a module. */
export function moduleText(kernels: readonly Pick<Emitted, 'definitions' | 'declarations'>[]): string {
  const declarations = [...new Set(kernels.flatMap((kernel) => kernel.declarations))].sort()
  return [...kernels.map(({ definitions }) => definitions), declarations.join('\n'), ''].join('\n')
}

/**
 * Bytes of scratch memory, aligned to 64, whose address slot 1 of the argument block must hold for a launch over [begin, end).
 * 0 means that the slot is not read.
 */
export function scratchBytes(
  { fixed, perBlock, perThread, perTeamThread }: ScratchPlan,
  { begin, end }: { readonly begin: number; readonly end: number },
  threads: number,
): number {
  const blocks = end > begin ? Math.floor((end - 1) / BLOCK) - Math.floor(begin / BLOCK) + 1 : 0
  return fixed + blocks * perBlock + threads * perThread + (threads > 1 ? threads * perTeamThread : 0)
}

/**
 * What a kernel built with `check` leaves at the start of its scratch memory: the first access outside a table or accumulator, by
 * sample, then by program order. 64 bytes: sample (i64, −1 if there was none), plane number (i32), index (i32).
 */
export const CHECK_REPORT_BYTES = 64
