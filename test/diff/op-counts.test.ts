// What derivatives cost in ops on kernels small enough to count by hand: no forward code that the adjoints do not need, no product with
// a plain 0 or 1, and one use of each shared value.
import { expect, test } from 'vitest'
import { jvp } from '../../src/diff/jvp.ts'
import { vjp } from '../../src/diff/vjp.ts'
import { walk, type Graph } from '../../src/ir/graph.ts'
import { graphOf, plane, scalarGraph } from './support/graphs.ts'

/** How often each op stands in a graph. */
function counts(graph: Graph): Record<string, number> {
  const found: Record<string, number> = {}
  for (const { op } of walk(graph.body)) found[op] = (found[op] ?? 0) + 1
  return found
}

/** y = a·x + b. */
const line = graphOf([plane('x'), plane('a', 'uniform'), plane('b', 'uniform'), plane('y')], (b, p) =>
  b.store(p['y']!, 0, b.add(b.mul(b.uniform(p['a']!), b.load(p['x']!, 0)), b.uniform(p['b']!))),
)
/** y = exp(−x)·√(x + 1). */
const decay = scalarGraph(['x'], (b, x) => b.mul(b.exp(b.neg(x!)), b.sqrt(b.add(x!, b.const('f64', 1)))))
/** y = x¹⁶ by four squarings in a loop. */
const squarings = scalarGraph(
  ['x'],
  (b, x) => b.loop({ count: b.const('i32', 4), initial: [x!], body: (_, [c]) => [b.mul(c!, c!)] })[0]!,
)

test('a line by its intercept: the seed alone', () => {
  expect(counts(vjp(line, { wrt: ['b'] }).graph)).toEqual({ load: 1, contribute: 1 })
})

test('a line by all its inputs: one product each by x and by a', () => {
  expect(counts(vjp(line).graph)).toEqual({ load: 2, uniform: 1, guardedMul: 2, store: 1, contribute: 2 })
  expect(counts(jvp(line).graph)).toEqual({ load: 2, uniform: 3, guardedMul: 2, add: 2, store: 1 })
})

test('decay: exponential and root once, referred to by their own partials', () => {
  expect(counts(vjp(decay).graph)).toEqual({
    load: 2,
    // Forward: −x, its exponential, x + 1 and its root; the product of the two is not needed.
    neg: 2,
    exp: 1,
    add: 2,
    sqrt: 1,
    // Backward: two factors, ½/√, the two partials; the minus of −x is the second neg, the sum at x the second add.
    div: 1,
    guardedMul: 4,
    store: 1,
  })
})

test('squarings: forward the carries, backward one product', () => {
  expect(counts(vjp(squarings).graph)).toEqual({
    load: 2,
    loop: 2,
    // Forward.
    record: 1,
    mul: 1,
    // Backward: 3 − j, the carry, c·bar twice as one value, and their sum.
    sub: 1,
    recall: 1,
    guardedMul: 1,
    add: 1,
    store: 1,
  })
})
