// The package as it is published: compiled by tsc, imported by its name from plain JavaScript, from a folder that has nothing else.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')
const folder = mkdtempSync(join(tmpdir(), 'harrier-package-'))

beforeAll(() => {
  const installed = join(folder, 'node_modules', 'harrier')
  mkdirSync(installed, { recursive: true })
  execFileSync(
    process.execPath,
    [
      join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'),
      '-p',
      'tsconfig.build.json',
      '--outDir',
      join(installed, 'dist'),
    ],
    { cwd: ROOT },
  )
  for (const file of ['package.json', 'include']) cpSync(join(ROOT, file), join(installed, file), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(installed, 'node_modules'))
}, 120_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function runModule(source: string): string {
  const file = join(folder, 'main.mjs')
  writeFileSync(file, source)
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8', cwd: folder })
  expect(stderr.replaceAll(/^building .*\n/gm, '')).toBe('')
  expect(status).toBe(0)
  return stdout.trim()
}

test('a kernel from plain JavaScript', () => {
  const printed = runModule(`
    import { kernel, Param, Scalar } from 'harrier'
    const scale = kernel('scale', { x: Scalar, a: Param, b: Param }, ({ x, a, b }) => x.mul(a).add(b))
    console.log(scale(new Float64Array([0, 1, 2, 3]), 2, 1).join())`)
  expect(printed).toBe('1,3,5,7')
})

test('every entry point of the package loads', () => {
  const printed = runModule(`
    import * as runtime from 'harrier/runtime'
    console.log(typeof runtime.run, typeof runtime.NdArray)`)
  expect(printed).toBe('function function')
})

test('importing the package starts nothing and takes nothing that is not needed', () => {
  const printed = runModule(`
    import 'harrier'
    // Files that the module loader is done with may still be listed.
    const loaded = process.getActiveResourcesInfo().filter((name) => /Worker|MessagePort|Timeout|Immediate|Process|TCP|UDP/.test(name))
    console.log(JSON.stringify(loaded))`)
  expect(printed).toBe('[]')
})
