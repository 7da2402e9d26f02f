// The plain form of the work function: samples in order, K vectors at a time, lanes in lockstep.
import { blockOf, printBlocks, startOf, type Part } from './blocks.ts'
import { printAfterLoads, printBody, printLoads } from './body.ts'
import type { Code } from './code.ts'
import { anyLane, internal, ofGroup, type Context, type Group, type Mask } from './context.ts'
import { createEvents } from './events.ts'
import { maskPlanes, unfinished } from './finish.ts'
import type { Frame, FrameParts } from './frame.ts'
import { JOB, loadJob, printTake } from './job.ts'
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
  const printPart = (part: Part) =>
    printSamples(outer, {
      ...part,
      aligned: reducer !== undefined,
      single: isLarge(graph) || finishes || events !== undefined,
      body: printGroup,
    })

  printChunks(code, hasJob, (chunk) => {
    if (!isBlocked) return printPart(chunk)
    printBlocks(code, chunk, (block, part) => {
      if (hasLists) scatterer.useLists(listsOf(frame, scatter, block))
      reducer?.printBlockStart()
      printPart(part)
      reducer?.printBlockEnd(code.value(`sub i64 ${block}, ${firstBlock}`))
      if (!hasLists) return
      // With a job, the team applies the lists of all blocks of a round when they are computed.
      const alone = code.label('alone')
      const after = code.label('next')
      code.branch(hasJob, after, alone)
      code.begin(alone)
      scatterer.printBlockEnd(outer, startOf(code, block), part)
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
  const number = code.value(`sub i64 ${block}, ${blockOf(code, loadJob(code, JOB.begin))}`)
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
function printChunks(code: Code, hasJob: string, body: (chunk: Part) => void): void {
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
  body({ begin: begin!.name, end: end!.name })
  code.branch(hasJob, take, done)
  code.begin(done)
}
