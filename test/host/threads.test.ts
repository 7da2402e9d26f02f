import { availableParallelism } from 'node:os'
import { describe, expect, test } from 'vitest'
import { createThreadRule } from '../../src/backends/host/threadRule.ts'
import { defaultThreadCount } from '../../src/runtime/threads.ts'
import { runChild, privateFolder } from './support/processes.ts'

describe('the default number of threads', () => {
  test('HARRIER_THREADS, else OMP_NUM_THREADS, else the processors', () => {
    expect(defaultThreadCount({ HARRIER_THREADS: '3', OMP_NUM_THREADS: '5' })).toBe(3)
    expect(defaultThreadCount({ OMP_NUM_THREADS: '5' })).toBe(5)
    expect(defaultThreadCount({ OMP_NUM_THREADS: '4,2' })).toBe(4)
    expect(defaultThreadCount({ HARRIER_THREADS: '', OMP_NUM_THREADS: 'many' })).toBe(availableParallelism())
    expect(defaultThreadCount({})).toBe(availableParallelism())
  })

  test.each(['0', '-1', '2.5', 'all', '1e3'])('HARRIER_THREADS = %s is refused', (text) => {
    expect(() => defaultThreadCount({ HARRIER_THREADS: text })).toThrow(
      expect.objectContaining({
        code: 'E_OPTION',
        message: `HARRIER_THREADS is '${text}'; it takes a whole number of at least 1`,
      }),
    )
  })
})

describe('whether a call takes threads', () => {
  /** Feeds the rule runs of a kernel until it wants no more timings, and gives what it decides. */
  function decide(samples: number, nanosecondsPerSample: number, rule = createThreadRule()) {
    let timed = 0
    while (rule.wantsTiming(samples)) {
      expect(rule.choose(samples, 4)).toBe(1)
      rule.record(samples, (samples * nanosecondsPerSample) / 1e6)
      timed++
    }
    return { threads: rule.choose(samples, 4), timed }
  }

  test('only above 200 µs of sequential time', () => {
    expect(decide(1, 200)).toEqual({ threads: 1, timed: 3 })
    expect(decide(100_000, 1)).toEqual({ threads: 1, timed: 3 })
    expect(decide(100_000, 2.5)).toEqual({ threads: 4, timed: 3 })
  })

  test('a long run is timed once', () => {
    expect(decide(1_000_000, 10)).toEqual({ threads: 4, timed: 1 })
  })

  test('never where there is one', () => {
    const rule = createThreadRule()
    rule.record(1_000_000, 100)
    expect(rule.choose(1_000_000, 1)).toBe(1)
  })

  test('a slow first run, with cold caches, does not decide', () => {
    const rule = createThreadRule()
    rule.record(100_000, 3)
    rule.record(100_000, 0.1)
    expect(decide(100_000, 1, rule)).toEqual({ threads: 1, timed: 1 })
  })

  test('what small calls cost says nothing about large ones, which are timed themselves', () => {
    const rule = createThreadRule()
    // 300 ns of overhead for one sample would be 0.3 s for a million.
    decide(1, 300, rule)
    expect(rule.wantsTiming(1_000_000)).toBe(true)
    expect(decide(1_000_000, 0.1, rule)).toEqual({ threads: 1, timed: 3 })
    expect(rule.wantsTiming(1)).toBe(false)
    expect(rule.choose(4_000_000, 4)).toBe(4)
  })
})

test('the OpenMP runtime is told to wait passively before it is loaded, in workers too, unless the user chose', async () => {
  const cache = { HARRIER_CACHE_DIR: privateFolder() }
  const seen = async (env: NodeJS.ProcessEnv, where: string) =>
    JSON.parse((await runChild('waitPolicy', { env: { ...cache, ...env }, args: [where] })).out)
  expect(await seen({}, 'main')).toEqual({ before: null, after: 'passive' })
  expect(await seen({}, 'worker')).toEqual({ before: null, after: 'passive' })
  expect(await seen({ OMP_WAIT_POLICY: 'active' }, 'main')).toEqual({ before: 'active', after: 'active' })
})
