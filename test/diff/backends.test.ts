// Derivatives on every backend: the same bits as the interpreter, loops on tapes included.
import { describe, test } from 'vitest'
import { referenceBackend } from '../../src/backends/reference/index.ts'
import { jvp } from '../../src/diff/jvp.ts'
import { vjp } from '../../src/diff/vjp.ts'
import type { Builder } from '../../src/ir/build.ts'
import type { Graph, Value } from '../../src/ir/graph.ts'
import { specialise } from '../../src/ir/specialise.ts'
import { backendFor, TARGETS } from '../llvm/support/targets.ts'
import { compareBackends } from '../support/compareBackends.ts'
import { wasm } from '../wasm/support/backend.ts'
import { graphOf, plane, reduction, scalarGraph } from './support/graphs.ts'

const number = (b: Builder, literal: number) => b.const('f64', literal)
const integer = (b: Builder, literal: number) => b.const('i32', literal)
const bend = (b: Builder, u: Value) => b.div(u, b.add(number(b, 1), b.mul(u, u)))

const straight = scalarGraph(['x', 'z'], (b, x, z) =>
  b.select(b.gt(x!, b.zero('f64')), b.mul(b.sqrt(x!), b.max(x!, z!)), b.abs(z!)),
)
const recorded = (count: number, exit = false) =>
  scalarGraph(['x', 'z'], (b, x, z) => {
    const [c] = b.loop({
      count: integer(b, count),
      initial: [x!],
      body: (_, [carry]) => [b.add(bend(b, b.mul(carry!, z!)), b.mul(carry!, number(b, 0.5)))],
      ...(exit && { condition: (_: Value, [carry]: readonly Value[]) => b.lt(carry!, number(b, 0.6)) }),
    })
    return b.mul(c!, x!)
  })
/** Nested loops, a branch, a table read in a loop, a uniform, an accumulator and a reduction. */
const nested = graphOf(
  [
    plane('x'),
    plane('k', 'sample', 'i32'),
    plane('a', 'uniform'),
    plane('t', 'table'),
    plane('y'),
    plane('bins', 'accumulator'),
    reduction('total', 'sum'),
  ],
  (b, p) => {
    const k = b.and(b.load(p['k']!, 0), integer(b, 7))
    const [c] = b.loop({
      count: b.min(k, integer(b, 4)),
      initial: [b.load(p['x']!, 0)],
      body(i, [outer]) {
        const [inner] = b.loop({
          count: integer(b, 3),
          initial: [outer!],
          body: (_, [u]) => [b.mul(b.uniform(p['a']!), b.add(bend(b, u!), b.gather(p['t']!, 0, i)))],
          condition: (_, [u]) => b.lt(b.abs(u!), number(b, 2)),
        })
        return b.branch(
          b.lt(inner!, number(b, 0.5)),
          () => [b.mul(inner!, outer!)],
          () => [bend(b, inner!)],
        )
      },
    })
    b.store(p['y']!, 0, c!)
    b.scatterAdd(p['bins']!, 0, k, b.mul(c!, c!))
    b.contribute(p['total']!, 0, bend(b, c!))
  },
)

const GRAPHS: Record<string, Graph> = {
  'straight, reverse': vjp(straight).graph,
  'recorded loop, early exit': vjp(recorded(12, true)).graph,
  'checkpoints, early exit': vjp(recorded(17, true), { tape: 'checkpoints' }).graph,
  'nested, reverse': vjp(nested).graph,
  'nested, forward': jvp(nested).graph,
  'nested, checkpoints': vjp(nested, { tape: 'checkpoints' }).graph,
  'forward over reverse': jvp(vjp(recorded(5)).graph).graph,
  'reverse over reverse': vjp(vjp(recorded(5, true)).graph).graph,
}
const sizes = [1, 7, 8, 9, 37]

// Other processors than this one are the business of the tests of the emitter.
describe.each([
  { name: 'host', backend: backendFor(TARGETS[0]!) },
  { name: 'wasm', backend: wasm },
])('$name', ({ backend }) => {
  test.each(Object.entries(GRAPHS))('%s', (name, graph) => {
    for (const float of name.startsWith('nested') ? (['f64', 'f32'] as const) : (['f64'] as const)) {
      const typed = specialise(graph, float)
      compareBackends({
        graph: typed,
        expected: referenceBackend.build(typed, { name }),
        actual: backend.build(typed, { name }),
        sizes,
        offsets: [1],
      })
    }
  })
})
