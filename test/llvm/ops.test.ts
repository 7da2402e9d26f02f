// Every computed op, for every type that it takes, on all pairs of the value grid (three operands: a third goes round its own grid),
// against its row of semantics.ts, at the native width and one sample at a time. All ops of a target are one kernel, so that it is
// compiled once.
import { describe, expect, test } from 'vitest'
import type { PlaneArray } from '../../src/backends/backend.ts'
import { createBuilder, type Builder } from '../../src/ir/build.ts'
import type { Plane, Value } from '../../src/ir/graph.ts'
import { definition, OP_NAMES, type ComputedOp, type PlainOp } from '../../src/ir/ops.ts'
import { isComputed, semantics } from '../../src/ir/semantics.ts'
import { canBitcast, isFloat, isInClass, TYPES, type Literal, type Type } from '../../src/ir/types.ts'
import { GRID, sameBits, showNumber } from '../support/values.ts'
import { backendFor, callsIn, TARGETS, type TestTarget } from './support/targets.ts'

/** Types of the planes that hold a value: u32 as i32, i64 as an upper and a lower i32. */
const planeTypes = (type: Type): readonly Type[] =>
  type === 'i64' ? ['i32', 'i32'] : type === 'u32' ? ['i32'] : [type]

function toElements(type: Type, x: Literal): readonly number[] {
  if (type === 'i64') return [Number(BigInt.asIntN(32, (x as bigint) >> 32n)), Number(BigInt.asIntN(32, x as bigint))]
  return [type === 'u32' ? Number(x) | 0 : Number(x)]
}

function fromElements(type: Type, [high, low]: readonly number[]): Literal {
  if (type === 'i64') return BigInt.asIntN(64, (BigInt(high!) << 32n) | BigInt.asUintN(32, BigInt(low!)))
  return type === 'u32' ? high! >>> 0 : type === 'bool' ? high !== 0 : high!
}

function read(b: Builder, type: Type, planes: readonly number[]): Value {
  const [high, low] = planes.map((plane) => b.load(plane, 0))
  if (type === 'u32') return b.bitcast(high!, 'u32')
  if (type !== 'i64') return high!
  const upper = b.shl(b.convert(high!, 'i64'), b.const('i64', 32n))
  return b.or(upper, b.convert(b.bitcast(low!, 'u32'), 'i64'))
}

function write(b: Builder, value: Value, planes: readonly number[]): void {
  if (value.type === 'u32') b.store(planes[0]!, 0, b.bitcast(value, 'i32'))
  else if (value.type !== 'i64') b.store(planes[0]!, 0, value)
  else {
    b.store(planes[0]!, 0, b.convert(b.shrUnsigned(value, b.const('i64', 32n)), 'i32'))
    b.store(planes[1]!, 0, b.convert(value, 'i32'))
  }
}

interface Case {
  readonly op: ComputedOp
  readonly operands: readonly Type[]
  /** What T of the signature stands for. */
  readonly shared: Type
  readonly result: Type
}

const isPlain = (op: ComputedOp): op is Extract<ComputedOp, PlainOp> => op !== 'convert' && op !== 'bitcast'

function casesOf(op: ComputedOp, type: Type): readonly Case[] {
  const { operands, result, T } = definition(op)
  if (T === undefined || !isInClass(type, T)) return []
  const to = (other: Type): Case => ({ op, operands: [type], shared: type, result: other })
  if (op === 'convert') return TYPES.filter((other) => other !== type).map(to)
  if (op === 'bitcast') return TYPES.filter((other) => other !== type && canBitcast(type, other)).map(to)
  const concrete = operands.map((wanted) => (wanted === 'T' ? type : wanted))
  return [{ op, operands: concrete, shared: type, result: result === 'T' || result === undefined ? type : result }]
}

const ARRAYS: Partial<Record<Type, new (length: number) => PlaneArray>> = {
  f64: Float64Array,
  f32: Float32Array,
  i32: Int32Array,
  bool: Uint8Array,
}

