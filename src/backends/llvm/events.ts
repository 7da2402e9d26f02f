// Scatter-adds of kernels that have some in loops, where a sample may add any number of times. Each vector that adds appends an event,
// (site, indices, values), to a list of the thread; when the body is done, a scalar loop applies them lane by lane, so that they come
// in sample order and, within a sample, in program order.
// A list that overflows is dropped and the body runs again lane by lane, adding on the spot. For that, running the body twice must
// do no harm: the loads stand before it, the accumulators of reductions are put back, and every scatter-add is an event.
// Invariant: an idle lane has the index −1 in an event, which adds nothing.
import { walk, type Graph, type Node, type PlaneEffect } from '../../ir/graph.ts'
import { BYTES, type Type } from '../../ir/types.ts'
import { both, lanesOf, partNumbers, partsOf, select, type Context, type Mask } from './context.ts'
import { printCounted } from './control.ts'
import { countingVector, laneType } from './lanes.ts'
import { storeConsecutive } from './memory.ts'
import { addAt } from './scatter.ts'

/** Lanes of all events that a list holds: its values take 256 KiB. */
const CAPACITY = 32_768
const VALUE_BYTES = 8

export interface EventPlan {
  readonly sites: readonly PlaneEffect[]
  /** Events that the list holds; one more place takes what there is no room for. */
  readonly capacity: number
  readonly bytes: number
  /** Offsets in the thread's part of scratch memory. */
  readonly numbers: number
  readonly indices: number
  readonly values: number
}

export function planEvents(graph: Graph, lanes: number, offset: number): EventPlan {
  const capacity = CAPACITY / lanes
  const places = capacity + 1
  const numbers = offset
  const indices = numbers + Math.ceil((places * 4) / 64) * 64
  const values = indices + Math.ceil((places * lanes * 4) / 64) * 64
  const end = values + Math.ceil((places * lanes * VALUE_BYTES) / 64) * 64
  const isScatter = (node: Node): node is PlaneEffect => node.op === 'scatterAdd'
  return { sites: [...walk(graph.body)].filter(isScatter), capacity, bytes: end - offset, numbers, indices, values }
}

export interface EventRecorder {
  add(context: Context, effect: PlaneEffect, mask: Mask): void
  /**
   * Runs the body for all lanes, or lane by lane if that is too much for the list.
   * @param restore puts back what the body changed beside planes
   */
  printAttempts(context: Context, body: (mask: Mask) => void, restore: () => void): void
}

/**
 * Printed in the entry block.
 * @param scratch address of the thread's part of scratch memory
 */
