// Runs until done: exact steps, exact cap, the same bits however the run is cut up, and what is refused.
import { describe, expect, test } from 'vitest'
import {
  Accum,
  Index,
  kernel,
  Mutable,
  Param,
  Reduce,
  run,
  runUntilDone,
  runUntilDoneAsync,
  Scalar,
  Terminated,
  type RunReport,
} from '../../src/index.ts'

/** A step of a decaying value that stops at a step of its own. */
const step = kernel(
  'step',
  { x: Mutable(Scalar), k: Mutable(Index), stop: Index, rate: Param, done: Terminated },
  ({ x, k, stop, rate, done }) => {
    x.set(x.sub(x.mul(rate)))
    k.set(k.add(1))
    done.when(k.ge(stop))
  },
)

function start(n: number, stopOf: (i: number) => number) {
  return {
    x: Float64Array.from({ length: n }, (_, i) => 1 + i / 7),
    k: new Int32Array(n),
    stop: Int32Array.from({ length: n }, (_, i) => stopOf(i)),
    rate: 0.01,
    done: new Uint8Array(n),
  }
}

const scattered = (i: number) => 1 + ((i * 7919) % 53)

/** The same in plain JS. */
function plain(planes: ReturnType<typeof start>, maxSteps: number) {
  const x = planes.x.slice()
  const k = planes.k.slice()
  for (let i = 0; i < x.length; i++) {
    for (let taken = 0; taken < maxSteps && planes.done[i] === 0 && (k[i]! < planes.stop[i]! || taken === 0); taken++) {
      x[i] = x[i]! - x[i]! * planes.rate
      k[i] = k[i]! + 1
    }
  }
  return { x, k }
}

describe('a finishing kernel', () => {
  test.each([0, 1, 7, 8, 9, 33, 257, 1000])('%d samples, each to its own stop', (n) => {
    const planes = start(n, scattered)
    const expected = plain(planes, 1000)
    const report = runUntilDone(step, planes, { maxSteps: 1000 })
    expect(planes.k).toEqual(expected.k)
    expect(planes.x).toEqual(expected.x)
    expect(planes.done).toEqual(new Uint8Array(n).fill(1))
    expect(report).toEqual({
      n,
      finished: n,
      steps: Math.max(0, ...planes.stop),
      launches: n === 0 ? 0 : 1,
      status: 'finished',
    })
  })

  test('the cap is exact: 4,088 of 4,096 finish', () => {
    const planes = start(4096, (i) => (i % 512 === 0 ? 256 : 128))
    const report = runUntilDone(step, planes, { maxSteps: 128 })
    expect(report).toEqual({ n: 4096, finished: 4088, steps: 128, launches: 1, status: 'max_steps' })
    expect(planes.k).toEqual(planes.stop.map((stop) => Math.min(stop, 128)))
  })

  test('single steps, a fused run, and an interrupted and continued run give the same bits', () => {
    const [single, fused, continued] = [start(500, scattered), start(500, scattered), start(500, scattered)]
    for (let k = 0; k < 60; k++) run(step, single)
    runUntilDone(step, fused, { maxSteps: 60 })
    const parts: RunReport[] = [3, 1, 11, 60].map((maxSteps) => runUntilDone(step, continued, { maxSteps }))
    expect(fused.x).toEqual(single.x)
    expect(fused.k).toEqual(single.k)
    expect(continued.x).toEqual(single.x)
    expect(continued.k).toEqual(single.k)
    expect(parts.map(({ status }) => status)).toEqual(['max_steps', 'max_steps', 'max_steps', 'finished'])
  })

  test('any thread count gives the same bits', () => {
    const results = [1, 2, 3].map((threads) => {
      const planes = start(3000, scattered)
      runUntilDone(step.with({ threads }), planes, { maxSteps: 60 })
      return planes.x
    })
    expect(results[1]).toEqual(results[0])
    expect(results[2]).toEqual(results[0])
  })

  test('a finished sample is not touched, and the mask is counted anew', () => {
    const planes = start(4, () => 2)
    planes.done[1] = 1
    planes.x[1] = Number.NaN
    expect(runUntilDone(step, planes, { maxSteps: 10 })).toMatchObject({ finished: 4, steps: 2 })
    expect(planes.k).toEqual(new Int32Array([2, 0, 2, 2]))
    expect(runUntilDone(step, planes, { maxSteps: 10 })).toMatchObject({ finished: 4, steps: 0, launches: 0 })
    planes.done.fill(0)
    expect(runUntilDone(step, planes, { maxSteps: 10 })).toMatchObject({ finished: 4, steps: 2 })
    expect(planes.k).toEqual(new Int32Array([3, 2, 3, 3]))
  })

  test('parameters may have any name', () => {
    const k = kernel('k', { step_cap: Mutable(Index), steps_taken: Param, done: Terminated }, (of) => {
      of.step_cap.set(of.step_cap.add(1))
      of.done.when(of.step_cap.ge(of.steps_taken))
    })
    const planes = { step_cap: new Int32Array(2), steps_taken: 3, done: new Uint8Array(2) }
    expect(runUntilDone(k, planes, { maxSteps: 9 })).toMatchObject({ finished: 2, steps: 3 })
  })

  test('progress is told between launches', () => {
    const planes = start(100, (i) => i + 1)
    const seen: number[] = []
    const report = runUntilDone(step, planes, {
      maxSteps: 1000,
      every: 30,
      onProgress: ({ finished }) => seen.push(finished),
    })
    expect(seen).toEqual([30, 60, 90, 100])
    expect(report).toEqual({ n: 100, finished: 100, steps: 100, launches: 4, status: 'finished' })
  })
})

