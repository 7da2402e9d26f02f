// The example plug-ins: built by the commands of their page, loaded together, and computing what the page says.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { type Binding, ContextBuilder, getInclude } from '../../../src/operations/index.ts'
import { CLANG, CXX } from '../support/compiler.ts'
import { recordingDevice } from '../support/recording-device.ts'
import { refusal } from '../support/specs.ts'

const sources = join(import.meta.dirname, '../../../examples/plugin')
const folder = mkdtempSync(join(tmpdir(), 'harrier-examples-'))
afterAll(() => rmSync(folder, { recursive: true }))

const has = (command: string) => spawnSync(command, ['--version']).status === 0
const STRICT = '-Wall -Wextra -Werror -pedantic'

function run(command: string, args: readonly string[], cwd = folder): void {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, CC: CLANG!, CXX: CXX! },
  })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}`)
}

function exported(library: string): string[] {
  const { stdout } = spawnSync('nm', ['-D', '--defined-only', library], { encoding: 'utf8' })
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.split(' ').at(-1)!)
    .sort()
}

const TWO = ['hr_plugin_abi_version', 'hr_plugin_entry_v1']

const cmake = has('cmake')
if (!cmake) console.log('skipped: the example plug-ins are not built with CMake, as there is no cmake on this machine')

describe.skipIf(!cmake)('with CMake', () => {
  test('both build without a warning, export two functions, and load into one context', { timeout: 240_000 }, () => {
    const build = join(folder, 'cmake')
    run('cmake', [
      '-S',
      sources,
      '-B',
      build,
      `-DHARRIER_INCLUDE_DIR=${getInclude()}`,
      `-DCMAKE_C_FLAGS=${STRICT}`,
      `-DCMAKE_CXX_FLAGS=${STRICT}`,
    ])
    run('cmake', ['--build', build])
    for (const name of ['gain.so', 'moments.so']) expect(exported(join(build, name))).toEqual(TWO)
    use(join(build, 'gain.so'), join(build, 'moments.so'))
  })
})

test('with the one-line commands of the page', { timeout: 120_000 }, () => {
  const commands = readFileSync(join(sources, 'README.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('clang'))
  expect(commands).toHaveLength(2)
  for (const file of ['gain.c', 'moments.cpp', 'exports.map']) copyFileSync(join(sources, file), join(folder, file))
  for (const command of commands) {
    const line = command
      .replace(/^clang\+\+/, CXX!)
      .replace(/^clang(?= )/, CLANG!)
      .replace('$(npx harrier --include)', getInclude())
    run('sh', ['-c', line])
  }
  for (const name of ['gain.so', 'moments.so']) expect(exported(join(folder, name))).toEqual(TWO)
  use(join(folder, 'gain.so'), join(folder, 'moments.so'))
})

/** The statements of the page, and what it says of their results. */
function use(gain: string, moments: string): void {
  const context = new ContextBuilder().loadPlugin(gain).loadPlugin(moments).build()
  expect(context.operations()).toEqual(['audio.gain', 'stats.moments'])

  const x = new Float32Array([1, 2, 3, 4])
  const factor = { data: new Float32Array([0.5]), shape: [] }
  const y = context.execute('audio.gain', { input0: x, input1: factor, output0: new Float32Array(4) })
  expect(y).toEqual(new Float32Array([0.5, 1, 1.5, 2]))

  const mean = { data: new Float32Array(1), shape: [] }
  const variance = { data: new Float32Array(1), shape: [] }
  context.execute('stats.moments', { input0: y, output0: mean, output1: variance })
  expect([mean.data[0], variance.data[0]]).toEqual([1.25, 0.3125])

  const double = { data: new Float64Array([3]), shape: [] }
  expect(
    context.execute('audio.gain', { input0: new Float64Array([0.1]), input1: double, output0: new Float64Array(1) }),
  ).toEqual(new Float64Array([0.1 * 3]))

  expect(
    refusal(() => context.execute('audio.gain', { input0: x, input1: factor, output0: new Float32Array(3) })).message,
  ).toBe('audio.gain: the validator returned the status 1 (invalid argument): x and y differ in length')
  expect(
    refusal(() => context.execute('stats.moments', { input0: new Float32Array(0), output0: mean, output1: variance }))
      .message,
  ).toBe(
    "stats.moments: kernel 'moments<float>' returned the status 11 (exception): a vector without elements has no mean",
  )
  expect(context.describe('stats.moments').implementations.map(({ label, origin }) => [label, origin])).toEqual([
    ['moments<float>', { kind: 'plugin', file: moments, name: 'moments', version: '1.0.0' }],
    ['moments<double>', { kind: 'plugin', file: moments, name: 'moments', version: '1.0.0' }],
  ])
  context.close()
}

const nvcc = has('nvcc')
if (!nvcc) console.log('skipped: the CUDA example is not built, as there is no nvcc on this machine')

describe.skipIf(!nvcc)('the CUDA plug-in', () => {
  const library = join(folder, 'gain_cuda.so')
  const array = (ptr: bigint, shape: number[]): Binding => ({
    location: 'cuda',
    device: 0,
    ptr,
    dtype: 'float32',
    shape,
  })
  const bindings = (count: number) => ({
    input0: array(0x7000n, [count]),
    input1: array(0x8000n, []),
    output0: array(0x9000n, [count]),
  })

  test(
    'builds with the command of the page, and loads beside the plug-in whose operation it implements',
    { timeout: 240_000 },
    () => {
      const command = readFileSync(join(sources, 'README.md'), 'utf8')
        .split('\n')
        .find((line) => line.startsWith('nvcc'))!
      copyFileSync(join(sources, 'gain_cuda.cu'), join(folder, 'gain_cuda.cu'))
      run('sh', ['-c', command.replace('$(npx harrier --include)', getInclude())])
      expect(exported(library)).toEqual(TWO)

      const device = { ...recordingDevice(0), unavailable: 'there is no driver' }
      const context = new ContextBuilder({ device }).loadPlugin(library).loadPlugin(join(folder, 'gain.so')).build()
      expect(context.describe('audio.gain').implementations).toMatchObject([
        { label: 'gain_f32 on CUDA', backend: 'cuda', available: false, reason: 'there is no driver' },
        { label: 'gain_f32', available: true },
        { label: 'gain_f64', available: true },
      ])
      context.close()
    },
  )

  test('reports the launch error of a machine without a GPU, after which the host waits; an empty launch is skipped', () => {
    // The device of this test only records, so the CUDA runtime inside the plug-in must not find a real one either.
    process.env.CUDA_VISIBLE_DEVICES = ''
    const device = recordingDevice(1)
    const context = new ContextBuilder({ device }).loadPlugin(join(folder, 'gain.so')).loadPlugin(library).build()
    const empty = bindings(0)
    expect(context.execute('audio.gain', empty)).toBe(empty.output0)
    const { code, message } = refusal(() => context.execute('audio.gain', bindings(1000)))
    expect(code).toBe('E_KERNEL')
    expect(message).toMatch(/^audio\.gain: kernel 'gain_f32 on CUDA' returned the status 20 \(cuda\): \S/)
    expect(device.log).toEqual(['device 0', 'create stream on 0', 'wait 0x1000', 'device 0', 'wait 0x1000'])
  })
})
