// The form of the work function for kernels whose main work is one loop that each sample leaves by itself. Lanes run the loop
// independently: every few iterations those that have left are retired, and refilled with the next samples.
//
//   prepare  computes what the loop starts from, for 256 samples at a time in whole vectors, into a queue
//   check    retires lanes: packs their results into a second queue; refills them from the first
//   run      some iterations of the loop, K vectors side by side
//   deliver  computes what comes after the loop and stores it, in whole vectors, from the second queue
//
// Invariants: a sample's loads, loop and stores are what the plain form computes, in another order only among samples; what folds
// over samples goes through openBlocks.ts, so that its order is kept.
import type { Region, Value } from '../../ir/graph.ts'
import type { Type } from '../../ir/types.ts'
import { lowerOf } from './blocks.ts'
import { orderWrites } from './body.ts'
import type { Code } from './code.ts'
import {
  anyLane,
  both,
  isUniform,
  lanesOf,
  negate,
  ofGroup,
  partNumbers,
  partsOf,
  scalarOf,
  select,
  type Context,
  type Lanes,
} from './context.ts'
import { printCounted } from './control.ts'
import { fromCrossing, crossingType, prepare } from './crossing.ts'
import { maskPlanes, unfinished } from './finish.ts'
import type { Frame, FrameParts } from './frame.ts'
import { countingVector, laneType } from './lanes.ts'
import { createOpenBlocks } from './openBlocks.ts'
import { printTake } from './job.ts'
import { columnType, countLanes, entryOf, fromColumn, loadSpread, rankLanes, storePacked, toColumn } from './queue.ts'
import { PREPARED, type RefillLayout } from './refillLayout.ts'
import { reductionsOf } from './reduce.ts'
import { createScatterer } from './scatter.ts'
import { lanesInside } from './samples.ts'
import { costOf } from '../../ir/cost.ts'

/** Work between two checks, in operations, so that a check is a small part of it; and most iterations, as an ended lane idles till then. */
const WORK_BETWEEN_CHECKS = 512
const MOST_ITERATIONS = 8

/** A variable of the function; the compiler keeps it in registers. */
interface Cell {
  load(): string
  store(value: string): void
}

function cell(code: Code, type: string, initial: string): Cell {
  const address = code.alloca(type, 64)
  const store = (value: string) => code.line(`store ${type} ${value}, ptr ${address}`)
  store(initial)
  return { load: () => code.value(`load ${type}, ptr ${address}`), store }
}

/** A cell for each vector. */
function vectorCells(
  context: Context,
  type: Type,
): { load(): readonly string[]; loadPart(part: number): string; storePart(part: number, value: string): void } {
  const lanes = crossingType(context, type)
  const cells = partNumbers(context).map(() => cell(context.code, lanes, 'zeroinitializer'))
  const loadPart = (part: number) => fromCrossing(context, type, cells[part]!.load())
  return {
    load: () => cells.map((_, part) => loadPart(part)),
    loadPart,
    storePart: (part, value) => cells[part]!.store(prepare(context, type, value)),
  }
}

