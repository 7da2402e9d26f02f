// The parallel entry: threads of the OpenMP runtime share a job and take chunks of samples from its counter.
// Invariant: chunks start at multiples of their size, which is a multiple of 64 samples, so that no two threads write to one cache
// line, and of a block where blocks are folded.
import type { Code } from './code.ts'
import { createCode, type Declarations } from './code.ts'
import type { EmitOptions } from './interface.ts'

/** Byte offsets in a job. The counters lie in cache lines of their own. */
export const JOB = { args: 0, begin: 8, end: 16, size: 24, next: 64, joined: 128, bytes: 192 } as const

export const jobField = (code: Code, offset: number): string =>
  offset === 0 ? '%job' : code.value(`getelementptr i8, ptr %job, i64 ${offset}`)

/** Chunks that each thread takes on average: enough to even out their speeds. */
const CHUNKS_PER_THREAD = 8
/** Chunks beyond this size gain nothing. */
const LARGEST_CHUNK = 65536

export interface ParallelParts {
  readonly options: EmitOptions
  /** Samples that a chunk is a multiple of. */
  readonly granule: number
  /** Whether block results are to be folded at the end. */
  readonly folds: boolean
  readonly declarations: Declarations
}

/** What each thread runs, and the entry that starts them. */
export function printParallel({ options, granule, folds, declarations }: ParallelParts): string {
  const { symbol } = options
  const thread = createCode(`define internal void @${symbol}.thread(ptr %job) nounwind`, declarations)
  const field = (offset: number, type: string) => thread.value(`load ${type}, ptr ${jobField(thread, offset)}, align 8`)
  const [args, begin, end] = [field(JOB.args, 'ptr'), field(JOB.begin, 'i64'), field(JOB.end, 'i64')]
  thread.line(`tail call void @${symbol}.work(ptr ${args}, i64 ${begin}, i64 ${end}, ptr %job)`)
  thread.line('ret void')

  const code = createCode(
    `define void @${symbol}_parallel(ptr %args, i64 %begin, i64 %end, i32 %threads) nounwind`,
    declarations,
  )
  code.line(`%job = alloca [${JOB.bytes} x i8], align 64`)
  const samples = code.value('sub i64 %end, %begin')
  const threads = code.value('sext i32 %threads to i64')
  const wished = code.value(`sdiv i64 ${samples}, ${code.value(`mul i64 ${threads}, ${CHUNKS_PER_THREAD}`)}`)
  const isLarge = code.value(`icmp sgt i64 ${wished}, ${LARGEST_CHUNK}`)
  const limited = code.value(`select i1 ${isLarge}, i64 ${LARGEST_CHUNK}, i64 ${wished}`)
  const granules = code.value(`sdiv i64 ${limited}, ${granule}`)
  const size = code.value(`mul i64 ${code.value(`add i64 ${granules}, 1`)}, ${granule}`)
  const into = code.value(`srem i64 %begin, ${size}`)
  const start = code.value(`sub i64 %begin, ${into}`)
  const set = (offset: number, type: string, value: string) =>
    code.line(`store ${type} ${value}, ptr ${jobField(code, offset)}, align 8`)
  set(JOB.args, 'ptr', '%args')
  set(JOB.begin, 'i64', '%begin')
  set(JOB.end, 'i64', '%end')
  set(JOB.size, 'i64', size)
  set(JOB.next, 'i64', start)
  set(JOB.joined, 'i64', '0')
  code.call('void', 'GOMP_parallel', [`ptr @${symbol}.thread`, 'ptr %job', 'i32 %threads', 'i32 0'])
  if (folds) code.line(`tail call void @${symbol}.fold(ptr %args, i64 %begin, i64 %end)`)
  code.line('ret void')
  return thread.finish() + code.finish()
}

/** The parallel entry of a kernel that runs on one thread. */
export const printSequential = ({ symbol }: EmitOptions): string =>
  [
    `define void @${symbol}_parallel(ptr %args, i64 %begin, i64 %end, i32 %threads) nounwind {`,
    'entry:',
    `  tail call void @${symbol}(ptr %args, i64 %begin, i64 %end)`,
    '  ret void',
    '}',
    '',
  ].join('\n')
