// Branches, loops and dispatch over symbolic values: `branch`, `loop`, `whileLoop`, `dispatch`. Each traces its bodies once into regions.
// Invariants: what goes in and out of a region is a nesting of values whose shape and types are fixed; a region changes nothing else.
import type { Value } from '../ir/graph.ts'
import { STATE } from './brands.ts'
import { registerCondition } from './conditions.ts'
import { currentTrace, refusal, withScope, type Trace } from './context.ts'
import { headOf, sameHead, type Head } from './kinds.ts'
import { commonType, componentAs, constantOf, indexValue, readOperands } from './promote.ts'
import {
  difference,
  isPlainObject,
  leafOrder,
  outline,
  pathText,
  putTogether,
  takeApart,
  type Leaf,
  type Path,
  type Structure,
  type Template,
} from './structure.ts'
import {
  componentsOf,
  headText,
  isHandle,
  makeFromComponents,
  makeScalar,
  show,
  use,
  withArticle,
  type Traced,
} from './value.ts'
import type {
  Condition,
  ConditionOperand,
  Element,
  ElementOf,
  Index,
  IndexOperand,
  Make,
  Scalar,
  ShapeOf,
  SymbolicValue,
} from './values.ts'

// Types ------------------------------------------------------------------------------------------------------------------------------

/**
 * What branches give and loops carry: a value, a plain number or boolean, or a nesting of them. The type does not recurse, as types that are
 * computed from it would not end; wrong leaves are refused when the body runs.
 */
export type Carries = SymbolicValue | number | boolean | readonly unknown[] | { readonly [key: string]: unknown }

/** The same nesting with symbolic values throughout. */
export type Carried<T> = T extends SymbolicValue
  ? Make<Extract<ElementOf<T>, Element>, ShapeOf<T>>
  : T extends boolean
    ? Condition
    : T extends number
      ? Scalar
      : { -readonly [K in keyof T]: Carried<T[K]> }

/** What may take the place of such a nesting: equal types, or plain numbers for floats and integers. */
export type SameAs<T> =
  T extends SymbolicValue<infer E, infer S>
    ? SymbolicValue<E, S> | (S extends 'number' ? (E extends 'condition' ? boolean : number) : never)
    : T extends boolean
      ? ConditionOperand
      : T extends number
        ? number | SymbolicValue<'float', 'number'>
        : { readonly [K in keyof T]: SameAs<T[K]> }

// Leaves -----------------------------------------------------------------------------------------------------------------------------

/** A leaf in use: literals have no components until a type is chosen for them. */
interface Piece {
  readonly path: Path
  readonly leaf: Leaf
  /** Undefined for a number literal, which takes the type of what it meets. */
  readonly head: Head | undefined
  readonly components: readonly Value[]
}

const literalHead = (literal: number | boolean): Head => headOf(typeof literal === 'boolean' ? 'bool' : 'f64', [])

const describe = ({ head, leaf }: Piece): string => (head ? withArticle(headText(head)) : `the number ${String(leaf)}`)

/** Takes apart what a function of `call` gave. */
function read(trace: Trace, call: string, whose: string, found: unknown): { structure: Structure; pieces: Piece[] } {
  const structure = takeApart(found, (value, path) => {
    const place = path.length === 0 ? '' : ` at ${pathText(path)}`
    return refusal(
      trace,
      'E_CONTROL_FLOW',
      `${call}: ${whose} gives ${show(value)}${place}, expected traced values, numbers, or arrays and objects of them`,
    )
  })
  const pieces = structure.leaves.map((leaf, k): Piece => {
    const path = structure.paths[k]!
    if (typeof leaf === 'number') return { path, leaf, head: undefined, components: [] }
    if (typeof leaf === 'boolean') {
      return { path, leaf, head: literalHead(leaf), components: [constantOf(trace, leaf, 'bool')] }
    }
    if (isHandle(leaf)) {
      throw refusal(
        trace,
        'E_CONTROL_FLOW',
        `${call}: ${whose} gives ${show(leaf)}, which is no value; use it as ${leaf[STATE].usage}`,
      )
    }
    const state = use(leaf, call)
    return { path, leaf, head: state.head, components: componentsOf(state) }
  })
  return { structure, pieces }
}

const canHold = (literal: number, { type, shape }: Head): boolean =>
  shape.length === 0 && (type === 'f64' || (type === 'i32' && (literal | 0) === literal))

/** The components of a piece as `head` has them, or undefined where it is of another type. */
function piecesAs(trace: Trace, piece: Piece, head: Head): readonly Value[] | undefined {
  if (piece.head) return sameHead(piece.head, head) ? piece.components : undefined
  const literal = Number(piece.leaf)
  return canHold(literal, head) ? [constantOf(trace, literal, head.type)] : undefined
}

