// How many samples a register holds and how many vectors run side by side, from what a kernel computes and the processor's registers.
import { costOf, longestChain, repeatsOf, usualNodes } from '../../ir/cost.ts'
import { isConstruct, isEffect, walk, type Construct, type Graph, type Region, type Value } from '../../ir/graph.ts'
import { ACCUMULATORS } from '../../ir/reduction.ts'
import { BYTES, type Type } from '../../ir/types.ts'
import type { EmitOptions, KernelShape } from './interface.ts'
import { planRefill } from './refillPlan.ts'
import { hasScatterInLoop } from './scatter.ts'
import { uniformity, type Uniformity } from './uniformity.ts'

/** A body that costs more than this is printed once, masked, rather than in a whole and a partial form. */
const LARGE_BODY = 300
/** A body this small does little but load and store. */
const TINY_BODY = 12

export const isLarge = (graph: Graph): boolean => costOf(graph.body) > LARGE_BODY

/** A region with how often a sample runs it. */
interface Weighted {
  readonly region: Region
  readonly weight: number
}

const countOf = (region: Region): number => [...usualNodes(region)].length

/** The body of the graph or of a loop in which a sample spends most of its operations. */
function heaviest(region: Region, repeats = 1): Weighted {
  let best: Weighted = { region, weight: repeats * countOf(region) }
  for (const node of region.nodes) {
    if (node.op !== 'loop' || !isConstruct(node)) continue
    const inner = heaviest(node.regions[0]!, repeats * repeatsOf(node))
    if (inner.weight > best.weight) best = inner
  }
  return best
}

/** Independent operations that keep the arithmetic units busy: a latency of 4 cycles, three units. */
const PARALLELISM = 12
/** Operations that wait in the processor's scheduler; shorter bodies overlap by themselves. */
const SCHEDULER = 110

/**
 * Vectors that loops which lanes leave by themselves may keep: side by side they hide the latency of a chain, which is worth more than registers. Oscillators with 6
 * and 8 vectors of state ran fastest with 3 or 4 side by side, with 32 registers and with 16 alike.
 */
const LIVE_VECTORS = 24

/** Fewest vectors side by side for a loop of however much state. */
const fewest = (loop: Construct): number => Math.min(2, vectorsFor(loop.regions[0]!))

/** Vectors that a body needs side by side so that its longest chain does not leave the units idle. */
function vectorsFor(region: Region): number {
  const count = countOf(region)
  if (count <= TINY_BODY) return 4
  const wanted = (PARALLELISM * longestChain(region)) / (count + SCHEDULER)
  return wanted < 1 ? 1 : wanted <= 2 ? 2 : 4
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

/**
 * Bytes of the type that registers are cut for: 8 where most operations outside the sides of branches, which may not run, are on
 * 8-byte types. The others then take half a register, or two where registers are cut for 4 bytes.
 */
function laneBytes(graph: Graph, { isUniform }: Uniformity): 4 | 8 {
  let surplus = 0
  const count = (type: Type, uniform = false) => {
    if (!uniform && type !== 'bool') surplus += BYTES[type] === 8 ? 1 : -1
  }
  const visit = (region: Region): void => {
    for (const node of usualNodes(region)) {
      if (isEffect(node)) count(node.operands.at(-1)!.type)
      else if (!isConstruct(node)) count(node.type, isUniform(node))
      else if (node.op === 'loop') node.regions.forEach(visit)
      else if (node.op !== 'shortcut') node.types.forEach((type) => count(type))
    }
  }
  visit(graph.body)
  return surplus > 0 ? 8 : 4
}

const clamp = (x: number, lowest: number, highest: number): number => Math.max(lowest, Math.min(highest, x))

/** The largest power of two that is not above. */
const powerOf2 = (x: number): number => 2 ** Math.floor(Math.log2(x))

export function shapeOf(graph: Graph, options: EmitOptions): KernelShape {
  const uniform = uniformity(graph)
  const { vectorBytes, vectorRegisters } = options.target
  const width = options.width ?? vectorBytes / laneBytes(graph, uniform)
  const reduces = graph.planes.some(({ role }) => role === 'reduction')
  const most = reduces ? ACCUMULATORS / width : 8

  const loops = [...walk(graph.body)].filter(isConstruct).filter(({ op }) => op === 'loop')
  const kept = Math.max(1, ...loops.map((loop) => loopPressure(loop, uniform)))

  if (hasDivergentLoop(graph, uniform) && width > 1) {
    const refill = (options.divergence ?? 'refilled') === 'refilled' ? planRefill(graph, uniform) : undefined
    // Packing lanes works on one register: no value of the state may take two.
    const stateWidth =
      options.width ??
      vectorBytes / Math.max(laneBytes(graph, uniform), ...(refill?.state ?? []).map((type) => BYTES[type]))
    if (refill !== undefined && refill.state.every((type) => BYTES[type] * stateWidth <= vectorBytes)) {
      const vectors = clamp(Math.floor(LIVE_VECTORS / refill.state.length), fewest(refill.loop), 4)
      return { width: stateWidth, vectors, divergence: 'refilled' }
    }
    const divergence = options.divergence === 'masked' ? 'masked' : 'interleaved'
    const wished = divergence === 'masked' || hasScatterInLoop(graph) ? 1 : Math.floor(LIVE_VECTORS / kept)
    const vectors = powerOf2(clamp(wished, 1, Math.min(4, most)))
    return { width, vectors, divergence }
  }
  if (width === 1 || hasScatterInLoop(graph)) return { width, vectors: 1, divergence: 'straight' }
  const wished = reduces && countOf(graph.body) <= TINY_BODY ? most : vectorsFor(heaviest(graph.body).region)
  // Loops in lockstep overlap their iterations: what they keep should stay in registers, a quarter of which the body needs.
  const fitting = Math.floor((0.75 * vectorRegisters) / kept)
  return { width, vectors: powerOf2(clamp(Math.min(fitting, wished), 1, most)), divergence: 'straight' }
}
