// Loops of the surrounding code, beside those of the graph.
import type { Code } from './code.ts'

/** A loop whose counter (i64) goes up by one from `from` while it is below `to`. */
export function printCounted(code: Code, name: string, from: string, to: string, body: (index: string) => void): void {
  const loop = code.label(name)
  const enter = code.label(name)
  const done = code.label('done')
  const before = code.current
  code.jump(loop)
  code.begin(loop)
  const index = code.phi('i64', [{ value: from, block: before }])
  code.branch(code.value(`icmp slt i64 ${index.name}, ${to}`), enter, done)
  code.begin(enter)
  body(index.name)
  index.add({ value: code.value(`add i64 ${index.name}, 1`), block: code.current })
  code.jump(loop)
  code.begin(done)
}
