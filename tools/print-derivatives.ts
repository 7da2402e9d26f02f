// Prints the table of derivative rules into docs/derivatives.md, from the rules themselves: `npx tsx tools/print-derivatives.ts`.
// Every partial is built once on named operands and written as a formula, so that the page says what the code does.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { digamma } from '../src/diff/digamma.ts'
import { rules, type Partial } from '../src/diff/rules.ts'
import { createBuilder, type Builder } from '../src/ir/build.ts'
import type { Plane, Value } from '../src/ir/graph.ts'
import { definition, isPlain, OPS, type PlainOp, type ValueOp } from '../src/ir/ops.ts'
import type { Type } from '../src/ir/types.ts'

const BEGIN = '<!-- The table below is printed by tools/print-derivatives.ts. -->'
const END = '<!-- End of the printed table. -->'
const OPERANDS = ['x', 'y', 'z']

/** Constants that have a name. */
const NAMED: ReadonlyMap<number, string> = new Map([
  [Math.LN2, 'ln 2'],
  [Math.LN10, 'ln 10'],
  [Math.LOG2E, 'log₂ e'],
  [Math.LOG10E, 'log₁₀ e'],
  [Math.PI, 'π'],
  [2 / Math.sqrt(Math.PI), '2/√π'],
  [-2 / Math.sqrt(Math.PI), '−2/√π'],
  [0.5, '½'],
  [-0.5, '−½'],
])

const literal = (value: number): string => NAMED.get(value) ?? String(value).replace('-', '−')

/** How tightly a formula binds: its operands are bracketed where they bind less. */
interface Formula {
  readonly text: string
  readonly strength: number
}
const [CHOICE, COMPARISON, SUM, QUOTIENT, PRODUCT, PREFIX, ATOM] = [0, 1, 2, 3, 4, 5, 6] as const
const atom = (text: string): Formula => ({ text, strength: ATOM })
const bracketed = ({ text, strength }: Formula, least: number): string => (strength < least ? `(${text})` : text)

/** Ops that are written between their operands; the right operand binds tighter where the order of evaluation shows. */
const INFIX: { readonly [op in PlainOp]?: readonly [sign: string, strength: number, right: number] } = {
  add: [' + ', SUM, SUM],
  sub: [' − ', SUM, PRODUCT],
  mul: ['·', PRODUCT, PRODUCT],
  div: [' / ', QUOTIENT, PREFIX],
  lt: [' < ', COMPARISON, SUM],
  le: [' ≤ ', COMPARISON, SUM],
  eq: [' = ', COMPARISON, SUM],
  and: [' and ', COMPARISON, COMPARISON],
}

/** A value as a formula over named values. */
function formula(value: Value, names: ReadonlyMap<Value, string>): Formula {
  const name = names.get(value)
  if (name !== undefined) return atom(name)
  if (value.op === 'const') {
    const negative = Number(value.literal) < 0
    return { text: literal(Number(value.literal)), strength: negative ? PREFIX : ATOM }
  }
  if (!isPlain(value.op)) throw new Error(`a partial uses ${value.op}, which has no formula`)
  const [a, b, c] = value.operands.map((operand) => formula(operand, names))
  const infix = INFIX[value.op]
  if (infix) {
    const [sign, strength, right] = infix
    return { text: `${bracketed(a!, strength)}${sign}${bracketed(b!, right)}`, strength }
  }
  if (value.op === 'neg') return { text: `−${bracketed(a!, PREFIX)}`, strength: PREFIX }
  if (value.op === 'select') {
    return { text: `${bracketed(b!, COMPARISON)} where ${a!.text}, else ${c!.text}`, strength: CHOICE }
  }
  return atom(`${value.op}(${value.operands.map((operand) => formula(operand, names).text).join(', ')})`)
}

const typeOf = (op: ValueOp, operand: number): Type => {
  const wanted = definition(op).operands[operand]!
  return wanted === 'T' ? 'f64' : wanted
}

/** The partials of an op as formulas in its operands x, y, z and its result r. */
function partialsOf(op: ValueOp, partials: readonly Partial[]): readonly string[] {
  const planes = OPERANDS.map((name, k): Plane => {
    const type = k < definition(op).operands.length ? typeOf(op, k) : 'f64'
    return { name, role: 'sample', type, components: 1 }
  })
  const b: Builder = createBuilder(planes)
  const operands = definition(op).operands.map((_, k) => b.load(k, 0))
  const result = isPlain(op) ? b.apply(op, operands) : b.convert(operands[0]!, 'f32')
  const names = new Map<Value, string>([
    [digamma(b, operands[0]!.type === 'f64' ? operands[0]! : b.const('f64', 1)), 'ψ(x)'],
    [result, 'r'],
    ...operands.map((operand, k) => [operand, OPERANDS[k]!] as const),
  ])
  return partials.map((partial) => (partial ? formula(partial({ b, operands, result }), names).text : '—'))
}

/** The table of rules, in the order of the op table. */
export function rulesTable(): string {
  const rows = (Object.keys(OPS) as (keyof typeof OPS)[]).flatMap((op) => {
    if (!Object.hasOwn(rules, op)) return []
    const name = op as ValueOp
    const rule = rules[name]
    if (rule.kind === 'zero') return []
    const cells = rule.kind === 'partials' ? partialsOf(name, rule.partials) : [rule.meaning]
    return [`| \`${op}\` | ${[0, 1, 2].map((k) => cells[k] ?? '').join(' | ')} |`]
  })
  const zeros = Object.entries(rules).flatMap(([op, { kind }]) => (kind === 'zero' ? [`\`${op}\``] : []))
  return [
    BEGIN,
    '',
    '| op | ∂/∂x | ∂/∂y | ∂/∂z |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
    `Zero everywhere: ${zeros.join(', ')}.`,
    '',
    END,
  ].join('\n')
}

/** A page with the table in the place of the one that it has. */
export function withRulesTable(page: string): string {
  const [before, rest] = page.split(BEGIN)
  const after = rest?.split(END)[1]
  if (before === undefined || after === undefined)
    throw new Error(`the page has no place for the table: ${BEGIN} … ${END}`)
  return before + rulesTable() + after
}

if (import.meta.filename === process.argv[1]) {
  const path = join(import.meta.dirname, '..', 'docs', 'derivatives.md')
  writeFileSync(path, withRulesTable(readFileSync(path, 'utf8')))
}
