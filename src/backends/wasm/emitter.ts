// What every part of code generation shares: the text so far, the locals that hold values, and what is computed once a call or once a
// group of samples.
// Invariants: a value lives in one local for each vector, or in a single one that all vectors read where it is alike in every lane;
// what is kept for a call or a group lies in locals of its own, as a local that is shared could be overwritten in between.
import { HarrierError } from '../../errors.ts'
import type { Construct, Graph, Node, Value } from '../../ir/graph.ts'
import type { Literal, Type } from '../../ir/types.ts'
import type { Uniformity } from '../llvm/uniformity.ts'
import type { Frame } from './frame.ts'
import { splat } from './lanes.ts'
import { createLocals, lastUses, type Locals, type LocalType } from './locals.ts'

/** Locals that hold a mask of the lanes that run, one for each vector; undefined where all do. */
export type Mask = readonly string[] | undefined

export const read = (local: string): string => `(local.get ${local})`

/** The parameters of the generated function, and its sample counter. */
export const BLOCK = read('$block')
export const BEGIN = read('$begin')
export const END = read('$end')
export const SAMPLE = read('$sample')

export interface Emitter {
  readonly graph: Graph
  readonly frame: Frame
  readonly uniformity: Uniformity
  readonly check: boolean
  /** Locals with the sample numbers of each vector, where lanes do not hold neighbouring samples. */
  readonly samples: readonly string[] | undefined
  /** Elements between samples, or entries, of a plane. */
  stride(plane: number): number
  line(text: string): void
  set(local: string, expression: string): void
  /** Lines that a function emits, indented below an opening line. */
  nest(open: string, emit: () => void, close: string): void

  /** A value as an expression, for one vector. */
  get(value: Value, vector: number): string
  /** Computes a value. The expression may use temporaries, which are given back once the value is in its local. */
  define(value: Value, expression: (vector: number, temporary: () => string) => string): void
  /** Lets a value, such as a region parameter, be read from locals that hold it already. */
  alias(value: Value, locals: readonly string[]): void
  /** A local that keeps its value for the whole call. */
  own(type: LocalType): string
  /** Gives every result of a construct its locals. */
  declareResults(construct: Construct): readonly (readonly string[])[]
  /** Gives back the locals of the values that a node used last. */
  retire(node: Node): void
  /** Gives back the locals of values that were declared while a function ran, after another has used its results. */
  scoped(emit: () => void, use: () => void): void

  take(type: LocalType): string
  give(local: string): void
  /** Emits code that hardly ever runs, whose locals do not count when vectors side by side are chosen. */
  rarely(emit: () => void): void

  /** A literal in every lane; see {@link constantGlobals}. */
  constant(literal: Literal, type: Type): string
  /** Computed once a call, before the samples. */
  once(key: string, type: LocalType, expression: () => string): string
  /** Computed once a group of samples, before its body. */
  perGroup(key: string, type: LocalType, expression: () => string): string
  /** A mask local for each vector, for the whole call. */
  masks(): readonly string[]
  /** From here on lines belong to the body of the group; before, to the call. */
  startGroup(): void
  sections(): Sections
}

/** What was emitted. */
export interface Sections {
  readonly setup: string
  readonly group: string
  readonly body: string
  readonly locals: Locals
  /** Names of the global constants that are used, with their values. */
  readonly constants: ReadonlyMap<string, string>
}

/**
 * Declares constants of functions. An engine makes a literal anew, in up to four instructions, wherever it is used; what a global holds
 * that could have changed it loads, once a call.
 */
export const constantGlobals = (constants: ReadonlyMap<string, string>): string[] =>
  [...constants].map(([name, value]) => `  (global ${name} (mut v128) ${value})`)

/** Vectors that engines make in one instruction. */
const CHEAP: ReadonlySet<string> = new Set([
  '(v128.const i64x2 0 0)',
  '(v128.const i32x4 0 0 0 0)',
  '(v128.const i64x2 -1 -1)',
  '(v128.const i32x4 -1 -1 -1 -1)',
])

/** The locals of a value, and whether they are given back when it dies. */
interface Holding {
  readonly locals: readonly string[]
  isOwner: boolean
}

export interface EmitterRequest {
  readonly graph: Graph
  readonly frame: Frame
  readonly uniformity: Uniformity
  readonly order: readonly Node[]
  readonly check: boolean
  readonly sampleStrides: readonly number[] | undefined
  /** See {@link Emitter.samples}. */
  readonly samples?: readonly string[]
}

