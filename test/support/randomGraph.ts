// Random well-typed graphs for property tests: straight code, loops with counts and conditions of each sample, branches, shortcuts, dispatches,
// gathers, and every effect.
// Invariants: a program is plain data that fast-check shrinks by dropping instructions, and every program builds: an operand is
// chosen by a number, modulo what is in scope; a failure prints the seed (fast-check does) and the text of the graph.
// No bits of a NaN are looked at, as they are unspecified.
import * as fc from 'fast-check'
import { createBuilder, type Builder } from '../../src/ir/build.ts'
import type { Graph, Plane, Value } from '../../src/ir/graph.ts'
import { definition, OP_NAMES, type ComputedOp, type OpName, type PlainOp } from '../../src/ir/ops.ts'
import { print } from '../../src/ir/print.ts'
import { isComputed } from '../../src/ir/semantics.ts'
import { canBitcast, isFloat, isInClass, TYPES, type FloatType, type Literal, type Type } from '../../src/ir/types.ts'
import { GRID } from './values.ts'

export interface RandomGraphOptions {
  /** Type of the float planes; both float types occur inside. Absent: f64. */
  readonly float?: FloatType
  /** Plain ops to use beside conversions; absent: all that are basic. */
  readonly ops?: readonly PlainOp[]
  /** Whether loops and branches hold effects too. Absent: false. */
  readonly effectsInRegions?: boolean
  /** Whether there are loops, branches and dispatches. Absent: true. */
  readonly constructs?: boolean
  /** Whether samples can finish. Absent: true. */
  readonly finishing?: boolean
}

export interface RandomGraph {
  readonly graph: Graph
}

/** A choice among what is in scope, modulo how much there is. */
type Pick = number
type Picks = readonly [Pick, Pick, Pick]

type Instruction =
  | { readonly kind: 'op'; readonly op: Pick; readonly type: Pick; readonly picks: Picks }
  | { readonly kind: 'convert'; readonly from: Pick; readonly to: Pick; readonly picks: Picks }
  | { readonly kind: 'literal'; readonly type: Pick; readonly value: Pick }
  | { readonly kind: 'gather'; readonly table: Pick; readonly picks: Picks }
  | { readonly kind: 'effect'; readonly effect: Pick; readonly picks: Picks }
  | {
      readonly kind: 'loop'
      readonly count: Pick
      readonly isCountKnown: boolean
      readonly carries: readonly Pick[]
      readonly body: readonly Instruction[]
      readonly condition: readonly Instruction[]
      readonly picks: Picks
    }
  | {
      readonly kind: 'branch' | 'shortcut' | 'dispatch'
      readonly picks: Picks
      readonly results: readonly Pick[]
      readonly sides: readonly (readonly Instruction[])[]
    }

const choice = fc.nat({ max: 999 })
const picks = fc.tuple(choice, choice, choice)

const kind = <K extends Instruction['kind']>(...kinds: K[]): fc.Arbitrary<K> => fc.constantFrom(...kinds)

const straight: fc.Arbitrary<Instruction> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: kind('op'), op: choice, type: choice, picks }) },
  { weight: 3, arbitrary: fc.record({ kind: kind('convert'), from: choice, to: choice, picks }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('literal'), type: choice, value: choice }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('gather'), table: choice, picks }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('effect'), effect: choice, picks }) },
)

/** Types of carries and of results of branches. */
const types = fc.array(choice, { minLength: 1, maxLength: 3 })

/** Straight code, and above a depth of 0 constructs of blocks one level less deep. */
function blocks(depth: number): fc.Arbitrary<readonly Instruction[]> {
  if (depth === 0) return fc.array(straight, { maxLength: 12 })
  const inner = blocks(depth - 1)
  const instruction: fc.Arbitrary<Instruction> = fc.oneof(
    { weight: 8, arbitrary: straight },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: kind('loop'),
        count: choice,
        isCountKnown: fc.boolean(),
        carries: types,
        body: inner,
        condition: inner,
        picks,
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: kind('branch', 'shortcut', 'dispatch'),
        picks,
        results: types,
        sides: fc.array(inner, { minLength: 2, maxLength: 4 }),
      }),
    },
  )
  return fc.array(instruction, { maxLength: 16 })
}

