// Prints docs/functions.md from the op table and the derivative rules: `npx tsx tools/print-features.ts > docs/functions.md`.
import { elementwiseMethods } from '../src/trace/scalar.ts'
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

/** How a body writes an op: `where` selects, the rest have the names of the ops. */
const SPELLING: Partial<Record<OpName, string>> = { select: 'where', floorMod: 'mod' }

const language: Readonly<Record<string, unknown>> = await import('../src/trace/index.ts')
const isCallable = (name: string): boolean => typeof language[name] === 'function'

export function functionsPage(): string {
  const names = (Object.keys(OPS) as OpName[]).filter(
    (name): name is ValueOp =>
      OPS[name].kind === 'value' && OPS[name].form === 'plain' && isCallable(SPELLING[name] ?? name),
  )
  const rows = names.map((name) => {
    const op: { readonly basic: boolean; readonly T?: TypeClass; readonly meaning: string } = OPS[name]
    const spelling = SPELLING[name] ?? name
    const calls = spelling in elementwiseMethods ? `\`${spelling}\`, method` : `\`${spelling}\``
    return `| ${calls} | ${op.meaning.replaceAll('|', '\\|')} | ${typesOf(op.T)} | ${op.basic ? 'basic' : 'lowered'} | ${DERIVATIVE[rules[name].kind]} |`
  })
  return [
    '# Functions',
    '',
    'What a kernel body can call, each as a free function over symbolic values and plain numbers: `exp(x)`, `add(3, x)`. Those marked *method* can be written `x.add(3)`, too; nothing',
    `else is a method of a number. On every backend (${BACKENDS.join(', ')}) a basic op is implemented as such; a lowered one is written in basic ops once, and has the same bits wherever the`,
    'target has the same instructions: with FMA (host, reference) or without (wasm). [math.md](math.md) has the measured errors and times, [derivatives.md](derivatives.md) the derivatives.',
    '',
    '| name | meaning | types | implementation | derivative |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    '',
    'Also: `gt`, `ge` (methods), `clip(x, low, high)`, `toInt(x)` (truncates, saturates, 0 for NaN), `toFloat(i)`; random numbers `uniform(seed, counter)`, `normal(seed, counter)`,',
    '`exponential(seed, counter)`, `bernoulli(seed, counter, p)`, `uniformInt(seed, counter, low, high)` without high, each keyed by the sample too: the same bits in any partition.',
    'Vectors have `dot cross norm`, matrices `matmul transpose trace det inverse solve`, quaternions `quatMul quatConj quatRecip quatRotate`. `norm` is √(v·v) and overflows with the squares, for',
    'components above 10¹⁵⁴; `hypot` does not.',
    '',
  ].join('\n')
}

if (import.meta.filename === process.argv[1]) process.stdout.write(functionsPage())
