// The SSA graph: a kernel body as nested regions of nodes, immutable once built.
// Invariants (checked by verify.ts): a node stands after its operands in the region that holds it or in one that encloses it;
// a value is used only inside the region that holds it; effects keep program order; equal pure values of one region are one node.
import type { ConstructOp, EffectOp, PlainOp } from './ops.ts'
import type { Literal, Type } from './types.ts'

/**
 * What a kernel binds.
 * - sample: one entry a component and sample; read by `load`, written by `store`.
 * - uniform: one number for all samples.
 * - table: shared read-only entries, `components` by length.
 * - accumulator: shared entries that `scatterAdd` adds to, `components` by length.
 * - reduction: one entry a component, folded from the contributions of all samples.
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
export interface UniformValue extends BaseValue {
  readonly op: 'uniform'
  readonly plane: number
}
export interface ResultValue extends BaseValue {
  readonly op: 'result'
  readonly source: Construct
  readonly index: number
}
export interface OtherLeaf extends BaseValue {
  readonly op: 'sampleIndex' | 'sampleCount' | 'parameter' | 'random'
}
/** An op whose meaning is its operands alone, or with its result type for the two conversions. */
export interface ComputedValue extends BaseValue {
  readonly op: PlainOp | 'convert' | 'bitcast'
}

export type Value = ConstValue | LoadValue | GatherValue | UniformValue | ResultValue | OtherLeaf | ComputedValue

export interface Effect extends Access {
  readonly op: EffectOp
  readonly operands: readonly Value[]
}

export interface Construct {
  readonly id: number
  readonly op: ConstructOp
  readonly operands: readonly Value[]
  /** loop: body, condition; branch: then, else; dispatch: the cases. */
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
  readonly body: Region
}

export const isEffect = (node: Node): node is Effect =>
  node.op === 'store' || node.op === 'scatterAdd' || node.op === 'contribute' || node.op === 'finish'
export const isConstruct = (node: Node): node is Construct =>
  node.op === 'loop' || node.op === 'branch' || node.op === 'dispatch'
export const isValue = (node: Node): node is Value => !isEffect(node) && !isConstruct(node)

/** Every node of a region and of the regions inside it, outermost first, in program order. */
export function* walk(region: Region): Generator<Node> {
  for (const node of region.nodes) {
    yield node
    if (isConstruct(node)) for (const inner of node.regions) yield* walk(inner)
  }
}

/** Planes that the graph reads and writes, by number. Accumulators, reductions and masks count as read: their state at launch matters. */
export function accesses(graph: Graph): { readonly read: ReadonlySet<number>; readonly written: ReadonlySet<number> } {
  const read = new Set<number>()
  const written = new Set<number>()
  for (const node of walk(graph.body)) {
    if (isEffect(node)) {
      written.add(node.plane)
      if (node.op !== 'store') read.add(node.plane)
    } else if (node.op === 'load' || node.op === 'gather' || node.op === 'uniform') read.add(node.plane)
  }
  return { read, written }
}