export function printRefilled(frame: Frame, { graph, options, shape }: FrameParts, layout: RefillLayout): void {
  const { code, hasJob, own } = frame
  const { plan, fresh, done } = layout
  const { loop } = plan
  const [body, condition] = loop.regions as readonly [Region, Region]
  const [count, ...initial] = loop.operands as readonly [Value, ...Value[]]
  const blocks = createOpenBlocks(frame, layout, shape, reductionsOf(graph), options)
  const context = frame.context({
    scatterAdd: createScatterer({ sites: [], bytes: 0 }).add,
    contribute: (of, effect, mask) => blocks.contribute(of, effect, mask),
  })
  /** One vector, for preparing and delivering. */
  const single: Context = { ...context, vectors: 1 }
  /** The context of a group, with what is the same for all samples in as many vectors as it has. */
  const sub = (of: Context, group: Context['group']): Context => {
    const narrow = (lanes: Lanes): Lanes => ({ ...lanes, parts: lanes.parts.slice(0, of.vectors) })
    return {
      ...ofGroup(of, group),
      values: new Map([...of.values].map(([value, lanes]) => [value, narrow(lanes)])),
      results: new Map([...of.results].map(([construct, all]) => [construct, all.map(narrow)])),
    }
  }

  const next = cell(code, 'i64', '%begin')
  const chunkEnd = cell(code, 'i64', code.value(`select i1 ${hasJob}, i64 %begin, i64 %end`))
  const mayTake = cell(code, 'i1', hasJob)
  const freshPlace = cell(code, 'i64', '0')
  const freshEnd = cell(code, 'i64', '0')
  const doneCount = cell(code, 'i64', '0')

  const live = vectorCells(context, 'bool')
  const busy = vectorCells(context, 'bool')
  const numbers = vectorCells(context, 'i32')
  const iterations = vectorCells(context, 'i32')
  const kept = plan.kept.map(({ type }) => vectorCells(context, type))
  const carries = loop.types.map((type) => vectorCells(context, type))

  const anyBusy = (): string => anyLane(context, busy.load())

  const check = code.label('check')
  const flush = code.label('deliver')
  const supply = code.label('supply')
  const refill = code.label('refill')
  const run = code.label('run')
  const finished = code.label('finished')
  code.jump(check)
  code.begin(check)
  printRetire()
  printWhetherToDeliver()
  code.begin(flush)
  printDeliver()
  code.jump(supply)
  code.begin(supply)
  printSupply()
  code.begin(refill)
  printRefill()
  printWhetherToRun()
  code.begin(run)
  printRun()
  code.jump(check)
  code.begin(finished)

  /** Lanes that have left the loop: their results go into the second queue. */
  function printRetire(): void {
    for (const part of partNumbers(context)) {
      const isBusy = busy.loadPart(part)
      const isLive = live.loadPart(part)
      const ended = both(single, [isBusy], negate(single, [isLive]))
      const retire = code.label('retire')
      const after = code.label('retired')
      code.branch(anyLane(single, ended), retire, after)
      code.begin(retire)
      const place = doneCount.load()
      const values = [numbers.loadPart(part), ...plan.results.map((k) => carries[k]!.loadPart(part))]
      done.columns.forEach((column, k) =>
        storePacked(single, column.type, values[k]!, ended[0]!, entryOf(single, own, column, place)),
      )
      doneCount.store(code.value(`add i64 ${place}, ${countLanes(single, ended[0]!)}`))
      busy.storePart(part, isLive)
      code.jump(after)
      code.begin(after)
    }
  }

  function printWhetherToDeliver(): void {
    const isFull = code.value(`icmp sgt i64 ${doneCount.load()}, ${done.capacity - shape.width * shape.vectors}`)
    const idle = code.value(`xor i1 ${anyBusy()}, true`)
    const wanted = code.value(`or i1 ${code.value(`or i1 ${isFull}, ${idle}`)}, ${blocks.isWaiting()}`)
    code.branch(wanted, flush, supply)
  }

  /** What comes after the loop, for all samples in the second queue. */
  function printDeliver(): void {
    const { width } = shape
    const total = doneCount.load()
    const vectors = code.value(`udiv i64 ${code.value(`add i64 ${total}, ${width - 1}`)}, ${width}`)
    printCounted(code, 'deliver', '0', vectors, (vector) => {
      const first = code.value(`mul i64 ${vector}, ${width}`)
      const mask = lanesInside(single, first, undefined, total)
      const [number, ...results] = done.columns.map((column) => {
        const lanes = laneType(columnType(column.type), width)
        const loaded = code.value(`load ${lanes}, ptr ${entryOf(single, own, column, first)}, align 4`)
        return fromColumn(single, column.type, loaded)
      })
      const wide = code.value(`zext ${lanesOf(single, 'i32')} ${number} to ${lanesOf(single, 'i64')}`)
      const of = sub(single, { first: '0', mask, numbers: [wide] })
      const given = loop.types.map((): Lanes => ({ parts: [] }))
      plan.results.forEach((k, place) => {
        given[k] = { parts: [results[place]!] }
      })
      of.results.set(loop, given)
      context.region(of, orderWrites(plan.after), mask)
      blocks.count(of, mask[0]!)
    })
    doneCount.store('0')
    blocks.close()
  }

  /** Fills the first queue when it is empty, as long as there are samples. */
  function printSupply(): void {
    const { width } = shape
    const isEmpty = code.value(`icmp eq i64 ${freshPlace.load()}, ${freshEnd.load()}`)
    const look = code.label('look')
    const take = code.label('take')
    const ask = code.label('ask')
    const none = code.label('none')
    const open = code.label('open')
    code.branch(isEmpty, look, refill)
    code.begin(look)
    code.branch(code.value(`icmp slt i64 ${next.load()}, ${chunkEnd.load()}`), open, take)
    code.begin(take)
    code.branch(mayTake.load(), ask, refill)
    code.begin(ask)
    const chunk = printTake(code, none)
    next.store(chunk.begin)
    chunkEnd.store(chunk.end)
    code.jump(open)
    code.begin(none)
    mayTake.store('false')
    code.jump(refill)

    code.begin(open)
    const begin = next.load()
    const limit = blocks.open(begin, chunkEnd.load(), refill)
    const wished = code.value(`add i64 ${begin}, ${PREPARED}`)
    const end = lowerOf(code, limit, wished)
    freshPlace.store('0')
    freshEnd.store('0')
    const samples = code.value(`sub i64 ${end}, ${begin}`)
    const vectors = code.value(`udiv i64 ${code.value(`add i64 ${samples}, ${width - 1}`)}, ${width}`)
    printCounted(code, 'prepare', '0', vectors, (vector) => {
      const first = code.value(`add i64 ${begin}, ${code.value(`mul i64 ${vector}, ${width}`)}`)
      const inside = lanesInside(single, first, undefined, end)
      const all = sub(single, { first, mask: inside })
      const mask = maskPlanes(graph).length > 0 ? unfinished(all) : inside
      const of: Context = { ...all, group: { first, mask } }
      context.region(of, plan.before, mask)
      const place = freshEnd.load()
      const number = code.value(
        `add ${lanesOf(single, 'i32')} ${code.splat('i32', code.value(`trunc i64 ${first} to i32`), width)}, ${countingVector('i32', width, 0)}`,
      )
      const queued = [...plan.kept, ...layout.queuedInitial.map((k) => initial[k]!)]
      const values = [number, ...queued.map((value) => partsOf(of, value)[0]!)]
      fresh.columns.forEach((column, k) =>
        storePacked(single, column.type, values[k]!, mask[0]!, entryOf(single, own, column, place)),
      )
      const prepared = countLanes(single, mask[0]!)
      freshEnd.store(code.value(`add i64 ${place}, ${prepared}`))
      blocks.skip(single, inside[0]!, prepared)
    })
    next.store(end)
    // Where all of them were finished before there is nothing in the queue yet.
    code.jump(supply)
  }

  /** Free lanes take the next samples. */
  function printRefill(): void {
    for (const part of partNumbers(context)) {
      const isBusy = busy.loadPart(part)
      const free = negate(single, [isBusy])
      const place = freshPlace.load()
      const left = code.value(`sub i64 ${freshEnd.load()}, ${place}`)
      const some = code.value(`icmp sgt i64 ${left}, 0`)
      const fill = code.label('fill')
      const after = code.label('filled')
      code.branch(code.value(`and i1 ${anyLane(single, free)}, ${some}`), fill, after)
      code.begin(fill)
      const lanes = lanesOf(single, 'i32')
      const available = code.splat('i32', code.value(`trunc i64 ${left} to i32`), shape.width)
      const isServed = code.value(`icmp slt ${lanes} ${rankLanes(single, free[0]!)}, ${available}`)
      const taken = both(single, free, [isServed])[0]!
      const spread = (type: Type, column: number, rest: string) => {
        const entry = entryOf(single, own, fresh.columns[column]!, place)
        return fromColumn(single, type, loadSpread(single, type, toColumn(single, type, rest), taken, entry))
      }
      numbers.storePart(part, spread('i32', 0, numbers.loadPart(part)))
      plan.kept.forEach(({ type }, k) => kept[k]!.storePart(part, spread(type, k + 1, kept[k]!.loadPart(part))))
      loop.types.forEach((type, k) => {
        const column = layout.queuedInitial.indexOf(k)
        const rest = carries[k]!.loadPart(part)
        const value =
          column >= 0
            ? spread(type, 1 + plan.kept.length + column, rest)
            : select(single, type, taken, partsOf(single, initial[k]!)[0]!, rest)
        carries[k]!.storePart(part, value)
      })
      const zero = code.constant('i32', 0, shape.width)
      iterations.storePart(part, select(single, 'i32', taken, zero, iterations.loadPart(part)))
      const filled = code.value(`or ${lanesOf(single, 'bool')} ${isBusy}, ${taken}`)
      busy.storePart(part, filled)
      live.storePart(part, filled)
      freshPlace.store(code.value(`add i64 ${place}, ${countLanes(single, taken)}`))
      code.jump(after)
      code.begin(after)
    }
  }

  function printWhetherToRun(): void {
    const idle = code.label('idle')
    code.branch(anyBusy(), run, idle)
    code.begin(idle)
    // All lanes are free: what is left is in the queues, in a later chunk, or in a block that waits to be closed.
    const isMore = [
      code.value(`icmp ne i64 ${doneCount.load()}, 0`),
      code.value(`icmp slt i64 ${next.load()}, ${chunkEnd.load()}`),
      code.value(`icmp slt i64 ${freshPlace.load()}, ${freshEnd.load()}`),
      mayTake.load(),
      blocks.isOpen(),
    ].reduce((left, right) => code.value(`or i1 ${left}, ${right}`))
    code.branch(isMore, check, finished)
  }

  function printRun(): void {
    const work = costOf(body) + costOf(condition)
    const repeats = Math.max(1, Math.min(MOST_ITERATIONS, Math.round(WORK_BETWEEN_CHECKS / work)))
    printCounted(code, 'iterate', '0', String(repeats), () => {
      const wide = (parts: readonly string[]): readonly string[] =>
        parts.map((part) => code.value(`sext ${lanesOf(context, 'i32')} ${part} to ${lanesOf(context, 'i64')}`))
      const of = sub(context, {
        first: '0',
        mask: undefined,
        ...(options.check ? { numbers: wide(numbers.load()) } : {}),
      })
      plan.kept.forEach((value, k) => {
        const lanes: Lanes = { parts: kept[k]!.load() }
        if (value.op !== 'result') of.values.set(value, lanes)
        else {
          const all = [...(of.results.get(value.source) ?? value.source.types.map((): Lanes => ({ parts: [] })))]
          all[value.index] = lanes
          of.results.set(value.source, all)
        }
      })
      const number = iterations.load()
      const before = carries.map((carry) => carry.load())
      for (const { parameters } of loop.regions) {
        of.values.set(parameters[0]!, { parts: number })
        before.forEach((parts, k) => of.values.set(parameters[k + 1]!, { parts }))
      }
      const lanes = lanesOf(of, 'i32')
      const limits = isUniform(of, count)
        ? number.map(() => code.splat('i32', scalarOf(of, count), shape.width))
        : partsOf(of, count)
      const isBelow = number.map((part, k) => code.value(`icmp slt ${lanes} ${part}, ${limits[k]}`))
      let goesOn = both(of, live.load(), isBelow)
      context.region(of, condition.nodes, goesOn)
      const [holds] = condition.results
      if (!(holds!.op === 'const' && holds!.literal === true)) goesOn = both(of, goesOn, partsOf(of, holds!))
      context.region(of, body.nodes, goesOn)
      loop.types.forEach((type, k) => {
        partsOf(of, body.results[k]!).forEach((value, part) =>
          carries[k]!.storePart(part, select(of, type, goesOn[part]!, value, before[k]![part]!)),
        )
      })
      number.forEach((part, k) => {
        iterations.storePart(k, code.value(`add ${lanes} ${part}, ${code.constant('i32', 1, shape.width)}`))
        live.storePart(k, goesOn[k]!)
      })
    })
  }
}
