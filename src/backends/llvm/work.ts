// The function that does the work: `void NAME.work(ptr args, i64 begin, i64 end, ptr job)` runs the samples [begin, end), or with a job
// takes chunks of them from its counter until none is left.
// Invariant: the code of the body exists once (in a whole and a partial form where it is small); both entries jump here.
import type { Graph, PlaneEffect } from '../../ir/graph.ts'
import type { EffectOp } from '../../ir/ops.ts'
import { printAfterLoads, printBody, printInvariants, printLoads, printRegion } from './body.ts'
import { createCheck } from './check.ts'
import { createCode, type Code, type Declarations } from './code.ts'
import { printCounted } from './control.ts'
import { anyLane, internal, partsOf, type Context, type Group, type Mask } from './context.ts'
import { createEvents } from './events.ts'
import { maskPlanes, printFinish, unfinished } from './finish.ts'
import { BLOCK } from '../../ir/reduction.ts'
import type { EmitOptions, KernelShape } from './interface.ts'
import { storeSamples } from './memory.ts'
import { JOB, jobField } from './parallel.ts'
import { loadPlanes, loadScratch } from './planes.ts'
import { createReducer, reductionsOf } from './reduce.ts'
import { rows } from './rows.ts'
import { printSamples } from './samples.ts'
import { createScatterer } from './scatter.ts'
import { threadPart, type ScratchLayout } from './scratch.ts'
import { isLarge } from './shape.ts'
import { printRecord } from './tapes.ts'
import { uniformity } from './uniformity.ts'

const BLOCK_BITS = 12

export function printWork(
  graph: Graph,
  options: EmitOptions,
  { width, vectors }: KernelShape,
  scratchLayout: ScratchLayout,
  declarations: Declarations,
): string {
  const header = `define internal void @${options.symbol}.work(ptr %args, i64 %begin, i64 %end, ptr %job) nounwind noinline`
  const code = createCode(header, declarations)
  const { plan, results, scatter, events: eventPlan } = scratchLayout
  const reductions = reductionsOf(graph)
  const hasReductions = reductions.length > 0
  const finishes = maskPlanes(graph).length > 0

  const hasJob = code.value('icmp ne ptr %job, null')
  const usesScratch = plan.fixed + plan.perBlock + plan.perThread > 0
  const scratch = usesScratch ? loadScratch(code) : ''
  const firstBlock = code.value(`ashr i64 %begin, ${BLOCK_BITS}`)
  const thread = plan.perThread > 0 ? threadNumber(code, hasJob) : '0'
  const lastSample = code.value('sub i64 %end, 1')
  const blocks = code.value(`sub i64 ${code.value(`ashr i64 ${lastSample}, ${BLOCK_BITS}`)}, ${firstBlock}`)
  const ownScratch =
    plan.perThread > 0 ? threadPart(code, scratchLayout, scratch, code.value(`add i64 ${blocks}, 1`), thread) : ''
  const reducer = hasReductions
    ? createReducer({
        code,
        width,
        vectors,
        reductions,
        options,
        results: code.value(`getelementptr i8, ptr ${scratch}, i64 ${results}`),
      })
    : undefined
  const scatterer = createScatterer(scatter, ownScratch)
  const events = eventPlan && createEvents({ code }, eventPlan, ownScratch)

  const effects: Record<EffectOp, (context: Context, effect: never, mask: Mask) => void> = {
    store: (context, { plane, component, operands }: PlaneEffect, mask) =>
      storeSamples(context, operands[0]!.type, plane, component, partsOf(context, operands[0]!), mask),
    scatterAdd: events?.add ?? scatterer.add,
    contribute(context, effect: PlaneEffect, mask) {
      if (!reducer) throw internal('there is no reduction plane')
      reducer.contribute(context, effect, mask)
    },
    finish: printFinish,
    record: printRecord,
  }

  const outer: Context = {
    graph,
    options,
    code,
    width,
    vectors,
    uniformity: uniformity(graph),
    rows: rows(options.target),
    planes: loadPlanes(code, graph, options),
    tapes: scratchLayout.tapes.map((offset) => code.value(`getelementptr i8, ptr ${ownScratch}, i64 ${offset}`)),
    values: new Map(),
    results: new Map(),
    group: { first: '%begin', mask: undefined },
    region: printRegion,
    effect: (context, effect, mask) => effects[effect.op](context, effect as never, mask),
    ...(options.check ? { check: createCheck(scratch) } : {}),
  }
  printInvariants(outer)

  function printSamplesOf(context: Context, mask: Mask): void {
    if (events === undefined) return printBody(context, mask)
    printLoads(context, mask)
    const restore = reducer?.remember(context) ?? (() => {})
    events.printAttempts(context, (lanes) => printAfterLoads(context, lanes), restore)
  }

  /** One group of samples. */
  function printGroup(group: Group): void {
    const context: Context = { ...outer, values: new Map(outer.values), results: new Map(outer.results), group }
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

  const isBlocked = hasReductions || scatter.sites.length > 0
  const printRange = (begin: string, end: string) =>
    printSamples(outer, {
      begin,
      end,
      aligned: hasReductions,
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
  if (hasReductions) {
    const fold = code.label('fold')
    const done = code.label('return')
    code.branch(hasJob, done, fold)
    code.begin(fold)
    code.line(`tail call void @${options.symbol}.fold(ptr %args, i64 %begin, i64 %end)`)
    code.line('ret void')
    code.begin(done)
  }
  code.line('ret void')
  return code.finish()
}

/** Number of the calling thread among those of the job; 0 without a job. */
function threadNumber(code: Code, hasJob: string): string {
  const ask = code.label('join')
  const known = code.label('start')
  const before = code.current
  code.branch(hasJob, ask, known)
  code.begin(ask)
  const taken = code.value(`atomicrmw add ptr ${jobField(code, JOB.joined)}, i64 1 monotonic`)
  code.jump(known)
  code.begin(known)
  return code.phi('i64', [
    { value: '0', block: before },
    { value: taken, block: ask },
  ]).name
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
