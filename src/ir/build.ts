// Builds graphs: one method an op. The tracer, the lowerings and the derivative rules all build through it.
// Invariants: operand types fit the op table; operands that are all literals fold through semantics.ts; equal pure nodes are one node;
// a node stands in the outermost region that its operands allow, so that what a loop does not change is computed before the loop
// (but work never leaves a side of a branch or a case of a dispatch, which may not run).
import { HarrierError } from '../errors.ts'
import {
  isConstruct,
  isEffect,
  ROLE_OF,
  type AccessOp,
  type ComputedValue,
  type Construct,
  type Graph,
  type Node,
  type Plane,
  type Region,
  type Tape,
  type Value,
} from './graph.ts'
import { identities } from './identities.ts'
import {
  definition,
  isPlain,
  OP_NAMES,
  type ConstructOp,
  type EffectOp,
  type OPS,
  type PlainOp,
  type PlaneEffectOp,
} from './ops.ts'
import { isComputed, semantics } from './semantics.ts'
import { canBitcast, isFloat, isInClass, isLiteral, type Literal, type Type } from './types.ts'

type Values<Signature extends readonly unknown[]> = { [K in keyof Signature]: Value }
type PlainMethods = { [O in PlainOp]: (...operands: Values<(typeof OPS)[O]['operands']>) => Value }

/** The sides of a region-owning op as functions that build into it. */
export interface LoopParts {
  readonly count: Value
  readonly initial: readonly Value[]
  readonly body: (iteration: Value, carries: readonly Value[]) => readonly Value[]
  /** Tested before each iteration; absent: always true. */
  readonly condition?: (iteration: Value, carries: readonly Value[]) => Value
}

export interface Builder extends PlainMethods {
  /** Declares a plane and gives its number. */
  plane(plane: Plane): number
  readonly planes: readonly Plane[]
  /** Declares a tape and gives its number. */
  tape(tape: Tape): number
  readonly tapes: readonly Tape[]

  /** A literal; a number for an f32 is rounded to it, anything else must be exact. */
  const(type: Type, literal: Literal): Value
  /** 0, +0 or false. */
  zero(type: Type): Value
  load(plane: number, component: number): Value
  uniform(plane: number): Value
  gather(plane: number, component: number, index: Value): Value
  /** Number of entries of a table. */
  entryCount(plane: number): Value
  sampleIndex(): Value
  sampleCount(): Value
  /** Uniform random number in [0, 1) of a float type. */
  random(type: Type, seed: Value, sample: Value, counter: Value): Value
  /** Output `output` of the function with derivative rule `rule`: its value, and the inputs of the function. */
  custom(rule: string, output: number, value: Value, inputs: readonly Value[]): Value
  recall(tape: number, slot: Value): Value
  convert(x: Value, type: Type): Value
  bitcast(x: Value, type: Type): Value
  gt(a: Value, b: Value): Value
  ge(a: Value, b: Value): Value

  /** Builds any plain op from its name. */
  apply(op: PlainOp, operands: readonly Value[]): Value

  store(plane: number, component: number, value: Value): void
  scatterAdd(plane: number, component: number, index: Value, value: Value): void
  contribute(plane: number, component: number, value: Value): void
  finish(plane: number, condition: Value): void
  record(tape: number, slot: Value, value: Value): void

  loop(parts: LoopParts): readonly Value[]
  branch(condition: Value, then: () => readonly Value[], otherwise: () => readonly Value[]): readonly Value[]
  shortcut(condition: Value, quick: () => readonly Value[], general: () => readonly Value[]): readonly Value[]
  dispatch(index: Value, cases: readonly (() => readonly Value[])[]): readonly Value[]
  /** A construct of sides by the name of its op. */
  sides(op: SidedOp, selector: Value, sides: readonly (() => readonly Value[])[]): readonly Value[]

  /** The graph as it stands; building more does not change it. */
  finishGraph(): Graph
}

/** Constructs that evaluate one of their regions. */
export type SidedOp = Exclude<ConstructOp, 'loop'>

type Side = () => readonly Value[]

