// Scatter-adds, applied in ascending sample order and, within a sample, in program order.
// An accumulator that samples add to only at their own number takes vector adds. Any other takes its (index, value) pairs from lists of
// a block, one list for each place in the program, which a scalar loop applies when the block is computed. With one lane a scatter-add
// is applied on the spot.
// Invariant: index −1 in a list, like any other index outside the accumulator, adds nothing.
import { isConstruct, walk, type Graph, type Node, type PlaneEffect, type Value } from '../../ir/graph.ts'
import { BYTES, type Type } from '../../ir/types.ts'
import { both, lanesOf, partsOf, scalarOf, select, type Context, type Mask } from './context.ts'
import { BLOCK } from '../../ir/reduction.ts'
import type { Part } from './blocks.ts'
import type { Code } from './code.ts'
import { printCounted } from './control.ts'
import { maskPlanes } from './finish.ts'
import { laneType } from './lanes.ts'
import {
  addressOfPlane,
  firstOf,
  laneAddresses,
  loadConsecutive,
  loadScattered,
  sampleNumbers,
  scalarAddress,
  storeConsecutive,
  storeScattered,
} from './memory.ts'

type Scatter = PlaneEffect & { readonly op: 'scatterAdd' }
const isScatter = (node: Node): node is Scatter => node.op === 'scatterAdd'

/** A place in the program that writes lists. */
export interface ScatterSite {
  readonly effect: PlaneEffect
  readonly type: Type
  /** Where its lists start in the lists of a block. */
  readonly indices: number
  readonly values: number
  /** May not run for a group: in a side of a branch or a case, or as all its samples may be finished. */
  readonly isConditional: boolean
}

export interface ScatterPlan {
  readonly sites: readonly ScatterSite[]
  readonly bytes: number
}

/** Entries of a list: a block, and as many again as a vector may reach past it. */
const ENTRIES = BLOCK + 64

/** Components of accumulators that samples add to only at their own number. */
function isOwnColumn(graph: Graph, { plane, component }: PlaneEffect): boolean {
  for (const node of walk(graph.body)) {
    if (!isScatter(node) || node.plane !== plane || node.component !== component) continue
    if (node.operands[0]!.op !== 'sampleIndex') return false
  }
  return true
}

export function planScatter(graph: Graph, width: number): ScatterPlan {
  if (width === 1 || hasScatterInLoop(graph)) return { sites: [], bytes: 0 }
  const top = new Set<Node>(graph.body.nodes)
  const finishes = maskPlanes(graph).length > 0
  let bytes = 0
  const reserve = (size: number) => {
    const start = bytes
    bytes += Math.ceil((ENTRIES * size) / 64) * 64
    return start
  }
  const sites = [...walk(graph.body)]
    .filter(isScatter)
    .filter((effect) => !isOwnColumn(graph, effect))
    .map((effect): ScatterSite => {
      const { type } = graph.planes[effect.plane]!
      const isConditional = finishes || !top.has(effect)
      return { effect, type, indices: reserve(4), values: reserve(BYTES[type]), isConditional }
    })
  return { sites, bytes }
}

/** Whether a scatter-add stands in a loop, so that a sample may write any number of pairs: see events.ts. */
export function hasScatterInLoop(graph: Graph): boolean {
  const inside = (nodes: readonly Node[], inLoop: boolean): boolean =>
    nodes.some((node) =>
      isConstruct(node)
        ? node.regions.some((region) => inside(region.nodes, inLoop || node.op === 'loop'))
        : inLoop && isScatter(node) && !isOwnColumn(graph, node),
    )
  return inside(graph.body.nodes, false)
}

export interface Scatterer {
  /** What follows is of the block whose lists are at an address. */
  useLists(address: string): void
  /** Before the body of a group: what it does not run adds nothing. */
  printStart(context: Context): void
  add(context: Context, effect: PlaneEffect, mask: Mask): void
  /** Applies the pairs of a part of a block. */
  printBlockEnd(context: Context, blockStart: string, part: Part): void
}

/** Address of the entry of a list for a sample, by its place in the block (i64). */
export function listEntry(code: Code, lists: string, start: number, type: Type, place: string): string {
  const list = code.value(`getelementptr i8, ptr ${lists}, i64 ${start}`)
  return code.value(`getelementptr ${laneType(type, 1)}, ptr ${list}, i64 ${place}`)
}

