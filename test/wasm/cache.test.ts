// Builds in the store: what is there is taken without importing binaryen, also by another process.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { expect, onTestFinished, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

interface FirstCall {
  readonly y: readonly number[]
  readonly started: number
  readonly milliseconds: number
  readonly report: string
}

function temporary(parent: string): string {
  const folder = mkdtempSync(join(parent, '.harrier-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('a second process takes the module from the store and starts no thread for binaryen', async () => {
  // Inside the project, so that the bundle finds the packages that it imports.
  const outDir = temporary(join(ROOT, 'node_modules'))
  await build({
    configFile: false,
    logLevel: 'silent',
    build: { ssr: fileURLToPath(new URL('children/firstCall.ts', import.meta.url)), outDir },
  })
  const file = readdirSync(outDir).find((name) => name.startsWith('firstCall'))!
  const cache = temporary(tmpdir())
  const call = (): FirstCall => {
    const env = { ...process.env, HARRIER_CACHE_DIR: cache, HARRIER_BACKEND: 'wasm', HARRIER_LOG: 'silent' }
    const { stdout, stderr } = spawnSync(process.execPath, [join(outDir, file)], { env, encoding: 'utf8' })
    expect(stderr).toBe('')
    return JSON.parse(stdout)
  }
  const first = call()
  const second = call()
  expect(first.y.map((value, k) => Math.abs(value - Math.exp(-k)) <= 2e-16)).toEqual([true, true, true])
  expect(second.y).toEqual(first.y)
  expect([first.started, second.started]).toEqual([1, 0])
  expect(second.report).toContain('runs on wasm: asked for by HARRIER_BACKEND')
  const modules = readdirSync(cache).filter((name) => name.endsWith('.wasm'))
  expect(modules).toHaveLength(1)
  const time = (call: FirstCall) => `${call.milliseconds.toFixed(1)} ms`
  console.log(`definition and first call: ${time(first)} with binaryen, ${time(second)} from the store (aim: 20 ms)`)
})
