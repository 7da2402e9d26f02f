// Random programs with loops, branches, dispatches and table reads: forward mode against central differences, reverse mode against
// forward mode, under every schedule of recording.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { jvp } from '../../src/diff/jvp.ts'
import { vjp } from '../../src/diff/vjp.ts'
import type { Builder } from '../../src/ir/build.ts'
import type { Graph, Value } from '../../src/ir/graph.ts'
import { print } from '../../src/ir/print.ts'
import { expectDerivatives } from './support/check.ts'
import { evaluate } from './support/evaluate.ts'
import { graphOf, plane, reduction } from './support/graphs.ts'

/** A choice among what is in scope, modulo how much there is. */
type Pick = number

type Step =
  | { readonly kind: 'op'; readonly op: Pick; readonly picks: readonly Pick[] }
  | { readonly kind: 'read'; readonly picks: readonly Pick[] }
  | {
      readonly kind: 'loop'
      readonly count: Pick
      /** A count of the sample under a cap, an exit by data, both, or neither. */
      readonly stops: readonly boolean[]
      readonly carries: readonly Pick[]
      readonly body: readonly Step[]
    }
  | {
      readonly kind: 'branch' | 'dispatch'
      readonly on: Pick
      readonly sides: readonly (readonly Step[])[]
    }

const pick = fc.nat({ max: 99 })
const picks = fc.array(pick, { minLength: 3, maxLength: 3 })
const straight: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('op' as const), op: pick, picks }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('read' as const), picks }) },
)
const steps = (depth: number): fc.Arbitrary<readonly Step[]> => {
  if (depth === 0) return fc.array(straight, { minLength: 1, maxLength: 4 })
  const inner = steps(depth - 1)
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 3, arbitrary: straight },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('loop' as const),
        count: pick,
        stops: fc.array(fc.boolean(), { minLength: 2, maxLength: 2 }),
        carries: fc.array(pick, { minLength: 1, maxLength: 3 }),
        body: inner,
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constantFrom('branch' as const, 'dispatch' as const),
        on: pick,
        sides: fc.array(inner, { minLength: 2, maxLength: 3 }),
      }),
    },
  )
  return fc.array(step, { minLength: 2, maxLength: 5 })
}

const at = <T>(from: readonly T[], choice: Pick): T => from[choice % from.length]!
const number = (b: Builder, literal: number) => b.const('f64', literal)
/** Keeps values small, so that differences stay meaningful: u/(1 + u²). */
const bend = (b: Builder, u: Value) => b.div(u, b.add(number(b, 1), b.mul(u, u)))

const OPS: readonly ((b: Builder, x: Value, y: Value, z: Value) => Value)[] = [
  (b, x, y) => b.add(x, bend(b, y)),
  (b, x, y) => b.sub(bend(b, x), y),
  (b, x, y) => b.mul(x, bend(b, y)),
  (b, x, y) => b.div(x, b.add(number(b, 1), b.mul(y, y))),
  (b, x, y, z) => bend(b, b.fma(x, y, z)),
  (b, x, y) => b.max(x, y),
  (b, x, y) => b.min(y, x),
  (b, x) => b.abs(x),
  (b, x) => b.sqrt(b.add(number(b, 1), b.mul(x, x))),
  (b, x, y, z) => b.select(b.lt(x, y), bend(b, z), x),
  (b, x) => b.select(b.gt(x, b.zero('f64')), b.sqrt(x), x),
]

