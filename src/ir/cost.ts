// What a sample costs, roughly: how many operations it usually runs, and how long the chain of those is that wait for each other.
// Invariant: rare sides do not count. Of a shortcut whose general side is another one, the longer of both quick sides is the usual one, and
// what follows is for arguments that hardly occur.
import { isConstruct, isEffect, type Construct, type Node, type Region, type Value } from './graph.ts'
import type { OpName } from './ops.ts'

/** Iterations assumed of a loop whose count is no literal. */
const UNKNOWN_COUNT = 100
/** Nodes of a general side that is nothing but another shortcut, with its condition. */
const SHORTCUT_NODES = 3

export function repeatsOf({ op, operands: [count] }: Construct): number {
  if (op !== 'loop') return 1
  return count?.op === 'const' ? Number(count.literal) : UNKNOWN_COUNT
}

/** The side of a shortcut that samples usually take. */
export function usualSide({ regions }: Construct): Region {
  const [quick, general] = regions as readonly [Region, Region]
  const next = general.nodes.find((node): node is Construct => node.op === 'shortcut')
  if (next === undefined || general.nodes.length > SHORTCUT_NODES) return quick
  const [following] = next.regions as readonly [Region, Region]
  return costOf(following) > costOf(quick) ? following : quick
}

/** The nodes of a region with those of the usual sides of its shortcuts before each of these. */
export function* usualNodes({ nodes }: Region): Generator<Node> {
  for (const node of nodes) {
    if (isConstruct(node) && node.op === 'shortcut') yield* usualNodes(usualSide(node))
    yield node
  }
}

/** Usual nodes of a region, with those of the regions inside it as often as `repeats` says of their construct. */
function total(region: Region, repeats: (construct: Construct) => number): number {
  let sum = 0
  for (const node of usualNodes(region)) {
    sum += 1
    if (!isConstruct(node) || node.op === 'shortcut') continue
    for (const inner of node.regions) sum += repeats(node) * total(inner, repeats)
  }
  return sum
}

/** Operations of a sample. */
export const costOf = (region: Region): number => total(region, repeatsOf)

/** Operations of a region and of those inside it, each counted once. */
export const sizeOf = (region: Region): number => total(region, () => 1)

/** Latency of an op, in additions. */
const LATENCY: Partial<Record<OpName, number>> = { div: 4, sqrt: 5, gather: 5 }

/** Longest chain of operations of a region in which each needs the one before; a construct inside counts as one, a shortcut does not. */
export function longestChain(region: Region): number {
  const depths = new Map<Value | Construct, number>()
  const depthOf = (value: Value) => depths.get(value.op === 'result' ? value.source : value) ?? 0
  let longest = 0
  for (const node of usualNodes(region)) {
    if (isEffect(node)) continue
    const isShortcut = isConstruct(node) && node.op === 'shortcut'
    const needed = isShortcut ? usualSide(node).results : node.operands
    const depth = Math.max(0, ...needed.map(depthOf)) + (isShortcut ? 0 : (LATENCY[node.op] ?? 1))
    depths.set(node, depth)
    longest = Math.max(longest, depth)
  }
  return longest
}
