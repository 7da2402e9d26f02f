// The layers of the library: imports point one way, never round, and native calls have one door.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..', 'src')

/** Which layers each layer may import; a file that stands in src itself is its own layer. */
const ALLOWED: Record<string, readonly string[]> = {
  'errors.ts': [],
  'warning.ts': [],
  'package.ts': [],
  ir: ['errors.ts'],
  trace: ['ir', 'errors.ts', 'warning.ts'],
  diff: ['ir', 'errors.ts'],
  backends: ['ir', 'errors.ts'],
  runtime: ['backends', 'diff', 'trace', 'ir', 'errors.ts', 'warning.ts', 'package.ts'],
  operations: ['runtime', 'errors.ts', 'package.ts'],
  cli: ['operations', 'runtime', 'backends', 'diff', 'trace', 'ir', 'errors.ts', 'package.ts'],
  'index.ts': ['runtime', 'trace', 'errors.ts'],
  'wasm.ts': ['runtime', 'backends', 'trace', 'errors.ts'],
}

/** Packages that one place alone may import. */
const DOORS: Record<string, string> = {
  koffi: 'runtime/ffi.ts',
  binaryen: 'backends/wasm/',
  pino: 'runtime/log.ts',
  acorn: 'trace/source.ts',
}

interface Import {
  /** Paths from src. */
  readonly from: string
  /** A path from src, or the name of a package. */
  readonly to: string
  /** Erased when compiled. */
  readonly isType: boolean
}

const isTypeOnly = (node: ts.Node): boolean =>
  (ts.isImportDeclaration(node) && node.importClause?.isTypeOnly === true) ||
  (ts.isExportDeclaration(node) && node.isTypeOnly) ||
  ts.isImportTypeNode(node)

/** The module that a node names, if it names one. */
function moduleOf(node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier
  if (ts.isImportTypeNode(node)) return ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined
  const isDynamic = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
  const isRequire = ts.isCallExpression(node) && /\brequire(\.resolve)?$/.test(node.expression.getText())
  return isDynamic || isRequire ? node.arguments[0] : undefined
}

function importsOf(from: string): readonly Import[] {
  const path = join(ROOT, from)
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true)
  const found: Import[] = []
  const visit = (node: ts.Node): void => {
    const named = moduleOf(node)
    if (named && ts.isStringLiteral(named)) {
      const isRelative = named.text.startsWith('.')
      const to = isRelative ? relative(ROOT, join(dirname(path), named.text)) : named.text
      found.push({ from, to, isType: isTypeOnly(node) })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
const imports = files.flatMap(importsOf)
const layerOf = (path: string): string => path.split('/')[0]!

describe('layers', () => {
  test('every folder is a layer', () => {
    expect([...new Set(files.map(layerOf))].filter((layer) => !(layer in ALLOWED))).toEqual([])
  })

  test('imports point to lower layers', () => {
    const wrong = imports.filter(({ from, to }) => {
      const [upper, lower] = [layerOf(from), layerOf(to)]
      return lower in ALLOWED && upper !== lower && !ALLOWED[upper]!.includes(lower)
    })
    expect(wrong.map(({ from, to }) => `src/${from} imports src/${to}`)).toEqual([])
  })

  test('the layers themselves are in order', () => {
    // Each may import only such as stand before it.
    const order = Object.keys(ALLOWED)
    const wrong = order.flatMap((layer, k) => ALLOWED[layer]!.filter((lower) => order.indexOf(lower) >= k))
    expect(wrong).toEqual([])
  })

  test('no import runs in a circle', () => {
    const next = new Map(
      files.map((file) => [file, imports.filter(({ from, isType }) => from === file && !isType).map(({ to }) => to)]),
    )
    const done = new Set<string>()
    const circles: string[] = []
    const visit = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' → '))
      if (done.has(file) || path.includes(file)) return
      for (const to of next.get(file) ?? []) visit(to, [...path, file])
      done.add(file)
    }
    files.forEach((file) => visit(file, []))
    expect(circles).toEqual([])
  })

  test.each(Object.entries(DOORS))('%s is imported by src/%s alone', (name, door) => {
    const importers = imports.filter(({ to }) => to === name || to.startsWith(`${name}/`)).map(({ from }) => from)
    expect(importers.filter((from) => !from.startsWith(door))).toEqual([])
    expect(importers).not.toEqual([])
  })

  test('what is imported is there', () => {
    const missing = imports.filter(({ to }) => to.endsWith('.ts') && !files.includes(to))
    expect(missing.map(({ from, to }) => `src/${from} imports src/${to}`)).toEqual([])
  })

  test('src/index.ts only re-exports', () => {
    const path = join(ROOT, 'index.ts')
    const { statements } = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true)
    const others = statements.filter(
      (node) => !ts.isImportDeclaration(node) && !(ts.isExportDeclaration(node) && node.moduleSpecifier),
    )
    expect(others.map((node) => node.getText())).toEqual([])
  })
})
