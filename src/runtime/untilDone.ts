// Runs a step kernel until every sample has finished or the cap is reached. One finishing kernel runs fused: all steps of a sample in one
// native loop. Several kernels, or one that scatters, are launched step by step.
// Invariants: the mask is recounted at every run, so that a run continues from the state it finds; the cap is exact for every sample;
// fused runs, single steps, interrupted and continued runs give the same bits.
import type { LaunchRange } from '../backends/backend.ts'
import { HarrierError } from '../errors.ts'
import { canFuse, fuseSteps, type FusedSteps } from '../ir/fuse.ts'
import { bind, type BoundCall } from './bind.ts'
import { createBuilds, type Builds } from './executables.ts'
import { INTERNALS, type HasInternals, type Internals } from './internals.ts'
import { refuseResizable } from './resizable.ts'
import { fill } from './session.ts'

export interface UntilDoneOptions {
  /** Steps after which a sample stops, finished or not; at least 1. */
  readonly maxSteps: number
  /** Steps between two calls of `onProgress` and two looks at `signal`; only with one of them. Default 1,024. */
  readonly every?: number
  /** Called between launches. */
  readonly onProgress?: (progress: { readonly finished: number; readonly n: number; readonly steps: number }) => void
  /** Stops the run between launches; the state reached so far is kept, and a later run continues from it. */
  readonly signal?: AbortSignal
}

export interface RunReport {
  readonly n: number
  /** Samples that have finished, also in earlier runs. */
  readonly finished: number
  /** The most steps that a sample took in this run. */
  readonly steps: number
  readonly launches: number
  readonly status: 'finished' | 'max_steps'
}

type Planes = Readonly<Record<string, unknown>>

/** Moves every live sample by at most `cap` steps and gives the most steps that one took. */
type Advance = (cap: number) => number
type AdvanceAsync = (cap: number) => Promise<number>

interface Stepper {
  readonly n: number
  /** What each kernel is bound to. */
  readonly calls: readonly { readonly kernel: string; readonly call: BoundCall }[]
  readonly countFinished: () => number
  readonly advance: Advance
  readonly advanceAsync: AdvanceAsync
  /** Steps that one call of advance can take. */
  readonly longest: number
}

const fused = new WeakMap<Internals['builds'], { readonly steps: FusedSteps; readonly builds: Builds }>()

function fusedBuilds({ traced, builds }: Internals) {
  const known = fused.get(builds)
  if (known) return known
  const steps = fuseSteps(traced.graph)
  const made = { steps, builds: createBuilds({ name: traced.name, graph: steps.graph }) }
  fused.set(builds, made)
  return made
}

function maskOf({ traced }: Internals, { planes, range }: BoundCall): () => number {
  const mask = planes.find(({ slot }) => slot.plane === traced.finishMask)!.array
  return () => {
    let finished = 0
    for (let i = range.begin; i < range.end; i++) finished += mask[i] === 0 ? 0 : 1
    return finished
  }
}

const samplesIn = ({ begin, end }: LaunchRange): number => end - begin

/** One finishing kernel whose steps run in one native loop. */
function fusedStepper(internals: Internals, planes: Planes): Stepper {
  const { session, options } = internals
  const call = bind(session.signature, new Map(Object.entries(planes)), options)
  const { steps, builds } = fusedBuilds(internals)
  const launch = builds.executable(session.choose().backend, session.variant(call)).launch()
  const taken = new Int32Array(1)
  fill(launch, call)
  launch.bind(steps.steps, taken, 1, 1)
  const countFinished = maskOf(internals, call)
  return {
    n: samplesIn(call.range),
    calls: [{ kernel: internals.traced.name, call }],
    countFinished,
    longest: Number.POSITIVE_INFINITY,
    advance(cap) {
      launch.set(steps.cap, cap)
      launch.run(call.range)
      return Math.max(0, taken[0]!)
    },
    async advanceAsync(cap) {
      launch.set(steps.cap, cap)
      await launch.runAsync(call.range)
      return Math.max(0, taken[0]!)
    },
  }
}

/** Kernels launched in order, one step at a time. */
function steppedStepper(kernels: readonly Internals[], finishing: Internals, planes: Planes): Stepper {
  const launches = kernels.map((internals) => {
    const { session, options, traced } = internals
    const names = new Set(session.signature.slots.map(({ name }) => name))
    const own = Object.entries(planes).filter(([name]) => names.has(name) || session.signature.aliases.has(name))
    const call = bind(session.signature, new Map(own), options)
    const launch = internals.builds.executable(session.choose().backend, session.variant(call)).launch()
    fill(launch, call)
    return { kernel: traced.name, launch, call, isFinishing: traced === finishing.traced }
  })
  const { call } = launches.find(({ isFinishing }) => isFinishing)!
  return {
    n: samplesIn(call.range),
    calls: launches,
    countFinished: maskOf(finishing, call),
    longest: 1,
    advance() {
      for (const { launch, call: bound } of launches) launch.run(bound.range)
      return 1
    },
    async advanceAsync() {
      for (const { launch, call: bound } of launches) await launch.runAsync(bound.range)
      return 1
    },
  }
}

