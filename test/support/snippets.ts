// Runs the TypeScript blocks of a documentation page as one module and collects what its comments claim.
// A statement that is an expression and has a comment behind it on its last line claims that its value prints like the comment; a
// comment that starts with `throws CODE` claims the error, and what follows the code must stand in its message.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import ts from 'typescript'
import { NdArray } from '../../src/runtime/ndarray.ts'

export interface Claim {
  readonly line: number
  readonly expected: string
  readonly found: string
}

const ROOT = join(import.meta.dirname, '..', '..')
const SCRATCH = join(ROOT, 'test', '.snippets')

/** Entry points as the documentation imports them. */
const ENTRIES: Readonly<Record<string, string>> = {
  harrier: 'src/index.ts',
  'harrier/runtime': 'src/runtime/index.ts',
  'harrier/operations': 'src/operations/index.ts',
  'harrier/wasm': 'src/wasm.ts',
}

/** How documentation writes a value: `Float64Array [1, 3]`, `{ up: 2 }`, `'text'`. */
export function show(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`
  if (Object.is(value, -0)) return '-0'
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'function') return `[Function ${value.name}]`
  if (typeof value !== 'object' || value === null) return String(value)
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    return `${value.constructor.name} [${Array.from(value as Float64Array, show).join(', ')}]`
  }
  if (value instanceof NdArray) return `NdArray(${value.shape.join(', ')}) ${show(value.toNested())}`
  if (Array.isArray(value)) return `[${value.map(show).join(', ')}]`
  const entries = Object.entries(value).map(([key, entry]) => `${key}: ${show(entry)}`)
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`
}

/** The `ts` blocks of a page, each at its own line, as one text. */
function codeOf(page: string): string {
  let inside = false
  return page
    .split('\n')
    .map((line) => {
      if (line.startsWith('```')) {
        inside = !inside && /^```ts\s*$/.test(line)
        return ''
      }
      return inside ? line : ''
    })
    .join('\n')
}

/** Wraps each claiming statement, and points imports at the source tree. */
function instrument(code: string): string {
  const file = ts.createSourceFile('page.ts', code, ts.ScriptTarget.ES2022, true)
  const edits: { begin: number; end: number; text: string }[] = []
  const imported = new Set<string>()
  for (const statement of file.statements) {
    if (ts.isImportDeclaration(statement) && ts.isStringLiteral(statement.moduleSpecifier)) {
      const entry = ENTRIES[statement.moduleSpecifier.text]
      const bindings = statement.importClause?.namedBindings
      // Blocks repeat the imports that a reader needs; a module may not.
      if (bindings && ts.isNamedImports(bindings)) {
        const fresh = bindings.elements.filter((element) => !imported.has(element.name.text))
        for (const element of fresh) imported.add(element.name.text)
        const names = fresh.map((element) => element.getText()).join(', ')
        const from = entry ? pathToFileURL(join(ROOT, entry)).pathname : statement.moduleSpecifier.text
        edits.push({ begin: statement.getStart(), end: statement.end, text: `import { ${names} } from '${from}'` })
      }
    }
    if (!ts.isExpressionStatement(statement)) continue
    const comment = /^[ \t]*\/\/ ?(.*)/.exec(code.slice(statement.end))?.[1]
    if (comment === undefined) continue
    const { line } = file.getLineAndCharacterOfPosition(statement.end)
    const expression = statement.expression.getText()
    edits.push({
      begin: statement.getStart(),
      end: statement.end,
      text: `await __claim(${line + 1}, ${JSON.stringify(comment)}, async () => (${expression}))`,
    })
  }
  return edits
    .toReversed()
    .reduce((text, { begin, end, text: replacement }) => text.slice(0, begin) + replacement + text.slice(end), code)
}

declare global {
  var __claim: ((line: number, expected: string, evaluate: () => Promise<unknown>) => Promise<void>) | undefined
}

/** Runs a page and gives every claim with what was found. */
export async function runSnippets(path: string): Promise<readonly Claim[]> {
  const claims: Claim[] = []
  globalThis.__claim = async (line, comment, evaluate) => {
    const error = /^throws (E_\w+):? ?(.*)/.exec(comment)
    if (!error) {
      claims.push({ line, expected: comment, found: show(await evaluate()) })
      return
    }
    const raised: unknown = await evaluate().then(
      () => undefined,
      (reason: unknown) => reason,
    )
    const [, code, message] = error
    const found =
      raised instanceof Error ? `throws ${(raised as { code?: string }).code}: ${raised.message}` : 'throws nothing'
    const isAsClaimed = found.startsWith(`throws ${code}`) && found.includes(message!)
    claims.push({ line, expected: comment, found: isAsClaimed ? comment : found })
  }
  mkdirSync(SCRATCH, { recursive: true })
  const file = join(SCRATCH, `${basename(path, '.md')}-${process.pid}.ts`)
  try {
    writeFileSync(file, instrument(codeOf(readFileSync(path, 'utf8'))))
    await import(/* @vite-ignore */ file)
  } finally {
    rmSync(file, { force: true })
    globalThis.__claim = undefined
  }
  return claims
}