/** Cuts a flat list of components into values of the given heads and nests them. */
function wrap(
  trace: Trace,
  { template, paths }: Structure,
  heads: readonly Head[],
  flat: readonly Value[],
  label: string,
): unknown {
  let next = 0
  const values = heads.map((head, k) => {
    const components = flat.slice(next, (next += head.components))
    return makeFromComponents(trace, head, components, `${label}${pathText(paths[k]!)}`)
  })
  return putTogether(template, (k) => values[k]!)
}

/** A result that is one condition by itself must be used, as that of `where` must. */
function wrapResults(
  trace: Trace,
  structure: Structure,
  heads: readonly Head[],
  flat: readonly Value[],
  label: string,
  entry: (...operands: never[]) => unknown,
): unknown {
  if (structure.template.form !== 'leaf' || heads[0]!.type !== 'bool') return wrap(trace, structure, heads, flat, label)
  return makeFromComponents(trace, heads[0]!, flat, label, registerCondition(trace, label, entry))
}

// Branch and dispatch ----------------------------------------------------------------------------------------------------------------

interface Side {
  /** `the first function`. */
  readonly name: string
  readonly run: () => unknown
}

/** What the sides of a branch agree on, filled in as they are traced. */
interface Agreement {
  structure: Structure | undefined
  heads: readonly Head[]
}

/**
 * Traces sides into regions through `construct`, which calls the functions it is given in order.
 * A number literal takes the type of what the other sides have in its place, which is known only when the last of them is traced; until
 * then its place in the results of its side stays empty. The builder reads the results of all sides after the last.
 */
function traceSides(
  trace: Trace,
  call: string,
  sides: readonly Side[],
  construct: (fills: readonly (() => readonly Value[])[]) => readonly Value[],
): { agreement: Agreement; flat: readonly Value[] } {
  const agreement: Agreement = { structure: undefined, heads: [] }
  const traced: { readonly side: Side; readonly pieces: readonly Piece[]; readonly results: Value[] }[] = []

  const settle = (): void => {
    const [first] = traced
    agreement.heads = first!.pieces.map((piece, k) => {
      const typed = traced.map(({ pieces }) => pieces[k]!.head).find((head) => head !== undefined)
      const head = typed ?? headOf('f64', [])
      for (const { side, pieces } of traced) {
        if (piecesAs(trace, pieces[k]!, head)) continue
        const other = traced.find(({ pieces: others }) => others[k]!.head === typed)!
        const place = piece.path.length === 0 ? '' : ` at ${pathText(piece.path)}`
        throw refusal(
          trace,
          'E_CONTROL_FLOW',
          `${call}: the sides give different types${place}: ${other.side.name} ${describe(other.pieces[k]!)}, ${side.name} ${describe(pieces[k]!)}; convert one with toFloat() or toInt(), or give both one shape`,
        )
      }
      return head
    })
    for (const { pieces, results } of traced) {
      results.push(...pieces.flatMap((piece, k) => piecesAs(trace, piece, agreement.heads[k]!)!))
    }
  }

  const fills = sides.map((side, number) => (): readonly Value[] => {
    const results: Value[] = []
    withScope(trace, call, () => {
      const { structure, pieces } = read(trace, call, side.name, side.run())
      if (pieces.length === 0) {
        throw refusal(trace, 'E_CONTROL_FLOW', `${call}: ${side.name} gives no value`)
      }
      agreement.structure ??= structure
      const different = difference(agreement.structure.template, structure.template)
      if (different) {
        const place = different.length === 0 ? '' : ` at ${pathText(different)}`
        throw refusal(
          trace,
          'E_CONTROL_FLOW',
          `${call}: the sides give different shapes${place}: ${traced[0]!.side.name} ${outlineAt(agreement.structure.template, different)}, ${side.name} ${outlineAt(structure.template, different)}`,
        )
      }
      const order = leafOrder(agreement.structure.template, structure.template)
      traced.push({ side, pieces: order.map((k) => pieces[k]!), results })
      if (number === sides.length - 1) settle()
    })
    return results
  })
  const flat = construct(fills)
  return { agreement, flat }
}

/** The outline of the part of a nesting that a path leads to. */
function outlineAt(template: Template, path: Path): string {
  const [step, ...rest] = path
  if (step === undefined) return outline(template)
  if (template.form === 'array') return outlineAt(template.items[Number(step)]!, rest)
  if (template.form === 'object') return outlineAt(template.entries.find(([key]) => key === step)![1], rest)
  return outline(template)
}

function requireFunction(trace: Trace, call: string, value: unknown, what: string): asserts value is () => unknown {
  if (typeof value === 'function') return
  throw refusal(trace, 'E_CONTROL_FLOW', `${call}: ${what} is ${show(value)}, expected a function`)
}