const SIZE = Math.max(...TYPES.map((type) => GRID[type].length)) ** 2

/** Operand columns of SIZE rows: all pairs, again and again, and a third that goes round. */
function columns(types: readonly Type[]): readonly (readonly Literal[])[] {
  const [first, second, third] = types.map((type) => GRID[type])
  const inner = second?.length ?? 1
  const pick = [
    (row: number) => first![Math.floor(row / inner) % first!.length]!,
    (row: number) => second![row % inner]!,
    (row: number) => third![(row * 7 + Math.floor(row / 3)) % third!.length]!,
  ]
  return types.map((_, k) => Array.from({ length: SIZE }, (_row, row) => pick[k]!(row)))
}

function check(target: TestTarget, width: number | undefined): readonly string[] {
  const cases = TYPES.flatMap((type) => OP_NAMES.filter(isComputed).flatMap((op) => casesOf(op, type))).filter(
    ({ op }) => op !== 'fma' || target.target.fma,
  )
  const planes: Plane[] = []
  const plane = (type: Type) => planes.push({ name: `p${planes.length}`, role: 'sample', type, components: 1 }) - 1
  const signatures = [...new Set(cases.map(({ operands }) => operands.join()))].map((text) => {
    const types = text.split(',') as Type[]
    return { text, literals: columns(types), types, inputs: types.map((type) => planeTypes(type).map(plane)) }
  })
  const signatureOf = ({ operands }: Case) => signatures.find(({ text }) => text === operands.join())!
  const outputs = cases.map(({ result }) => planeTypes(result).map(plane))

  const b = createBuilder(planes)
  cases.forEach((one, k) => {
    const { inputs, types } = signatureOf(one)
    const values = inputs.map((numbers, place) => read(b, types[place]!, numbers))
    const [first] = values
    if (isPlain(one.op)) write(b, b.apply(one.op, values), outputs[k]!)
    else write(b, one.op === 'convert' ? b.convert(first!, one.result) : b.bitcast(first!, one.result), outputs[k]!)
  })
  const executable = backendFor(target).build(b.finishGraph(), { name: 'ops', ...(width !== undefined && { width }) })

  const arrays = planes.map(({ type }) => new ARRAYS[type]!(SIZE))
  for (const { literals, types, inputs } of signatures) {
    literals.forEach((column, k) =>
      column.forEach((x, row) =>
        toElements(types[k]!, x).forEach((half, h) => {
          arrays[inputs[k]![h]!]![row] = half
        }),
      ),
    )
  }
  const launch = executable.launch()
  arrays.forEach((array, number) => launch.bind(number, array, SIZE, SIZE))
  launch.run({ sampleCount: SIZE, begin: 0, end: SIZE, threads: 1 })
  launch.release()

  const wrong = (callsIn(executable.path) ?? []).map((call) => `a call: ${call}`)
  cases.forEach((one, k) => {
    const { op, shared, result } = one
    const evaluate = semantics[op](shared, result)
    const { literals } = signatureOf(one)
    for (let row = 0; row < SIZE && wrong.length < 20; row++) {
      const [x, y, z] = literals.map((column) => column[row]!) as [Literal, Literal?, Literal?]
      const expected = evaluate(x, y ?? x, z ?? x)
      const got = fromElements(
        result,
        outputs[k]!.map((number) => arrays[number]![row]!),
      )
      // The bits of a NaN are unspecified.
      if (sameBits(expected, got) || (op === 'bitcast' && isFloat(shared) && Number.isNaN(x))) continue
      const call = `${op}(${literals.map((column) => showNumber(column[row]!)).join(', ')}) from ${shared} to ${result}`
      wrong.push(`${call}: expected ${showNumber(expected)}, got ${showNumber(got)}`)
    }
  })
  return wrong
}

describe.each(TARGETS)('$name', (target) => {
  test('every op gives the bits of the semantics and calls nothing', () => {
    expect(check(target, undefined)).toEqual([])
  })
  test('one sample at a time', () => {
    expect(check(target, 1)).toEqual([])
  })
})
