// Second derivatives: forward over reverse, reverse over forward and reverse over reverse give the same Hessian-vector products, and
// those of differences of gradients.
import { describe, expect, test } from 'vitest'
import { jvp } from '../../src/diff/jvp.ts'
import { vjp, type VjpOptions } from '../../src/diff/vjp.ts'
import type { Builder } from '../../src/ir/build.ts'
import type { Graph, Value } from '../../src/ir/graph.ts'
import { evaluate, type Planes } from './support/evaluate.ts'
import { graphOf, plane, scalarGraph } from './support/graphs.ts'

const number = (b: Builder, literal: number) => b.const('f64', literal)
const integer = (b: Builder, literal: number) => b.const('i32', literal)
const bend = (b: Builder, u: Value) => b.div(u, b.add(number(b, 1), b.mul(u, u)))

interface Case {
  readonly graph: Graph
  /** Inputs of the graph; those of `wrt` move. */
  readonly inputs: Planes
  readonly wrt: readonly string[]
  readonly samples: number
  readonly tape?: VjpOptions['tape']
}

const prefixed = (prefix: string, planes: Planes) =>
  Object.fromEntries(Object.entries(planes).map(([name, numbers]) => [prefix + name, numbers]))
const list = (numbers: readonly number[] | number): readonly number[] =>
  typeof numbers === 'number' ? [numbers] : numbers

function close(found: readonly number[], expected: readonly number[], relative: number, what: string): void {
  const scale = Math.max(...expected.map(Math.abs))
  found.forEach((value, k) => {
    expect(Math.abs(value - expected[k]!), `${what}[${k}]: ${value}, ${expected[k]}`).toBeLessThanOrEqual(
      relative * scale,
    )
  })
}

/** H·v with the outputs weighted by w, in every way. */
function expectSecondOrder({ graph, inputs, wrt, samples, tape }: Case, over: readonly string[]): void {
  const options: VjpOptions = { wrt, ...(tape && { tape }) }
  const directions = Object.fromEntries(
    wrt.map((name) => {
      const made = list(inputs[name]!).map((x, k) => (0.7 + 0.3 * k) * (k % 2 ? -1 : 1) * Math.max(1, Math.abs(x)))
      return [name, typeof inputs[name] === 'number' ? made[0]! : made]
    }),
  )
  const weights = { y: Array.from({ length: samples }, (_, k) => 1 + 0.5 * k) }
  const gradient = vjp(graph, options).graph
  const gradientAt = (at: Planes) => evaluate(gradient, { ...at, ...prefixed('bar_', weights) }, samples)

  const forwardOverReverse = evaluate(
    jvp(gradient, { wrt }).graph,
    { ...inputs, ...prefixed('bar_', weights), ...prefixed('dot_', directions) },
    samples,
  )
  const products = Object.fromEntries(wrt.map((name) => [name, forwardOverReverse[`dot_bar_${name}`]!]))

  const step = 1e-5
  const moved = (sign: number) => ({
    ...inputs,
    ...Object.fromEntries(
      wrt.map((name) => {
        const at = list(inputs[name]!).map((x, k) => x + sign * step * list(directions[name]!)[k]!)
        return [name, typeof inputs[name] === 'number' ? at[0]! : at]
      }),
    ),
  })
  const [above, below] = [gradientAt(moved(1)), gradientAt(moved(-1))]
  for (const name of wrt) {
    const differences = above[`bar_${name}`]!.map((value, k) => (value - below[`bar_${name}`]![k]!) / (2 * step))
    close(products[name]!, differences, 1e-6, `differences, ${name}`)
  }

  if (over.includes('reverse over forward')) {
    const { graph: made } = vjp(jvp(graph, { wrt }).graph, options)
    const found = evaluate(
      made,
      { ...inputs, ...prefixed('dot_', directions), ...prefixed('bar_dot_', weights) },
      samples,
    )
    for (const name of wrt) close(found[`bar_${name}`]!, products[name]!, 1e-12, `reverse over forward, ${name}`)
  }
  if (over.includes('reverse over reverse')) {
    const { graph: made } = vjp(gradient, options)
    const found = evaluate(
      made,
      { ...inputs, ...prefixed('bar_', weights), ...prefixed('bar_bar_', directions) },
      samples,
    )
    for (const name of wrt) close(found[`bar_${name}`]!, products[name]!, 1e-12, `reverse over reverse, ${name}`)
  }
}

const everyWay = ['reverse over forward', 'reverse over reverse']
const samples = 3
const scalars = { x: [0.3, 0.9, 1.7], z: [0.5, -1.2, 0.8] }