const SIDED: Record<SidedOp, (b: Builder, selector: Value, sides: readonly Side[]) => readonly Value[]> = {
  branch: (b, condition, [then, otherwise]) => b.branch(condition, then!, otherwise!),
  shortcut: (b, condition, [quick, general]) => b.shortcut(condition, quick!, general!),
  dispatch: (b, index, cases) => b.dispatch(index, cases),
}

interface Scope {
  readonly parent: Scope | undefined
  readonly depth: number
  /** Values that do not depend on the region may stand outside it. True for loop regions. */
  readonly hoists: boolean
  readonly nodes: Node[]
  /** Nodes of this region by their structural key. */
  readonly values: Map<string, Value>
  readonly constructs: Map<string, readonly Value[]>
}

const PLAIN_OPS = OP_NAMES.filter(isPlain)

const internal = (message: string): HarrierError => new HarrierError('E_INTERNAL', message)

const literalKey = (type: Type, literal: Literal): string => `${type}:${Object.is(literal, -0) ? '-0' : literal}`

/** Starts an empty graph. */
export function createBuilder(planes: readonly Plane[] = []): Builder {
  const declared: Plane[] = [...planes]
  const tapes: Tape[] = []
  const constants = new Map<string, Value>()
  /** The scope that holds each value; constants are in none. */
  const homes = new Map<Value | Construct, Scope>()
  const newScope = (parent: Scope | undefined, hoists: boolean): Scope => ({
    parent,
    depth: parent ? parent.depth + 1 : 0,
    hoists,
    nodes: [],
    values: new Map(),
    constructs: new Map(),
  })
  const root = newScope(undefined, false)
  let current = root
  let nextId = 0

  const depthOf = (value: Value): number => homes.get(value)?.depth ?? 0

  function deepest(values: Iterable<Value>): number {
    let depth = 0
    for (const value of values) depth = Math.max(depth, depthOf(value))
    return depth
  }

  /** The outermost scope, seen from the current one, in which a node may stand that uses values down to a depth. */
  function scopeFor(depth: number): Scope {
    let scope = current
    while (scope.parent && scope.hoists && scope.depth > depth) scope = scope.parent
    return scope
  }

  function place(key: string, operands: readonly Value[], make: (id: number) => Value): Value {
    const home = scopeFor(deepest(operands))
    for (let scope: Scope | undefined = home; scope; scope = scope.parent) {
      const known = scope.values.get(key)
      if (known) return known
    }
    const value = make(nextId++)
    home.values.set(key, value)
    home.nodes.push(value)
    homes.set(value, home)
    return value
  }

  /** Leaves without operands stand in the body of the graph. */
  function placeLeaf(key: string, make: (id: number) => Value): Value {
    const known = root.values.get(key)
    if (known) return known
    const value = make(nextId++)
    root.values.set(key, value)
    root.nodes.push(value)
    homes.set(value, root)
    return value
  }

  function requirePlane(op: AccessOp, plane: number, component: number): Plane {
    const found = declared[plane]
    if (!found) throw internal(`${op}: there is no plane ${plane}`)
    if (found.role !== ROLE_OF[op])
      throw internal(`${op}: plane '${found.name}' is a ${found.role}, not a ${ROLE_OF[op]}`)
    if (component < 0 || component >= found.components) {
      throw internal(`${op}: plane '${found.name}' has ${found.components} components, not ${component + 1}`)
    }
    return found
  }

  function requireTape(op: 'record' | 'recall', tape: number, slot: Value): Tape {
    const found = tapes[tape]
    if (!found) throw internal(`${op}: there is no tape ${tape}`)
    if (slot.type !== 'i32') throw internal(`${op}: the slot is ${slot.type}, expected i32`)
    return found
  }

  function constant(type: Type, literal: Literal): Value {
    const exact = type === 'f32' && typeof literal === 'number' ? Math.fround(literal) : literal
    if (!isLiteral(exact, type)) throw internal(`const: ${String(literal)} is no literal of type ${type}`)
    const key = literalKey(type, exact)
    const known = constants.get(key)
    if (known) return known
    const value: Value = { id: nextId++, op: 'const', type, operands: [], literal: exact }
    constants.set(key, value)
    return value
  }

  /** The type that stands for T in a signature, from the operands; throws where they do not fit. */
  function checkOperands(op: PlainOp | EffectOp, operands: readonly Value[]): Type {
    const { operands: expected, T } = definition(op)
    if (operands.length !== expected.length)
      throw internal(`${op}: takes ${expected.length} operands, not ${operands.length}`)
    let shared: Type | undefined
    for (let k = 0; k < expected.length; k++) {
      const wanted = expected[k]
      const found = operands[k]!.type
      if (wanted !== 'T') {
        if (found !== wanted) throw internal(`${op}: operand ${k} is ${found}, expected ${wanted}`)
      } else if (shared === undefined) {
        if (!isInClass(found, T!)) throw internal(`${op}: operand ${k} is ${found}, expected a ${T}`)
        shared = found
      } else if (found !== shared) throw internal(`${op}: operand ${k} is ${found}, expected ${shared} like the first`)
    }
    return shared ?? operands[0]!.type
  }

  /** A node of an op with operands only, folded or simplified where possible. T of its signature stands for `operandType`. */
  function computed(op: ComputedValue['op'], operands: readonly Value[], type: Type, operandType: Type): Value {
    if (isComputed(op)) {
      const [a, b = a, c = a] = operands as readonly [Value, Value?, Value?]
      if (a.op === 'const' && b.op === 'const' && c.op === 'const') {
        return constant(type, semantics[op](operandType, type)(a.literal, b.literal, c.literal))
      }
      const simpler = identities[op](operands, builder, type)
      if (simpler) return simpler
    }
    const [first, second, third] = operands
    // Operands 0 and 1 of a commutative op are ordered in the key only: the node keeps the order it was written in.
    const isSwapped = second !== undefined && definition(op).commutative === true && second.id < first!.id
    const [left, right] = isSwapped ? [second, first] : [first, second]
    const key = `${op}:${type}(${left!.id},${right?.id},${third?.id})`
    return place(key, operands, (id) => ({ id, op, type, operands }))
  }

  function apply(op: PlainOp, operands: readonly Value[]): Value {
    const shared = checkOperands(op, operands)
    const { result } = definition(op)
    return computed(op, operands, result === 'T' || result === undefined ? shared : result, shared)
  }

  function effect(op: PlaneEffectOp, plane: number, component: number, operands: readonly Value[]): void {
    const { name, type } = requirePlane(op, plane, component)
    checkOperands(op, operands)
    const value = operands.at(-1)!
    if (value.type !== type) throw internal(`${op}: plane '${name}' holds ${type}, not ${value.type}`)
    current.nodes.push({ op, plane, component, operands })
  }

  /** Runs a function that builds into a region of its own. */
  function region(
    hoists: boolean,
    parameterTypes: readonly Type[],
    fill: (parameters: readonly Value[]) => readonly Value[],
  ): Region {
    const scope = newScope(current, hoists)
    const parameters = parameterTypes.map((type): Value => {
      const value: Value = { id: nextId++, op: 'parameter', type, operands: [] }
      homes.set(value, scope)
      return value
    })
    current = scope
    try {
      return { parameters, nodes: scope.nodes, results: fill(parameters) }
    } finally {
      current = scope.parent!
    }
  }

  /** Makes a construct of finished regions, or finds an equal one, and gives its results. */
  function construct(
    op: ConstructOp,
    operands: readonly Value[],
    regions: readonly Region[],
    types: readonly Type[],
  ): readonly Value[] {
    const { key, free, pure } = describeConstruct(op, operands, regions)
    const home = pure ? scopeFor(deepest(free)) : current
    if (pure) {
      for (let scope: Scope | undefined = home; scope; scope = scope.parent) {
        const known = scope.constructs.get(key)
        if (known) return known
      }
    }
    const source: Construct = { id: nextId++, op, operands, regions, types }
    home.nodes.push(source)
    const results = types.map((type, index): Value => {
      const value: Value = { id: nextId++, op: 'result', type, operands: [], source, index }
      homes.set(value, home)
      return value
    })
    if (pure) home.constructs.set(key, results)
    return results
  }

  /** Results that both sides agree on need no construct. */
  const outside = (value: Value): boolean => depthOf(value) <= current.depth

  function sides(op: SidedOp, selector: Value, fills: readonly (() => readonly Value[])[]): readonly Value[] {
    const regions = fills.map((fill) => region(false, [], fill))
    const types = regions[0]!.results.map(({ type }) => type)
    for (const { results } of regions) {
      if (results.length !== types.length || results.some(({ type }, k) => type !== types[k])) {
        throw internal(`${op}: the sides give different types`)
      }
    }
    const agreed = types.map((_, k) => {
      const value = regions[0]!.results[k]!
      return outside(value) && regions.every(({ results }) => results[k] === value) ? value : undefined
    })
    const isEmpty = regions.every(({ nodes }) => nodes.length === 0)
    if (isEmpty && agreed.every((value) => value !== undefined)) return agreed as readonly Value[]
    const results = construct(op, [selector], regions, types)
    return results.map((result, k) => agreed[k] ?? result)
  }

  const plainMethods = Object.fromEntries(
    PLAIN_OPS.map((op) => [op, (...operands: readonly Value[]) => apply(op, operands)]),
  ) as unknown as PlainMethods

  const builder: Builder = {
    ...plainMethods,
    planes: declared,
    plane: (plane) => declared.push(plane) - 1,
    tapes,
    tape: (tape) => tapes.push(tape) - 1,
    const: constant,
    zero: (type) => constant(type, type === 'bool' ? false : type === 'i64' ? 0n : 0),
    load(plane, component) {
      const { type } = requirePlane('load', plane, component)
      return placeLeaf(`load:${plane}.${component}`, (id) => ({ id, op: 'load', type, operands: [], plane, component }))
    },
    uniform(plane) {
      const { type } = requirePlane('uniform', plane, 0)
      return placeLeaf(`uniform:${plane}`, (id) => ({ id, op: 'uniform', type, operands: [], plane }))
    },
    gather(plane, component, index) {
      const { type } = requirePlane('gather', plane, component)
      if (index.type !== 'i32') throw internal(`gather: the index is ${index.type}, expected i32`)
      const operands = [index]
      return place(`gather:${plane}.${component}(${index.id})`, operands, (id) => ({
        id,
        op: 'gather',
        type,
        operands,
        plane,
        component,
      }))
    },
    entryCount(plane) {
      requirePlane('entryCount', plane, 0)
      return placeLeaf(`entryCount:${plane}`, (id) => ({ id, op: 'entryCount', type: 'i32', operands: [], plane }))
    },
    sampleIndex: () => placeLeaf('sampleIndex', (id) => ({ id, op: 'sampleIndex', type: 'i32', operands: [] })),
    sampleCount: () => placeLeaf('sampleCount', (id) => ({ id, op: 'sampleCount', type: 'i32', operands: [] })),
    random(type, ...operands) {
      if (!isFloat(type)) throw internal(`random: gives a float, not ${type}`)
      if (operands.some((operand) => operand.type !== 'i32')) throw internal('random: seed, sample and counter are i32')
      const key = `random:${type}(${operands.map(({ id }) => id).join(',')})`
      return place(key, operands, (id) => ({ id, op: 'random', type, operands }))
    },
    custom(rule, output, value, inputs) {
      const operands = [value, ...inputs]
      const key = `custom:${rule}.${output}(${operands.map(({ id }) => id).join(',')})`
      return place(key, operands, (id) => ({ id, op: 'custom', type: value.type, operands, rule, output }))
    },
    recall(tape, slot) {
      const { type } = requireTape('recall', tape, slot)
      const value: Value = { id: nextId++, op: 'recall', type, operands: [slot], tape }
      current.nodes.push(value)
      homes.set(value, current)
      return value
    },
    convert: (x, type) => computed('convert', [x], type, x.type),
    bitcast(x, type) {
      if (!canBitcast(x.type, type)) throw internal(`bitcast: ${x.type} and ${type} differ in width`)
      return computed('bitcast', [x], type, x.type)
    },
    gt: (a, b) => apply('lt', [b, a]),
    ge: (a, b) => apply('le', [b, a]),
    apply,
    store: (plane, component, value) => effect('store', plane, component, [value]),
    scatterAdd: (plane, component, index, value) => effect('scatterAdd', plane, component, [index, value]),
    contribute: (plane, component, value) => effect('contribute', plane, component, [value]),
    finish: (plane, condition) => effect('finish', plane, 0, [condition]),
    record(tape, slot, value) {
      const { type } = requireTape('record', tape, slot)
      if (value.type !== type) throw internal(`record: tape ${tape} holds ${type}, not ${value.type}`)
      current.nodes.push({ op: 'record', tape, operands: [slot, value] })
    },
    loop({ count, initial, body, condition }) {
      if (count.type !== 'i32') throw internal(`loop: the count is ${count.type}, expected i32`)
      if (count.op === 'const' && Number(count.literal) <= 0) return initial
      const types = initial.map(({ type }) => type)
      const parameterTypes: readonly Type[] = ['i32', ...types]
      const bodyRegion = region(true, parameterTypes, ([iteration, ...carries]) => body(iteration!, carries))
      if (bodyRegion.results.length !== types.length || bodyRegion.results.some(({ type }, k) => type !== types[k])) {
        throw internal('loop: the body gives other types than it was given')
      }
      const conditionRegion = region(true, parameterTypes, ([iteration, ...carries]) => [
        condition ? condition(iteration!, carries) : constant('bool', true),
      ])
      return construct('loop', [count, ...initial], [bodyRegion, conditionRegion], types)
    },
    branch(condition, then, otherwise) {
      if (condition.type !== 'bool') throw internal(`branch: the condition is ${condition.type}, expected bool`)
      if (condition.op === 'const') return condition.literal ? then() : otherwise()
      return sides('branch', condition, [then, otherwise])
    },
    shortcut(condition, quick, general) {
      if (condition.type !== 'bool') throw internal(`shortcut: the condition is ${condition.type}, expected bool`)
      if (condition.op === 'const') return condition.literal ? quick() : general()
      return sides('shortcut', condition, [quick, general])
    },
    dispatch(index, cases) {
      if (index.type !== 'i32') throw internal(`dispatch: the index is ${index.type}, expected i32`)
      if (index.op === 'const') return cases[Math.min(Math.max(Number(index.literal), 0), cases.length - 1)]!()
      return sides('dispatch', index, cases)
    },
    sides: (op, selector, given) => SIDED[op](builder, selector, given),
    finishGraph: () => ({
      planes: [...declared],
      tapes: [...tapes],
      body: { parameters: [], nodes: [...root.nodes], results: [] },
    }),
  }
  return builder
}

