// Arms that run in Python (Numba, NumPy, PyTorch): a script times itself in a process of its own, over inputs read from a file, and
// answers with its times and results. A library that is not installed is named as absent, never skipped in silence.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Arm } from './harness.ts'

const PYTHON = '/usr/bin/python3'

const has = (module: string): boolean => spawnSync(PYTHON, ['-c', `import ${module}`]).status === 0

/** Which of these Python modules are missing, as lines for `absent`. */
export const absentModules = (...modules: readonly string[]): readonly string[] =>
  modules.filter((module) => !has(module)).map((module) => `${module} (Debian: python3-${module})`)

const PRELUDE = `
import json, sys, time
import numpy as np
folder = sys.argv[1]
inputs = {name: np.fromfile(folder + '/' + name, dtype=dtype) for name, dtype in json.load(open(folder + '/inputs.json')).items()}
def finish(run, answer):
    begin = time.perf_counter(); run(); first = time.perf_counter() - begin
    repeats = 1
    while True:
        begin = time.perf_counter()
        for _ in range(repeats): run()
        spent = time.perf_counter() - begin
        if spent > 0.02 or repeats > 1 << 20: break
        repeats *= 2
    times = []
    for _ in range(7):
        begin = time.perf_counter()
        for _ in range(repeats): run()
        times.append((time.perf_counter() - begin) / repeats)
    times.sort()
    np.asarray(answer(), dtype=np.float64).tofile(folder + '/answer')
    json.dump({'median': times[3], 'low': times[0], 'high': times[-1], 'firstCall': first}, open(folder + '/times.json', 'w'))
`

/**
 * Runs a script that defines `run()` and `answer()` over `inputs`.
 * @returns the arm, with the numbers it answered; undefined when a module it needs is missing
 */
export function pythonArm(
  name: string,
  modules: readonly string[],
  inputs: Readonly<Record<string, Float64Array | Float32Array | Int32Array>>,
  script: string,
  environment: Readonly<Record<string, string>> = {},
): (Arm & { readonly answer: () => Float64Array }) | undefined {
  if (!modules.every(has)) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'harrier-bench-'))
  const dtypes = Object.entries(inputs).map(([input, array]) => {
    writeFileSync(join(folder, input), new Uint8Array(array.buffer, array.byteOffset, array.byteLength))
    return [input, array instanceof Float64Array ? 'f8' : array instanceof Float32Array ? 'f4' : 'i4']
  })
  writeFileSync(join(folder, 'inputs.json'), JSON.stringify(Object.fromEntries(dtypes)))
  writeFileSync(join(folder, 'arm.py'), `${PRELUDE}\n${script}\nfinish(run, answer)\n`)
  const { status, stderr } = spawnSync(PYTHON, [join(folder, 'arm.py'), folder], {
    encoding: 'utf8',
    env: { ...process.env, ...environment },
  })
  if (status !== 0) throw new Error(`the arm ${name} failed:\n${stderr}`)
  const times = JSON.parse(readFileSync(join(folder, 'times.json'), 'utf8')) as {
    median: number
    low: number
    high: number
    firstCall: number
  }
  const bytes = readFileSync(join(folder, 'answer'))
  const answer = new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength))
  return { name, run: () => {}, answer: () => answer, measured: times, firstCall: times.firstCall }
}
