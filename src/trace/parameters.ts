// What the body gets for each parameter: a value, a cell (mutables), or a handle (tables, accumulators, reductions, the finished mask).
// Invariants: plane numbers follow the declared order; effects on accumulators and reductions are recorded in program order, mutables are
// stored and the mask applied when the body has returned.
import type { PlaneRole, Value } from '../ir/graph.ts'
import { assign } from './assign.ts'
import { STATE } from './brands.ts'
import { coercionMembers } from './coercion.ts'
import { refusal, requireTopLevel, type Sink, type Trace } from './context.ts'
import type { Axis, Kind, Role } from './kinds.ts'
import { indexValue } from './promote.ts'
import { isPlainObject } from './structure.ts'
import { makeFromComponents, makeValue, show, type Handle, type HandleState, type Traced } from './value.ts'

const PLANE_ROLE: Record<Role, PlaneRole> = {
  per_sample: 'sample',
  vec_in: 'sample',
  mat_in: 'sample',
  mutable: 'sample',
  uniform: 'uniform',
  lookup: 'table',
  accum_out: 'accumulator',
  reduce: 'reduction',
  terminated: 'mask',
}

/** A parameter in the body, and what to do when the body has returned. */
export interface Argument {
  readonly value: Traced | Handle
  readonly plane: number
  /** Stores a mutable, applies the mask. */
  readonly finish: () => void
}

interface Place {
  readonly trace: Trace
  readonly name: string
  readonly kind: Kind
  readonly plane: number
}

const nothing = (): void => undefined

function makeHandle(parts: Omit<HandleState, 'sort' | 'label'>, members: Readonly<Record<string, unknown>>): Handle {
  const state: HandleState = { sort: 'handle', label: parts.parameter, ...parts }
  const handle = Object.create(coercionMembers) as object
  return Object.freeze(Object.assign(handle, members, { [STATE]: state }) as Handle)
}

/** Notes that the body has to use a parameter. */
function addSink({ trace, name }: Place, call: string): Sink {
  const sink: Sink = { parameter: name, call, isUsed: false }
  trace.sinks.push(sink)
  return sink
}

/** What the body gets for a parameter of each role. */
const MAKE: Record<Role, (place: Place) => Omit<Argument, 'plane'>> = {
  per_sample: sampleValue,
  vec_in: sampleValue,
  mat_in: sampleValue,
  uniform({ trace, name, kind, plane }) {
    const value = makeValue({
      trace,
      head: kind.head,
      label: name,
      parameter: name,
      component: () => trace.builder.uniform(plane),
    })
    return { value, finish: nothing }
  },
  mutable: cell,
  lookup: table,
  accum_out: accumulator,
  reduce: reduction,
  terminated: mask,
}

export function makeArgument(trace: Trace, name: string, kind: Kind): Argument {
  const { type, components } = kind.head
  const plane = trace.builder.plane({
    name,
    role: PLANE_ROLE[kind.role],
    type,
    components,
    ...(kind.reduce === undefined ? {} : { reduce: kind.reduce }),
  })
  return { plane, ...MAKE[kind.role]({ trace, name, kind, plane }) }
}

function sampleValue({ trace, name, kind, plane }: Place): Omit<Argument, 'plane'> {
  const component = (k: number) => trace.builder.load(plane, k)
  return { value: makeValue({ trace, head: kind.head, label: name, parameter: name, component }), finish: nothing }
}

function cell(place: Place): Omit<Argument, 'plane'> {
  const { trace, name, kind, plane } = place
  const sink = addSink(place, `${name}.set(value)`)
  let content: readonly Value[] | undefined
  const set = (value: unknown): void => {
    const call = `${name}.set()`
    requireTopLevel(trace, call, 'set it')
    content = assign(call, value, kind.head).components
    sink.isUsed = true
  }
  return {
    value: makeValue(
      {
        trace,
        head: kind.head,
        label: name,
        parameter: name,
        component: (k) => content?.[k] ?? trace.builder.load(plane, k),
      },
      { set },
    ),
    finish: () => content?.forEach((value, k) => trace.builder.store(plane, k, value)),
  }
}

