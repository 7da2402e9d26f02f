// Rebuilds a graph through a fresh builder, which folds, shares and hoists anew. Every pass that maps a graph to a graph node by
// node (lowering, specialising, contraction, simplification) is a call of this with its own hooks.
// Invariants: dead nodes and dead or unchanging carries do not come back; effects keep their order; planes keep their numbers.
import { createBuilder, type Builder } from './build.ts'
import { copyEffect, copyValue, type Renaming } from './copy.ts'
import {
  isConstruct,
  isEffect,
  type Construct,
  type Effect,
  type Graph,
  type Plane,
  type Region,
  type Value,
} from './graph.ts'
import { liveness } from './liveness.ts'
import type { Type } from './types.ts'

export interface RebuildHooks {
  /** What a plane becomes. */
  readonly plane?: (plane: Plane) => Plane
  /** What a type becomes, in literals, conversions and random numbers; every other type follows from its operands. */
  readonly type?: (type: Type) => Type
  /** What a value becomes, given its rebuilt operands; undefined: the same op again. Not asked for region parameters and results. */
  readonly value?: (value: Value, operands: readonly Value[], b: Builder) => Value | undefined
  /** Takes an effect, given its rebuilt operands, and answers whether it dealt with it; otherwise the same effect is built again. */
  readonly effect?: (effect: Effect, operands: readonly Value[], b: Builder) => boolean
}

export function rebuild(graph: Graph, hooks: RebuildHooks = {}): Graph {
  const b = createBuilder(hooks.plane ? graph.planes.map(hooks.plane) : graph.planes)
  rebuildInto(b, graph, hooks)
  return b.finishGraph()
}

/** Builds the body of a graph at the place where a builder is, say inside a loop. The planes of the graph keep their numbers. */
export function rebuildInto(
  b: Builder,
  graph: Graph,
  { type = (same) => same, value: hook, effect: takes }: Omit<RebuildHooks, 'plane'>,
): void {
  const { isLive, liveResults } = liveness(graph)
  const renewed = new Map<Value, Value>()
  /** What each result of a construct, by its number, became. */
  const resultsOf = new Map<Construct, Map<number, Value>>()

  /** Tapes by their number in the old graph; one that nothing recalls does not come back. */
  const tapes = new Map<number, number>()
  function tape(old: number): number {
    const { type: from, capacity } = graph.tapes[old]!
    const known = tapes.get(old) ?? b.tape({ type: type(from), capacity })
    tapes.set(old, known)
    return known
  }
  const renaming: Renaming = { type, plane: (same) => same, tape }

  function renew(value: Value): Value {
    if (value.op === 'result') return resultsOf.get(value.source)!.get(value.index)!
    const known = renewed.get(value)
    if (known) return known
    const operands = value.operands.map(renew)
    const made = hook?.(value, operands, b) ?? copyValue(b, value, operands, renaming)
    // A constant stands in no region: what a hook makes of it in one region may not be there for another.
    if (value.op !== 'const') renewed.set(value, made)
    return made
  }

  const results = (region: Region, indices: readonly number[]) => indices.map((k) => renew(region.results[k]!))

  function renewRegion({ nodes }: Region): void {
    for (const node of nodes) {
      if (!isLive(node)) continue
      if (isConstruct(node)) renewConstruct(node)
      else if (!isEffect(node)) renew(node)
      else {
        const operands = node.operands.map(renew)
        if (!takes?.(node, operands, b)) copyEffect(b, node, operands, renaming)
      }
    }
  }

  const setResults = (construct: Construct, indices: readonly number[], made: readonly Value[]) => {
    const known = resultsOf.get(construct) ?? new Map<number, Value>()
    resultsOf.set(construct, known)
    indices.forEach((index, k) => known.set(index, made[k]!))
  }

  function renewConstruct(construct: Construct): void {
    const live = liveResults(construct)
    const [first, ...initial] = construct.operands.map((operand, k) =>
      k === 0 || construct.op !== 'loop' || live.includes(k - 1) ? renew(operand) : undefined,
    )
    if (construct.op !== 'loop') {
      const sides = construct.regions.map((region) => () => {
        renewRegion(region)
        return results(region, live)
      })
      setResults(construct, live, b.sides(construct.op, first!, sides))
      return
    }
    const [body, condition] = construct.regions as readonly [Region, Region]
    // A carry that its body hands on unchanged is its initial value throughout.
    const carried = live.filter((k) => body.results[k] !== body.parameters[k + 1])
    for (const k of live) {
      if (carried.includes(k)) continue
      for (const { parameters } of construct.regions) renewed.set(parameters[k + 1]!, initial[k]!)
      setResults(construct, [k], [initial[k]!])
    }
    const enter = ({ parameters }: Region, iteration: Value, carries: readonly Value[]) => {
      renewed.set(parameters[0]!, iteration)
      carried.forEach((k, place) => renewed.set(parameters[k + 1]!, carries[place]!))
    }
    const made = b.loop({
      count: first!,
      initial: carried.map((k) => initial[k]!),
      body(iteration, carries) {
        enter(body, iteration, carries)
        renewRegion(body)
        return results(body, carried)
      },
      condition(iteration, carries) {
        enter(condition, iteration, carries)
        renewRegion(condition)
        return results(condition, [0])[0]!
      },
    })
    setResults(construct, carried, made)
  }

  renewRegion(graph.body)
}