export function createEmitter({
  graph,
  frame,
  uniformity: alike,
  order,
  check,
  sampleStrides,
  samples,
}: EmitterRequest): Emitter {
  const { vectors, lanes } = frame
  const locals = createLocals()
  const deaths = lastUses(graph, order)
  const holders = new Map<Value, Holding>()
  const resultHolders = new Map<Construct, readonly Holding[]>()
  const setup: string[] = []
  const group: string[] = []
  const hoisted: string[] = []
  const body: string[] = []
  let lines = hoisted
  let indent = '  '
  let inGroup = false
  const keptForCall = new Map<string, string>()
  const constants = new Map<string, string>()
  const keptForGroup = new Map<string, string>()
  /** What was declared in the region that is being emitted. */
  let scope: Holding[] = []

  function keep(known: Map<string, string>, section: string[]) {
    return (key: string, type: LocalType, expression: () => string): string => {
      const found = known.get(key)
      if (found) return found
      const local = locals.own(type)
      const text = expression()
      section.push(`  (local.set ${local} ${text})`)
      known.set(key, read(local))
      return read(local)
    }
  }

  const once = keep(keptForCall, setup)

  function constant(literal: Literal, type: Type): string {
    const text = splat(literal, type, lanes)
    if (CHEAP.has(text)) return text
    const [, lanesOf, bits] = text.split(' ')
    const name = `$${lanesOf}.${bits}`
    constants.set(name, text)
    return once(name, 'v128', () => `(global.get ${name})`)
  }

  function holdingOf(value: Value): Holding {
    const found = value.op === 'result' ? resultHolders.get(value.source)?.[value.index] : holders.get(value)
    if (found) return found
    throw new HarrierError('E_INTERNAL', `wasm backend: value ${value.id} (${value.op}) is used before it is computed`)
  }

  function release(holding: Holding): void {
    if (holding.isOwner) holding.locals.forEach(locals.give)
    holding.isOwner = false
  }

  function declare(count: number): Holding {
    // Before the samples start, a value may be used by any group, so that its local is its own for good.
    const made = Array.from({ length: count }, () => (inGroup ? locals.take('v128') : locals.own('v128')))
    const holding = { locals: made, isOwner: inGroup }
    scope.push(holding)
    return holding
  }

  function resultVectors({ op, operands, regions }: Construct, index: number): number {
    const deciding =
      op === 'loop'
        ? [regions[0]!.parameters[index + 1]!]
        : [operands[0]!, ...regions.map(({ results }) => results[index]!)]
    return deciding.every(alike.isUniform) ? 1 : vectors
  }

  const line = (text: string): void => {
    lines.push(`${indent}${text.replaceAll('\n', `\n${indent}`)}`)
  }
  const set = (local: string, expression: string): void => {
    if (expression !== read(local)) line(`(local.set ${local} ${expression})`)
  }
  const get = (value: Value, vector: number): string => {
    if (value.op === 'const') return constant(value.literal, value.type)
    const { locals: held } = holdingOf(value)
    return read(held.length === 1 ? held[0]! : held[vector]!)
  }
  const take = (type: LocalType): string => (inGroup ? locals.take(type) : locals.own(type))
  const give = (local: string): void => {
    if (inGroup) locals.give(local)
  }

  return {
    graph,
    frame,
    uniformity: alike,
    check,
    samples,
    stride: (plane) => sampleStrides?.[plane] ?? 1,
    line,
    set,
    nest(open, emit, close) {
      line(open)
      indent += '  '
      emit()
      indent = indent.slice(2)
      line(close)
    },
    get,
    define(value, expression) {
      const holding = declare(alike.isUniform(value) ? 1 : vectors)
      holders.set(value, holding)
      holding.locals.forEach((local, vector) => {
        const temporaries: string[] = []
        const temporary = () => {
          const taken = take('v128')
          temporaries.push(taken)
          return taken
        }
        set(local, expression(vector, temporary))
        temporaries.forEach(give)
      })
    },
    alias(value, shared) {
      const holding = { locals: shared, isOwner: false }
      if (value.op !== 'result') holders.set(value, holding)
      else {
        const others = resultHolders.get(value.source) ?? []
        resultHolders.set(value.source, Object.assign([...others], { [value.index]: holding }))
      }
    },
    own: locals.own,
    declareResults(construct) {
      const made = construct.types.map((_, index) => declare(resultVectors(construct, index)))
      resultHolders.set(construct, made)
      return made.map((holding) => holding.locals)
    },
    retire: (node) => deaths.get(node)?.forEach((value) => value.op !== 'const' && release(holdingOf(value))),
    scoped(emit, use) {
      const outer = scope
      scope = []
      emit()
      use()
      scope.forEach(release)
      scope = outer
    },
    take,
    give,
    rarely: locals.rarely,
    constant,
    once,
    perGroup: keep(keptForGroup, group),
    masks: () => Array.from({ length: vectors }, () => locals.own('v128')),
    startGroup() {
      lines = body
      inGroup = true
      indent = '    '
    },
    sections: () => ({
      setup: [...setup, ...hoisted].join('\n'),
      group: group.join('\n'),
      body: body.join('\n'),
      locals,
      constants,
    }),
  }
}
