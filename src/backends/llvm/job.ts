// What the threads of a parallel call share: a range of samples that they take chunks of from a counter.
import { higherOf, lowerOf, type Part } from './blocks.ts'
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
export function printTake(code: Code, none: string): Part {
  const size = loadJob(code, JOB.size)
  const [begin, end] = [loadJob(code, JOB.begin), loadJob(code, JOB.end)]
  const chunk = code.value(`atomicrmw add ptr ${jobField(code, JOB.next)}, i64 ${size} monotonic`)
  const some = code.label('some')
  code.branch(code.value(`icmp slt i64 ${chunk}, ${end}`), some, none)
  code.begin(some)
  const past = code.value(`add i64 ${chunk}, ${size}`)
  return { begin: higherOf(code, chunk, begin), end: lowerOf(code, past, end) }
}
