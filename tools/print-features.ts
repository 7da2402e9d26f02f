// Prints docs/functions.md from the op table and the derivative rules: `npx tsx tools/print-features.ts > docs/functions.md`.
import { rules, type DerivativeRule } from '../src/diff/rules.ts'
import { OPS, type OpName, type ValueOp } from '../src/ir/ops.ts'
import { TYPE_CLASSES, type TypeClass } from '../src/ir/types.ts'

/** Backends implement the basic ops, each in a table that the type checker keeps complete; the rest is lowered to those. */
const BACKENDS = ['host', 'wasm', 'reference'] as const

const DERIVATIVE: Record<DerivativeRule['kind'], string> = {
  partials: 'forward and reverse',
  zero: 'zero',
  structural: 'by the transform',
}

const typesOf = (T: TypeClass | undefined): string =>
  T === undefined ? 'i32' : T === 'any' ? 'any' : TYPE_CLASSES[T].join(' ')

export function functionsPage(): string {
  const names = (Object.keys(OPS) as OpName[]).filter(
    (name): name is ValueOp => OPS[name].kind === 'value' && OPS[name].form === 'plain',
  )
  const rows = names.map((name) => {
    const op: { readonly basic: boolean; readonly T?: TypeClass; readonly meaning: string } = OPS[name]
    return `| \`${name}\` | ${op.meaning.replaceAll('|', '\\|')} | ${typesOf(op.T)} | ${op.basic ? 'basic' : 'lowered'} | ${DERIVATIVE[rules[name].kind]} |`
  })
  return [
    '# Functions',
    '',
    `What a kernel body can compute with, on every backend (${BACKENDS.join(', ')}): a basic op is implemented by each of them, a lowered one is written in basic ops once and has the same bits`,
    'wherever the basic ops have. [math.md](math.md) has the measured errors and times, [derivatives.md](derivatives.md) the derivatives.',
    '',
    '| name | meaning | types | implementation | derivative |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n')
}

if (import.meta.filename === process.argv[1]) process.stdout.write(functionsPage())
