// Shortcuts whose sides can be told apart, which no lowering makes: a lane outside the condition never gets the quick value, and where the
// condition holds in all lanes the general side is not run.
import { expect, test } from 'vitest'
import { createBuilder } from '../../src/ir/build.ts'
import type { Graph } from '../../src/ir/graph.ts'
import { wasm } from '../wasm/support/backend.ts'
import { backendFor, TARGETS } from './support/targets.ts'

const [QUICK, GENERAL] = [1, 2]
/** More samples than any group holds. */
const FAR = 64

function distinguishable(): Graph {
  const b = createBuilder(
    ['x', 'y'].map((name) => ({ name, role: 'sample' as const, type: 'f64' as const, components: 1 })),
  )
  const x = b.load(0, 0)
  const [value] = b.shortcut(
    b.lt(x, b.const('f64', 0)),
    () => [b.mul(b.mul(x, x), b.const('f64', QUICK))],
    () => [b.mul(b.mul(x, x), b.const('f64', GENERAL))],
  )
  b.store(1, 0, value!)
  return b.finishGraph()
}

const backends = [
  ...TARGETS.map((target) => [target.name, backendFor(target)] as const),
  ['WebAssembly', wasm] as const,
] as const

test.each(backends)('%s', (_, backend) => {
  const executable = backend.build(distinguishable(), { name: 'shortcut' })
  const run = (x: Float64Array): Float64Array => {
    const y = new Float64Array(x.length)
    const launch = executable.launch()
    launch.bind(0, x, x.length, x.length)
    launch.bind(1, y, y.length, y.length)
    launch.run({ sampleCount: x.length, begin: 0, end: x.length, threads: 1 })
    launch.release()
    return y
  }
  const inside = new Float64Array(4 * FAR).fill(-1)
  expect(new Set(run(inside))).toEqual(new Set([QUICK]))
  for (const outside of [0, 1, 2, 3, 5, 9, 17, 100, 4 * FAR - 1]) {
    const x = inside.slice()
    x[outside] = 1
    const y = run(x)
    expect(y[outside]).toBe(GENERAL)
    expect([...y].filter((value, i) => Math.abs(i - outside) >= FAR && value !== QUICK)).toEqual([])
  }
})
