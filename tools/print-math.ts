// Prints docs/math.md from what bench/math.ts, bench/accuracy.ts and bench/sweep-f32.ts found: `npx tsx tools/print-math.ts > docs/math.md`.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { definition, isDerived, isPlain, OP_NAMES, type PlainOp } from '../src/ir/ops.ts'

interface Arm {
  readonly name: string
  readonly median: number
  readonly ulp?: number
}
interface Timing {
  readonly machine: Readonly<Record<string, string>>
  readonly cells: readonly {
    readonly label: string
    readonly work: { readonly amount: number }
    readonly arms: readonly Arm[]
  }[]
}
interface Accuracy {
  readonly points: number
  readonly results: Readonly<Record<string, Readonly<Record<'fma' | 'noFma', { readonly worst: number } | undefined>>>>
}
type Sweep = Readonly<Record<string, { readonly worst: number; readonly count: number }>>

function found<Result>(name: string): Result {
  const path = join(import.meta.dirname, '..', 'bench', 'results', `${name}.json`)
  return JSON.parse(readFileSync(path, 'utf8')) as Result
}

/** Domain of each function that is not defined for every number; the others take all. */
const DOMAINS: Partial<Record<PlainOp, string>> = {
  log: 'x ≥ 0',
  log2: 'x ≥ 0',
  log10: 'x ≥ 0',
  log1p: 'x ≥ −1',
  pow: 'x ≥ 0, or y whole',
  rsqrt: 'x ≥ 0',
  asin: '|x| ≤ 1',
  acos: '|x| ≤ 1',
  acosh: 'x ≥ 1',
  atanh: '|x| ≤ 1',
  gamma: 'not −1, −2, …',
}

const HELPERS: readonly PlainOp[] = ['guardedMul', 'stopGradient']
const functions = OP_NAMES.filter(isPlain).filter(
  (op) => isDerived(op) && !HELPERS.includes(op) && definition(op).T === 'float' && definition(op).result === 'T',
)

const escaped = (text: string): string => text.replaceAll('|', '\\|')
const digits = (x: number | undefined): string => (x === undefined || Number.isNaN(x) ? '' : x.toFixed(2))

function page(): string {
  const timing = found<Timing>('math')
  const accuracy = found<Accuracy>('accuracy')
  const sweep = found<Sweep>('sweep-f32')
  const armsOf = (op: string, type: string): readonly Arm[] =>
    timing.cells.find(({ label }) => label === `${op} ${type}`)?.arms ?? []
  const amount = timing.cells[0]?.work.amount ?? 1
  const nanoseconds = (op: string, type: string): string =>
    ['harrier', 'sleef', 'libmvec', 'libm']
      .map((peer) => {
        const arm = armsOf(op, type).find(({ name }) => name === peer)
        return arm ? ((arm.median / amount) * 1e9).toFixed(2) : '–'
      })
      .join(' / ')
  const errors = functions
    .filter((op) => accuracy.results[op] || sweep[op])
    .map((op) => {
      const wide = accuracy.results[op]
      const narrow = sweep[op]
      const cells = [
        `\`${op}\``,
        DOMAINS[op] ?? 'all',
        digits(wide?.fma?.worst),
        digits(wide?.noFma?.worst),
        digits(narrow?.worst),
        narrow ? (narrow.count === 2 ** 32 ? 'all' : narrow.count.toExponential(1)) : '',
        definition(op).meaning,
      ]
      return `| ${cells.map(escaped).join(' | ')} |`
    })
  const times = functions
    .filter((op) => armsOf(op, 'f64').length > 0)
    .map((op) => `| \`${op}\` | ${nanoseconds(op, 'f64')} | ${nanoseconds(op, 'f32')} |`)
  return [
    '# Elementary functions',
    '',
    'Every function is written in basic ops ([ir.md](ir.md)), once for targets with a fused multiply-add and once without, so that no kernel calls a',
    'mathematical library and a form gives the same bits at every vector width, for any partition and thread count, on every backend that uses it.',
    'The methods stand at the head of each file of `src/ir/lower/`; `tools/fit/fit.ts` computes the coefficients.',
    '',
    '## Errors',
    '',
    'The worst error found, in units in the last place of the correctly rounded result, subnormal results included.',
    `f64: against MPFR at ${accuracy.points.toLocaleString('en')} random points a function, uniform, of all bit patterns, of all scales, beside`,
    'multiples of π/2 and at the ends of the range (`bench/accuracy.ts`), with FMA and without. f32: with FMA, against the f64 function over the f32 numbers counted (`bench/sweep-f32.ts`);',
    'without FMA an f32 function is the f64 function rounded once. Special values follow C99 Annex F, with what the last column adds.',
    '',
    'lgamma is measured for x > 0. Around its zeros between the negative whole numbers its error is bounded absolutely, by 2⁻⁵⁸, not relatively.',
    'fmod, remainder, mod, round, sign, copysign and fdim are exact.',
    '',
    '| function | domain | f64 | f64 without FMA | f32 | f32 numbers | special values |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...errors,
    '',
    '## Times',
    '',
    `Nanoseconds a number over ${amount.toLocaleString('en')} numbers in L1, one thread: harrier / SLEEF u10 / libmvec (up to 4 ULP) / scalar libm.`,
    `${Object.entries(timing.machine)
      .map(([name, value]) => `${name}: ${value}`)
      .join(', ')}. \`npm run bench -- math\` measures them anew.`,
    '',
    '| function | f64 | f32 |',
    '| --- | --- | --- |',
    ...times,
    '',
    '## Random numbers',
    '',
    'Philox4x32-10 with the key (seed, 0) and the counter (block, sample, 0, 0): the number of a sample depends on nothing else, so that any partition,',
    'width and backend gives the same bits. A block holds two f64 numbers of 53 bits or four f32 numbers of 24 bits; all lie in [0, 1).',
    '',
  ].join('\n')
}

process.stdout.write(page())