/** One condition of the user's, as a value. */
function conditionValue(trace: Trace, call: string, condition: unknown): Value {
  const { items } = readOperands(call, [condition])
  commonType(trace, call, items, 'condition')
  if (items[0]!.state && items[0]!.state.head.shape.length > 0) {
    throw refusal(trace, 'E_TYPE', `${call}: found ${show(condition)}, expected one condition`)
  }
  return componentAs(trace, items[0]!, 0, 'bool')
}

/** A side chosen while tracing, as all sides are when the selector is a constant. */
const only = (trace: Trace, call: string, side: Side) => traceSides(trace, call, [side], ([fill]) => fill!())

/**
 * The values of one of two functions, which give the same shape: the side that no sample needs is skipped. A fault, a NaN or an infinite
 * value of the side not taken reaches neither values nor gradients.
 */
export function branch<const T extends Carries, const U extends SameAs<T>>(
  condition: ConditionOperand,
  then: () => T,
  otherwise: () => U,
): Carried<T>
export function branch(condition: unknown, then: unknown, otherwise: unknown): unknown {
  const trace = currentTrace('branch()')
  requireFunction(trace, 'branch', then, 'the first side')
  requireFunction(trace, 'branch', otherwise, 'the second side')
  const chooses = conditionValue(trace, 'branch', condition)
  const sides: readonly Side[] = [
    { name: 'the first side', run: then },
    { name: 'the second side', run: otherwise },
  ]
  const { agreement, flat } =
    chooses.op === 'const'
      ? only(trace, 'branch', sides[chooses.literal ? 0 : 1]!)
      : traceSides(trace, 'branch', sides, ([first, second]) => trace.builder.branch(chooses, first!, second!))
  return wrapResults(trace, agreement.structure!, agreement.heads, flat, 'branch(…)', branch)
}

/** The values of the function whose number is the index, clamped to the range; all functions give the same shape. */
export function dispatch<const T extends Carries, const Others extends readonly (() => SameAs<T>)[]>(
  index: IndexOperand,
  cases: readonly [() => T, ...Others],
): Carried<T>
export function dispatch(index: unknown, cases: unknown): unknown {
  const trace = currentTrace('dispatch()')
  if (!Array.isArray(cases) || cases.length === 0) {
    throw refusal(
      trace,
      'E_CONTROL_FLOW',
      `dispatch: found ${Array.isArray(cases) ? 'no cases' : show(cases)}, expected an array of functions`,
    )
  }
  const sides = cases.map((run: unknown, k): Side => {
    requireFunction(trace, 'dispatch', run, `case ${k}`)
    return { name: `case ${k}`, run }
  })
  const number = indexValue('dispatch', index)
  const { agreement, flat } =
    number.op === 'const'
      ? only(trace, 'dispatch', sides[Math.min(Math.max(Number(number.literal), 0), sides.length - 1)]!)
      : traceSides(trace, 'dispatch', sides, (fills) => trace.builder.dispatch(number, fills))
  return wrapResults(trace, agreement.structure!, agreement.heads, flat, 'dispatch(…)', dispatch)
}

// Loops ------------------------------------------------------------------------------------------------------------------------------

/** Largest count of iterations; `max: Infinity` means this. */
const MOST = 2 ** 31 - 1

function countValue(trace: Trace, call: string, count: unknown, what: string): Value {
  if (typeof count !== 'number') return indexValue(call, count)
  if (Number.isInteger(count) && count >= 0 && count <= MOST) return constantOf(trace, count, 'i32')
  throw refusal(
    trace,
    'E_CONTROL_FLOW',
    `${call}: ${what} is ${count}, expected a whole number from 0 to ${MOST}, or an int32 value`,
  )
}

interface LoopInput {
  readonly call: string
  readonly count: Value
  readonly initial: unknown
  readonly body: (iteration: Traced, carried: unknown) => unknown
  readonly condition: ((carried: unknown) => unknown) | undefined
  readonly entry: (...operands: never[]) => unknown
}

