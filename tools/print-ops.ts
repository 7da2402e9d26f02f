// Prints docs/ir.md from the op table and the printer: `npx tsx tools/print-ops.ts > docs/ir.md`.
import { createBuilder } from '../src/ir/build.ts'
import type { Graph } from '../src/ir/graph.ts'
import { definition, OP_NAMES, type OpDefinition, type OpName } from '../src/ir/ops.ts'
import { print } from '../src/ir/print.ts'
import { isComputed } from '../src/ir/semantics.ts'
import { TYPE_CLASSES } from '../src/ir/types.ts'

/** A kernel with a loop that each sample leaves on its own, a branch and a reduction. */
function example(): Graph {
  const b = createBuilder([
    { name: 'x', role: 'sample', type: 'f64', components: 1 },
    { name: 'v', role: 'sample', type: 'f64', components: 3 },
    { name: 'a', role: 'uniform', type: 'f64', components: 1 },
    { name: 'total', role: 'reduction', type: 'f64', components: 1, reduce: 'sum' },
    { name: 'y', role: 'sample', type: 'f64', components: 1 },
  ])
  const [grown] = b.loop({
    count: b.const('i32', 8),
    initial: [b.load(0, 0)],
    body: (_, [value]) => [b.fma(value!, b.uniform(2), b.load(1, 2))],
    condition: (_, [value]) => b.lt(value!, b.const('f64', 100)),
  })
  const [kept] = b.branch(
    b.lt(grown!, b.const('f64', 0)),
    () => [b.sqrt(b.neg(grown!))],
    () => [grown!],
  )
  b.contribute(3, 0, kept!)
  b.store(4, 0, kept!)
  return b.finishGraph()
}

const signature = ({ operands, result, T, variadic, kind, form }: OpDefinition): string => {
  const inputs = [...operands, ...(variadic ? ['…'] : [])].join(', ')
  const output = kind === 'value' ? ` → ${result ?? (form === 'leaf' ? 'its type' : 'T')}` : ''
  return `(${inputs})${output}${operands.includes('T') ? `, T ${T}` : ''}`
}

function table(title: string, intro: string, ops: readonly OpName[]): readonly string[] {
  const rows = ops.map(
    (op) => `| \`${op}\` | ${signature(definition(op))} | ${definition(op).meaning.replaceAll('|', '\\|')} |`,
  )
  return ['', `### ${title}`, '', intro, '', '| op | operands → result | meaning |', '| --- | --- | --- |', ...rows]
}

export function irPage(): string {
  const ops = (wanted: (op: OpName, of: OpDefinition) => boolean) => OP_NAMES.filter((op) => wanted(op, definition(op)))
  const isValue = ({ kind }: OpDefinition) => kind === 'value'
  const classes = Object.entries(TYPE_CLASSES).map(([name, types]) => `| ${name} | ${types.join(', ')} |`)
  return [
    '# The intermediate representation',
    '',
    'A kernel body runs once on symbolic values and leaves a graph: SSA values in nested regions, planes that it reads and writes, and nothing',
    'else. Derivatives, specialisation to a float type and lowering map graphs to graphs; backends turn a lowered graph into code; the',
    'interpreter (`src/ir/interpret.ts`) defines what it means, and every backend agrees with it bit for bit, any NaN being equal to any NaN.',
    "`k.source('ir')` shows the graph of a kernel.",
    '',
    '## Text form',
    '',
    '```',
    print(example()).trimEnd(),
    '```',
    '',
    '- Planes come first: name, role, for a reduction its fold, type, and components if there is more than one. Tapes follow (`tape #0: f64[100]`).',
    '- A value is written `%number: type = op operands`, numbered in print order. A plane stands by its name, with `[component]` where it has',
    '  several, a tape by its number.',
    '- Literals carry their type: floats as hex bits with their decimal value in a comment (`f64:0x3fe0000000000000  ; 0.5`), integers in',
    '  decimals (`i32:-3`), conditions as `true` and `false`. They belong to no region.',
    '- A construct gives one value a result and holds its regions in braces; `yield` gives what a region hands to it. A loop takes its count and',
    '  initial carries; `body` gives the next carries, `condition` is asked before each iteration; both start with the iteration number.',
    '- Comments run from `;` to the end of the line. `parse` reads exactly what `print` writes, blank lines, comments, spaces and the numbers of',
    '  values aside, and refuses anything else with its line and column (`E_PARSE`).',
    '',
    'The text holds everything that the meaning of a kernel depends on and nothing else, and is part of the key of the build cache.',
    '',
    '## Invariants',
    '',
    '`src/ir/verify.ts` lists them and reports every violation (`E_GRAPH`). In short: operands precede their uses, values leave a region only as',
    'its results, types follow the table below, equal pure values of a region are one node, effects keep program order.',
    '',
    '## Types',
    '',
    'Planes hold f64, f32, i32 and bool (one byte, 0 or 1); u32 and i64 occur inside kernels only. A signature names sets of types:',
    '',
    '| T | types |',
    '| --- | --- |',
    ...classes,
    '',
    '## Ops',
    '',
    'One table, `src/ir/ops.ts`, lists every op; this page is printed from it. No op traps, whatever its operands.',
    ...table(
      'Computed',
      'Basic: the interpreter and every backend implement them. Their value follows from their operands alone, so that they fold.',
      ops((op) => isComputed(op)),
    ),
    ...table(
      'Reads',
      'Basic: what a kernel reads, and what belongs to its regions.',
      ops((op, of) => isValue(of) && of.basic && !isComputed(op)),
    ),
    ...table(
      'Effects',
      'Basic: what a sample writes, in program order.',
      ops((_, { kind }) => kind === 'effect'),
    ),
    ...table(
      'Constructs',
      'Basic: ops that own regions.',
      ops((_, { kind }) => kind === 'construct'),
    ),
    ...table(
      'Derived',
      'Rewritten to basic ops before any code is made (`src/ir/lower/`).',
      ops((_, of) => isValue(of) && !of.basic),
    ),
    '',
    '## Adding an op',
    '',
    'Add its row to `src/ir/ops.ts`; the compiler then names every table that lacks it. A basic op needs its meaning (`semantics.ts`), its',
    'identities (`identities.ts`, none is an answer), its derivative, and a row in each emitter; a derived op needs its derivative and its',
    'lowering. The tests put every combination of grid values through a new basic op by themselves, once `test/ir/semantics.test.ts` has a',
    'second, exact definition of it.',
    '',
  ].join('\n')
}

if (import.meta.filename === process.argv[1]) process.stdout.write(irPage())
