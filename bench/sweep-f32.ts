// Every f32 there is through each f32 function of one argument, against the f64 function of ours rounded once: the worst error in ULP and
// where. Two hours of arithmetic are minutes on vectors; `npx tsx bench/sweep-f32.ts sin --stride=101` sweeps one function in part.
import '../src/runtime/node.ts'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createBuilder } from '../src/ir/build.ts'
import { definition, isDerived, isPlain, OP_NAMES, type PlainOp } from '../src/ir/ops.ts'
import { chooseBackend } from '../src/runtime/registry.ts'

const HELPERS: readonly PlainOp[] = ['guardedMul', 'stopGradient']
const functions = OP_NAMES.filter(isPlain).filter(
  (op) =>
    isDerived(op) &&
    !HELPERS.includes(op) &&
    definition(op).operands.length === 1 &&
    definition(op).result === 'T' &&
    definition(op).T === 'float',
)
const words = process.argv.slice(2)
const asked = words.filter((word) => !word.startsWith('--'))
const stride = Number(words.find((word) => word.startsWith('--stride='))?.slice('--stride='.length) ?? 1)
const BLOCK = 2 ** 20

/**
 * A kernel that gives the error of each number in units in the last place of the rounded f64 result: 0 where both are NaN or the same
 * infinity, 10⁹ where only one is, or where the signs differ.
 */
function errorKernel(op: PlainOp) {
  const b = createBuilder()
  const input = b.plane({ name: 'x', role: 'sample', type: 'f32', components: 1 })
  const output = b.plane({ name: 'error', role: 'sample', type: 'f32', components: 1 })
  const x = b.load(input, 0)
  const f64 = (value: number) => b.const('f64', value)
  const exact = b.apply(op, [b.convert(x, 'f64')])
  const narrow = b.apply(op, [x])
  const rounded = b.convert(exact, 'f32')
  const got = b.convert(narrow, 'f64')
  // 2^(exponent − 23) of the rounded result, at least 2^-149: its exponent bits alone, as a power of two.
  const size = b.convert(b.abs(rounded), 'f64')
  const power = b.bitcast(b.and(b.bitcast(size, 'i64'), b.const('i64', 0x7ff0000000000000n)), 'f64')
  const ulp = b.max(b.mul(power, f64(2 ** -23)), f64(2 ** -149))
  const error = b.div(b.abs(b.sub(got, exact)), ulp)
  const isSpecial = b.not(b.and(b.lt(b.abs(b.convert(rounded, 'f64')), f64(Infinity)), b.lt(b.abs(got), f64(Infinity))))
  const bothNaN = b.and(b.ne(rounded, rounded), b.ne(narrow, narrow))
  const agrees = b.or(bothNaN, b.eq(rounded, narrow))
  const signsDiffer = b.lt(b.xor(b.bitcast(rounded, 'i32'), b.bitcast(narrow, 'i32')), b.const('i32', 0))
  const wrong = f64(1e9)
  const value = b.select(isSpecial, b.select(agrees, f64(0), wrong), b.select(signsDiffer, wrong, error))
  b.store(output, 0, b.convert(value, 'f32'))
  return chooseBackend('host')
    .backend.build(b.finishGraph(), { name: `sweep-${op}` })
    .launch()
}

interface Found {
  readonly worst: number
  readonly at: number
  /** Results with an error of 1 ULP or more. */
  readonly above: number
  readonly count: number
}

function sweep(op: PlainOp): Found {
  const launch = errorKernel(op)
  const bits = new Uint32Array(BLOCK)
  const x = new Float32Array(bits.buffer)
  const errors = new Float32Array(BLOCK)
  launch.bind(0, x, BLOCK, BLOCK)
  launch.bind(1, errors, BLOCK, BLOCK)
  let worst = 0
  let at = 0
  let above = 0
  let next = 0
  let count = 0
  while (next < 2 ** 32) {
    let length = 0
    for (; length < BLOCK && next < 2 ** 32; length++, next += stride) bits[length] = next
    launch.run({ sampleCount: length, begin: 0, end: length })
    count += length
    for (let i = 0; i < length; i++) {
      if (errors[i]! >= 1) above++
      if (errors[i]! > worst) {
        worst = errors[i]!
        at = x[i]!
      }
    }
  }
  return { worst, at, above, count }
}

const results: Record<string, Found> = {}
for (const op of functions.filter((name) => asked.length === 0 || asked.includes(name))) {
  const found = sweep(op)
  results[op] = found
  console.log(
    `${op.padEnd(8)} ${found.worst.toFixed(4)} ULP at ${found.at}; ${found.above} of ${found.count} at 1 ULP or more`,
  )
}
if (asked.length === 0) {
  const folder = join(import.meta.dirname, 'results')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'sweep-f32.json'), `${JSON.stringify({ stride, results }, null, 1)}\n`)
}