function refuse(message: string): never {
  throw new HarrierError('E_OPTION', `runUntilDone: ${message}`)
}

function createStepper(
  kernels: HasInternals | readonly HasInternals[],
  planes: Planes,
  options: UntilDoneOptions,
): Stepper {
  if (typeof options !== 'object' || options === null)
    refuse(`the options are ${String(options)}, expected an object such as { maxSteps: 1000 }`)
  const { maxSteps, every } = options
  if (!Number.isInteger(maxSteps) || maxSteps < 1 || maxSteps > 2 ** 31 - 1)
    refuse(`maxSteps is ${String(maxSteps)}, expected a whole number from 1 to 2³¹ − 1`)
  if (every !== undefined && (!Number.isInteger(every) || every < 1))
    refuse(`every is ${String(every)}, expected a whole number of at least 1`)
  const list = ('length' in kernels && Array.isArray(kernels) ? kernels : [kernels]) as readonly HasInternals[]
  const internals = list.map((kernel) => kernel[INTERNALS])
  const finishing = internals.filter(({ traced }) => traced.finishMask !== undefined)
  const [only] = finishing
  if (!only) {
    refuse(
      `kernel '${internals.map(({ traced }) => traced.name).join("', '")}' never finishes a sample: declare a parameter of kind Terminated and call .when(…) on it`,
    )
  }
  if (finishing.length > 1)
    refuse(
      `kernels '${finishing.map(({ traced }) => traced.name).join("' and '")}' both finish samples; one step has one mask`,
    )
  const reducing = internals.find(({ traced }) => traced.parameters.some(({ kind }) => kind.role === 'reduce'))
  if (reducing)
    refuse(
      `kernel '${reducing.traced.name}' has reductions, which would be those of its last step only; reduce in a kernel of its own after the run`,
    )
  if (internals.length > 1) {
    const known = new Set(
      internals.flatMap(({ session }) => [
        ...session.signature.slots.map(({ name }) => name),
        ...session.signature.aliases.keys(),
      ]),
    )
    const unknown = Object.keys(planes).filter((name) => !known.has(name))
    if (unknown.length > 0) refuse(`there is no parameter or output '${unknown.join("', '")}' in any of the kernels`)
  }
  return internals.length === 1 && canFuse(only.traced.graph)
    ? fusedStepper(only, planes)
    : steppedStepper(internals, only, planes)
}

/** How many steps the next launch takes: all that are left, or fewer where somebody wants to look in between. */
const nextCap = (stepper: Stepper, left: number, { every = 1024, onProgress, signal }: UntilDoneOptions): number =>
  Math.min(left, stepper.longest, onProgress || signal ? every : left)

/** Yields the cap of each launch and is told the steps it took; returns the report. */
function* plan(stepper: Stepper, options: UntilDoneOptions): Generator<number, RunReport, number> {
  const { n } = stepper
  let finished = stepper.countFinished()
  let steps = 0
  let launches = 0
  while (finished < n && steps < options.maxSteps) {
    options.signal?.throwIfAborted()
    const cap = nextCap(stepper, options.maxSteps - steps, options)
    const taken = yield cap
    launches++
    steps += taken
    finished = stepper.countFinished()
    options.onProgress?.({ finished, n, steps })
  }
  return { n, finished, steps, launches, status: finished === n ? 'finished' : 'max_steps' }
}

/**
 * Repeats a step kernel until every sample is finished.
 * @param kernels a kernel that declares a `Terminated` mask; or several that make up one step, in order, one of which finishes
 * @param planes every plane by name, outputs included: nothing is allocated
 * @returns how far it came; reaching the cap is a result, not an error
 * @throws E_OPTION for kernels that cannot run so, E_BINDING as `run` does, and the signal's reason when it is aborted
 */
export function runUntilDone(
  kernels: HasInternals | readonly HasInternals[],
  planes: Planes,
  options: UntilDoneOptions,
): RunReport {
  const stepper = createStepper(kernels, planes, options)
  const run = plan(stepper, options)
  let turn = run.next()
  while (!turn.done) turn = run.next(stepper.advance(turn.value))
  return turn.value
}

/** `runUntilDone` off the event loop: `signal` and `onProgress` come into play between launches. */
export async function runUntilDoneAsync(
  kernels: HasInternals | readonly HasInternals[],
  planes: Planes,
  options: UntilDoneOptions,
): Promise<RunReport> {
  const stepper = createStepper(kernels, planes, options)
  for (const { kernel, call } of stepper.calls) refuseResizable(kernel, call)
  const run = plan(stepper, options)
  let turn = run.next()
  while (!turn.done) turn = run.next(await stepper.advanceAsync(turn.value))
  return turn.value
}
