// Prints the nodes of a region: values through the op rows and the leaf rows, effects and constructs through theirs.
// Invariants: a value that all lanes share is computed once, as a scalar; the loads of a sample stand before its first write.
import { isConstruct, isEffect, type Construct, type Node, type Value } from '../../ir/graph.ts'
import { definition, type BasicOp, type ComputedOp, type ConstructOp, type ValueOp } from '../../ir/ops.ts'
import { isComputed } from '../../ir/semantics.ts'
import { printBranch, printDispatch, printShortcut } from './branches.ts'
import {
  define,
  defineUniform,
  internal,
  isUniform,
  lanesOf,
  partNumbers,
  partsOf,
  scalarOf,
  type Context,
  type Mask,
} from './context.ts'
import { countingVector } from './lanes.ts'
import { printLoop } from './loops.ts'
import { addressOfPlane, firstOf, gatherScalar, gatherVector } from './memory.ts'
import { loadSamples } from './samplePlanes.ts'
import { loadSampleCount, loadUniform } from './planes.ts'
import { AGAINST_LITERAL, isOrdinary } from './rows.ts'
import { printRecall } from './tapes.ts'

export function printRegion(context: Context, nodes: readonly Node[], mask: Mask): void {
  for (const node of nodes) {
    if (isEffect(node)) context.effect(context, node, mask)
    else if (isConstruct(node)) CONSTRUCTS[node.op](context, node, mask)
    else printValue(context, node, mask)
  }
}

/** The body of the graph for one group of samples, without what was printed before the loop over samples. */
export const printBody = (context: Context, mask: Mask): void =>
  printRegion(context, orderWrites(ofSamples(context)), mask)

/** Nodes of a body with the loads that stand behind a write moved before the first one. */
export function orderWrites(nodes: readonly Node[]): readonly Node[] {
  const firstWrite = nodes.findIndex(writes)
  if (firstWrite < 0) return nodes
  const isLate = (node: Node, place: number) => place > firstWrite && node.op === 'load'
  const late = nodes.filter(isLate)
  const inTime = nodes.filter((node, place) => !isLate(node, place))
  return [...inTime.slice(0, firstWrite), ...late, ...inTime.slice(firstWrite)]
}

/** The loads of the body, and then the rest of it, for bodies that may run twice. */
export const printLoads = (context: Context, mask: Mask): void =>
  printRegion(
    context,
    ofSamples(context).filter(({ op }) => op === 'load'),
    mask,
  )
export const printAfterLoads = (context: Context, mask: Mask): void =>
  printRegion(
    context,
    ofSamples(context).filter(({ op }) => op !== 'load'),
    mask,
  )

const ofSamples = ({ graph, uniformity }: Context): readonly Node[] =>
  graph.body.nodes.filter((node) => !uniformity.isInvariant(node))

/** What is the same for all samples. */
export function printInvariants(context: Context): void {
  printRegion(context, context.graph.body.nodes.filter(context.uniformity.isInvariant), undefined)
}

const writes = (node: Node): boolean =>
  isEffect(node) || (isConstruct(node) && node.regions.some(({ nodes }) => nodes.some(writes)))

const CONSTRUCTS: Record<ConstructOp, (context: Context, construct: Construct, mask: Mask) => void> = {
  loop: printLoop,
  branch: printBranch,
  shortcut: printShortcut,
  dispatch: printDispatch,
}

function printValue(context: Context, value: Value, mask: Mask): void {
  if (isComputed(value.op)) return printComputed(context, value)
  const row = value.op in LEAVES ? LEAVES[value.op as LeafOp] : undefined
  if (row === undefined) throw internal(`op '${value.op}' should have been lowered`)
  row(context, value as never, mask)
}

function printComputed(context: Context, value: Value): void {
  const { code, width, vectors } = context
  if (!isComputed(value.op)) return
  if (value.op === 'fma' && !context.options.target.fma) throw internal('fma on a processor without the instruction')
  const place = definition(value.op).operands.indexOf('T')
  const T = value.operands[place]!.type
  const literal = value.operands.find((operand) => operand.op === 'const' && isOrdinary(T, operand.literal))
  const against = literal && AGAINST_LITERAL[value.op]
  const operands = against ? [literal, value.operands.find((operand) => operand !== literal)!] : value.operands
  const print = (lanes: number, texts: readonly string[]) =>
    code.expand(against ?? context.rows[value.op as keyof Context['rows']](T, value.type, lanes), {
      width: lanes,
      T,
      R: value.type,
      operands: texts,
    })
  if (isUniform(context, value)) {
    const scalars = operands.map((operand) => scalarOf(context, operand))
    return defineUniform(context, value, print(1, scalars))
  }
  const parts = operands.map((operand) => partsOf(context, operand))
  define(
    context,
    value,
    Array.from({ length: vectors }, (_, part) =>
      print(
        width,
        parts.map((part_) => part_[part]!),
      ),
    ),
  )
}

/** Values that no template gives. Constants, parameters and results are not nodes of a region. */
type LeafOp = Exclude<Extract<ValueOp, BasicOp>, ComputedOp | 'const' | 'parameter' | 'result'>
type Leaf<O extends LeafOp, V = Value> = V extends { readonly op: infer P } ? (O extends P ? V : never) : never

const LEAVES: { readonly [O in LeafOp]: (context: Context, value: Leaf<O>, mask: Mask) => void } = {
  load: (context, value, mask) =>
    define(context, value, loadSamples(context, value.type, value.plane, value.component, mask)),

  uniform: (context, value) => defineUniform(context, value, loadUniform(context.code, context.graph, value)),

  sampleCount: (context, value) => defineUniform(context, value, loadSampleCount(context.code)),

  entryCount(context, value) {
    const { length } = addressOfPlane(context, value.plane)
    defineUniform(context, value, context.code.value(`trunc i64 ${length} to i32`))
  },

  sampleIndex(context, value) {
    const { code, width, group } = context
    const parts = partNumbers(context).map((part) => {
      const known = group.numbers?.[part]
      if (known) return code.value(`trunc ${lanesOf(context, 'i64')} ${known} to ${lanesOf(context, 'i32')}`)
      const first = code.value(`trunc i64 ${firstOf(context, group, part)} to i32`)
      if (width === 1) return first
      return code.value(
        `add ${lanesOf(context, 'i32')} ${code.splat('i32', first, width)}, ${countingVector('i32', width, 0)}`,
      )
    })
    define(context, value, parts)
  },

  gather(context, value, mask) {
    const index = value.operands[0]!
    const { type, plane, component } = value
    context.check?.(context, plane, index, mask)
    if (isUniform(context, index)) {
      return defineUniform(context, value, gatherScalar(context, type, plane, component, scalarOf(context, index)))
    }
    const indices = partsOf(context, index)
    define(
      context,
      value,
      indices.map((vector) => gatherVector(context, type, plane, component, vector)),
    )
  },

  recall: (context, value) => printRecall(context, value),
}
