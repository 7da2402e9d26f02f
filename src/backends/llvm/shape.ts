// How many samples a register holds and how many vectors run side by side, from what a kernel computes and the processor's registers.
import {
  isConstruct,
  isEffect,
  walk,
  type Construct,
  type Graph,
  type Node,
  type Region,
  type Value,
} from '../../ir/graph.ts'
import { ACCUMULATORS } from '../../ir/reduction.ts'
import { isComputed } from '../../ir/semantics.ts'
import { BYTES } from '../../ir/types.ts'
import type { EmitOptions, KernelShape } from './interface.ts'
import { planRefill } from './refillPlan.ts'
import { hasScatterInLoop } from './scatter.ts'
import { uniformity, type Uniformity } from './uniformity.ts'

/** A body that costs more than this is printed once, masked, rather than in a whole and a partial form. */
const LARGE_BODY = 300
/** Iterations assumed of a loop whose count is no literal. */
const UNKNOWN_COUNT = 100

/** Operations of a sample, roughly. */
export function costOf({ nodes }: Region): number {
  let cost = 0
  for (const node of nodes) {
    cost += 1
    if (!isConstruct(node)) continue
    const [count] = node.operands
    const repeats = node.op === 'loop' ? (count?.op === 'const' ? Number(count.literal) : UNKNOWN_COUNT) : 1
    for (const region of node.regions) cost += repeats * costOf(region)
  }
  return cost
}

export const isLarge = (graph: Graph): boolean => costOf(graph.body) > LARGE_BODY

/** Most values computed lane by lane that are needed at one place of the body of the graph. */
function pressure(graph: Graph, { isUniform }: Uniformity): number {
  const lastUse = new Map<Value | Construct, number>()
  const { nodes } = graph.body
  const use = (node: Node, place: number): void => {
    for (const operand of node.operands) lastUse.set(operand.op === 'result' ? operand.source : operand, place)
    if (!isConstruct(node)) return
    for (const region of node.regions) {
      for (const inner of region.nodes) use(inner, place)
      for (const result of region.results) lastUse.set(result.op === 'result' ? result.source : result, place)
    }
  }
  nodes.forEach(use)
  const live = new Set<Value | Construct>()
  let most = 0
  nodes.forEach((node, place) => {
    if (isConstruct(node)) live.add(node)
    else if (!isEffect(node) && !isUniform(node)) live.add(node)
    most = Math.max(most, live.size)
    for (const value of live) if ((lastUse.get(value) ?? 0) <= place) live.delete(value)
  })
  return most
}

const hasDivergentLoop = (graph: Graph, { leavesTogether }: Uniformity): boolean =>
  [...walk(graph.body)].some((node) => node.op === 'loop' && isConstruct(node) && !leavesTogether(node))

/** Vectors that a loop keeps: what it carries, and what it uses from outside, lane by lane. */
function loopPressure(loop: Construct, { isUniform }: Uniformity): number {
  const kept = new Set<Value>(loop.regions[0]!.parameters.slice(1))
  const own = new Set<Value>(loop.regions.flatMap(({ parameters }) => parameters))
  for (const region of loop.regions)
    for (const node of walk(region)) if (!isEffect(node) && !isConstruct(node)) own.add(node)
  for (const region of loop.regions) {
    for (const node of walk(region)) {
      for (const operand of node.operands) {
        if (operand.op !== 'const' && operand.op !== 'result' && !own.has(operand) && !isUniform(operand))
          kept.add(operand)
      }
    }
  }
  return kept.size
}

/** Bytes of the widest type that is computed lane by lane; conditions follow the others. */
function widestBytes(graph: Graph, { isUniform }: Uniformity): number {
  let widest = 4
  for (const node of walk(graph.body)) {
    if (isConstruct(node)) for (const type of node.types) widest = Math.max(widest, BYTES[type])
    else if (isEffect(node)) for (const { type } of node.operands) widest = Math.max(widest, BYTES[type])
    else if (!isUniform(node)) {
      widest = Math.max(widest, BYTES[node.type])
      if (isComputed(node.op)) for (const { type } of node.operands) widest = Math.max(widest, BYTES[type])
    }
  }
  return widest
}

const clamp = (x: number, lowest: number, highest: number): number => Math.max(lowest, Math.min(highest, x))

/** The largest power of two that is not above. */
const powerOf2 = (x: number): number => 2 ** Math.floor(Math.log2(x))

export function shapeOf(graph: Graph, options: EmitOptions): KernelShape {
  const uniform = uniformity(graph)
  const { vectorBytes, vectorRegisters } = options.target
  const width = options.width ?? vectorBytes / widestBytes(graph, uniform)
  const reduces = graph.planes.some(({ role }) => role === 'reduction')
  const most = reduces ? ACCUMULATORS / width : 8
  // Three quarters of the registers, as in K = clamp(24 / live, 1, 4) for 32 of them.
  const budget = (3 * vectorRegisters) / 4

  if (hasDivergentLoop(graph, uniform) && width > 1) {
    const refill = planRefill(graph, uniform)
    if (refill !== undefined && (options.divergence ?? 'refilled') === 'refilled') {
      const live = refill.kept.length + refill.loop.types.length
      return { width, vectors: clamp(Math.floor(budget / live), 1, 4), divergence: 'refilled' }
    }
    const divergence = options.divergence === 'masked' ? 'masked' : 'interleaved'
    const loops = [...walk(graph.body)].filter(isConstruct).filter(({ op }) => op === 'loop')
    const live = Math.max(1, ...loops.map((loop) => loopPressure(loop, uniform)))
    const wished = divergence === 'masked' || hasScatterInLoop(graph) ? 1 : Math.floor(budget / live)
    const vectors = powerOf2(clamp(wished, 1, Math.min(4, most)))
    return { width, vectors, divergence }
  }
  if (width === 1 || hasScatterInLoop(graph)) return { width, vectors: 1, divergence: 'straight' }
  const spare = Math.floor(budget / Math.max(1, pressure(graph, uniform)))
  const wished = isLarge(graph) ? 1 : costOf(graph.body) <= 12 ? (reduces ? most : 4) : 2
  return { width, vectors: powerOf2(clamp(Math.min(spare, wished), 1, most)), divergence: 'straight' }
}
