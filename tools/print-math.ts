// Prints docs/math.md from what `npm run bench -- math` found last on this machine: `npx tsx tools/print-math.ts > docs/math.md`.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { definition, type OpName } from '../src/ir/ops.ts'

interface Found {
  readonly machine: Readonly<Record<string, string>>
  readonly cells: readonly {
    /** Name and float type: `sin f64`. */
    readonly label: string
    readonly work: { readonly amount: number }
    readonly arms: readonly { readonly name: string; readonly low: number; readonly ulp?: number }[]
  }[]
}

const RIVALS = ['sleef', 'libmvec', 'libm'] as const

export function mathPage({ machine, cells }: Found): string {
  const rows = cells.map(({ label, work, arms }) => {
    const [name, type] = label.split(' ') as [OpName, string]
    const cell = (arm: string): string => {
      const found = arms.find((candidate) => candidate.name === arm)
      if (!found) return '–'
      const time = `${((found.low * 1e9) / work.amount).toFixed(2)} ns`
      return found.ulp === undefined ? time : `${time}, ${found.ulp.toFixed(2)}`
    }
    return `| \`${name}\` | ${type} | ${cell('harrier')} | ${RIVALS.map(cell).join(' | ')} | ${definition(name).meaning.replaceAll('|', '\\|')} |`
  })
  return [
    '# Elementary functions',
    '',
    'harrier calls no math library: each function is lowered to basic operations that every backend has, from coefficients that `tools/fit` computes. The error is below 1 ULP over the whole domain',
    'in f64 and f32, with fused multiply-add and without, subnormal results included; the same bits come out at every vector width. The tests compare with 32,400 reference points, with random',
    'points against MPFR where it is installed, and with the special values of C99 Annex F.',
    '',
    'The table gives the shortest time an element, over 4,096 numbers in the first-level cache on one thread, and behind it the worst error in ULP that the timed numbers showed against MPFR; beside it',
    'the u10 functions of SLEEF, the vector functions of glibc (libmvec), and scalar libm, all called from C.',
    '',
    `Measured on ${machine['cpu']} with Node.js ${machine['node']}, other work on the machine; \`npm run bench -- math\` and \`npx tsx tools/print-math.ts > docs/math.md\` make the table anew.`,
    '',
    '| function | type | harrier | SLEEF u10 | libmvec | libm | meaning and special values |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n')
}

if (import.meta.filename === process.argv[1]) {
  const path = join(import.meta.dirname, '..', 'bench', 'results', 'math.json')
  process.stdout.write(mathPage(JSON.parse(readFileSync(path, 'utf8')) as Found))
}
