// Every f32 there is through each f32 function of one argument, against the f64 function of ours rounded once: the worst error in ULP and
// where. The kernel makes the bit patterns and folds the errors itself. `npx tsx bench/sweep-f32.ts sin --stride=16` sweeps one function
// in part; a stride that is a power of two lets the blocks tile the patterns.
import '../src/runtime/node.ts'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
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
/** Numbers a launch: a power of two of bit patterns, so that blocks tile them. */
const BLOCK = 2 ** 24

interface Launchable {
  /** Worst error of a block from a bit pattern on, how many are 1 ULP or more, and with `errors` the error of each. */
  run(first: number, errors?: Float32Array): { readonly worst: number; readonly above: number }
}

/**
 * A kernel over bit patterns that folds the error of each number in units in the last place of the rounded f64 result: 0 where both are
 * NaN or the same infinity, 10⁹ where only one is, or where the signs differ.
 */
function errorKernel(op: PlainOp, keepsErrors: boolean): Launchable {
  const b = createBuilder()
  const first = b.plane({ name: 'first', role: 'uniform', type: 'i32', components: 1 })
  const worst = b.plane({ name: 'worst', role: 'reduction', type: 'f64', components: 1, reduce: 'max' })
  const above = b.plane({ name: 'above', role: 'reduction', type: 'f64', components: 1, reduce: 'sum' })
  const x = b.bitcast(b.add(b.uniform(first), b.mul(b.sampleIndex(), b.const('i32', stride))), 'f32')
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
  b.contribute(worst, 0, value)
  b.contribute(above, 0, b.convert(b.ge(value, f64(1)), 'f64'))
  const each = keepsErrors ? b.plane({ name: 'error', role: 'sample', type: 'f32', components: 1 }) : undefined
  if (each !== undefined) b.store(each, 0, b.convert(value, 'f32'))
  const launch = chooseBackend('host')
    .backend.build(b.finishGraph(), { name: `sweep-${op}` })
    .launch()
  const folded = { worst: new Float64Array(1), above: new Float64Array(1) }
  launch.bind(worst, folded.worst, 1, 1)
  launch.bind(above, folded.above, 1, 1)
  return {
    run(from, errors) {
      folded.worst.fill(0)
      folded.above.fill(0)
      launch.set(first, from | 0)
      if (each !== undefined && errors) launch.bind(each, errors, BLOCK, BLOCK)
      launch.run({ sampleCount: BLOCK, begin: 0, end: BLOCK })
      return { worst: folded.worst[0]!, above: folded.above[0]! }
    },
  }
}

interface Found {
  readonly worst: number
  readonly at: number
  /** Results with an error of 1 ULP or more. */
  readonly above: number
  readonly count: number
}

/** The argument of the worst error in the block that has it. */
function locate(op: PlainOp, from: number): number {
  const errors = new Float32Array(BLOCK)
  errorKernel(op, true).run(from, errors)
  const worst = errors.reduce((most, error, i) => (error > errors[most]! ? i : most), 0)
  return new Float32Array(Uint32Array.of(from + worst * stride).buffer)[0]!
}

function sweep(op: PlainOp): Found {
  const kernel = errorKernel(op, false)
  let worst = 0
  let at = 0
  let above = 0
  let count = 0
  for (let from = 0; from < 2 ** 32; from += BLOCK * stride) {
    const block = kernel.run(from)
    above += block.above
    count += BLOCK
    if (block.worst > worst) {
      worst = block.worst
      at = from
    }
  }
  return { worst, at: locate(op, at), above, count }
}

const folder = join(import.meta.dirname, 'results')
const file = join(folder, 'sweep-f32.json')
mkdirSync(folder, { recursive: true })
/** What earlier runs found stays, so that functions can be swept one by one. */
const results: Record<string, Found> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
for (const op of functions.filter((name) => asked.length === 0 || asked.includes(name))) {
  const found = sweep(op)
  results[op] = found
  console.log(
    `${op.padEnd(8)} ${found.worst.toFixed(4)} ULP at ${found.at}; ${found.above} of ${found.count} at 1 ULP or more`,
  )
  writeFileSync(file, `${JSON.stringify(results, null, 1)}\n`)
}
