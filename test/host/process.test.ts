// What the end of a process and the collector must not break.
import { expect, test } from 'vitest'
import { privateFolder, runChild } from './support/processes.ts'

test(
  'processes that made parallel calls end with 0: by themselves, by process.exit, after a worker',
  { timeout: 240_000 },
  async () => {
    const env = { HARRIER_CACHE_DIR: privateFolder() }
    const ends = Array.from({ length: 20 }, (_, k) => ['normal', 'exit', 'pending', 'worker', 'both'][k % 5]!)
    const outcomes = []
    // Two at a time, as the machine may have no more processors.
    for (let k = 0; k < ends.length; k += 2) {
      const pair = ends.slice(k, k + 2).map((end) => runChild('parallelCalls', { env, args: [end] }))
      outcomes.push(...(await Promise.all(pair)))
    }
    const unexpected = outcomes.filter(({ code, out }) => code !== 0 || out !== 'called\n')
    expect(unexpected).toEqual([])
  },
)

test('bound arrays are held from binding until the native code is done, also when nothing else refers to them', async () => {
  const env = { HARRIER_CACHE_DIR: privateFolder() }
  const { code, out, err } = await runChild('collector', { env, nodeArgs: ['--expose-gc'] })
  expect({ code, err: err.replace(/^building .*\n/, '') }).toEqual({ code: 0, err: '' })
  expect(JSON.parse(out)).toEqual({ sync: 0, async: 0 })
})
