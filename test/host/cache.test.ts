import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { BuildFacts, BuildRequest } from '../../src/backends/buildCache.ts'
import { cacheFolder, cacheKey, createCache } from '../../src/runtime/cache.ts'
import { openMemory } from '../../src/runtime/fileMemory.ts'
import { findToolchain } from '../../src/runtime/toolchain.ts'
import { fakeClang } from './support/fakeClang.ts'
import { privateFolder, runChild, startChild } from './support/processes.ts'

process.env.HARRIER_LOG = 'silent'

const encode = (text: string) => new TextEncoder().encode(text)
const decode = (code: Uint8Array) => new TextDecoder().decode(code)

/** A request whose code is a text; `made` counts how often it was made. */
function textRequest(text: string, inputs: Record<string, unknown> = {}) {
  const made = { count: 0 }
  const request: BuildRequest<{ readonly size: number }> = {
    kernel: 'text',
    backend: 'wasm',
    inputs: { text, ...inputs },
    extension: 'wasm',
    make() {
      made.count++
      return { code: encode(text), facts: { size: text.length } }
    },
  }
  return { request, made }
}

const openCache = (folder: string) =>
  createCache({ folder, memory: openMemory(join(privateFolder(), 'memory.json')), patience: 10_000 })

test('the folder: HARRIER_CACHE_DIR, else XDG_CACHE_HOME, else ~/.cache', () => {
  expect(cacheFolder({ HARRIER_CACHE_DIR: '/a/b', XDG_CACHE_HOME: '/x' })).toBe('/a/b')
  expect(cacheFolder({ HARRIER_CACHE_DIR: '', XDG_CACHE_HOME: '/x' })).toBe('/x/harrier')
  expect(cacheFolder({})).toMatch(/\/\.cache\/harrier$/)
})

describe('keys', () => {
  const inputs = { graph: 'g', options: { width: 8 }, compiler: 'c', linker: 'l', flags: ['-O2'], processor: 'p' }
  const key = (changed: object = {}, backend: 'host' | 'wasm' = 'host', code = 'emitter') =>
    cacheKey({ backend, inputs: { ...inputs, ...changed } }, code)

  test('every input changes the key', () => {
    const keys = [
      key(),
      key({ graph: 'h' }),
      key({ options: { width: 4 } }),
      key({ compiler: 'd' }),
      key({ linker: 'm' }),
      key({ flags: ['-O0'] }),
      key({ processor: 'q' }),
      key({}, 'wasm'),
      key({}, 'host', 'another emitter'),
    ]
    expect(new Set(keys).size).toBe(keys.length)
  })

  test('nothing else does, in whatever order the inputs come', () => {
    const reversed = Object.fromEntries(Object.entries(inputs).reverse())
    expect(cacheKey({ backend: 'host', inputs: reversed }, 'emitter')).toBe(key())
  })
})

describe('obtaining a build', () => {
  test('is made once, and then found with its facts, by another cache object too', () => {
    const folder = privateFolder()
    const { request, made } = textRequest('abc')
    const first = openCache(folder).obtain(request)
    const again = openCache(folder).obtain(request)
    expect(made.count).toBe(1)
    expect([first, again].map(({ code }) => decode(code))).toEqual(['abc', 'abc'])
    expect(again.facts).toEqual({ size: 3 })
    expect(readFileSync(again.path, 'utf8')).toBe('abc')
  })

  test('leaves only the code and its record', () => {
    const folder = privateFolder()
    const { path } = openCache(folder).obtain(textRequest('abc').request)
    expect(readdirSync(folder).sort()).toEqual(
      [path, path.replace('.wasm', '.json')].map((file) => file.slice(folder.length + 1)).sort(),
    )
  })

  test.each<[string, (path: string) => void]>([
    ['shorter code', (path) => truncateSync(path, 1)],
    ['empty code', (path) => truncateSync(path, 0)],
    ['other code', (path) => writeFileSync(path, 'abd')],
    ['a record cut off', (path) => truncateSync(path.replace('.wasm', '.json'), 20)],
    [
      'a record whose facts were changed',
      (path) => {
        const record = path.replace('.wasm', '.json')
        writeFileSync(record, readFileSync(record, 'utf8').replace('"size":3', '"size":4'))
      },
    ],
  ])('with %s is made anew, never handed out', (_, damage) => {
    const folder = privateFolder()
    const { request, made } = textRequest('abc')
    damage(openCache(folder).obtain(request).path)
    const mended = openCache(folder).obtain(request)
    expect(made.count).toBe(2)
    expect([decode(mended.code), mended.facts]).toEqual(['abc', { size: 3 }])
    expect(openCache(folder).obtain(request).facts).toEqual({ size: 3 })
    expect(made.count).toBe(2)
  })

  test('what fails while it is made is passed on and leaves nothing', () => {
    const folder = privateFolder()
    const { request } = textRequest('abc')
    const failure = new Error('no')
    const make = () => {
      throw failure
    }
    expect(() => openCache(folder).obtain({ ...request, make })).toThrow(failure)
    expect(readdirSync(folder)).toEqual([])
  })
})

