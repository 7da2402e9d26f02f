// Scratch memory of a launch: aligned, grown when a launch needs more, and the report that checked kernels leave in it.
import { CHECK_REPORT_BYTES, scratchBytes, type ScratchPlan } from '../llvm/interface.ts'
import type { LaunchRange } from '../backend.ts'
import type { Machine } from './machine.ts'

export interface Scratch {
  readonly memory: ArrayBuffer
  /** Where the aligned part starts in `memory`, and its address. */
  readonly offset: number
  readonly address: bigint
  readonly bytes: number
}

const ALIGNMENT = 64
/** Bits of an address that are 0 in an aligned one. */
const BEYOND = BigInt(ALIGNMENT - 1)

export const NO_SCRATCH: Scratch = { memory: new ArrayBuffer(0), offset: 0, address: 0n, bytes: 0 }

/** Scratch memory for a launch: the current one when it is large enough. */
export function scratchFor(
  plan: ScratchPlan,
  range: LaunchRange,
  threads: number,
  machine: Pick<Machine, 'addressOf'>,
  current: Scratch,
): Scratch {
  const bytes = scratchBytes(plan, range, threads)
  if (bytes <= current.bytes) return current
  const { memory, offset } = alignedMemory(bytes, machine)
  return { memory, offset, address: machine.addressOf(memory) + BigInt(offset), bytes }
}

/** Memory that starts at a multiple of 64 bytes, a cache line and the widest vector, filled with zeros. */
export function alignedMemory(bytes: number, machine: Pick<Machine, 'addressOf'>): Pick<Scratch, 'memory' | 'offset'> {
  const memory = new ArrayBuffer(bytes + ALIGNMENT)
  const beyond = Number(machine.addressOf(memory) & BEYOND)
  return { memory, offset: beyond === 0 ? 0 : ALIGNMENT - beyond }
}

/** The first access outside a table or accumulator that a checked launch made, or undefined when all were inside. */
export function readReport({ memory, offset }: Scratch) {
  const report = new DataView(memory, offset, CHECK_REPORT_BYTES)
  const sample = Number(report.getBigInt64(0, true))
  return sample < 0 ? undefined : { sample, plane: report.getInt32(8, true), index: report.getInt32(12, true) }
}
