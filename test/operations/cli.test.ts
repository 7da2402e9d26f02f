// What the command prints for those who compile plug-ins.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { expect, test } from 'vitest'
import { getInclude } from '../../src/operations/index.ts'

const root = join(import.meta.dirname, '../..')
const { version, bin, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

function harrier(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', 'tsx', join(root, 'src/cli/harrier.ts'), ...args],
    {
      cwd: root,
      encoding: 'utf8',
    },
  )
  return { status, stdout, stderr }
}

test('getInclude() is the absolute path of a folder that has the header', () => {
  expect(isAbsolute(getInclude())).toBe(true)
  expect(existsSync(join(getInclude(), 'harrier/plugin.h'))).toBe(true)
})

test('harrier --include prints that folder and nothing else', () => {
  expect(harrier('--include')).toEqual({ status: 0, stdout: `${getInclude()}\n`, stderr: '' })
})

test('harrier --version, --help, no option and an unknown one', () => {
  expect(harrier('--version')).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' })
  const help = harrier('--help')
  expect(help.stdout).toContain('harrier --include')
  expect(harrier()).toEqual(help)
  const unknown = harrier('--includes')
  expect(unknown).toMatchObject({ status: 2, stdout: '' })
  expect(unknown.stderr).toMatch(/^harrier: Unknown option '--includes'/)
})

test('the package names the command and this entry', () => {
  expect(bin).toEqual({ harrier: './dist/cli/harrier.js' })
  expect(exports['./operations']).toEqual({
    types: './dist/operations/index.d.ts',
    default: './dist/operations/index.js',
  })
})