describe('several kernels in one step', () => {
  const move = kernel('move', { x: Mutable(Scalar), v: Scalar }, ({ x, v }) => x.set(x.add(v)))
  const stop = kernel('stop', { x: Scalar, edge: Param, done: Terminated }, ({ x, edge, done }) =>
    done.when(x.ge(edge)),
  )

  test('run in order until the finishing one is done', () => {
    const planes = { x: new Float64Array(3), v: new Float64Array([1, 2, 4]), edge: 8, done: new Uint8Array(3) }
    const report = runUntilDone([move, stop], planes, { maxSteps: 100 })
    expect(report).toEqual({ n: 3, finished: 3, steps: 8, launches: 8, status: 'finished' })
    expect(planes.x).toEqual(new Float64Array([8, 16, 32]))
  })

  test('an accumulator is added to step by step', () => {
    const tally = kernel('tally', { k: Mutable(Index), acc: Accum(Scalar), done: Terminated }, ({ k, acc, done }) => {
      acc.add(k.add(1), 0)
      k.set(k.add(1))
      done.when(k.ge(3))
    })
    const acc = new Float64Array(1)
    runUntilDone(tally, { k: new Int32Array(5), acc, done: new Uint8Array(5) }, { maxSteps: 10 })
    expect(acc[0]).toBe(5 * (1 + 2 + 3))
  })
})

describe('asynchronous runs', () => {
  test('give what a run gives, and stop between launches', async () => {
    const planes = start(200, scattered)
    const expected = plain(planes, 1000)
    await runUntilDoneAsync(step, planes, { maxSteps: 1000 })
    expect(planes.x).toEqual(expected.x)
    const controller = new AbortController()
    const other = start(200, () => 100)
    const reason = new Error('enough')
    await expect(
      runUntilDoneAsync(step, other, {
        maxSteps: 1000,
        every: 10,
        signal: controller.signal,
        onProgress: () => controller.abort(reason),
      }),
    ).rejects.toBe(reason)
    expect(other.k).toEqual(new Int32Array(200).fill(10))
    runUntilDone(step, other, { maxSteps: 1000 })
    expect(other.k).toEqual(new Int32Array(200).fill(100))
  })
})

describe('refused runs', () => {
  const planes = start(2, scattered)

  test('options', () => {
    expect(() => runUntilDone(step, planes, undefined as never)).toThrow(
      'runUntilDone: the options are undefined, expected an object such as { maxSteps: 1000 }',
    )
    expect(() => runUntilDone(step, planes, { maxSteps: 0 })).toThrow(
      'runUntilDone: maxSteps is 0, expected a whole number from 1 to 2³¹ − 1',
    )
    expect(() => runUntilDone(step, planes, { maxSteps: 5, every: 0.5 })).toThrow(
      'runUntilDone: every is 0.5, expected a whole number of at least 1',
    )
  })

  test('kernels', () => {
    const endless = kernel('endless', { x: Mutable(Scalar) }, ({ x }) => x.set(x.add(1)))
    expect(() => runUntilDone(endless, planes, { maxSteps: 5 })).toThrow(
      "runUntilDone: kernel 'endless' never finishes a sample: declare a parameter of kind Terminated and call .when(…) on it",
    )
    expect(() => runUntilDone([step, step], planes, { maxSteps: 5 })).toThrow(
      "runUntilDone: kernels 'step' and 'step' both finish samples; one step has one mask",
    )
    const summing = kernel('summing', { x: Scalar, total: Reduce('sum'), done: Terminated }, ({ x, total, done }) => {
      total.contribute(x)
      done.when(x.gt(0))
    })
    expect(() => runUntilDone(summing, planes, { maxSteps: 5 })).toThrow(
      "runUntilDone: kernel 'summing' has reductions, which would be those of its last step only; reduce in a kernel of its own after the run",
    )
    expect(() => runUntilDone([endless, step], { ...planes, z: 1 }, { maxSteps: 5 })).toThrow(
      "runUntilDone: there is no parameter or output 'z' in any of the kernels",
    )
  })

  test('planes', () => {
    const { x, ...rest } = planes
    expect(() => runUntilDone(step, rest as never, { maxSteps: 5 })).toThrow(
      "kernel 'step': 'x' was not given; pass an array",
    )
    expect(x.length).toBe(2)
  })
})
