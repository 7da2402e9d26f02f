// What this processor offers to generated code. Read from the operating system without starting a program, as cached builds must
// not wait for one.
// Invariant: machines for which `-march=native` may generate different code have different identities.
import { closeSync, openSync, readSync } from 'node:fs'
import { arch, cpus } from 'node:os'
import type { HostTarget } from '../backends/llvm/interface.ts'

export interface Processor {
  /** Model and instruction sets in one text, for the keys of the build cache. */
  readonly identity: string
  /** Model and vector registers, for people. */
  readonly description: string
  readonly target: HostTarget
}

/** The first processor's entry takes 1 to 2 KiB; the rest repeats it, and reading it all takes milliseconds on many cores. */
const ENTRY_BYTES = 8192

/** The lines of /proc/cpuinfo (x86, then Arm) that decide what the compiler generates. */
const IDENTITY_FIELDS = [
  'vendor_id',
  'cpu family',
  'model',
  'flags',
  'CPU implementer',
  'CPU architecture',
  'CPU variant',
  'CPU part',
  'Features',
]

function firstEntry(): string {
  const bytes = Buffer.alloc(ENTRY_BYTES)
  try {
    const file = openSync('/proc/cpuinfo', 'r')
    try {
      return bytes.toString('latin1', 0, readSync(file, bytes, 0, ENTRY_BYTES, 0))
    } finally {
      closeSync(file)
    }
  } catch {
    // No such file outside Linux: the model's name stands for its features.
    return `model name\t: ${cpus()[0]?.model ?? 'unknown'}\n`
  }
}

/** AVX-512 needs its doubleword, byte and vector-length parts: without them masks and integer vectors are emulated. */
const AVX512 = ['avx512f', 'avx512dq', 'avx512bw', 'avx512vl']

/** Describes the processor that a text in the format of /proc/cpuinfo lists first. */
export function describeProcessor(cpuinfo: string, architecture: string): Processor {
  const entry = cpuinfo.split('\n\n', 1)[0] ?? ''
  const fields = new Map(
    entry.split('\n').map((line) => {
      const [name, ...value] = line.split(':')
      return [name!.trim(), value.join(':').trim()] as const
    }),
  )
  const features = new Set((fields.get('flags') ?? fields.get('Features') ?? '').split(' '))
  const model = fields.get('model name') ?? fields.get('CPU part') ?? 'unknown'
  const { set, target } = architecture === 'arm64' ? NEON : x86Target(features)
  return {
    identity: JSON.stringify([architecture, model, ...IDENTITY_FIELDS.map((name) => fields.get(name) ?? '')]),
    description: `${model} (${set})`,
    target,
  }
}

interface NamedTarget {
  readonly set: string
  readonly target: HostTarget
}

const NEON: NamedTarget = {
  set: 'NEON',
  target: { vectorBytes: 16, vectorRegisters: 32, fma: true, rounding: true, avx512: false },
}

function x86Target(features: ReadonlySet<string>): NamedTarget {
  const avx512 = AVX512.every((feature) => features.has(feature))
  const [set, vectorBytes] = avx512
    ? (['AVX-512', 64] as const)
    : features.has('avx2')
      ? (['AVX2', 32] as const)
      : (['SSE2', 16] as const)
  return {
    set,
    target: {
      vectorBytes,
      vectorRegisters: avx512 ? 32 : 16,
      fma: features.has('fma'),
      rounding: features.has('sse4_1'),
      avx512,
    },
  }
}

let known: Processor | undefined

/** The processor that this program runs on. */
export function processor(): Processor {
  return (known ??= describeProcessor(firstEntry(), arch()))
}