function buildProgram(program: readonly Step[]): Graph {
  return graphOf(
    [
      plane('x'),
      plane('z'),
      plane('k', 'sample', 'i32'),
      plane('a', 'uniform'),
      plane('t', 'table'),
      plane('y'),
      reduction('total', 'sum'),
    ],
    (b, p) => {
      const k = b.load(p['k']!, 0)
      const add = (scope: Value[], list: readonly Step[]) => list.forEach((step) => addStep(scope, step))
      function addStep(scope: Value[], step: Step): void {
        switch (step.kind) {
          case 'op': {
            const [x, y, z] = step.picks.map((choice) => at(scope, choice))
            scope.push(at(OPS, step.op)(b, x!, y!, z!))
            return
          }
          case 'read': {
            const index = b.add(k, b.const('i32', step.picks[0]! % 4))
            // Outside the table it reads NaN, which the program selects away.
            const found = b.gather(p['t']!, 0, index)
            scope.push(b.select(b.eq(found, found), b.mul(found, at(scope, step.picks[2]!)), at(scope, step.picks[1]!)))
            return
          }
          case 'loop': {
            const [byCount, byExit] = step.stops
            const cap = b.const('i32', step.count % 5)
            const made = b.loop({
              count: byCount ? b.min(k, cap) : cap,
              initial: step.carries.map((choice) => at(scope, choice)),
              body(_, carries) {
                const inner = [...scope, ...carries]
                add(inner, step.body)
                return carries.map((carry, place) =>
                  bend(b, b.add(carry, at(inner.toReversed(), step.carries[place]! % 4))),
                )
              },
              ...(byExit && {
                condition: (_: Value, [carry]: readonly Value[]) => b.lt(carry!, number(b, 0.37)),
              }),
            })
            scope.push(...made)
            return
          }
          case 'branch':
          case 'dispatch': {
            const sides = step.sides.map((side) => () => {
              const inner = [...scope]
              add(inner, side)
              return [inner.at(-1)!, inner.at(-2)!]
            })
            const condition = b.lt(at(scope, step.on), number(b, 0.21))
            scope.push(...(step.kind === 'branch' ? b.branch(condition, sides[0]!, sides[1]!) : b.dispatch(k, sides)))
          }
        }
      }
      const scope = [b.load(p['x']!, 0), b.load(p['z']!, 0), b.uniform(p['a']!)]
      add(scope, program)
      b.store(p['y']!, 0, scope.at(-1)!)
      b.contribute(p['total']!, 0, bend(b, scope.at(-2)!))
    },
  )
}

const inputs = {
  x: [0.31, -0.72, 1.13, 0.05, -1.4],
  z: [0.9, 0.44, -0.63, 1.7, 0.11],
  k: [0, 1, 2, 3, -1],
  a: 0.57,
  t: [0.4, -1.1, 0.8],
}

const programs = steps(2).map((program) => {
  const graph = buildProgram(program)
  return { graph, [fc.toStringMethod]: () => `\n${print(graph)}` }
})
const numRuns = process.env['HARRIER_TEST_LONG'] ? 2000 : 50

test('both modes, every schedule', () => {
  fc.assert(
    fc.property(programs, ({ graph }) => {
      expectDerivatives(graph, inputs, 5, { absolute: 1e-6 })
      expectDerivatives(graph, inputs, 5, { differences: false, tape: 'checkpoints' })
    }),
    { numRuns, seed: 20_240_611 },
  )
})

test('second order: forward over reverse and reverse over forward agree', () => {
  const v = { x: [1, -2, 0.5, 1.5, -1], z: [0.3, 1, -1, 2, 0.7] }
  const w = { y: [1, 0.5, -1, 2, 0.25], total: 0.7 }
  fc.assert(
    fc.property(programs, ({ graph }) => {
      const wrt = ['x', 'z']
      const first = evaluate(
        jvp(vjp(graph, { wrt }).graph, { wrt }).graph,
        { ...inputs, bar_y: w.y, bar_total: w.total, dot_x: v.x, dot_z: v.z },
        5,
      )
      const second = evaluate(
        vjp(jvp(graph, { wrt }).graph, { wrt }).graph,
        { ...inputs, dot_x: v.x, dot_z: v.z, bar_dot_y: w.y, bar_dot_total: w.total },
        5,
      )
      for (const name of wrt) {
        const [left, right] = [first[`dot_bar_${name}`]!, second[`bar_${name}`]!]
        const scale = Math.max(1, ...left.map(Math.abs))
        left.forEach((value, k) => expect(Math.abs(value - right[k]!)).toBeLessThanOrEqual(1e-12 * scale))
      }
    }),
    { numRuns: numRuns / 2, seed: 20_240_612 },
  )
})
