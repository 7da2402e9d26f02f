// Long sides of shortcuts that hardly ever run: printed for one number and run for one lane after the other, instead of printed for every
// vector of a group.
// Invariants: what a side uses and gives stands in memory of the function while it runs; all lanes run, also those that take no part, as
// such a side only computes.
import { freeValues, isConstruct, walk, type Construct, type Region, type Value } from '../../ir/graph.ts'
import { sizeOf } from '../../ir/cost.ts'
import { isComputed } from '../../ir/semantics.ts'
import { BYTES, type Type } from '../../ir/types.ts'
import { isUniform, partNumbers, partsOf, scalarOf, type Context, type Lanes } from './context.ts'
import { printCounted } from './control.ts'
import { laneType, MEMORY_TYPE } from './lanes.ts'

/** Longer sides than this, in operations, are run lane by lane. */
const LONG_SIDE = 150

/** Whether a side of a shortcut that is not the usual one is run lane by lane. */
export const runsLaneByLane = ({ width }: Context, region: Region): boolean =>
  width > 1 &&
  sizeOf(region) > LONG_SIDE &&
  [...walk(region)].every((node) => (isConstruct(node) ? node.op === 'shortcut' : isComputed(node.op)))

/** All lanes of a value in memory. Conditions are bytes. */
function printSlot({ code, width, vectors }: Context, type: Type) {
  const memory = MEMORY_TYPE[type]
  const scalar = laneType(memory, 1)
  const slot = code.alloca(`[${width * vectors} x ${scalar}]`, 64)
  const lanes = laneType(memory, width)
  const addressOf = (lane: string | number) => code.value(`getelementptr ${scalar}, ptr ${slot}, i64 ${lane}`)
  const toMemory = (value: string, lanesOf: string, count: number) =>
    type === 'bool' ? code.value(`zext ${laneType('bool', count)} ${value} to ${lanesOf}`) : value
  const fromMemory = (value: string, lanesOf: string, count: number) =>
    type === 'bool' ? code.value(`icmp ne ${lanesOf} ${value}, ${count === 1 ? '0' : 'zeroinitializer'}`) : value
  return {
    storePart(part: number, value: string): void {
      const ready = toMemory(value, lanes, width)
      code.line(`store ${lanes} ${ready}, ptr ${addressOf(part * width)}, align ${BYTES[type]}`)
    },
    loadPart: (part: number): string =>
      fromMemory(code.value(`load ${lanes}, ptr ${addressOf(part * width)}, align ${BYTES[type]}`), lanes, width),
    storeLane(lane: string, value: string): void {
      const ready = toMemory(value, scalar, 1)
      code.line(`store ${scalar} ${ready}, ptr ${addressOf(lane)}, align ${BYTES[type]}`)
    },
    loadLane: (lane: string): string =>
      fromMemory(code.value(`load ${scalar}, ptr ${addressOf(lane)}, align ${BYTES[type]}`), scalar, 1),
  }
}

/** Prints a region; gives the parts of each of its results. */
export function printLaneByLane(context: Context, region: Region): readonly (readonly string[])[] {
  const { code, width, vectors } = context
  const used = [...freeValues([region])].map((value) => {
    if (isUniform(context, value)) {
      const scalar = scalarOf(context, value)
      return { value, read: () => scalar }
    }
    const slot = printSlot(context, value.type)
    partsOf(context, value).forEach((text, part) => slot.storePart(part, text))
    return { value, read: slot.loadLane }
  })
  const given = region.results.map(({ type }) => printSlot(context, type))
  printCounted(code, 'lane', '0', String(width * vectors), (lane) => {
    const values = new Map<Value, Lanes>()
    const results = new Map<Construct, Lanes[]>()
    for (const { value, read } of used) {
      const scalar = read(lane)
      const single = { scalar, parts: [scalar] }
      if (value.op !== 'result') values.set(value, single)
      else {
        const ofSource = results.get(value.source) ?? []
        ofSource[value.index] = single
        results.set(value.source, ofSource)
      }
    }
    const single: Context = { ...context, width: 1, vectors: 1, values, results }
    context.region(single, region.nodes, undefined)
    region.results.forEach((result, k) => given[k]!.storeLane(lane, scalarOf(single, result)))
  })
  return given.map((slot) => partNumbers(context).map(slot.loadPart))
}
