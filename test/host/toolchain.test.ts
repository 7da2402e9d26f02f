import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openMemory } from '../../src/runtime/fileMemory.ts'
import { findToolchain } from '../../src/runtime/toolchain.ts'
import { fakeClang } from './support/fakeClang.ts'
import { privateFolder } from './support/processes.ts'

const WAY_OUT =
  'Install one (Debian, Ubuntu: apt-get install clang-19; Fedora: dnf install clang; macOS: brew install llvm), ' +
  'or set HARRIER_CLANG to the path of one.'

/** A search in which only the fake programs exist. */
function search(folder: string, { clang, env }: { clang?: string; env?: string } = {}) {
  return findToolchain({
    clang,
    environment: { PATH: join(folder, 'bin'), HARRIER_CLANG: env },
    memory: openMemory(join(folder, 'cache', 'memory.json')),
  })
}

describe('which clang is taken', () => {
  test('clang before clang-N, and of those the newest', () => {
    const folder = privateFolder()
    fakeClang(join(folder, 'bin/clang-16'), 'clang version 16.0.6')
    const newer = fakeClang(join(folder, 'bin/clang-19'), 'Debian clang version 19.1.7 (3~deb12u1)')
    expect(search(folder).compiler).toMatchObject({ path: newer.path, version: '19.1.7', major: 19 })
    const plain = fakeClang(join(folder, 'bin/clang'), 'clang version 17.0.1')
    expect(search(folder).compiler).toMatchObject({ path: plain.path, version: '17.0.1' })
  })

  test('the first folder of PATH that has it', () => {
    const folder = privateFolder()
    const first = fakeClang(join(folder, 'a/clang'), 'clang version 18.1.0')
    fakeClang(join(folder, 'b/clang'), 'clang version 19.1.0')
    const environment = { PATH: `${join(folder, 'none')}:${join(folder, 'a')}:${join(folder, 'b')}` }
    expect(findToolchain({ environment, memory: openMemory(join(folder, 'memory')) }).compiler?.path).toBe(first.path)
  })

  test('versions before 15 are skipped and remembered', () => {
    const folder = privateFolder()
    const old = fakeClang(join(folder, 'bin/clang'), 'Debian clang version 14.0.6')
    fakeClang(join(folder, 'bin/clang-15'), 'Ubuntu clang version 15.0.7')
    const found = search(folder)
    expect(found.compiler?.version).toBe('15.0.7')
    expect(found.skipped).toEqual([{ path: old.path, reason: 'version 14.0.6, older than 15' }])
  })

  test('the option wins over HARRIER_CLANG, and both over PATH', () => {
    const folder = privateFolder()
    fakeClang(join(folder, 'bin/clang'), 'clang version 19.1.0')
    const named = fakeClang(join(folder, 'named'), 'clang version 18.0.0')
    const optional = fakeClang(join(folder, 'optional'), 'clang version 17.0.0')
    expect(search(folder, { env: named.path }).compiler?.path).toBe(named.path)
    expect(search(folder, { env: named.path, clang: optional.path }).compiler?.path).toBe(optional.path)
    expect(search(folder, { env: 'clang' }).compiler?.path).toBe(join(folder, 'bin/clang'))
  })
})

describe('what is said when there is none', () => {
  test('nothing on PATH', () => {
    const found = search(privateFolder())
    expect(found.compiler).toBeUndefined()
    expect(found.problem).toBe(`no clang of version 15 or newer is on PATH. ${WAY_OUT}`)
  })

  test('only old ones, and programs of that name that are no clang', () => {
    const folder = privateFolder()
    const old = fakeClang(join(folder, 'bin/clang'), 'clang version 14.0.6')
    const other = fakeClang(join(folder, 'bin/clang-19'), 'hello')
    expect(search(folder).problem).toBe(
      `no clang of version 15 or newer is on PATH; found and skipped: ${old.path} (version 14.0.6, older than 15), ` +
        `${other.path} (\`--version\` names no clang version but 'hello'). ${WAY_OUT}`,
    )
  })

  test('one that the user names is refused, not replaced', () => {
    const folder = privateFolder()
    fakeClang(join(folder, 'bin/clang'), 'clang version 19.1.0')
    const old = fakeClang(join(folder, 'old'), 'clang version 14.0.6')
    expect(search(folder, { env: '/nowhere/clang' }).problem).toBe(
      `HARRIER_CLANG is '/nowhere/clang', which is no program. ${WAY_OUT}`,
    )
    expect(search(folder, { env: old.path }).problem).toBe(
      `HARRIER_CLANG is '${old.path}', which is not usable: version 14.0.6, older than 15. ${WAY_OUT}`,
    )
    const byOption = search(folder, { clang: folder })
    expect(byOption.compiler).toBeUndefined()
    expect(byOption.problem).toBe(`the option clang is '${folder}', which is no program. ${WAY_OUT}`)
  })
})

describe('the memory of versions', () => {
  test('a known compiler is not started again, not even by another process', () => {
    const folder = privateFolder()
    const clang = fakeClang(join(folder, 'bin/clang'), 'clang version 19.1.0')
    const identities = [1, 2, 3].map(() => search(folder).compiler?.identity)
    expect(clang.starts()).toBe(1)
    expect(new Set(identities).size).toBe(1)
  })

  test('a compiler that changed is asked again and has another identity, even with the same version', () => {
    const folder = privateFolder()
    fakeClang(join(folder, 'bin/clang'), 'clang version 19.1.0')
    const before = search(folder).compiler?.identity
    const changed = fakeClang(join(folder, 'bin/clang'), 'clang version 19.1.0', 'exit 2 # another build')
    const after = search(folder).compiler?.identity
    expect(changed.starts()).toBe(2)
    expect(after).not.toBe(before)
  })

  test('a memory that is damaged or cannot be written only costs time', () => {
    const folder = privateFolder()
    const clang = fakeClang(join(folder, 'bin/clang'), 'clang version 19.1.0')
    const environment = { PATH: join(folder, 'bin') }
    // The folder of the memory is a file.
    const memory = join(clang.path, 'memory.json')
    for (const _ of [1, 2]) {
      expect(findToolchain({ environment, memory: openMemory(memory) }).compiler?.version).toBe('19.1.0')
    }
    expect(clang.starts()).toBe(2)
  })
})

test('the real compiler is identified together with the LLVM library that it loads', (context) => {
  const { compiler } = findToolchain({
    environment: process.env,
    memory: openMemory(join(privateFolder(), 'memory.json')),
  })
  const files: { path: string }[] = JSON.parse(compiler!.identity).files
  expect(files[0]!.path).toBe(compiler!.realPath)
  // Debian's package; other distributors may link the library in.
  if (!compiler!.realPath.startsWith('/usr/lib/llvm-')) context.skip('this clang may have its LLVM library inside')
  expect(files.map(({ path }) => path).join()).toMatch(/libLLVM/)
})