describe('loop-free kernels', () => {
  const cases: Record<string, (b: Builder, x: Value, z: Value) => Value> = {
    products: (b, x, z) => b.mul(b.mul(x, z), b.mul(x, x)),
    quotient: (b, x, z) => b.div(x, b.add(b.mul(z, z), number(b, 1))),
    roots: (b, x, z) => b.sqrt(b.add(x, b.exp(z))),
    transcendental: (b, x, z) => b.mul(b.log(x), b.tan(z)),
    hypot: (b, x, z) => b.hypot(x, z),
    atan2: (b, x, z) => b.atan2(x, z),
    cubes: (b, x, z) => b.mul(b.pow(x, number(b, 3)), b.pow(z, number(b, 2))),
  }
  test.each(Object.keys(cases))('%s', (name) => {
    const graph = scalarGraph(['x', 'z'], (b, x, z) => cases[name]!(b, x!, z!))
    expectSecondOrder({ graph, inputs: scalars, wrt: ['x', 'z'], samples }, everyWay)
  })

  test('where the first derivative is zero: the guard of a zero adjoint does not hide the second', () => {
    const graph = scalarGraph(['x'], (b, x) => {
      const s = b.sin(x!)
      return b.mul(s, s)
    })
    const { graph: hessian } = jvp(vjp(graph).graph, { wrt: ['x'] })
    expect(evaluate(hessian, { x: [0], bar_y: [1], dot_x: [1] }, 1)).toEqual({ dot_bar_x: [2] })
    expectSecondOrder({ graph, inputs: { x: [0, 1, -2] }, wrt: ['x'], samples }, everyWay)
  })

  test('uniforms and tables', () => {
    const graph = graphOf(
      [plane('x'), plane('i', 'sample', 'i32'), plane('a', 'uniform'), plane('t', 'table'), plane('y')],
      (b, p) => {
        const read = b.gather(p['t']!, 0, b.load(p['i']!, 0))
        b.store(p['y']!, 0, b.mul(b.mul(read, read), b.mul(b.uniform(p['a']!), b.sin(b.load(p['x']!, 0)))))
      },
    )
    const inputs = { x: [0.3, 0.9, 1.7], i: [1, 0, 1], a: 1.3, t: [0.7, 2] }
    expectSecondOrder({ graph, inputs, wrt: ['x', 'a', 't'], samples }, everyWay)
  })
})

describe('loops', () => {
  const powers = (count: number, exit = false): Graph =>
    scalarGraph(['x', 'z'], (b, x, z) => {
      const [c] = b.loop({
        count: integer(b, count),
        initial: [x!],
        body: (_, [carry]) => [b.add(bend(b, b.mul(carry!, z!)), b.mul(carry!, number(b, 0.5)))],
        ...(exit && { condition: (_, [carry]: readonly Value[]) => b.lt(carry!, number(b, 0.6)) }),
      })
      return b.mul(c!, c!)
    })
  test.each([1, 2, 7])('%i recorded iterations', (count) => {
    expectSecondOrder({ graph: powers(count), inputs: scalars, wrt: ['x', 'z'], samples }, everyWay)
  })
  test('early exit', () => {
    expectSecondOrder({ graph: powers(9, true), inputs: scalars, wrt: ['x', 'z'], samples }, everyWay)
  })
  test('checkpoints', () => {
    const made = { graph: powers(10), inputs: scalars, wrt: ['x', 'z'], samples, tape: 'checkpoints' as const }
    expectSecondOrder(made, ['reverse over forward'])
  })
  test('checkpoints are not reversed again: refused, with the way out', () => {
    const gradient = vjp(powers(10), { tape: 'checkpoints' }).graph
    expect(() => vjp(gradient, { kernel: 'slope' })).toThrow(
      "vjp of kernel 'slope': it is a reverse derivative of a loop, with checkpoints or taken twice, which cannot be reversed again; " +
        "take jvp of it, which gives the same derivatives, or where it has checkpoints build it with vjp(…, { tape: 'full' })",
    )
  })
  test('nested loops, branches and tables', () => {
    const graph = graphOf([plane('x'), plane('t', 'table'), plane('y')], (b, p) => {
      const [c] = b.loop({
        count: integer(b, 3),
        initial: [b.load(p['x']!, 0)],
        body(i, [outer]) {
          const [inner] = b.loop({
            count: integer(b, 2),
            initial: [outer!],
            body: (_, [u]) => [b.mul(u!, b.add(bend(b, u!), b.gather(p['t']!, 0, i)))],
          })
          return b.branch(
            b.lt(inner!, number(b, 0.5)),
            () => [b.mul(inner!, outer!)],
            () => [bend(b, inner!)],
          )
        },
      })
      b.store(p['y']!, 0, b.mul(c!, c!))
    })
    expectSecondOrder({ graph, inputs: { x: scalars.x, t: [0.5, 1.2, 0.9] }, wrt: ['x', 't'], samples }, everyWay)
  })
})
