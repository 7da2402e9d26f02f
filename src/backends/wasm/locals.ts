// The locals of a generated function: taken, given back and taken again, so that a long kernel stays below the engine's limit of
// 50,000 locals; and after which node each value of a graph is used no more.
import {
  isConstruct,
  isEffect,
  type Construct,
  type Graph,
  type Node,
  type Region,
  type Value,
} from '../../ir/graph.ts'

export type LocalType = 'v128' | 'i32'

export interface Locals {
  /** A local whose present value nobody needs. */
  take(type: LocalType): string
  give(local: string): void
  /** A local that nothing else has used or will use. */
  own(type: LocalType): string
  /** The most vectors that were taken at one time, but for what runs {@link Locals.rarely}. */
  peak(): number
  rarely(emit: () => void): void
  declarations(): string
}

export function createLocals(): Locals {
  const counts: Record<LocalType, number> = { v128: 0, i32: 0 }
  const free: Record<LocalType, string[]> = { v128: [], i32: [] }
  const typeOf = new Map<string, LocalType>()
  let taken = 0
  let peak = 0
  let isRare = false
  const own = (type: LocalType): string => {
    const name = `$${type === 'v128' ? 'v' : 'i'}${counts[type]++}`
    typeOf.set(name, type)
    return name
  }
  return {
    own,
    take(type) {
      if (type === 'v128') {
        taken++
        if (!isRare) peak = Math.max(peak, taken)
      }
      return free[type].pop() ?? own(type)
    },
    give(local) {
      const type = typeOf.get(local)!
      if (type === 'v128') taken--
      free[type].push(local)
    },
    peak: () => peak,
    rarely(emit) {
      const outer = isRare
      isRare = true
      emit()
      isRare = outer
    },
    declarations: () => [...typeOf].map(([name, type]) => `(local ${name} ${type})`).join(' '),
  }
}

/** The values of each region whose last use, at any depth, is in a node of that region; results of a region last until its end. */
export function lastUses(graph: Graph, order: readonly Node[]): ReadonlyMap<Node, readonly Value[]> {
  const home = new Map<Value | Construct, Region>()
  const deaths = new Map<Node, Value[]>()
  const homeOf = (value: Value): Region | undefined => home.get(value.op === 'result' ? value.source : value)

  function settle(region: Region, nodes: readonly Node[]): void {
    for (const parameter of region.parameters) home.set(parameter, region)
    for (const node of nodes) {
      if (isConstruct(node)) {
        home.set(node, region)
        for (const inner of node.regions) settle(inner, inner.nodes)
      } else if (!isEffect(node)) home.set(node, region)
    }
  }

  /** Values that a node uses, those of the regions inside it included. */
  function uses(node: Node): readonly Value[] {
    if (!isConstruct(node)) return node.operands
    return [...node.operands, ...node.regions.flatMap(usesOfRegion)]
  }
  const usesOfRegion = ({ nodes, results }: Region): readonly Value[] => [...nodes.flatMap(uses), ...results]

  function visit(region: Region, nodes: readonly Node[]): void {
    const last = new Map<Value, Node>()
    for (const node of nodes) {
      if (!isConstruct(node) && !isEffect(node)) last.set(node, node)
      for (const value of uses(node)) if (homeOf(value) === region) last.set(value, node)
      if (isConstruct(node)) for (const inner of node.regions) visit(inner, inner.nodes)
    }
    for (const value of region.results) last.delete(value)
    for (const [value, node] of last) deaths.set(node, [...(deaths.get(node) ?? []), value])
  }

  settle(graph.body, order)
  visit(graph.body, order)
  return deaths
}