/** Collects the warnings of the test. */
function warnings(): string[] {
  const seen: string[] = []
  const spy = vi.spyOn(process, 'emitWarning').mockImplementation((warning) => void seen.push(String(warning)))
  onTestFinished(() => spy.mockRestore())
  return seen
}

const obtainAll = <Facts extends BuildFacts>(folder: string, requests: readonly BuildRequest<Facts>[]) => {
  const cache = openCache(folder)
  return requests.map((request) => cache.obtain(request))
}

describe('a folder that cannot be written', () => {
  test('that cannot exist: builds go to a private folder, with one warning that says why and what to do', () => {
    const file = join(privateFolder(), 'file')
    writeFileSync(file, '')
    const folder = join(file, 'cache')
    const seen = warnings()
    const { request, made } = textRequest('abc')
    const builds = obtainAll(folder, [request, request, textRequest('def').request])
    expect(builds.map(({ code }) => decode(code))).toEqual(['abc', 'abc', 'def'])
    expect(made.count).toBe(1)
    const substitute = builds[0]!.path.replace(/\/[^/]*$/, '')
    expect(seen).toEqual([
      `the build cache ${folder} cannot be written (ENOTDIR: not a directory, mkdir '${folder}'); this process builds into ` +
        `${substitute} and removes it when it ends. Set HARRIER_CACHE_DIR to a folder that can be written.`,
    ])
  })

  test('that is read-only: what lies in it is still used', async (context) => {
    const folder = privateFolder()
    // The user `nobody`: root may write anywhere.
    const nobody = process.getuid?.() === 0 ? 65534 : undefined
    chmodSync(folder, 0o777)
    const env = { HARRIER_CACHE_DIR: folder }
    const probe = await runChild('build', { env, ...(nobody && { user: nobody }) })
    if (nobody !== undefined && /EACCES|MODULE_NOT_FOUND/.test(probe.err)) {
      context.skip(`the user nobody cannot read these sources: ${probe.err}`)
    }
    expect(probe).toMatchObject({ code: 0 })
    chmodSync(folder, 0o555)
    const cached = await runChild('build', { env, ...(nobody && { user: nobody }) })
    expect(cached).toMatchObject({ code: 0, err: '', out: probe.out })

    const empty = privateFolder()
    chmodSync(empty, 0o555)
    const built = await runChild('build', { env: { HARRIER_CACHE_DIR: empty }, ...(nobody && { user: nobody }) })
    expect(built.code).toBe(0)
    const { out, path } = JSON.parse(built.out)
    expect(out).toEqual([1, 3, 5, 7])
    expect(path).not.toContain(empty)
    expect(existsSync(path)).toBe(false)
    expect(built.err).toContain(`HarrierWarning: the build cache ${empty} cannot be written (EACCES: permission denied`)
  })

  test('that is full: the code that was made is not made again', (context) => {
    const folder = privateFolder()
    const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', folder], { encoding: 'utf8' })
    if (mount.status !== 0) context.skip(`no small file system can be mounted here: ${mount.stderr ?? mount.error}`)
    try {
      writeFileSync(join(folder, 'filler'), new Uint8Array(60 * 1024))
      const seen = warnings()
      const { request, made } = textRequest('x'.repeat(100_000))
      const [build] = obtainAll(folder, [request])
      expect(decode(build!.code)).toHaveLength(100_000)
      expect(made.count).toBe(1)
      expect(seen).toHaveLength(1)
      expect(seen[0]).toContain(`${folder} cannot be written (ENOSPC: no space left on device`)
      expect(readdirSync(folder)).toEqual(['filler'])
    } finally {
      spawnSync('umount', [folder])
    }
  })

  test('when no other can be written either, the error names both', () => {
    const file = join(privateFolder(), 'file')
    writeFileSync(file, '')
    const before = process.env.TMPDIR
    onTestFinished(() => void (before === undefined ? delete process.env.TMPDIR : (process.env.TMPDIR = before)))
    const cache = openCache(join(file, 'cache'))
    process.env.TMPDIR = join(file, 'tmp')
    expect(() => cache.obtain(textRequest('abc').request)).toThrow(
      expect.objectContaining({
        name: 'HarrierError',
        code: 'E_CACHE',
        message:
          `builds cannot be written to ${join(file, 'cache')} and ${join(file, 'tmp')}; ` +
          'set HARRIER_CACHE_DIR to a folder that can be written and has room',
      }),
    )
  })
})

