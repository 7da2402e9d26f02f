// Makes a traced kernel callable: `k(x, a, b)`, `k.with`, `k.bound`, `k.async`, and what it tells about itself.
// Invariant: a callable never changes; `with` gives another one over the same builds.
import type { BackendName } from '../backends/backend.ts'
import { HarrierError } from '../errors.ts'
import { toDot } from '../ir/dot.ts'
import { print } from '../ir/print.ts'
import type { FloatType } from '../ir/types.ts'
import type { ArgumentSpec, TracedKernel } from '../trace/traced.ts'
import { createBuilds, type Builds, type Variant } from './executables.ts'
import { INTERNALS, type HasInternals } from './internals.ts'
import { isNamedArguments } from './arguments.ts'
import { checkOptions, type CallOptions } from './options.ts'
import { backendReport, chooseBackend } from './registry.ts'
import { createSession, type Bound } from './session.ts'

/** Options of an asynchronous call, after its arguments. */
export interface AsyncOptions {
  /** Honoured until the call is launched, also while it waits for its turn; what is under way goes on. */
  readonly signal?: AbortSignal
}

/** A kernel as the runtime makes it; `kernel()` gives it the types of its parameters and results. */
export interface Callable extends HasInternals {
  (...args: readonly unknown[]): unknown
  readonly name: string
  /** `[role, name]` of everything that a call binds, in canonical order. */
  readonly argSpec: ArgumentSpec
  /** Names of the outputs, in return order. */
  readonly outputs: readonly string[]
  readonly doc: string | undefined
  with(options: CallOptions): Callable
  bound(planes: Readonly<Record<string, unknown>>, options?: CallOptions): Bound
  async(...args: readonly unknown[]): Promise<unknown>
  explain(): string
  source(form: SourceForm): string
  graph(): string
}

/** ir: the graph as text; llvm, asm: what the host runs; wat: what the embedded backend runs. */
export type SourceForm = 'ir' | 'llvm' | 'asm' | 'wat'

const BACKEND_OF_FORM: Record<Exclude<SourceForm, 'ir'>, BackendName> = { llvm: 'host', asm: 'host', wat: 'wasm' }

/** What Node.js prints a value as. */
const INSPECT: unique symbol = Symbol.for('nodejs.util.inspect.custom')

/** Only an object whose one key is `signal` holds options; anything else is an argument. */
const isAsyncOptions = (value: unknown): value is AsyncOptions =>
  isNamedArguments(value) &&
  Object.keys(value).length === 1 &&
  'signal' in value &&
  value['signal'] instanceof AbortSignal

export function createCallable(
  traced: TracedKernel,
  options: CallOptions = {},
  builds: Builds = createBuilds(traced),
): Callable {
  const session = createSession(traced, builds, options)
  const call = (...args: readonly unknown[]): unknown => session.call(args)

  const planar = (floatType: FloatType): Variant => session.variant({ floatType, sampleStrides: [] })

  const members: Omit<Callable, 'name' | typeof INTERNALS> = {
    argSpec: traced.argSpec,
    outputs: traced.outputNames,
    doc: traced.doc,
    with: (more: CallOptions) => createCallable(traced, { ...options, ...checkOptions(traced.name, more) }, builds),
    bound: (planes: Readonly<Record<string, unknown>>, more?: CallOptions) =>
      more ? members.with(more).bound(planes) : session.bound(planes),
    async(...args: readonly unknown[]) {
      const last = args.at(-1)
      return isAsyncOptions(last) ? session.callAsync(args.slice(0, -1), last.signal) : session.callAsync(args)
    },
    explain: () => explain(traced, options),
    source(form: SourceForm) {
      const variant = planar(options.dtype ?? 'f64')
      if (form === 'ir') return print(builds.graph(variant))
      if (!Object.hasOwn(BACKEND_OF_FORM, form)) {
        throw new HarrierError(
          'E_OPTION',
          `kernel '${traced.name}': source('${String(form)}') has no such form; the forms are 'ir', '${Object.keys(BACKEND_OF_FORM).join("', '")}'`,
        )
      }
      return builds.source(chooseBackend(BACKEND_OF_FORM[form]).backend, variant, form)
    },
    graph: () => toDot(traced.graph),
  }
  const takes = traced.parameters.map(({ name, kind }) => `${name}: ${kind.text}`).join(', ')
  Object.defineProperties(call, {
    name: { value: traced.name },
    [INTERNALS]: { value: { traced, builds, options, session } },
    [INSPECT]: { value: () => `[kernel '${traced.name}' (${takes})]` },
  })
  return Object.freeze(Object.assign(call, members)) as Callable
}

function explain(traced: TracedKernel, { backend, math = traced.math }: CallOptions): string {
  const { name, parameters, outputs, namingNote } = traced
  const choice = chooseBackend(backend)
  const takes = parameters.map(({ name: parameter, kind }) => `${parameter}: ${kind.text}`).join(', ')
  const gives = outputs.map(({ name: output }) => output).join(', ')
  return [
    `kernel '${name}' (${takes}) gives ${gives || 'nothing: it works in place'}`,
    `runs on ${choice.backend.name}: ${choice.reason}`,
    ...choice.passedOver.map((reason) => `  passed over ${reason}`),
    `numbers are ${math === 'strict' ? 'strict: no contraction, no reassociation' : 'contracted: products and sums fuse where they meet'}`,
    ...(namingNote ? [`names: ${namingNote}`] : []),
    ...backendReport().map((line) => `  ${line}`),
  ].join('\n')
}