/** The row-major position of named indices; −1, which no table has, where one is outside its axis. */
function flatIndex(trace: Trace, call: string, axes: readonly Axis[], indices: unknown): Value {
  const b = trace.builder
  const names = axes.map(({ name }) => name)
  const form = `{ ${names.map((name) => `${name}: …`).join(', ')} }`
  if (!isPlainObject(indices)) {
    throw refusal(trace, 'E_TYPE', `${call}: found ${show(indices)}, expected named indices ${form}`)
  }
  const unknown = Object.keys(indices).filter((name) => !names.includes(name))
  const missing = names.filter((name) => !(name in indices))
  if (unknown.length > 0 || missing.length > 0) {
    const problems = [
      ...missing.map((name) => `axis '${name}' is missing`),
      ...unknown.map((name) => `there is no axis '${name}'`),
    ]
    throw refusal(trace, 'E_TYPE', `${call}: ${problems.join(', ')}; expected named indices ${form}`)
  }
  let flat = b.zero('i32')
  let inside = b.const('bool', true)
  for (const { name, extent } of axes) {
    const index = indexValue(call, indices[name])
    const size = b.const('i32', extent)
    inside = b.and(inside, b.and(b.le(b.zero('i32'), index), b.lt(index, size)))
    flat = b.add(b.mul(flat, size), index)
  }
  return b.select(inside, flat, b.const('i32', -1))
}

function table({ trace, name, kind, plane }: Place): Omit<Argument, 'plane'> {
  const { axes, head } = kind
  const usage = axes ? `${name}.at({ ${axes.map((axis) => `${axis.name}: i`).join(', ')} })` : `${name}.at(i)`
  const call = `${name}.at()`
  const at = (index: unknown): Traced => {
    const position = axes ? flatIndex(trace, call, axes, index) : indexValue(call, index)
    const components = Array.from({ length: head.components }, (_, k) => trace.builder.gather(plane, k, position))
    return makeFromComponents(trace, head, components, `${name}.at(…)`)
  }
  return { value: makeHandle({ trace, parameter: name, text: kind.text, usage }, { at }), finish: nothing }
}

function accumulator(place: Place): Omit<Argument, 'plane'> {
  const { trace, name, kind, plane } = place
  const usage = `${name}.add(value) or ${name}.add(value, index)`
  const sink = addSink(place, usage)
  const add = (value: unknown, index?: unknown): void => {
    const call = `${name}.add()`
    requireTopLevel(trace, call, 'add it')
    const { components } = assign(call, value, kind.head)
    const position = index === undefined ? trace.builder.sampleIndex() : indexValue(call, index)
    components.forEach((component, k) => trace.builder.scatterAdd(plane, k, position, component))
    sink.isUsed = true
  }
  return { value: makeHandle({ trace, parameter: name, text: kind.text, usage }, { add }), finish: nothing }
}

function reduction(place: Place): Omit<Argument, 'plane'> {
  const { trace, name, kind, plane } = place
  const usage = `${name}.contribute(value)`
  const sink = addSink(place, usage)
  const contribute = (value: unknown): void => {
    const call = `${name}.contribute()`
    requireTopLevel(trace, call, 'contribute it')
    assign(call, value, kind.head).components.forEach((component, k) => trace.builder.contribute(plane, k, component))
    sink.isUsed = true
  }
  const state = { trace, parameter: name, text: kind.text, usage, reduction: { plane, head: kind.head } }
  return { value: makeHandle(state, { contribute }), finish: nothing }
}

function mask(place: Place): Omit<Argument, 'plane'> {
  const { trace, name, kind, plane } = place
  const usage = `${name}.when(condition)`
  const sink = addSink(place, usage)
  let finished: Value | undefined
  const when = (condition: unknown): void => {
    const call = `${name}.when()`
    requireTopLevel(trace, call, `call ${call}`)
    if (finished) {
      throw refusal(
        trace,
        'E_DEFINITION',
        `${call} is called twice; a sample finishes by one condition: join them with or(a, b)`,
      )
    }
    finished = assign(call, condition, kind.head).components[0]!
    sink.isUsed = true
  }
  return {
    value: makeHandle({ trace, parameter: name, text: kind.text, usage }, { when }),
    finish: () => finished && trace.builder.finish(plane, finished),
  }
}
