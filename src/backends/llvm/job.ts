// What the threads of a parallel call share: a range of samples that they take chunks of from a counter.
import type { Code } from './code.ts'

/**
 * Byte offsets in a job. `begin` and `end` are the range to share out, which is a round of the launch where scatter-adds are applied
 * between rounds; the launch has a range of its own. The counters lie in cache lines of their own,
 * though the job starts at a multiple of 16 only: more would realign the stack, which forbids jumping on to another function.
 */
export const JOB = {
  args: 0,
  launchBegin: 8,
  launchEnd: 16,
  begin: 24,
  end: 32,
  size: 40,
  threads: 48,
  next: 128,
  joined: 256,
  bytes: 320,
} as const

export const jobField = (code: Code, offset: number): string =>
  offset === 0 ? '%job' : code.value(`getelementptr i8, ptr %job, i64 ${offset}`)

export const loadJob = (code: Code, offset: number, type = 'i64'): string =>
  code.value(`load ${type}, ptr ${jobField(code, offset)}, align 8`)

/** Takes the next chunk of the job, or jumps to `none`. */
export function printTake(code: Code, none: string): { readonly begin: string; readonly end: string } {
  const size = loadJob(code, JOB.size)
  const [begin, end] = [loadJob(code, JOB.begin), loadJob(code, JOB.end)]
  const chunk = code.value(`atomicrmw add ptr ${jobField(code, JOB.next)}, i64 ${size} monotonic`)
  const clip = code.label('clip')
  code.branch(code.value(`icmp slt i64 ${chunk}, ${end}`), clip, none)
  code.begin(clip)
  const isFirst = code.value(`icmp slt i64 ${chunk}, ${begin}`)
  const past = code.value(`add i64 ${chunk}, ${size}`)
  const isLast = code.value(`icmp sgt i64 ${past}, ${end}`)
  return {
    begin: code.value(`select i1 ${isFirst}, i64 ${begin}, i64 ${chunk}`),
    end: code.value(`select i1 ${isLast}, i64 ${end}, i64 ${past}`),
  }
}