function traceLoop(trace: Trace, { call, count, initial, body, condition, entry }: LoopInput): unknown {
  const { structure, pieces } = read(trace, call, 'the initial state', initial)
  if (pieces.length === 0) {
    throw refusal(
      trace,
      'E_CONTROL_FLOW',
      `${call}: the initial state carries nothing; a loop gives back only what it carries`,
    )
  }
  const heads = pieces.map(({ head, leaf }) => head ?? literalHead(leaf as number))
  const wrapCarries = (carries: readonly Value[]) => wrap(trace, structure, heads, carries, 's')

  const next = (iteration: Value, carries: readonly Value[]): readonly Value[] =>
    withScope(trace, call, () => {
      const given = body(makeScalar(trace, iteration, 'i'), wrapCarries(carries))
      const after = read(trace, call, 'the body', given)
      const different = difference(structure.template, after.structure.template)
      if (different) {
        const place = different.length === 0 ? '' : ` at ${pathText(different)}`
        throw refusal(
          trace,
          'E_CONTROL_FLOW',
          `${call}: the carried shape changes${place}: it starts as ${outlineAt(structure.template, different)}, the body gives back ${outlineAt(after.structure.template, different)}`,
        )
      }
      const order = leafOrder(structure.template, after.structure.template)
      return order.flatMap((from, k) => {
        const piece = after.pieces[from]!
        const components = piecesAs(trace, piece, heads[k]!)
        if (components) return components
        throw refusal(
          trace,
          'E_CONTROL_FLOW',
          `${call}: the carried type of s${pathText(structure.paths[k]!)} changes: it starts as ${withArticle(headText(heads[k]!))}, the body gives back ${describe(piece)}; ` +
            'start with the type that the body gives (toFloat(0), toInt(0)), or convert what it gives back',
        )
      })
    })

  const goesOn =
    condition &&
    ((_: Value, carries: readonly Value[]): Value =>
      withScope(trace, call, () => conditionValue(trace, `${call} condition`, condition(wrapCarries(carries)))))

  const flat = trace.builder.loop({
    count,
    initial: pieces.flatMap((piece, k) => piecesAs(trace, piece, heads[k]!)!),
    body: next,
    ...(goesOn ? { condition: goesOn } : {}),
  })
  return wrapResults(trace, structure, heads, flat, `${call}(…)`, entry)
}

/** Options of `loop`. */
export interface LoopOptions<S> {
  /** Tested before each iteration, for each sample by itself. */
  readonly while?: (s: S) => ConditionOperand
}

function readOptions(trace: Trace, call: string, options: unknown, known: string): unknown {
  if (options === undefined) return undefined
  if (!isPlainObject(options)) {
    throw refusal(trace, 'E_OPTION', `${call}: the options are ${show(options)}, expected { ${known} }`)
  }
  const unknown = Object.keys(options).find((key) => key !== known)
  if (unknown !== undefined) {
    throw refusal(trace, 'E_OPTION', `${call}: there is no option '${unknown}'; it takes { ${known} }`)
  }
  return options[known]
}

/**
 * Runs `body` at most `count` times (a plain number, or an int32 value of the sample), carrying a nesting of values whose types may not
 * change; gives the last one. The body is traced once: the size of the code does not depend on the count.
 */
export function loop<const T extends Carries, const U extends SameAs<T>>(
  count: IndexOperand,
  initial: T,
  body: (i: Index, s: Carried<T>) => U,
  options?: LoopOptions<Carried<T>>,
): Carried<T>
export function loop(count: unknown, initial: unknown, body: unknown, options?: unknown): unknown {
  const trace = currentTrace('loop()')
  requireFunction(trace, 'loop', body, 'the body')
  const condition = readOptions(trace, 'loop', options, 'while')
  if (condition !== undefined) requireFunction(trace, 'loop', condition, 'while')
  return traceLoop(trace, {
    call: 'loop',
    count: countValue(trace, 'loop', count, 'the count'),
    initial,
    body: body as LoopInput['body'],
    condition: condition as LoopInput['condition'],
    entry: loop,
  })
}

/**
 * Runs `body` while the condition holds, tested before each iteration for each sample by itself, and at most `max` times (a plain number,
 * an int32 value, or Infinity for no cap of your own). A loop that may need reverse derivatives needs a finite cap.
 */
export function whileLoop<const T extends Carries, const U extends SameAs<T>>(
  initial: T,
  condition: (s: Carried<T>) => ConditionOperand,
  body: (s: Carried<T>) => U,
  options: { readonly max: IndexOperand },
): Carried<T>
export function whileLoop(initial: unknown, condition: unknown, body: unknown, options: unknown): unknown {
  const trace = currentTrace('whileLoop()')
  requireFunction(trace, 'whileLoop', condition, 'the condition')
  requireFunction(trace, 'whileLoop', body, 'the body')
  const max = readOptions(trace, 'whileLoop', options, 'max')
  if (max === undefined) {
    throw refusal(
      trace,
      'E_CONTROL_FLOW',
      'whileLoop: the cap is missing; say { max: n }, the most iterations that any sample may take, or { max: Infinity }',
    )
  }
  const run = body as (carried: unknown) => unknown
  return traceLoop(trace, {
    call: 'whileLoop',
    count: countValue(trace, 'whileLoop', max === Infinity ? MOST : max, 'max'),
    initial,
    body: (_, carried) => run(carried),
    condition: condition as NonNullable<LoopInput['condition']>,
    entry: whileLoop,
  })
}
