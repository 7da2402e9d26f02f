// Every function of numbers that all samples share: of a parameter, and of the counter of a loop, beside the same function of each sample.
import { expect, test } from 'vitest'
import { createBuilder } from '../../src/ir/build.ts'
import type { Graph, Plane, Value } from '../../src/ir/graph.ts'
import { definition, isDerived, isPlain, OP_NAMES, type PlainOp } from '../../src/ir/ops.ts'
import type { FloatType } from '../../src/ir/types.ts'
import { backendFor, TARGETS } from '../llvm/support/targets.ts'
import { sameBits } from '../support/values.ts'
import { wasm } from '../wasm/support/backend.ts'

const functions = OP_NAMES.filter(isPlain).filter(
  (op) =>
    isDerived(op) &&
    definition(op).T === 'float' &&
    definition(op).result === 'T' &&
    definition(op).operands.every((operand) => operand === 'T'),
)
const ARGUMENTS = [0.5, 3, -7.25, 1e5, 1e22, -0, 5e-324, Infinity, NaN]
const SAMPLES = 7
const ARRAYS = { f64: Float64Array, f32: Float32Array }

/** Functions of one kernel: each build takes its time, and very large ones are compiled in another way. */
const GROUP = 6
const groups = Array.from({ length: Math.ceil(functions.length / GROUP) }, (_, k) =>
  functions.slice(k * GROUP, (k + 1) * GROUP),
)
const FORMS = ['shared', 'own', 'looped'] as const

/** Stores of each function: that of a number p that is shared, of the sample x that holds the same, and a sum over a loop of i·p. */
function program(ops: readonly PlainOp[], type: FloatType): Graph {
  const plane = (name: string): Plane => ({ name, role: name === 'p' ? 'uniform' : 'sample', type, components: 1 })
  const b = createBuilder([plane('p'), plane('x')])
  for (const op of ops) {
    const call = (value: Value) =>
      b.apply(
        op,
        definition(op).operands.map(() => value),
      )
    const [sum] = b.loop({
      count: b.const('i32', 3),
      initial: [b.zero(type)],
      body: (i, [total]) => [b.add(total!, call(b.mul(b.convert(i, type), b.uniform(0))))],
    })
    const values = { shared: call(b.uniform(0)), own: call(b.load(1, 0)), looped: sum! }
    for (const form of FORMS) b.store(b.plane(plane(`${op}_${form}`)), 0, values[form])
  }
  return b.finishGraph()
}

const backends = [
  ...TARGETS.map((target) => [target.name, backendFor(target)] as const),
  ['WebAssembly', wasm] as const,
] as const
const cases = backends.flatMap(([name, backend]) =>
  (['f64', 'f32'] as const).map((type) => [name, type, backend] as const),
)

test.each(cases)('%s, %s', (_, type, backend) => {
  const wrong: string[] = []
  for (const ops of groups) {
    const launch = backend.build(program(ops, type), { name: ops.join('_') }).launch()
    for (const p of ARGUMENTS) {
      const arrays = Array.from({ length: 1 + FORMS.length * ops.length }, () => new ARRAYS[type](SAMPLES).fill(p))
      launch.set(0, p)
      arrays.forEach((array, k) => launch.bind(k + 1, array, SAMPLES, SAMPLES))
      launch.run({ sampleCount: SAMPLES, begin: 0, end: SAMPLES, threads: 1 })
      ops.forEach((op, k) => {
        const [shared, own, looped] = arrays.slice(1 + FORMS.length * k)
        const isWrong = own!.some((value, i) => !sameBits(value, shared![i]!) || !sameBits(looped![i]!, looped![0]!))
        if (isWrong) wrong.push(`${op}(${p}): ${shared![0]}, ${own![0]}`)
      })
    }
  }
  expect(wrong).toEqual([])
})