describe('several processes', () => {
  test('eight that build the same kernel at once make one build, and all succeed', { timeout: 120_000 }, async () => {
    const [folder, barrier] = [privateFolder(), privateFolder()]
    const env = { HARRIER_CACHE_DIR: folder }
    const running = Promise.all(Array.from({ length: 8 }, () => runChild('build', { env, args: [barrier] })))
    await vi.waitUntil(() => readdirSync(barrier).length === 8, 50_000)
    writeFileSync(join(barrier, 'go'), '')
    const outcomes = await running
    expect(outcomes.map(({ code }) => code)).toEqual(outcomes.map(() => 0))
    const results = outcomes.map(({ out }) => JSON.parse(out))
    expect(results.map(({ out }) => out)).toEqual(outcomes.map(() => [1, 3, 5, 7]))
    expect(new Set(results.map(({ path }) => path)).size).toBe(1)
    const lines = outcomes.flatMap(({ err }) => err.split('\n').filter((line) => line !== ''))
    expect(lines).toEqual([`building scale (host) in ${folder} — delete the directory to rebuild`])
    expect(readdirSync(folder).filter((name) => name !== 'memory.json')).toHaveLength(2)
  })

  test('a cached build starts no program, and a compiler that changed makes another build', async () => {
    const folder = privateFolder()
    const cache = join(folder, 'cache')
    const { realPath } = findToolchain({
      environment: process.env,
      memory: openMemory(join(folder, 'memory')),
    }).compiler!
    const clang = fakeClang(join(folder, 'clang'), 'clang version 19.1.0', `exec '${realPath}' "$@"`)
    const build = async () => {
      const { code, out, err } = await runChild('build', {
        env: { HARRIER_CACHE_DIR: cache, HARRIER_CLANG: clang.path },
      })
      const { out: result, path } = JSON.parse(out)
      return { code, result, path, isBuilt: err !== '', starts: clang.starts() }
    }
    const first = await build()
    expect(first).toMatchObject({ code: 0, result: [1, 3, 5, 7], isBuilt: true, starts: 2 })
    expect(await build()).toEqual({ ...first, isBuilt: false })

    fakeClang(clang.path, 'clang version 19.1.0', `exec '${realPath}' "$@" # another build of it`)
    const changed = await build()
    expect(changed).toMatchObject({ code: 0, result: [1, 3, 5, 7], isBuilt: true, starts: 4 })
    expect(changed.path).not.toBe(first.path)
  })

  test('one that is killed while it builds leaves nothing that is loaded, and does not keep others waiting', async () => {
    const folder = privateFolder()
    const { realPath } = findToolchain({
      environment: process.env,
      memory: openMemory(join(folder, 'memory')),
    }).compiler!
    const journal = join(folder, 'compiling')
    // Hangs at its first compilation, and is the real compiler from then on.
    const clang = fakeClang(
      join(folder, 'clang'),
      'clang version 19.1.0',
      `if [ -e '${journal}' ]; then exec '${realPath}' "$@"; fi
echo $$ > '${journal}.partial'; mv '${journal}.partial' '${journal}'
exec sleep 60`,
    )
    const cache = join(folder, 'cache')
    const env = { HARRIER_CACHE_DIR: cache, HARRIER_CLANG: clang.path }
    const killed = await startChild('build', { env })
    await vi.waitUntil(() => existsSync(journal), 30_000)
    killed.child.kill('SIGKILL')
    process.kill(Number(readFileSync(journal, 'utf8')))
    expect((await killed.finished).signal).toBe('SIGKILL')
    expect(readdirSync(cache).filter((name) => !name.endsWith('.lock') && name !== 'memory.json')).toEqual([])

    const next = await runChild('build', { env })
    expect(next.code).toBe(0)
    expect(JSON.parse(next.out).out).toEqual([1, 3, 5, 7])
    expect(readdirSync(cache).filter((name) => name.endsWith('.lock'))).toEqual([])
  })
})