/**
 * The structural key of a construct with its regions, the values it uses from outside, and whether it is pure: free of effects and of
 * reads that effects change.
 */
function describeConstruct(op: ConstructOp, operands: readonly Value[], regions: readonly Region[]) {
  const local = new Map<Value | Construct, number>()
  const free = new Set<Value>(operands)
  let pure = true
  const name = (value: Value): string => {
    if (value.op === 'const') return `c${value.id}`
    const number = local.get(value)
    if (number !== undefined) return `%${number}`
    if (value.op === 'result') {
      const source = local.get(value.source)
      if (source !== undefined) return `%${source}.${value.index}`
    }
    free.add(value)
    return `v${value.id}`
  }
  const describeNode = (node: Node): string => {
    const names = node.operands.map(name).join(',')
    if (isConstruct(node)) {
      const text = `${node.op}(${names})${node.regions.map(describeRegion).join('')}`
      local.set(node, local.size)
      return text
    }
    if (isEffect(node)) {
      pure = false
      return `${node.op}${node.op === 'record' ? node.tape : `${node.plane}.${node.component}`}(${names})`
    }
    local.set(node, local.size)
    if (node.op === 'recall') pure = false
    if (node.op === 'custom') return `custom:${node.rule}.${node.output}(${names})`
    const place = 'plane' in node ? `${node.plane}.${'component' in node ? node.component : 0}` : ''
    return `${node.op}:${node.type}${place}(${names})`
  }
  const describeRegion = ({ parameters, nodes, results }: Region): string => {
    for (const parameter of parameters) local.set(parameter, local.size)
    const lines = nodes.map(describeNode)
    return `{${parameters.map(({ type }) => type).join(',')}|${lines.join(';')}|${results.map(name).join(',')}}`
  }
  const key = `${op}(${operands.map(name).join(',')})${regions.map(describeRegion).join('')}`
  return { key, free, pure }
}
