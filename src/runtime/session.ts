// Runs calls of one kernel under one set of options: binds, finds the build, launches, brings copies home.
// Invariants: a launch object of this file is used by one call at a time; arrays are held by the call until the launch is over.
import type { Executable, Launch } from '../backends/backend.ts'
import { HarrierError } from '../errors.ts'
import type { TracedKernel } from '../trace/traced.ts'
import { nameArguments } from './arguments.ts'
import { bind, type BoundCall } from './bind.ts'
import type { Builds, Variant } from './executables.ts'
import { createFastPath } from './fastPath.ts'
import type { CallOptions } from './options.ts'
import { chooseBackend, type Choice } from './registry.ts'
import { refuseResizable } from './resizable.ts'
import { reductionResults, shapeResults } from './results.ts'
import { signatureOf, type Signature } from './signature.ts'

/** A call that is bound once and launched many times. */
export interface Bound {
  /** Runs it again over the same arrays, and gives its reductions. */
  launch(): unknown
  /** Binds other arrays, by name; those not named stay. */
  rebind(planes: Readonly<Record<string, unknown>>): void
}

export interface Session {
  readonly signature: Signature
  readonly options: CallOptions
  readonly choose: () => Choice
  readonly variant: (call: Pick<BoundCall, 'floatType' | 'sampleStrides'>) => Variant
  call(args: readonly unknown[]): unknown
  callAsync(args: readonly unknown[], signal?: AbortSignal): Promise<unknown>
  run(planes: Readonly<Record<string, unknown>>): unknown
  bound(planes: Readonly<Record<string, unknown>>): Bound
}

/** Fills a launch with the planes and numbers of a call. */
export function fill(launch: Launch, { planes, uniforms }: BoundCall): void {
  for (const { slot, array, pitch, length } of planes) launch.bind(slot.plane, array, pitch, length)
  for (const { slot, value } of uniforms) launch.set(slot.plane, value)
}

const bringHome = ({ copiesBack }: BoundCall): void => {
  for (const copy of copiesBack) copy.bring()
}

/** Nothing to run: a launch would only cost time. Reductions of nothing still have their identity to write. */
const isEmpty = ({ range, planes }: BoundCall): boolean =>
  range.begin === range.end && !planes.some(({ slot }) => slot.role === 'reduce')

export function createSession(kernel: TracedKernel, builds: Builds, options: CallOptions): Session {
  const signature = signatureOf(kernel)
  const { math = kernel.math, check = false } = options
  let choice: Choice | undefined
  const choose = () => (choice ??= chooseBackend(options.backend))
  const variant: Session['variant'] = ({ floatType, sampleStrides }) => ({ floatType, math, sampleStrides, check })
  const executableFor = (call: BoundCall): Executable => builds.executable(choose().backend, variant(call))
  const fastPath = createFastPath(kernel, signature, options)
  /** Launch objects of finished calls, one an executable: filling one anew is cheaper than making one. */
  const idle = new Map<Executable, Launch>()

  function launchNow(call: BoundCall): void {
    if (isEmpty(call)) return
    const executable = executableFor(call)
    const launch = idle.get(executable) ?? executable.launch()
    idle.delete(executable)
    fill(launch, call)
    launch.run(call.range)
    launch.release()
    idle.set(executable, launch)
    bringHome(call)
  }

  const bindArguments = (args: readonly unknown[]): BoundCall => {
    const { backend } = choose()
    return bind(signature, nameArguments(signature, args), options, (type, length) => backend.allocate(type, length))
  }

  return {
    signature,
    options,
    choose,
    variant,

    call(args) {
      const fast = fastPath.call(args)
      if (fast !== undefined) return fast.result
      const call = bindArguments(args)
      launchNow(call)
      if (!isEmpty(call)) fastPath.learn(args, call, choose().backend, executableFor(call))
      return shapeResults(kernel, call)
    },

    async callAsync(args, signal) {
      const refuseAborted = (): void => {
        if (signal?.aborted) throw abortReason(kernel.name, signal)
      }
      refuseAborted()
      const call = bindArguments(args)
      refuseResizable(kernel.name, call)
      if (!isEmpty(call)) {
        const launch = executableFor(call).launch()
        fill(launch, call)
        await launch.runAsync(call.range, refuseAborted)
        bringHome(call)
      }
      return shapeResults(kernel, call)
    },

    run(planes) {
      const call = bind(signature, new Map(Object.entries(planes)), options)
      launchNow(call)
      return reductionResults(kernel, call)
    },

    bound(planes) {
      let named: Readonly<Record<string, unknown>> = planes
      let call = bind(signature, new Map(Object.entries(named)), options)
      let launch = executableFor(call).launch()
      fill(launch, call)
      return {
        launch() {
          if (!isEmpty(call)) {
            launch.run(call.range)
            if (call.copiesBack.length > 0) bringHome(call)
          }
          return reductionResults(kernel, call)
        },
        rebind(others) {
          named = { ...named, ...others }
          call = bind(signature, new Map(Object.entries(named)), options)
          launch = executableFor(call).launch()
          fill(launch, call)
        },
      }
    },
  }
}

/** The signal's own reason when it is an error of the caller's, else a coded one. */
function abortReason(kernel: string, signal: AbortSignal): unknown {
  const reason: unknown = signal.reason
  if (reason instanceof Error && reason.name !== 'AbortError') return reason
  return new HarrierError('E_ABORTED', `kernel '${kernel}': the call was cancelled before it was launched`, {
    cause: reason,
  })
}
