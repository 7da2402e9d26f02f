// The function that does the work: `void NAME.work(ptr args, i64 begin, i64 end, ptr job)` runs the samples [begin, end), or with a job
// takes chunks of them from its counter until none is left.
// Invariant: the code of the body exists once (in a whole and a partial form where it is small); both entries jump here.
import { createCode, type Declarations } from './code.ts'
import { openFrame, type FrameParts } from './frame.ts'
import { reductionsOf } from './reduce.ts'
import { printRefilled } from './refill.ts'
import { printSweep } from './sweep.ts'

export function printWork(parts: FrameParts, declarations: Declarations): string {
  const { symbol } = parts.options
  const code = createCode(
    `define internal void @${symbol}.work(ptr %args, i64 %begin, i64 %end, ptr %job) noinline`,
    declarations,
  )
  const { refill } = parts.layout
  const frame = openFrame(code, { ...parts, apart: refill?.plan.loop })
  if (refill) printRefilled(frame, parts, refill)
  else printSweep(frame, parts)
  if (reductionsOf(parts.graph).length > 0) {
    const fold = code.label('fold')
    const done = code.label('return')
    code.branch(frame.hasJob, done, fold)
    code.begin(fold)
    code.line(`tail call void @${symbol}.fold(ptr %args, i64 %begin, i64 %end)`)
    code.line('ret void')
    code.begin(done)
  }
  code.line('ret void')
  return code.finish()
}
