// The parallel entry: threads of the OpenMP runtime share a job and take chunks of samples from its counter.
// Where scatter-adds go through lists, the launch is cut into rounds: the team computes the blocks of a round, then applies their lists,
// each thread to its own range of every accumulator, so that all threads together add in the one order.
// Invariant: chunks start at multiples of their size, which is a multiple of 64 samples, so that no two threads write to one cache
// line, and of a block where blocks are folded or have lists.
import type { Graph } from '../../ir/graph.ts'
import { BLOCK } from '../../ir/reduction.ts'
import { BYTES } from '../../ir/types.ts'
import { blockOf, higherOf, lastBlockOf, lowerOf, printBlocks, startOf } from './blocks.ts'
import { ATTRIBUTES, createCode, type Code, type Declarations } from './code.ts'
import { printCounted } from './control.ts'
import type { EmitOptions } from './interface.ts'
import { JOB, jobField, loadJob } from './job.ts'
import { laneType } from './lanes.ts'
import { loadPlanes, loadScratch } from './planes.ts'
import { PREPARED } from './refillLayout.ts'
import { rows } from './rows.ts'
import { addIf, listEntry } from './scatter.ts'
import { BLOCKS_PER_ROUND, locateScratch, type ScratchLayout } from './scratch.ts'

/** Chunks that each thread takes on average: enough to even out their speeds. */
const CHUNKS_PER_THREAD = 8
/** Chunks beyond this size gain nothing. */
const LARGEST_CHUNK = 65536
/** Samples that a chunk is a multiple of: a cache line of bytes. */
const GRANULE = 64

export interface ParallelParts {
  readonly graph: Graph
  readonly options: EmitOptions
  readonly layout: ScratchLayout
  readonly declarations: Declarations
}

/** What each thread runs, and the entry that starts them. */
export function printParallel(parts: ParallelParts): string {
  const { options, layout, declarations } = parts
  const { symbol } = options
  const hasLists = layout.scatter.sites.length > 0
  const thread = createCode(`define internal void @${symbol}.thread(ptr %job)`, declarations)
  const range = [loadJob(thread, JOB.launchBegin), loadJob(thread, JOB.launchEnd)]
  const args = loadJob(thread, JOB.args, 'ptr')
  thread.line(`tail call void @${symbol}.work(ptr ${args}, i64 ${range[0]}, i64 ${range[1]}, ptr %job)`)
  thread.line('ret void')

  const code = createCode(
    `define void @${symbol}_parallel(ptr %args, i64 %begin, i64 %end, i32 %threads)`,
    declarations,
  )
  code.line(`%job = alloca [${JOB.bytes} x i8], align 16`)
  const team = code.label('team')
  const alone = code.label('alone')
  code.branch(code.value('icmp sgt i32 %threads, 1'), team, alone)
  code.begin(alone)
  code.line(`tail call void @${symbol}(ptr %args, i64 %begin, i64 %end)`)
  code.line('ret void')
  code.begin(team)
  const threads = code.value('zext i32 %threads to i64')
  setJob(code, JOB.args, '%args', 'ptr')
  setJob(code, JOB.launchBegin, '%begin')
  setJob(code, JOB.launchEnd, '%end')
  setJob(code, JOB.threads, threads)
  if (hasLists) printRounds(code, symbol, threads)
  else {
    setJob(code, JOB.begin, '%begin')
    setJob(code, JOB.end, '%end')
    setJob(code, JOB.size, chunkSize(code, threads, layout))
    startTeam(code, symbol, 'thread')
  }
  if (layout.plan.perBlock > 0) code.line(`tail call void @${symbol}.fold(ptr %args, i64 %begin, i64 %end)`)
  code.line('ret void')
  return thread.finish() + (hasLists ? printApply(parts) : '') + code.finish()
}

const setJob = (code: Code, offset: number, value: string, type = 'i64'): void =>
  code.line(`store ${type} ${value}, ptr ${jobField(code, offset)}, align 8`)

/** Has the team run a function on the job, whose other fields are set. */
function startTeam(code: Code, symbol: string, run: 'thread' | 'apply'): void {
  const begin = loadJob(code, JOB.begin)
  // The first chunk starts at a multiple of the size, maybe before the range.
  const beyond = code.value(`urem i64 ${begin}, ${loadJob(code, JOB.size)}`)
  setJob(code, JOB.next, code.value(`sub i64 ${begin}, ${beyond}`))
  setJob(code, JOB.joined, '0')
  code.call('void', 'GOMP_parallel', [`ptr @${symbol}.${run}`, 'ptr %job', 'i32 %threads', 'i32 0'])
}

/** Samples of a chunk (i64). Refilled lanes run on from one chunk into the next, so that small ones cost nothing. */
function chunkSize(code: Code, threads: string, { plan, refill }: ScratchLayout): string {
  if (refill !== undefined) return String(plan.perBlock > 0 ? BLOCK : PREPARED)
  const granule = plan.perBlock > 0 ? BLOCK : GRANULE
  const samples = code.value('sub i64 %end, %begin')
  const wished = code.value(`udiv i64 ${samples}, ${code.value(`mul i64 ${threads}, ${CHUNKS_PER_THREAD}`)}`)
  const isLarge = code.value(`icmp ugt i64 ${wished}, ${LARGEST_CHUNK - granule}`)
  const limited = code.value(`select i1 ${isLarge}, i64 ${LARGEST_CHUNK - granule}, i64 ${wished}`)
  const granules = code.value(`udiv i64 ${limited}, ${granule}`)
  return code.value(`mul i64 ${code.value(`add i64 ${granules}, 1`)}, ${granule}`)
}

