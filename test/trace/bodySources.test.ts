// The text of a body is read for names of variables. Compilers and bundlers rewrite that text: names may then fall back to places, but no
// build refuses what another accepts, keys stay, and places always answer.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import ts from 'typescript'
import { build } from 'vite'
import { afterAll, describe, expect, test } from 'vitest'
import { Scalar } from '../../src/trace/index.ts'
import { returnedExpression } from '../../src/trace/source.ts'
import { trace } from '../../src/trace/trace.ts'
import * as original from './fixtures/bodies.ts'
import { refusalOf } from './support/evaluate.ts'

type Bodies = typeof original

const file = fileURLToPath(new URL('fixtures/bodies.ts', import.meta.url))
const source = readFileSync(file, 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'harrier-bodies-'))
afterAll(() => rmSync(folder, { recursive: true }))

// esbuild comes with tsx, which runs TypeScript through it.
const require = createRequire(createRequire(import.meta.url).resolve('tsx/package.json'))
const esbuild = require('esbuild') as {
  transformSync(code: string, options: Record<string, unknown>): { readonly code: string }
}

/** Writes a built module and imports it. */
async function load(name: string, code: string): Promise<Bodies> {
  const path = join(folder, `${name}.mjs`)
  writeFileSync(path, code)
  return (await import(/* @vite-ignore */ pathToFileURL(path).href)) as Bodies
}

const transpile = (target: ts.ScriptTarget): string =>
  ts.transpileModule(source, { compilerOptions: { target, module: ts.ModuleKind.ESNext } }).outputText

const transform = (minify: boolean): string =>
  esbuild.transformSync(source, { loader: 'ts', format: 'esm', minify }).code

async function bundle(name: string, minify: boolean): Promise<Bodies> {
  const result = await build({
    root: folder,
    configFile: false,
    logLevel: 'silent',
    build: { write: false, minify, lib: { entry: file, formats: ['es'], fileName: name } },
  })
  const [output] = [result].flat() as { output: readonly { code: string }[] }[]
  return load(name, output!.output[0]!.code)
}

/** Counters in every function and statement, as coverage tools add them. */
const instrumented = (): string =>
  transpile(ts.ScriptTarget.ES2022)
    .replaceAll(/=> \{/g, '=> { counter().f[0]++;')
    .replaceAll(/^(\s+)(const|return)/gm, '$1counter().s[1]++; $2')
    .concat('\nfunction counter() { return { f: [0], s: [0, 0] } }\n')

const BUILDS: readonly (readonly [name: string, keepsNames: boolean, load: () => Promise<Bodies>])[] = [
  ['vitest', true, async () => original],
  ['tsc, ES2022', true, () => load('tsc2022', transpile(ts.ScriptTarget.ES2022))],
  ['tsc, ES5', false, () => load('tsc5', transpile(ts.ScriptTarget.ES5))],
  ['esbuild', true, () => load('esbuild', transform(false))],
  ['esbuild, minified', false, () => load('esbuildMin', transform(true))],
  ['vite', false, () => bundle('vite', false)],
  ['vite, minified', false, () => bundle('viteMin', true)],
  ['instrumented', true, () => load('instrumented', instrumented())],
]

const params = { x: Scalar, y: Scalar }
const traceAny = (body: unknown) => trace('k', params, body)

describe.each(BUILDS)('%s', (_, keepsNames, loadBodies) => {
  test('accepts what it should, with equal keys and places', async () => {
    const { accepted } = await loadBodies()
    expect(accepted).toHaveLength(original.accepted.length)
    for (const [k, [body, names]] of accepted.entries()) {
      const built = traceAny(body)
      const here = traceAny(original.accepted[k]![0])
      expect(built.outputs.map(({ positionalName }) => positionalName)).toEqual(
        here.outputs.map(({ positionalName }) => positionalName),
      )
      expect(built.outputs.some(({ positionalNameTaken }) => positionalNameTaken)).toBe(false)
      expect(built.returned).toEqual(here.returned)
      // Keys are the only names that every build keeps.
      const kept = (list: readonly string[]) => (keepsNames ? list : list.filter((name) => name === 'key'))
      expect(kept(built.outputNames)).toEqual(kept(names))
    }
  })

  test('refuses what it should, in the same words', async () => {
    const { refused } = await loadBodies()
    for (const [body, message] of refused)
      expect(refusalOf(() => traceAny(body))).toBe(`E_NAME: kernel 'k': ${message}`)
  })
})

test('tsx', () => {
  const script = `
    import { accepted } from ${JSON.stringify(pathToFileURL(file).href)}
    import { trace } from ${JSON.stringify(new URL('../../src/trace/trace.ts', import.meta.url).href)}
    import { Scalar } from ${JSON.stringify(new URL('../../src/trace/index.ts', import.meta.url).href)}
    console.log(JSON.stringify(accepted.map(([body]) => trace('k', { x: Scalar, y: Scalar }, body).outputNames)))
  `
  const path = join(folder, 'run.mts')
  writeFileSync(path, script)
  const tsx = createRequire(import.meta.url).resolve('tsx/cli')
  const names: unknown = JSON.parse(execFileSync(process.execPath, [tsx, path], { encoding: 'utf8' }))
  expect(names).toEqual(original.accepted.map(([, expected]) => expected))
})

test('texts that parsers find hard', () => {
  const reads = (text: string) => {
    const { expression } = returnedExpression(Object.assign(() => undefined, { toString: () => text }))
    return expression?.type
  }
  // The text is taken from the function itself, not from a toString of its own.
  expect(reads('return nonsense')).toBe('Identifier')
  const of = (make: () => unknown) => returnedExpression(make() as () => unknown)
  expect(of(() => Math.sin).reason).toBe('the text of the body cannot be read')
  expect(
    of(
      () =>
        class {
          readonly y = 1
        },
    ).reason,
  ).toBe('the text of the body cannot be read')
  expect(of(() => function () {}).reason).toBe('the body has 0 return statements')
  expect(
    of(
      () =>
        function () {
          return
        },
    ).reason,
  ).toBe('the body returns no expression')
  expect(
    of(
      () =>
        ({
          'quoted name'() {
            return 1
          },
        })['quoted name'],
    ).expression?.type,
  ).toBe('Literal')
  expect(
    of(
      () =>
        ({
          ['computed' + 1]() {
            return 1
          },
        })['computed1'],
    ).expression?.type,
  ).toBe('Literal')
  expect(of(() => async () => 1).expression?.type).toBe('Literal')
})
