// What both forms of the work function start from: addresses of planes and scratch memory, what is the same for all samples, and the
// effects that each form completes.
import type { Construct, Graph, PlaneEffect } from '../../ir/graph.ts'
import type { EffectOp } from '../../ir/ops.ts'
import { blockOf, lastBlockOf } from './blocks.ts'
import { printInvariants, printRegion } from './body.ts'
import { createCheck } from './check.ts'
import type { Code } from './code.ts'
import { partsOf, type Context, type Mask } from './context.ts'
import { printFinish } from './finish.ts'
import type { EmitOptions, KernelShape } from './interface.ts'
import { storeSamples } from './samplePlanes.ts'
import { JOB, jobField, loadJob } from './job.ts'
import { loadPlanes, loadScratch } from './planes.ts'
import { rows } from './rows.ts'
import { locateScratch, type ScratchLayout } from './scratch.ts'
import { printRecord } from './tapes.ts'
import { uniformity } from './uniformity.ts'

export interface Frame {
  readonly code: Code
  /** Whether the samples come from a job (i1). */
  readonly hasJob: string
  readonly layout: ScratchLayout
  /** Address of the first block result of reductions. */
  readonly results: string
  /** Where the lists of scatter-adds and the thread's part of scratch memory start. */
  readonly lists: string
  readonly own: string
  /** Block of the first sample of the launch (i64). */
  readonly firstBlock: string
  /** The context of the function, with effects as the form defines them. */
  context(effects: FormEffects): Context
}

/** Effects whose code depends on the form. */
export interface FormEffects {
  readonly scatterAdd: (context: Context, effect: PlaneEffect, mask: Mask) => void
  readonly contribute: (context: Context, effect: PlaneEffect, mask: Mask) => void
}

export interface FrameParts {
  readonly graph: Graph
  readonly options: EmitOptions
  readonly shape: KernelShape
  readonly layout: ScratchLayout
  /** A loop whose lanes do not run in lockstep. */
  readonly apart?: Construct | undefined
}

/** Printed in the entry block. */
export function openFrame(code: Code, { graph, options, shape, layout, apart }: FrameParts): Frame {
  const { plan } = layout
  const hasJob = code.value('icmp ne ptr %job, null')
  const usesScratch = plan.fixed + plan.perBlock + plan.perThread > 0
  const scratch = usesScratch ? loadScratch(code) : ''
  const firstBlock = blockOf(code, '%begin')
  const needsParts = plan.perThread + layout.scatter.bytes > 0
  const job = { exists: hasJob, ...(needsParts ? askJob(code, hasJob) : { threads: '1', thread: '0' }) }
  const blocks = code.value(`add i64 ${code.value(`sub i64 ${lastBlockOf(code, '%end')}, ${firstBlock}`)}, 1`)
  const { lists, own } = locateScratch(code, layout, scratch, blocks, job)
  const results = plan.perBlock > 0 ? code.value(`getelementptr i8, ptr ${scratch}, i64 ${layout.results}`) : ''
  const { width, vectors } = shape
  return {
    code,
    hasJob,
    layout,
    results,
    lists,
    own,
    firstBlock,
    context({ scatterAdd, contribute }) {
      const effects: Record<EffectOp, (context: Context, effect: never, mask: Mask) => void> = {
        store: (context, { plane, component, operands }: PlaneEffect, mask) =>
          storeSamples(context, operands[0]!.type, plane, component, partsOf(context, operands[0]!), mask),
        scatterAdd,
        contribute,
        finish: printFinish,
        record: printRecord,
      }
      const context: Context = {
        graph,
        options,
        code,
        width,
        vectors,
        uniformity: uniformity(graph, apart),
        rows: rows(options.target),
        planes: loadPlanes(code, graph, options),
        tapes: layout.tapes.map((offset) => code.value(`getelementptr i8, ptr ${own}, i64 ${offset}`)),
        values: new Map(),
        results: new Map(),
        group: { first: '%begin', mask: undefined },
        together: { loaded: new Map(), stored: new Map() },
        region: printRegion,
        effect: (of, effect, mask) => effects[effect.op](of, effect as never, mask),
        ...(options.check ? { check: createCheck(scratch) } : {}),
      }
      printInvariants(context)
      return context
    },
  }
}

/** How many threads a job has, and the number of the calling one among them; 1 and 0 without a job. */
function askJob(code: Code, hasJob: string): { readonly threads: string; readonly thread: string } {
  const ask = code.label('join')
  const known = code.label('start')
  const before = code.current
  code.branch(hasJob, ask, known)
  code.begin(ask)
  const taken = code.value(`atomicrmw add ptr ${jobField(code, JOB.joined)}, i64 1 monotonic`)
  const all = loadJob(code, JOB.threads)
  code.jump(known)
  code.begin(known)
  const [threads, thread] = [
    { alone: '1', asked: all },
    { alone: '0', asked: taken },
  ].map(({ alone, asked }) =>
    code.phi('i64', [
      { value: alone, block: before },
      { value: asked, block: ask },
    ]),
  )
  return { threads: threads!.name, thread: thread!.name }
}