function printRounds(code: Code, symbol: string, threads: string): void {
  setJob(code, JOB.size, String(BLOCK))
  const perRound = code.value(`mul i64 ${threads}, ${BLOCKS_PER_ROUND * BLOCK}`)
  const firstBlock = code.value(`and i64 %begin, ${-BLOCK}`)
  const samples = code.value(`sub i64 %end, ${firstBlock}`)
  const past = code.value(`add i64 ${samples}, ${code.value(`sub i64 ${perRound}, 1`)}`)
  printCounted(code, 'round', '0', code.value(`udiv i64 ${past}, ${perRound}`), (round) => {
    const start = code.value(`add i64 ${firstBlock}, ${code.value(`mul i64 ${round}, ${perRound}`)}`)
    const stop = code.value(`add i64 ${start}, ${perRound}`)
    setJob(code, JOB.begin, higherOf(code, start, '%begin'))
    setJob(code, JOB.end, lowerOf(code, stop, '%end'))
    startTeam(code, symbol, 'thread')
    startTeam(code, symbol, 'apply')
  })
}

/** The function that applies the lists of a round: the threads take shares of the accumulators, not of the samples. */
function printApply({ graph, options, layout, declarations }: ParallelParts): string {
  const code = createCode(`define internal void @${options.symbol}.apply(ptr %job)`, declarations)
  code.line(`%args = load ptr, ptr ${jobField(code, JOB.args)}, align 8`)
  const [launchBegin, launchEnd] = [loadJob(code, JOB.launchBegin), loadJob(code, JOB.launchEnd)]
  const [begin, end, threads] = [loadJob(code, JOB.begin), loadJob(code, JOB.end), loadJob(code, JOB.threads)]
  const firstOfLaunch = blockOf(code, launchBegin)
  const touched = code.value(`add i64 ${code.value(`sub i64 ${lastBlockOf(code, launchEnd)}, ${firstOfLaunch}`)}, 1`)
  const job = { exists: 'true', threads, thread: '0' }
  const { lists } = locateScratch(code, layout, loadScratch(code), touched, job)
  const context = { code, graph, rows: rows(options.target), planes: loadPlanes(code, graph, options), width: 1 }
  const { sites, bytes } = layout.scatter

  const take = code.label('take')
  const share = code.label('share')
  const done = code.label('done')
  code.jump(take)
  code.begin(take)
  const number = code.value(`atomicrmw add ptr ${jobField(code, JOB.joined)}, i64 1 monotonic`)
  code.branch(code.value(`icmp ult i64 ${number}, ${threads}`), share, done)
  code.begin(share)
  const following = code.value(`add i64 ${number}, 1`)
  /** First index of share `of` of an accumulator (i32). */
  const bound = (plane: number, of: string): string => {
    const limit = code.value(`zext i32 ${context.planes[plane]!.indexLimit} to i64`)
    return code.value(`trunc i64 ${code.value(`udiv i64 ${code.value(`mul i64 ${limit}, ${of}`)}, ${threads}`)} to i32`)
  }
  const shares = sites.map(({ effect }) => {
    const from = bound(effect.plane, number)
    return { from, size: code.value(`sub i32 ${bound(effect.plane, following)}, ${from}`) }
  })
  const firstBlock = blockOf(code, begin)
  printBlocks(code, { begin, end }, (block, part) => {
    const start = startOf(code, block)
    const from = code.value(`sub i64 ${part.begin}, ${start}`)
    const to = code.value(`sub i64 ${part.end}, ${start}`)
    const offset = code.value(`mul i64 ${code.value(`sub i64 ${block}, ${firstBlock}`)}, ${bytes}`)
    const own = code.value(`getelementptr i8, ptr ${lists}, i64 ${offset}`)
    printCounted(code, 'apply', from, to, (place) => {
      sites.forEach(({ effect, type, indices, values }, k) => {
        const index = code.value(`load i32, ptr ${listEntry(code, own, indices, 'i32', place)}, align 4`)
        const address = listEntry(code, own, values, type, place)
        const value = code.value(`load ${laneType(type, 1)}, ptr ${address}, align ${BYTES[type]}`)
        const into = code.value(`sub i32 ${index}, ${shares[k]!.from}`)
        addIf(context, effect, code.value(`icmp ult i32 ${into}, ${shares[k]!.size}`), index, value)
      })
    })
  })
  code.jump(take)
  code.begin(done)
  code.line('ret void')
  return code.finish()
}

/** The parallel entry of a kernel that runs on one thread. */
export const printSequential = ({ symbol }: EmitOptions): string =>
  [
    `define void @${symbol}_parallel(ptr %args, i64 %begin, i64 %end, i32 %threads) ${ATTRIBUTES} {`,
    'entry:',
    `  tail call void @${symbol}(ptr %args, i64 %begin, i64 %end)`,
    '  ret void',
    '}',
    '',
  ].join('\n')
