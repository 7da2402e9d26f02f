// The reference points of test/fixtures/math, at hard places of each function: every form of the lowerings stays below 1 ULP, and one
// form gives the same bits at every width and in the interpreter.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isPlain, OP_NAMES, type PlainOp } from '../../src/ir/ops.ts'
import { loweringTarget } from '../../src/backends/llvm/generate.ts'
import { sameBits } from '../support/values.ts'
import { wasm } from '../wasm/support/backend.ts'
import { backendFor, TARGETS } from '../llvm/support/targets.ts'
import {
  LOWERING_TARGETS,
  throughBackend,
  throughInterpreter,
  type Application,
  type Evaluate,
} from './support/evaluate.ts'

const folder = join(import.meta.dirname, '..', 'fixtures', 'math')

interface References extends Application {
  readonly high: Float64Array
  readonly low: Float64Array
}

const isOp = (name: string): name is PlainOp =>
  (OP_NAMES as readonly string[]).includes(name) && isPlain(name as PlainOp)

function readReferences(name: string, arity: number, rows: number): References {
  if (!isOp(name)) throw new Error(`${name} is no function`)
  const bytes = readFileSync(join(folder, `${name}.f64`))
  const table = new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
  const column = (k: number) => Float64Array.from({ length: rows }, (_, i) => table[i * (arity + 2) + k]!)
  return {
    op: name,
    operands: Array.from({ length: arity }, (_, k) => column(k)),
    high: column(arity),
    low: column(arity + 1),
  }
}

const index = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) as Record<
  string,
  { arity: number; rows: number }
>
const references = Object.entries(index).map(([name, { arity, rows }]) => readReferences(name, arity, rows))

/** Unit in the last place of a double. */
function ulp(x: number): number {
  const exponent = Math.floor(Math.log2(Math.abs(x)))
  const power = 2 ** exponent > Math.abs(x) ? exponent - 1 : exponent
  return x === 0 || power < -1022 ? 2 ** -1074 : Math.max(2 ** (power - 52), 2 ** -1074)
}

function errorOf(got: number, high: number, low: number): number {
  if (Number.isNaN(high) || !Number.isFinite(high)) return sameBits(got, high) ? 0 : Infinity
  return Math.abs(got - high - low) / ulp(high)
}

function worstErrors(evaluate: Evaluate): readonly string[] {
  return evaluate(references, 'f64').flatMap((got, k) => {
    const { op, operands, high, low } = references[k]!
    let worst = 0
    let at = 0
    got.forEach((value, i) => {
      const error = errorOf(value, high[i]!, low[i]!)
      if (!(error <= worst)) {
        worst = error
        at = i
      }
    })
    const where = `${op}(${operands.map((x) => x[at]).join(', ')}) = ${got[at]}, expected ${high[at]}`
    return worst < 1 ? [] : [`${where}: ${worst} ULP`]
  })
}

function differences(expected: Evaluate, actual: Evaluate): readonly string[] {
  const want = expected(references, 'f64')
  return actual(references, 'f64').flatMap((got, k) => {
    const at = got.findIndex((value, i) => !sameBits(value, want[k]![i]!))
    const { op, operands } = references[k]!
    return at < 0 ? [] : [`${op}(${operands.map((x) => x[at]).join(', ')}): ${got[at]}, expected ${want[k]![at]}`]
  })
}

test('there are 27 reference files of 1,200 points', () => {
  expect(references.length).toBe(27)
  expect(references.every(({ high }) => high.length === 1200)).toBe(true)
})

test('a wrong result is seen', () => {
  const broken: Evaluate = (applications) =>
    applications.map((_, k) => references[k]!.high.map((x, i) => (i === 77 ? x + 2 * ulp(x) : x)))
  expect(worstErrors(broken).length).toBe(27)
})

test.each(LOWERING_TARGETS)('the interpreter is below 1 ULP, fma: $fma, scaling: $scaling', (target) => {
  expect(worstErrors(throughInterpreter(target))).toEqual([])
})

test.each(TARGETS)('$name: the bits of the interpreter at every width', (target) => {
  const backend = backendFor(target)
  const interpreter = throughInterpreter(loweringTarget(target.target))
  const native = target.target.vectorBytes / 8
  for (const width of [1, 2, 4, 8].filter((lanes) => lanes <= native)) {
    expect(differences(interpreter, throughBackend(backend, width))).toEqual([])
  }
})

test('WebAssembly: the bits of the interpreter without FMA, with 1, 2 and 4 vectors side by side', () => {
  const interpreter = throughInterpreter({ fma: false, scaling: false })
  for (const width of [2, 4, 8]) expect(differences(interpreter, throughBackend(wasm, width))).toEqual([])
})
