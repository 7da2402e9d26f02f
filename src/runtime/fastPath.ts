// Repeats the last kind of call without the checks that it already passed: bare typed arrays and numbers by position, outputs made
// by the call. Invariants: it only takes calls that bind.ts would accept in the same way; everything else goes the long way round.
// Outputs of few samples are computed into arrays that stay bound, and sliced off: making an array, and asking for the address of a new
// one, each take longer than such a launch.
import type { Backend, Executable, Launch, PlaneArray } from '../backends/backend.ts'
import type { TracedKernel } from '../trace/traced.ts'
import type { BoundCall } from './bind.ts'
import type { CallOptions } from './options.ts'
import type { Signature } from './signature.ts'
import { planeTypeOf, type PlaneType } from './view.ts'

/** A wrapper, as the result of a kernel may be undefined. */
interface Taken {
  readonly result: unknown
}

/** Samples up to which outputs are staged: 2 KiB of f64, a few nanoseconds to copy. */
const FEW_SAMPLES = 256

interface Plan {
  readonly backend: Backend
  readonly launch: Launch
  /** For few samples: a launch with its outputs bound for good. */
  readonly staged: { readonly launch: Launch; readonly outputs: readonly PlaneArray[] }
  /** Type of the array, or null for a number, by position. */
  readonly expected: readonly (PlaneType | null)[]
  readonly planes: readonly number[]
  readonly outputs: readonly { readonly plane: number; readonly type: PlaneType }[]
  readonly threads: number | undefined
}

export interface FastPath {
  call(args: readonly unknown[]): Taken | undefined
  /** Remembers how a call went, when calls like it can be repeated. */
  learn(args: readonly unknown[], call: BoundCall, backend: Backend, executable: Executable): void
}

const isSimpleOption = ({ n, base, count, copy }: CallOptions): boolean =>
  n === undefined && base === undefined && count === undefined && copy === undefined

export function createFastPath(
  { returned, outputs }: TracedKernel,
  { positional, slots }: Signature,
  options: CallOptions,
): FastPath {
  // One plane an argument, nothing written but fresh outputs: then only types and lengths can be wrong.
  const isEligible =
    isSimpleOption(options) &&
    positional.length > 0 &&
    positional.every(({ role, written }) => (role === 'per_sample' || role === 'uniform') && !written) &&
    slots.every(
      ({ role, head, isOutput }) => role !== 'reduce' && role !== 'accum_out' && (!isOutput || head.length === 0),
    ) &&
    (returned.form === 'slot' ||
      (returned.form === 'array' && returned.items.every(({ form }) => form === 'slot')) ||
      (returned.form === 'object' && returned.entries.every(([, { form }]) => form === 'slot')))
  let plan: Plan | undefined

  const shape = (arrays: readonly PlaneArray[]): unknown => {
    const at = (node: typeof returned): PlaneArray | undefined => (node.form === 'slot' ? arrays[node.slot] : undefined)
    if (returned.form === 'array') return returned.items.map(at)
    return returned.form === 'object'
      ? Object.fromEntries(returned.entries.map(([key, node]) => [key, at(node)]))
      : at(returned)
  }

  return {
    call(args) {
      if (!plan || args.length !== plan.expected.length) return undefined
      const { expected, planes, threads } = plan
      let samples = -1
      for (let k = 0; k < expected.length; k++) {
        const argument = args[k]
        const type = expected[k]
        if (type === null) {
          if (typeof argument !== 'number') return undefined
        } else {
          if (planeTypeOf(argument) !== type) return undefined
          const { length } = argument as PlaneArray
          if (length === 0 || (samples >= 0 && samples !== length)) return undefined
          samples = length
        }
      }
      const isFew = samples <= FEW_SAMPLES
      const launch = isFew ? plan.staged.launch : plan.launch
      for (let k = 0; k < expected.length; k++) {
        if (expected[k] === null) launch.set(planes[k]!, args[k] as number)
        else launch.bind(planes[k]!, args[k] as PlaneArray, samples, samples)
      }
      const range = { sampleCount: samples, begin: 0, end: samples }
      if (isFew) {
        launch.run(range)
        return { result: shape(plan.staged.outputs.map((staged) => staged.slice(0, samples))) }
      }
      const { backend } = plan
      const made = plan.outputs.map(({ plane, type }) => {
        const array = backend.allocate(type, samples)
        launch.bind(plane, array, samples, samples)
        return array
      })
      launch.run(threads === undefined ? range : { ...range, threads })
      launch.release()
      return { result: shape(made) }
    },

    learn(args, call, backend, executable) {
      const isRepeatable =
        isEligible &&
        call.form === 'batch' &&
        args.length === positional.length &&
        args.every((argument) => typeof argument === 'number' || planeTypeOf(argument) !== undefined) &&
        args.some((argument) => typeof argument !== 'number')
      if (!isRepeatable) return
      const made = outputs.map(({ plane, head }) => ({ plane, type: head.type === 'f64' ? call.floatType : head.type }))
      const staging = made.map(({ type }) => backend.allocate(type, FEW_SAMPLES))
      const staged = executable.launch()
      made.forEach(({ plane }, k) => staged.bind(plane, staging[k]!, FEW_SAMPLES, FEW_SAMPLES))
      plan = {
        backend,
        launch: executable.launch(),
        staged: { launch: staged, outputs: staging },
        expected: args.map((argument) => planeTypeOf(argument) ?? null),
        planes: positional.map(({ plane }) => plane),
        outputs: made,
        threads: options.threads,
      }
    },
  }
}