export function createEvents(outer: Pick<Context, 'code'>, plan: EventPlan, scratch: string): EventRecorder {
  const { code } = outer
  const [numbers, indices, values] = [plan.numbers, plan.indices, plan.values].map((offset) =>
    code.value(`getelementptr i8, ptr ${scratch}, i64 ${offset}`),
  ) as [string, string, string]
  const count = code.alloca('i64', 8)
  const isSingle = code.alloca('i1', 1)

  /** Addresses of the index and of the value of one lane of an event. */
  function laneOf({ width, vectors }: Context, event: string, lane: string) {
    const element = code.value(`add i64 ${code.value(`mul i64 ${event}, ${width * vectors}`)}, ${lane}`)
    return {
      index: code.value(`getelementptr i32, ptr ${indices}, i64 ${element}`),
      value: code.value(`getelementptr i64, ptr ${values}, i64 ${element}`),
    }
  }

  function addLane(context: Context, site: PlaneEffect, event: string, lane: string): void {
    const type = typeOf(context, site)
    const { index, value } = laneOf(context, event, lane)
    const loadedIndex = code.value(`load i32, ptr ${index}, align 4`)
    const loaded = code.value(`load ${laneType(type, 1)}, ptr ${value}, align ${BYTES[type]}`)
    addAt(context, site, loadedIndex, loaded)
  }

  return {
    add(context, site, mask) {
      const { width } = context
      context.check?.(context, site.plane, site.operands[0]!, mask)
      const type = typeOf(context, site)
      const [index, value] = site.operands.map((operand) => partsOf(context, operand)) as [string[], string[]]
      const recorded = code.value(`load i64, ptr ${count}, align 8`)
      const isFull = code.value(`icmp ugt i64 ${recorded}, ${plan.capacity}`)
      const event = code.value(`select i1 ${isFull}, i64 ${plan.capacity}, i64 ${recorded}`)
      const number = code.value(`getelementptr i32, ptr ${numbers}, i64 ${event}`)
      code.line(`store i32 ${plan.sites.indexOf(site)}, ptr ${number}, align 4`)
      const nowhere = code.constant('i32', -1, width)
      for (const part of partNumbers(context)) {
        const target = laneOf(context, event, String(part * width))
        const is = mask?.[part]
        const kept = is === undefined ? index[part]! : select(context, 'i32', is, index[part]!, nowhere)
        storeConsecutive(context, 'i32', kept, target.index, undefined)
        storeValues(context, type, value[part]!, target.value)
      }
      const now = code.label('now')
      const later = code.label('later')
      const after = code.label('recorded')
      code.branch(code.value(`load i1, ptr ${isSingle}, align 1`), now, later)
      code.begin(now)
      printCounted(code, 'lane', '0', String(width * context.vectors), (lane) => addLane(context, site, event, lane))
      code.jump(after)
      code.begin(later)
      code.line(`store i64 ${code.value(`add i64 ${recorded}, 1`)}, ptr ${count}, align 8`)
      code.jump(after)
      code.begin(after)
    },

    printAttempts(context, body, restore) {
      const { width, vectors, group } = context
      const before = code.current
      const attempt = code.label('attempt')
      const apply = code.label('apply')
      const overflow = code.label('overflow')
      const next = code.label('next')
      const done = code.label('done')
      code.jump(attempt)
      code.begin(attempt)
      // −1: all lanes at once.
      const lane = code.phi('i64', [{ value: '-1', block: before }])
      const single = code.value(`icmp sge i64 ${lane.name}, 0`)
      code.line(`store i1 ${single}, ptr ${isSingle}, align 1`)
      code.line(`store i64 0, ptr ${count}, align 8`)
      const all = code.value(`xor i1 ${single}, true`)
      const wanted = code.splat('i64', lane.name, width)
      const lanes = lanesOf(context, 'bool')
      const chosen = partNumbers(context).map((part) => {
        const isWanted = code.value(
          `icmp eq ${lanesOf(context, 'i64')} ${wanted}, ${countingVector('i64', width, part * width)}`,
        )
        return code.value(`or ${lanes} ${isWanted}, ${code.splat('bool', all, width)}`)
      })
      body(both(context, group.mask, chosen))

      const recorded = code.value(`load i64, ptr ${count}, align 8`)
      code.branch(code.value(`icmp ugt i64 ${recorded}, ${plan.capacity}`), overflow, apply)
      code.begin(overflow)
      restore()
      code.jump(next)

      code.begin(apply)
      printCounted(code, 'lane', '0', String(width * vectors), (at) =>
        printCounted(code, 'event', '0', recorded, (event) => {
          const number = code.value(
            `load i32, ptr ${code.value(`getelementptr i32, ptr ${numbers}, i64 ${event}`)}, align 4`,
          )
          const labels = plan.sites.map(() => code.label('site'))
          const end = code.label('applied')
          const cases = labels.slice(1).map((label, k) => `i32 ${k + 1}, label %${label}`)
          code.line(`switch i32 ${number}, label %${labels[0]} [ ${cases.join(' ')} ]`)
          plan.sites.forEach((site, k) => {
            code.begin(labels[k]!)
            addLane(context, site, event, at)
            code.jump(end)
          })
          code.begin(end)
        }),
      )
      code.branch(single, next, done)
      code.begin(next)
      const following = code.value(`add i64 ${lane.name}, 1`)
      lane.add({ value: following, block: next })
      code.branch(code.value(`icmp slt i64 ${following}, ${width * vectors}`), attempt, done)
      code.begin(done)
    },
  }
}

const typeOf = ({ graph }: Context, { plane }: PlaneEffect): Type => graph.planes[plane]!.type

/** Stores lanes of 8 bytes each, whatever the type's own size, so that events of all types have one layout. */
function storeValues(context: Context, type: Type, value: string, address: string): void {
  const { code, width } = context
  if (BYTES[type] === VALUE_BYTES) return storeConsecutive(context, type, value, address, undefined)
  const bits = code.value(`bitcast ${lanesOf(context, type)} ${value} to ${lanesOf(context, 'i32')}`)
  const wide = code.value(`zext ${lanesOf(context, 'i32')} ${bits} to ${lanesOf(context, 'i64')}`)
  code.line(`store ${laneType('i64', width)} ${wide}, ptr ${address}, align 8`)
}