export function createScatterer({ sites }: ScatterPlan): Scatterer {
  let lists = ''
  const entry = ({ code }: Context, start: number, type: Type, place: string): string =>
    listEntry(code, lists, start, type, place)
  const placeOf = ({ code, group, width }: Context, part: number): string => {
    const place = code.value(`and i64 ${group.first}, ${BLOCK - 1}`)
    return part === 0 ? place : code.value(`add i64 ${place}, ${part * width}`)
  }

  function writePairs(context: Context, site: ScatterSite, mask: Mask): void {
    const { code } = context
    const [index, value] = site.effect.operands.map((operand) => partsOf(context, operand))
    const nowhere = code.constant('i32', -1, context.width)
    value!.forEach((vector, part) => {
      const place = placeOf(context, part)
      const is = mask?.[part]
      if (site.isConditional && is !== undefined) {
        // The start of the group wrote −1 for the lanes that do not come here.
        storeConsecutive(context, 'i32', index![part]!, entry(context, site.indices, 'i32', place), is)
      } else {
        const kept = is === undefined ? index![part]! : select(context, 'i32', is, index![part]!, nowhere)
        storeConsecutive(context, 'i32', kept, entry(context, site.indices, 'i32', place), undefined)
      }
      storeConsecutive(context, site.type, vector, entry(context, site.values, site.type, place), undefined)
    })
  }

  return {
    useLists(address) {
      lists = address
    },

    printStart(context) {
      for (const site of sites) {
        if (!site.isConditional) continue
        const nowhere = context.code.constant('i32', -1, context.width)
        for (let part = 0; part < context.vectors; part++) {
          storeConsecutive(
            context,
            'i32',
            nowhere,
            entry(context, site.indices, 'i32', placeOf(context, part)),
            undefined,
          )
        }
      }
    },

    add(context, effect, mask) {
      context.check?.(context, effect.plane, effect.operands[0]!, mask)
      const site = sites.find((one) => one.effect === effect)
      if (site) return writePairs(context, site, mask)
      if (context.width === 1) return addScalar(context, effect)
      addOwnColumn(context, effect, mask)
    },

    printBlockEnd(context, blockStart, { begin, end }) {
      if (sites.length === 0) return
      const { code } = context
      const from = code.value(`sub i64 ${begin}, ${blockStart}`)
      const to = code.value(`sub i64 ${end}, ${blockStart}`)
      printCounted(code, 'apply', from, to, (place) => {
        for (const site of sites) {
          const index = code.value(`load i32, ptr ${entry(context, site.indices, 'i32', place)}, align 4`)
          const address = entry(context, site.values, site.type, place)
          const value = code.value(`load ${laneType(site.type, 1)}, ptr ${address}, align ${BYTES[site.type]}`)
          addAt(context, site.effect, index, value)
        }
      })
    },
  }
}

/** Adds one value at one index, unless that is outside. */
export function addAt(context: Context, effect: PlaneEffect, index: string, value: string): void {
  const { code } = context
  const { indexLimit } = addressOfPlane(context, effect.plane)
  addIf(context, effect, code.value(`icmp ult i32 ${index}, ${indexLimit}`), index, value)
}

/** Adds one value at one index if a condition holds (i1) that keeps the index inside. */
export function addIf(
  context: Pick<Context, 'code' | 'graph' | 'rows' | 'planes' | 'width'>,
  { plane, component }: PlaneEffect,
  condition: string,
  index: string,
  value: string,
): void {
  const { code, graph, rows } = context
  const { type } = graph.planes[plane]!
  const target = addressOfPlane(context, plane)
  const inside = code.label('inside')
  const after = code.label('added')
  code.branch(condition, inside, after)
  code.begin(inside)
  const element = scalarAddress(context, type, target, component, 'i32', index)
  const lanes = laneType(type, 1)
  const held = code.value(`load ${lanes}, ptr ${element}, align ${BYTES[type]}`)
  const sum = code.expand(rows.add(type, type, 1), { width: 1, T: type, R: type, operands: [held, value] })
  code.line(`store ${lanes} ${sum}, ptr ${element}, align ${BYTES[type]}`)
  code.jump(after)
  code.begin(after)
}

const addScalar = (context: Context, effect: PlaneEffect): void =>
  addAt(context, effect, scalarOf(context, effect.operands[0]!), scalarOf(context, effect.operands[1]!))

function addOwnColumn(context: Context, { plane, component, operands }: PlaneEffect, mask: Mask): void {
  const { code, width, vectors, group, graph, rows } = context
  const { type } = graph.planes[plane]!
  const target = addressOfPlane(context, plane)
  const [index, value] = operands as readonly [Value, Value]
  const values = partsOf(context, value)
  const add = (held: string, part: number) =>
    code.expand(rows.add(type, type, width), { width, T: type, R: type, operands: [held, values[part]!] })
  const limit = code.splat('i32', target.indexLimit, width)
  const inside = () =>
    partsOf(context, index).map((lane) => code.value(`icmp ult ${lanesOf(context, 'i32')} ${lane}, ${limit}`))

  if (group.numbers !== undefined || target.stride !== 1) {
    both(context, mask, inside()).forEach((is, part) => {
      const numbers = sampleNumbers(context, group, part)
      const addresses = laneAddresses(context, type, target, component, 'i64', numbers)
      storeScattered(context, type, add(loadScattered(context, type, addresses, is), part), addresses, is)
    })
    return
  }
  const addAll = (lanes: Mask) =>
    values.forEach((_, part) => {
      const element = scalarAddress(context, type, target, component, 'i64', firstOf(context, group, part))
      storeConsecutive(
        context,
        type,
        add(loadConsecutive(context, type, element, lanes?.[part]), part),
        element,
        lanes?.[part],
      )
    })
  if (mask !== undefined) return addAll(both(context, mask, inside()))
  const whole = code.label('whole')
  const partial = code.label('partial')
  const after = code.label('added')
  const past = code.value(`add i64 ${group.first}, ${width * vectors}`)
  code.branch(code.value(`icmp ule i64 ${past}, ${target.length}`), whole, partial)
  code.begin(whole)
  addAll(undefined)
  code.jump(after)
  code.begin(partial)
  addAll(inside())
  code.jump(after)
  code.begin(after)
}