/** Every role, several components, and each type that planes hold. */
const planesOf = (float: FloatType): readonly Plane[] => [
  { name: 'x', role: 'sample', type: float, components: 1 },
  { name: 'v', role: 'sample', type: float, components: 3 },
  { name: 'k', role: 'sample', type: 'i32', components: 1 },
  { name: 'c', role: 'sample', type: 'bool', components: 1 },
  { name: 'p', role: 'uniform', type: float, components: 1 },
  { name: 'n', role: 'uniform', type: 'i32', components: 1 },
  { name: 't', role: 'table', type: float, components: 2 },
  { name: 's', role: 'table', type: 'i32', components: 1 },
  { name: 'd', role: 'table', type: 'bool', components: 1 },
  { name: 'y', role: 'sample', type: float, components: 2 },
  { name: 'j', role: 'sample', type: 'i32', components: 1 },
  { name: 'q', role: 'sample', type: 'bool', components: 1 },
  { name: 'a', role: 'accumulator', type: float, components: 2 },
  { name: 'h', role: 'accumulator', type: 'i32', components: 1 },
  { name: 'total', role: 'reduction', type: float, components: 2, reduce: 'sum' },
  { name: 'product', role: 'reduction', type: float, components: 1, reduce: 'prod' },
  { name: 'most', role: 'reduction', type: float, components: 1, reduce: 'max' },
  { name: 'least', role: 'reduction', type: 'i32', components: 1, reduce: 'min' },
  { name: 'tally', role: 'reduction', type: 'i32', components: 1, reduce: 'sum' },
  { name: 'every', role: 'reduction', type: 'bool', components: 1, reduce: 'all' },
  { name: 'some', role: 'reduction', type: 'bool', components: 1, reduce: 'any' },
]

const MASK: Plane = { name: 'done', role: 'mask', type: 'bool', components: 1 }

const modulo = <T>(from: readonly T[], pick: Pick): T => from[pick % from.length]!

/** Plain ops that stand in the interpreter's own table. */
export const COMPUTED_OPS: readonly ComputedOp[] = OP_NAMES.filter(isComputed)
const PLAIN_BASIC = COMPUTED_OPS.filter(
  (op): op is Extract<ComputedOp, PlainOp> => op !== 'convert' && op !== 'bitcast',
)

/** The types that an op's T ranges over. */
export const typesOf = (op: OpName): readonly Type[] => {
  const { T } = definition(op)
  return T === undefined ? TYPES : TYPES.filter((type) => isInClass(type, T))
}

/** Values in scope, by type. */
type Scope = Record<Type, Value[]>

interface Builders {
  readonly b: Builder
  readonly planes: readonly Plane[]
  readonly ops: readonly PlainOp[]
  readonly effectsInRegions: boolean
}

const within = (scope: Scope): Scope =>
  Object.fromEntries(TYPES.map((type) => [type, [...scope[type]]])) as unknown as Scope

const literalOf = (type: Type, value: Pick): Literal => modulo(GRID[type], value)

function take({ b }: Builders, scope: Scope, type: Type, pick: Pick): Value {
  return scope[type].length > 0 ? modulo(scope[type], pick) : b.const(type, literalOf(type, pick))
}

/** A float that is no NaN, so that its bits are specified. */
function bitsSafe({ b }: Builders, value: Value): Value {
  return isFloat(value.type) ? b.select(b.eq(value, value), value, b.zero(value.type)) : value
}

function addEffect(
  builders: Builders,
  scope: Scope,
  { effect, picks: [first, second, third] }: Extract<Instruction, { kind: 'effect' }>,
) {
  const { b, planes } = builders
  const targets = planes.flatMap(({ name, role }, plane) =>
    role === 'accumulator' || role === 'reduction' || role === 'mask' || 'yjq'.includes(name) ? [plane] : [],
  )
  const plane = modulo(targets, effect)
  const { role, type, components } = planes[plane]!
  const component = first % components
  const value = take(builders, scope, type, second)
  if (role === 'mask') b.finish(plane, value)
  else if (role === 'reduction') b.contribute(plane, component, value)
  else if (role === 'sample') b.store(plane, component, value)
  else b.scatterAdd(plane, component, take(builders, scope, 'i32', third), value)
}

function addLoop(builders: Builders, scope: Scope, instruction: Extract<Instruction, { kind: 'loop' }>): void {
  const { b } = builders
  const {
    count,
    isCountKnown,
    carries,
    body,
    condition,
    picks: [first, second],
  } = instruction
  const types = carries.map((pick) => modulo(TYPES, pick))
  const results = b.loop({
    count: isCountKnown
      ? b.const('i32', count % 6)
      : b.sub(b.and(take(builders, scope, 'i32', count), b.const('i32', 7)), b.const('i32', 1)),
    initial: types.map((type, k) => take(builders, scope, type, first + k)),
    body(iteration, values) {
      const inner = within(scope)
      inner.i32.push(iteration)
      values.forEach((value) => inner[value.type].push(value))
      addBlock(builders, inner, body, true)
      // Counted from the end, where what the body made stands.
      return types.map((type, k) => inner[type].at(-1 - ((second + k) % 3)) ?? take(builders, inner, type, second))
    },
    condition(iteration, values) {
      const inner = within(scope)
      inner.i32.push(iteration)
      values.forEach((value) => inner[value.type].push(value))
      addBlock(builders, inner, condition, true, false)
      return inner.bool.at(-1) ?? b.const('bool', true)
    },
  })
  results.forEach((result) => scope[result.type].push(result))
}

