// The options of a call, set with `k.with({ … })`: never mixed with the planes. One row an option; unknown names and values that do
// not fit are refused.
import type { BackendName } from '../backends/backend.ts'
import { HarrierError } from '../errors.ts'
import type { FloatType } from '../ir/types.ts'
import type { Layout } from './markers.ts'

export interface CallOptions {
  /** Threads to use; absent: the runtime decides from its own timing. */
  readonly threads?: number
  /** Forces a backend; absent: host when a clang is found, else wasm. */
  readonly backend?: BackendName
  /** How square arrays, which read both ways, are laid out. */
  readonly layout?: Layout
  /** Number of samples, for kernels without planes that say it and for planes longer than it. */
  readonly n?: number
  /** First sample of the part to run; sample numbers in the kernel stay global. */
  readonly base?: number
  /** Samples of the part to run. */
  readonly count?: number
  /** Float type when no float plane decides it. */
  readonly dtype?: FloatType
  /** strict: no contraction; contract: products and sums are fused where they meet. */
  readonly math?: 'strict' | 'contract'
  /** Throws on reads and writes outside tables and accumulators. */
  readonly check?: boolean
  /** 'warn': copies sample-major arrays for the caller, with one warning. */
  readonly copy?: 'warn'
}

const isWhole = (least: number) => (value: unknown) => Number.isInteger(value) && (value as number) >= least
const isOneOf =
  (...words: readonly unknown[]) =>
  (value: unknown) =>
    words.includes(value)

const OPTIONS: Record<keyof CallOptions, { fits: (value: unknown) => boolean; expected: string }> = {
  threads: { fits: isWhole(1), expected: 'a whole number of at least 1' },
  backend: { fits: isOneOf('host', 'wasm', 'reference'), expected: "'host', 'wasm' or 'reference'" },
  layout: { fits: isOneOf('samples_first', 'samples_last'), expected: "'samples_first' or 'samples_last'" },
  n: { fits: isWhole(0), expected: 'a whole number of at least 0' },
  base: { fits: isWhole(0), expected: 'a whole number of at least 0' },
  count: { fits: isWhole(0), expected: 'a whole number of at least 0' },
  dtype: { fits: isOneOf('f64', 'f32'), expected: "'f64' or 'f32'" },
  math: { fits: isOneOf('strict', 'contract'), expected: "'strict' or 'contract'" },
  check: { fits: isOneOf(true, false), expected: 'true or false' },
  copy: { fits: isOneOf('warn'), expected: "'warn'" },
}

/** Checks options that came from a caller. @throws E_OPTION */
export function checkOptions(kernel: string, options: CallOptions): CallOptions {
  if (typeof options !== 'object' || options === null) {
    throw new HarrierError(
      'E_OPTION',
      `kernel '${kernel}': the options are ${String(options)}, expected an object such as { threads: 2 }`,
    )
  }
  for (const [name, value] of Object.entries(options)) {
    const rule = OPTIONS[name as keyof CallOptions]
    if (!rule) {
      throw new HarrierError(
        'E_OPTION',
        `kernel '${kernel}': there is no option '${name}'; the options are ${Object.keys(OPTIONS).join(', ')}`,
      )
    }
    if (value !== undefined && !rule.fits(value)) {
      throw new HarrierError(
        'E_OPTION',
        `kernel '${kernel}': option ${name} is ${String(value)}, expected ${rule.expected}`,
      )
    }
  }
  return options
}
