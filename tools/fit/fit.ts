// Regenerates src/ir/lower/coefficients.ts: every polynomial and every reduction constant of the elementary functions.
// Run `npx tsx tools/fit/fit.ts`. Each table is a minimax fit in 512-bit arithmetic with its coefficients rounded in turn; the
// comment that is printed with it gives the interval, the weighted error of the rounded polynomial and what the error is relative to.
import { writeFileSync } from 'node:fs'
import { constantTables } from './constants.ts'
import { toNumber } from './fixed.ts'
import { polynomials, type Table } from './tables.ts'
import { fit, isPair, split } from './remez.ts'

const literal = (x: number): string => (Object.is(x, -0) ? '-0' : String(x))

function printTable(name: string, { problem, meaning }: Table): string {
  const { coefficients, error } = fit(problem)
  const numbers = coefficients.map((c, i) => {
    const bits = problem.bits[Math.min(i, problem.bits.length - 1)]!
    return isPair(bits)
      ? `[${split(c, bits / 2)
          .map(literal)
          .join(', ')}]`
      : literal(toNumber(c))
  })
  console.log(`${name.padEnd(28)} ${numbers.length} coefficients, 2^${error.toFixed(2)}`)
  const powers = problem.powers.every((p, i) => p === i) ? '' : ` in the powers ${problem.powers.join(', ')}`
  return [
    `/** ${meaning} on [${problem.from}, ${problem.to}]${powers}; error 2^${error.toFixed(1)}. */`,
    `export const ${name} = [${numbers.join(', ')}] as const`,
    '',
  ].join('\n')
}

const only = process.argv[2]
const tables = Object.entries(polynomials).filter(([name]) => !only || name.startsWith(only))
const text = tables.map(([name, table]) => printTable(name, table)).join('\n')
if (!only) {
  const header = [
    '// oxlint-disable oxc/approx-constant -- tables are printed as found',
    '// Written by tools/fit/fit.ts; do not edit. Polynomial coefficients, lowest power first, and constants of argument reduction.',
    '// "Error" is the largest error on the interval of the rounded polynomial, evaluated exactly, relative to the function that uses it.',
    '',
  ].join('\n')
  writeFileSync(
    new URL('../../src/ir/lower/coefficients.ts', import.meta.url),
    `${header}\n${constantTables()}\n${text}`,
  )
}
