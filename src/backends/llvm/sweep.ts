// The plain form of the work function: samples in order, K vectors at a time, lanes in lockstep.
import { BLOCK } from '../../ir/reduction.ts'
import { printAfterLoads, printBody, printLoads } from './body.ts'
import type { Code } from './code.ts'
import { anyLane, internal, ofGroup, type Context, type Group, type Mask } from './context.ts'
import { printCounted } from './control.ts'
import { createEvents } from './events.ts'
import { maskPlanes, unfinished } from './finish.ts'
import { BLOCK_BITS, type Frame, type FrameParts } from './frame.ts'
import { JOB, jobField, printTake } from './job.ts'
import { createReducer, reductionsOf } from './reduce.ts'
import { printSamples } from './samples.ts'
import { createScatterer, type ScatterPlan } from './scatter.ts'
import { isLarge } from './shape.ts'

export function printSweep(frame: Frame, { graph, options, shape }: FrameParts): void {
  const { code, hasJob, layout, firstBlock } = frame
  const { width, vectors } = shape
  const { scatter } = layout
  const reductions = reductionsOf(graph)
  const finishes = maskPlanes(graph).length > 0
  const reducer =
    reductions.length > 0
      ? createReducer({ code, width, vectors, reductions, options, results: frame.results })
      : undefined
  const scatterer = createScatterer(scatter)
  const events = layout.events && createEvents({ code }, layout.events, frame.own)
  const outer = frame.context({
    scatterAdd: events?.add ?? scatterer.add,
    contribute(context, effect, mask) {
      if (!reducer) throw internal('there is no reduction plane')
      reducer.contribute(context, effect, mask)
    },
  })

  function printSamplesOf(context: Context, mask: Mask): void {
    if (events === undefined) return printBody(context, mask)
    printLoads(context, mask)
    const restore = reducer?.remember(context) ?? (() => {})
    events.printAttempts(context, (lanes) => printAfterLoads(context, lanes), restore)
  }

  /** One group of samples. */
  function printGroup(group: Group): void {
    const context = ofGroup(outer, group)
    scatterer.printStart(context)
    if (!finishes) return printSamplesOf(context, group.mask)
    const running = unfinished(context)
    const enter = code.label('running')
    const after = code.label('next')
    code.branch(anyLane(context, running), enter, after)
    code.begin(enter)
    const mask = width === 1 ? undefined : running
    printSamplesOf({ ...context, group: { ...group, mask } }, mask)
    code.jump(after)
    code.begin(after)
  }

  const hasLists = scatter.sites.length > 0
  const isBlocked = reducer !== undefined || hasLists
  const printRange = (begin: string, end: string) =>
    printSamples(outer, {
      begin,
      end,
      aligned: reducer !== undefined,
      single: isLarge(graph) || finishes || events !== undefined,
      body: printGroup,
    })

  printChunks(code, hasJob, (begin, end) => {
    if (!isBlocked) return printRange(begin, end)
    printBlocks(code, begin, end, (block, from, to) => {
      if (hasLists) scatterer.useLists(listsOf(frame, scatter, block))
      reducer?.printBlockStart()
      printRange(from, to)
      reducer?.printBlockEnd(code.value(`sub i64 ${block}, ${firstBlock}`))
      if (!hasLists) return
      // With a job, the team applies the lists of all blocks of a round when they are computed.
      const alone = code.label('alone')
      const after = code.label('next')
      code.branch(hasJob, after, alone)
      code.begin(alone)
      scatterer.printBlockEnd(outer, code.value(`shl i64 ${block}, ${BLOCK_BITS}`), from, to)
      code.jump(after)
      code.begin(after)
    })
  })
}

/** Address of the lists of a block: by its number in the round of a job, and the only ones without a job. */
function listsOf({ code, hasJob, lists }: Frame, { bytes }: ScatterPlan, block: string): string {
  const ask = code.label('round')
  const known = code.label('lists')
  const before = code.current
  code.branch(hasJob, ask, known)
  code.begin(ask)
  const begin = code.value(`load i64, ptr ${jobField(code, JOB.begin)}, align 8`)
  const number = code.value(`sub i64 ${block}, ${code.value(`ashr i64 ${begin}, ${BLOCK_BITS}`)}`)
  code.jump(known)
  code.begin(known)
  const slot = code.phi('i64', [
    { value: '0', block: before },
    { value: number, block: ask },
  ])
  const offset = code.value(`mul i64 ${slot.name}, ${bytes}`)
  return code.value(`getelementptr i8, ptr ${lists}, i64 ${offset}`)
}

/** The whole range, or one chunk of it after the other from the counter of the job. */
function printChunks(code: Code, hasJob: string, body: (begin: string, end: string) => void): void {
  const run = code.label('run')
  const done = code.label('finished')
  const take = code.label('take')
  const before = code.current
  code.branch(hasJob, take, run)
  code.begin(take)
  const chunk = printTake(code, done)
  const taken = code.current
  code.jump(run)
  code.begin(run)
  const [begin, end] = [
    ['%begin', chunk.begin],
    ['%end', chunk.end],
  ].map(([whole, part]) =>
    code.phi('i64', [
      { value: whole!, block: before },
      { value: part!, block: taken },
    ]),
  )
  body(begin!.name, end!.name)
  code.branch(hasJob, take, done)
  code.begin(done)
}

/** The blocks of 4,096 samples that a range touches, each cut to the range. */
function printBlocks(
  code: Code,
  begin: string,
  end: string,
  body: (block: string, from: string, to: string) => void,
): void {
  const first = code.value(`ashr i64 ${begin}, ${BLOCK_BITS}`)
  const last = code.value(`ashr i64 ${code.value(`sub i64 ${end}, 1`)}, ${BLOCK_BITS}`)
  printCounted(code, 'block', first, code.value(`add i64 ${last}, 1`), (block) => {
    const start = code.value(`shl i64 ${block}, ${BLOCK_BITS}`)
    const past = code.value(`add i64 ${start}, ${BLOCK}`)
    const isFirst = code.value(`icmp slt i64 ${start}, ${begin}`)
    const from = code.value(`select i1 ${isFirst}, i64 ${begin}, i64 ${start}`)
    const isLast = code.value(`icmp sgt i64 ${past}, ${end}`)
    const to = code.value(`select i1 ${isLast}, i64 ${end}, i64 ${past}`)
    body(block, from, to)
  })
}
