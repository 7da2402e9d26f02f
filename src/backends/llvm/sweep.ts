// The plain form of the work function: samples in order, K vectors at a time, lanes in lockstep.
import { BLOCK } from '../../ir/reduction.ts'
import { printAfterLoads, printBody, printLoads } from './body.ts'
import type { Code } from './code.ts'
import { anyLane, internal, ofGroup, type Context, type Group, type Mask } from './context.ts'
import { printCounted } from './control.ts'
import { createEvents } from './events.ts'
import { maskPlanes, unfinished } from './finish.ts'
import { BLOCK_BITS, type Frame, type FrameParts } from './frame.ts'
import { JOB, jobField } from './parallel.ts'
import { createReducer, reductionsOf } from './reduce.ts'
import { printSamples } from './samples.ts'
import { createScatterer } from './scatter.ts'
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
  const scatterer = createScatterer(scatter, frame.own)
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

  const isBlocked = reducer !== undefined || scatter.sites.length > 0
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
      reducer?.printBlockStart()
      printRange(from, to)
      reducer?.printBlockEnd(code.value(`sub i64 ${block}, ${firstBlock}`))
      scatterer.printBlockEnd(outer, code.value(`shl i64 ${block}, ${BLOCK_BITS}`), from, to)
    })
  })
}

/** The whole range, or one chunk of it after the other from the counter of the job. */
function printChunks(code: Code, hasJob: string, body: (begin: string, end: string) => void): void {
  const take = code.label('take')
  const clip = code.label('clip')
  const run = code.label('run')
  const done = code.label('finished')
  const before = code.current
  code.branch(hasJob, take, run)
  code.begin(take)
  const size = code.value(`load i64, ptr ${jobField(code, JOB.size)}, align 8`)
  const chunk = code.value(`atomicrmw add ptr ${jobField(code, JOB.next)}, i64 ${size} monotonic`)
  code.branch(code.value(`icmp slt i64 ${chunk}, %end`), clip, done)
  code.begin(clip)
  const isFirst = code.value(`icmp slt i64 ${chunk}, %begin`)
  const from = code.value(`select i1 ${isFirst}, i64 %begin, i64 ${chunk}`)
  const past = code.value(`add i64 ${chunk}, ${size}`)
  const isLast = code.value(`icmp sgt i64 ${past}, %end`)
  const to = code.value(`select i1 ${isLast}, i64 %end, i64 ${past}`)
  code.jump(run)
  code.begin(run)
  const begin = code.phi('i64', [
    { value: '%begin', block: before },
    { value: from, block: clip },
  ])
  const end = code.phi('i64', [
    { value: '%end', block: before },
    { value: to, block: clip },
  ])
  body(begin.name, end.name)
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