function addSides(
  builders: Builders,
  scope: Scope,
  instruction: Extract<Instruction, { kind: 'branch' | 'shortcut' | 'dispatch' }>,
) {
  const { b } = builders
  const {
    kind,
    picks: [first, second],
    results,
    sides,
  } = instruction
  const types = results.map((pick) => modulo(TYPES, pick))
  const fills = sides.map((side) => () => {
    const inner = within(scope)
    addBlock(kind === 'shortcut' ? { ...builders, effectsInRegions: false } : builders, inner, side, true)
    return types.map((type, k) => inner[type].at(-1 - ((second + k) % 3)) ?? take(builders, inner, type, second))
  })
  const selector = take(builders, scope, kind === 'dispatch' ? 'i32' : 'bool', first)
  /** What the quick side gives, where the condition holds, and elsewhere something else. */
  const general = () => {
    const [same, others] = [fills[0]!(), fills[1]!()]
    return same.map((value, k) => b.select(selector, value, others[k]!))
  }
  const made = b.sides(kind, selector, kind === 'shortcut' ? [fills[0]!, general] : fills)
  made.forEach((result) => scope[result.type].push(result))
}

function addBlock(
  builders: Builders,
  scope: Scope,
  block: readonly Instruction[],
  isInRegion: boolean,
  mayWrite = true,
) {
  const { b, planes, ops, effectsInRegions } = builders
  const add = (value: Value) => void scope[value.type].push(value)
  for (const instruction of block) {
    switch (instruction.kind) {
      case 'op': {
        const op = modulo(ops, instruction.op)
        const type = modulo(typesOf(op), instruction.type)
        const operands = definition(op).operands.map((wanted, k) =>
          take(builders, scope, wanted === 'T' ? type : wanted, instruction.picks[k]!),
        )
        add(b.apply(op, operands))
        break
      }
      case 'convert': {
        const value = take(builders, scope, modulo(TYPES, instruction.from), instruction.picks[0])
        const type = modulo(TYPES, instruction.to)
        const isCast = instruction.picks[1] % 2 === 1 && canBitcast(value.type, type)
        add(isCast ? b.bitcast(bitsSafe(builders, value), type) : b.convert(value, type))
        break
      }
      case 'literal': {
        const type = modulo(TYPES, instruction.type)
        add(b.const(type, literalOf(type, instruction.value)))
        break
      }
      case 'gather': {
        const tables = planes.flatMap(({ role }, plane) => (role === 'table' ? [plane] : []))
        const plane = modulo(tables, instruction.table)
        const component = instruction.picks[0] % planes[plane]!.components
        add(b.gather(plane, component, take(builders, scope, 'i32', instruction.picks[1])))
        break
      }
      case 'effect':
        if (mayWrite && (!isInRegion || effectsInRegions)) addEffect(builders, scope, instruction)
        break
      case 'loop':
        addLoop(builders, scope, instruction)
        break
      case 'branch':
      case 'shortcut':
      case 'dispatch':
        addSides(builders, scope, instruction)
        break
    }
  }
}

function build(block: readonly Instruction[], options: RandomGraphOptions): Graph {
  const { float = 'f64', ops = PLAIN_BASIC, effectsInRegions = false, finishing = true } = options
  const planes = finishing ? [...planesOf(float), MASK] : planesOf(float)
  const b = createBuilder(planes)
  const scope: Scope = { f64: [], f32: [], i32: [], u32: [], i64: [], bool: [] }
  const add = (value: Value) => void scope[value.type].push(value)
  planes.forEach(({ name, role, components }, plane) => {
    if (role === 'uniform') add(b.uniform(plane))
    else if (role === 'table') add(b.entryCount(plane))
    else if (role === 'sample' && !'yjq'.includes(name)) {
      for (let component = 0; component < components; component++) add(b.load(plane, component))
    }
  })
  add(b.sampleIndex())
  add(b.sampleCount())
  addBlock({ b, planes, ops, effectsInRegions }, scope, block, false)
  // What was made last is what is worth looking at; 64-bit and unsigned values are seen through i32.
  const last = (type: Type): Value | undefined => scope[type].at(-1)
  const seen = ['u32', 'i64'] as const
  for (const value of seen.flatMap((type) => last(type) ?? []))
    scope.i32.push(b.xor(b.convert(value, 'i32'), last('i32')!))
  const other = last(float === 'f64' ? 'f32' : 'f64')
  b.store(
    planes.findIndex(({ name }) => name === 'y'),
    0,
    last(float)!,
  )
  b.store(
    planes.findIndex(({ name }) => name === 'y'),
    1,
    other ? b.convert(other, float) : last(float)!,
  )
  b.store(
    planes.findIndex(({ name }) => name === 'j'),
    0,
    last('i32')!,
  )
  b.store(
    planes.findIndex(({ name }) => name === 'q'),
    0,
    last('bool')!,
  )
  return b.finishGraph()
}

/** Random graphs; they print as text. */
export function randomGraph(options: RandomGraphOptions = {}): fc.Arbitrary<RandomGraph> {
  return blocks(options.constructs === false ? 0 : 2).map((block) => {
    const graph = build(block, options)
    return { graph, [fc.toStringMethod]: () => `\n${print(graph)}` }
  })
}
