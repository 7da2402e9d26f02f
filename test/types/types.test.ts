// Compiles the type tests of this folder, and 100 kernels of 40 operations, in one program. A `@ts-expect-error` line that reports nothing
// is an error itself, so that a refusal that the types lose is seen.
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'

const folder = dirname(fileURLToPath(import.meta.url))
const root = join(folder, '../..')
const GENERATED = join(folder, 'generated.ts')
const PLANTED = join(folder, 'planted.ts')

/** 100 kernels, each of 8 rounds of 5 operations, and a call of each. */
const kernels = (): string => {
  const round = (j: number) => `
    const a${j} = r.mul(y).sub(exp(x))
    r = where(a${j}.gt(0), a${j}, v.dot(v))`
  const one = (k: number) => `
  const k${k} = kernel('k${k}', { x: Scalar, y: Scalar, v: Vector(3) }, ({ x, y, v }) => {
    let r: Scalar = x.add(${k})${Array.from({ length: 8 }, (_, j) => round(j)).join('')}
    return { r, list: [v.mul(r), y.add(${k})] }
  })
  k${k}({ x: f64, y: f64, v: f64 }).r satisfies Float64Array`
  return `import { exp, kernel, Scalar, Vector, where } from '../../src/index.ts'
declare const f64: Float64Array
${Array.from({ length: 100 }, (_, k) => one(k)).join('')}`
}

const virtual: Readonly<Record<string, string>> = {
  [GENERATED]: kernels(),
  [PLANTED]: "import { kernel, Scalar } from '../../src/index.ts'\nkernel({ x: Scalar }, ({ x }) => x.nothing(1))\n",
}

test('the type tests compile, and 100 kernels of 40 operations with few instantiations', { timeout: 300_000 }, () => {
  const config = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, root)
  const host = ts.createCompilerHost({ ...options, noEmit: true })
  const { readFile, fileExists } = host
  host.fileExists = (path) => path in virtual || fileExists(path)
  host.readFile = (path) => virtual[path] ?? readFile(path)
  const tests = readdirSync(folder)
    .filter((name) => name.endsWith('.test-d.ts'))
    .map((name) => join(folder, name))
  expect(tests.length).toBeGreaterThan(1)
  const { incremental: _, tsBuildInfoFile: __, ...rest } = options
  const program = ts.createProgram([...tests, GENERATED, PLANTED], { ...rest, noEmit: true }, host)
  const complaints = (path: string) =>
    program
      .getSemanticDiagnostics(program.getSourceFile(path))
      .map(({ messageText, start }) => `${path}:${start}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`)
  expect(complaints(GENERATED)).toEqual([])
  // Work, not time: about 25 instantiations an operation keep the check of 4,000 operations under the aim of 5 s.
  expect(program.getInstantiationCount()).toBeLessThan(200_000)
  expect(tests.flatMap(complaints)).toEqual([])
  expect(complaints(PLANTED)).toHaveLength(1)
})
