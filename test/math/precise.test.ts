// Random points of every function against MPFR: 2,000 of each of the five sets of support/points.ts in the normal run, 400,000 with
// HARRIER_TEST_LONG=1, two million a function.
import { describe, expect, test } from 'vitest'
import type { FloatType } from '../../src/ir/types.ts'
import { backendFor, TARGETS } from '../llvm/support/targets.ts'
import { precise } from '../support/precise.ts'
import { random } from '../support/values.ts'
import { throughBackend } from './support/evaluate.ts'
import { measuredFunctions, pointsOf } from './support/points.ts'

const COUNT = process.env['HARRIER_TEST_LONG'] === '1' ? 400_000 : 2_000
const evaluator = precise()
if ('missing' in evaluator) console.warn(`random points are not compared: ${evaluator.missing}`)

describe.skipIf('missing' in evaluator)('below 1 ULP of MPFR', () => {
  const { measure } = evaluator as Extract<typeof evaluator, { measure: unknown }>

  test('a wrong result is seen', () => {
    expect(measure('exp', 'f64', [1], undefined, [Math.E]).worst).toBeLessThan(1)
    expect(measure('exp', 'f64', [1], undefined, [Math.E * (1 + 2 ** -51)]).worst).toBeGreaterThan(1)
    expect(measure('sin', 'f32', [-0], undefined, [0]).worst).toBeGreaterThan(1)
  })

  test.each(
    TARGETS.flatMap((target) => (['f64', 'f32'] as const).map((type) => ({ target, type, name: target.name }))),
  )(
    '$name, $type',
    { timeout: 3_600_000 },
    ({ target, type }: { target: (typeof TARGETS)[number]; type: FloatType }) => {
      const next = random(target.name.length)
      const narrow = (x: Float64Array) => (type === 'f32' ? Float32Array.from(x) : x)
      const applications = measuredFunctions.map((op) => ({ op, operands: pointsOf(op, next, COUNT).map(narrow) }))
      const got = throughBackend(backendFor(target))(applications, type)
      const wrong = applications.flatMap(({ op, operands: [x, y] }, k) => {
        const { worst, at } = measure(op, type, x!, y, got[k]!)
        return worst < 1 ? [] : [`${op}(${x![at]}${y ? `, ${y[at]}` : ''}) = ${got[k]![at]}: ${worst} ULP`]
      })
      expect(wrong).toEqual([])
    },
  )
})
