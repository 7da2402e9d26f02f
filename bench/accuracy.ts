// The worst error of every f64 function against MPFR over random points, in the form with FMA (this processor) and without (SSE2 code): two
// million points a function, `--points=20000` for fewer. `npx tsx bench/accuracy.ts sin exp` measures some functions only.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { backendFor, TARGETS } from '../test/llvm/support/targets.ts'
import { throughBackend } from '../test/math/support/evaluate.ts'
import { measuredFunctions, pointsOf, setCount } from '../test/math/support/points.ts'
import { precise } from '../test/support/precise.ts'
import { random } from '../test/support/values.ts'

const words = process.argv.slice(2)
const asked = words.filter((word) => !word.startsWith('--'))
const points = Number(words.find((word) => word.startsWith('--points='))?.slice('--points='.length) ?? 2_000_000)

const evaluator = precise()
if ('missing' in evaluator) throw new Error(evaluator.missing)
const forms = [
  { name: 'fma', target: TARGETS.find(({ target }) => target.fma) },
  { name: 'noFma', target: TARGETS.find(({ target }) => !target.fma) },
] as const

interface Worst {
  readonly worst: number
  readonly operands: readonly number[]
}

const results: Record<string, Record<string, Worst>> = {}
for (const op of measuredFunctions.filter((name) => asked.length === 0 || asked.includes(name))) {
  const operands = pointsOf(op, random(17), Math.ceil(points / setCount))
  const found: Record<string, Worst> = {}
  for (const { name, target } of forms) {
    if (!target) continue
    const [got] = throughBackend(backendFor(target))([{ op, operands }], 'f64')
    const { worst, at } = evaluator.measure(op, 'f64', operands[0]!, operands[1], got!)
    found[name] = { worst, operands: operands.map((x) => x[at]!) }
  }
  results[op] = found
  const text = Object.entries(found).map(
    ([name, { worst, operands: where }]) => `${name} ${worst.toFixed(3)} at ${where.join(', ')}`,
  )
  console.log(`${op.padEnd(9)} ${text.join('; ')}`)
}
if (asked.length === 0) {
  const folder = join(import.meta.dirname, 'results')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'accuracy.json'), `${JSON.stringify({ points, results }, null, 1)}\n`)
}
