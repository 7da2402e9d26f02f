// The SSA graph: a kernel body as nested regions of nodes, immutable once built.
// Invariants (checked by verify.ts): a node stands after its operands in the region that holds it or in one that encloses it;
// a value is used only inside the region that holds it; effects keep program order; equal pure values of one region are one node.
import { definition, type ConstructOp, type OpName, type PlainOp, type PlaneEffectOp } from './ops.ts'
import type { Literal, Type } from './types.ts'

/**
 * What a kernel binds.
 * - sample: one entry a component and sample; read by `load`, written by `store`.
 * - uniform: one number for all samples.
 * - table: shared read-only entries, `components` by length.
 * - accumulator: shared entries that `scatterAdd` adds to, `components` by length.
 * - reduction: one entry a component; a launch overwrites it with the fold of the contributions of all samples.
 * - mask: one byte a sample, 1 where finished.
 */
export type PlaneRole = 'sample' | 'uniform' | 'table' | 'accumulator' | 'reduction' | 'mask'

export type ReduceOp = 'sum' | 'prod' | 'max' | 'min' | 'all' | 'any'

export interface Plane {
  readonly name: string
  readonly role: PlaneRole
  readonly type: Type
  /** Scalars in one sample or entry: 3 for a 3-vector, R·C (row-major) for a matrix. */
  readonly components: number
  /** How contributions fold; reductions only. */
  readonly reduce?: ReduceOp
}

/**
 * Memory of the sample in flight, by slots: what a loop records for a later loop of the same sample. It starts empty for each
 * sample and is gone when the sample is done, so that a launch needs capacity · lanes in flight, whatever the number of samples.
 */
export interface Tape {
  readonly type: Type
  /** Number of slots. */
  readonly capacity: number
}

/** Ops that name a plane, and the role that the plane must have. */
export const ROLE_OF = {
  load: 'sample',
  uniform: 'uniform',
  gather: 'table',
  entryCount: 'table',
  store: 'sample',
  scatterAdd: 'accumulator',
  contribute: 'reduction',
  finish: 'mask',
} as const satisfies Partial<Record<OpName, PlaneRole>>

export type AccessOp = keyof typeof ROLE_OF

interface BaseValue {
  /** Unique within its builder; no meaning beyond identity. Printing numbers values anew. */
  readonly id: number
  readonly type: Type
  readonly operands: readonly Value[]
}

/** An access to component `component` of plane number `plane`. */
interface Access {
  readonly plane: number
  readonly component: number
}

export interface ConstValue extends BaseValue {
  readonly op: 'const'
  readonly literal: Literal
}
export interface LoadValue extends BaseValue, Access {
  readonly op: 'load'
}
export interface GatherValue extends BaseValue, Access {
  readonly op: 'gather'
}
export interface RecallValue extends BaseValue {
  readonly op: 'recall'
  readonly tape: number
}
/** What a plane gives that needs no component. */
export interface UniformValue extends BaseValue {
  readonly op: 'uniform' | 'entryCount'
  readonly plane: number
}
export interface ResultValue extends BaseValue {
  readonly op: 'result'
  readonly source: Construct
  readonly index: number
}
/** One output of a function with a derivative rule of its own: operands are its value, then the inputs of the function. */
export interface CustomValue extends BaseValue {
  readonly op: 'custom'
  /** Name of the rule. */
  readonly rule: string
  /** Which output of the function. */
  readonly output: number
}
export interface OtherLeaf extends BaseValue {
  readonly op: 'sampleIndex' | 'sampleCount' | 'parameter' | 'random'
}
/** An op whose meaning is its operands alone, or with its result type for the two conversions. */
export interface ComputedValue extends BaseValue {
  readonly op: PlainOp | 'convert' | 'bitcast'
}

export type Value =
  | ConstValue
  | LoadValue
  | GatherValue
  | RecallValue
  | UniformValue
  | ResultValue
  | CustomValue
  | OtherLeaf
  | ComputedValue

export interface PlaneEffect extends Access {
  readonly op: PlaneEffectOp
  readonly operands: readonly Value[]
}
export interface RecordEffect {
  readonly op: 'record'
  readonly tape: number
  readonly operands: readonly Value[]
}
export type Effect = PlaneEffect | RecordEffect

export interface Construct {
  readonly id: number
  readonly op: ConstructOp
  readonly operands: readonly Value[]
  /** loop: body, condition; branch: then, else; shortcut: quick, general; dispatch: the cases. */
  readonly regions: readonly Region[]
  /** Types of the results, in order. */
  readonly types: readonly Type[]
}

export type Node = Value | Effect | Construct

export interface Region {
  /** loop body and condition: the iteration number (i32), then the carries; else none. */
  readonly parameters: readonly Value[]
  /** In an order in which operands precede their uses. Constants (they belong to no region), region parameters and results are not listed. */
  readonly nodes: readonly Node[]
  /** What the region yields to its construct; empty for the body of the graph. */
  readonly results: readonly Value[]
}

export interface Graph {
  readonly planes: readonly Plane[]
  readonly tapes: readonly Tape[]
  readonly body: Region
}

export const isPlaneEffect = (node: Node): node is PlaneEffect =>
  node.op === 'store' || node.op === 'scatterAdd' || node.op === 'contribute' || node.op === 'finish'
export const isEffect = (node: Node): node is Effect => isPlaneEffect(node) || node.op === 'record'
export const isConstruct = (node: Node): node is Construct => definition(node.op).kind === 'construct'
export const isValue = (node: Node): node is Value => !isEffect(node) && !isConstruct(node)

/** Every node of a region and of the regions inside it, outermost first, in program order. */
export function* walk(region: Region): Generator<Node> {
  for (const node of region.nodes) {
    yield node
    if (isConstruct(node)) for (const inner of node.regions) yield* walk(inner)
  }
}

/** Planes that the graph reads and writes, by number. Accumulators and masks count as read, as their state at launch matters. */
export function accesses(graph: Graph): { readonly read: ReadonlySet<number>; readonly written: ReadonlySet<number> } {
  const read = new Set<number>()
  const written = new Set<number>()
  for (const node of walk(graph.body)) {
    if (isPlaneEffect(node)) {
      written.add(node.plane)
      if (node.op === 'scatterAdd' || node.op === 'finish') read.add(node.plane)
    } else if ('plane' in node) read.add(node.plane)
  }
  return { read, written }
}

/** Values that regions use and that stand outside them. */
export function freeValues(regions: readonly Region[]): ReadonlySet<Value> {
  const own = new Set<Value | Construct>()
  const free = new Set<Value>()
  const use = (value: Value) => {
    if (value.op !== 'const' && !own.has(value.op === 'result' ? value.source : value)) free.add(value)
  }
  const visit = ({ parameters, nodes, results }: Region): void => {
    parameters.forEach((parameter) => own.add(parameter))
    for (const node of nodes) {
      node.operands.forEach(use)
      if (isConstruct(node)) {
        own.add(node)
        node.regions.forEach(visit)
      } else if (!isEffect(node)) own.add(node)
    }
    results.forEach(use)
  }
  regions.forEach(visit)
  return free
}
