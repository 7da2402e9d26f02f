// Every computed op, for every type that it takes, on all pairs of the value grid (for three operands: on rotations of the pairs),
// against its row of semantics.ts: what each backend that compiles is held to.
// Invariant: a failure names the op, its operands and both results.
import type { Executable, PlaneArray } from '../../src/backends/backend.ts'
import { createBuilder, type Builder } from '../../src/ir/build.ts'
import type { Graph, Plane, Value } from '../../src/ir/graph.ts'
import { definition, OP_NAMES, type ComputedOp, type PlainOp } from '../../src/ir/ops.ts'
import { isComputed, semantics } from '../../src/ir/semantics.ts'
import { canBitcast, isFloat, isInClass, TYPES, type Literal, type Type } from '../../src/ir/types.ts'
import { GRID, sameBits, showNumber } from './values.ts'

/** Types that a plane cannot hold go through i32: whole as u32, in halves as i64. */
const halves = (type: Type): readonly Type[] => (type === 'i64' ? ['i32', 'i32'] : type === 'u32' ? ['i32'] : [type])

const toHalves = (type: Type, x: Literal): readonly number[] => {
  if (type === 'i64') return [Number(BigInt.asIntN(32, (x as bigint) >> 32n)), Number(BigInt.asIntN(32, x as bigint))]
  return [type === 'u32' ? Number(x) | 0 : Number(x)]
}

const fromHalves = (type: Type, [high, low]: readonly number[]): Literal => {
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
  const shifted = (x: Value) => b.convert(b.shrUnsigned(x, b.const('i64', 32n)), 'i32')
  if (value.type === 'u32') b.store(planes[0]!, 0, b.bitcast(value, 'i32'))
  else if (value.type !== 'i64') b.store(planes[0]!, 0, value)
  else {
    b.store(planes[0]!, 0, shifted(value))
    b.store(planes[1]!, 0, b.convert(value, 'i32'))
  }
}

interface Case {
  readonly op: ComputedOp
  readonly operands: readonly Type[]
  readonly shared: Type
  readonly result: Type
}

const isPlain = (op: ComputedOp): op is Extract<ComputedOp, PlainOp> => op !== 'convert' && op !== 'bitcast'

/** Every op at a type that its first `T` may be. */
function casesOf(type: Type): readonly Case[] {
  return OP_NAMES.filter(isComputed).flatMap((op): readonly Case[] => {
    const { operands, result, T } = definition(op)
    if (T === undefined || !isInClass(type, T)) return []
    if (!isPlain(op)) {
      const targets = TYPES.filter((to) => to !== type && (op === 'convert' || canBitcast(type, to)))
      return targets.map((to) => ({ op, operands: [type], shared: type, result: to }))
    }
    const concrete = operands.map((wanted) => (wanted === 'T' ? type : wanted))
    return [{ op, operands: concrete, shared: type, result: result === 'T' || result === undefined ? type : result }]
  })
}

const ARRAYS: Partial<Record<Type, new (length: number) => PlaneArray>> = {
  f64: Float64Array,
  f32: Float32Array,
  i32: Int32Array,
  bool: Uint8Array,
}

/** Operand columns: all pairs of two grids, with a third column that goes round its own. */
function columns(types: readonly Type[]): readonly (readonly Literal[])[] {
  const [first, second = [false], third = [false]] = types.map((type) => GRID[type])
  const rows = first!.flatMap((a) => second.map((b) => [a, b]))
  const all = rows.map(([a, b], k) => [a!, b!, third[(k * 7 + Math.floor(k / 3)) % third.length]!])
  return types.map((_, k) => all.map((row) => row[k]!))
}

/**
 * Runs every op on operands of a type and gives the calls with wrong results, in words.
 * @param wanted ops to leave out, such as one that no graph for the backend holds
 */
export function wrongResults(
  build: (graph: Graph) => Executable,
  type: Type,
  wanted: (op: ComputedOp) => boolean = () => true,
): readonly string[] {
  const all = casesOf(type).filter(({ op }) => wanted(op))
  const signatures = [...new Set(all.map(({ operands }) => operands.join()))]
  return signatures.flatMap((signature) =>
    wrongIn(
      build,
      all.filter(({ operands }) => operands.join() === signature),
      signature.split(',') as Type[],
    ),
  )
}

function wrongIn(build: (graph: Graph) => Executable, cases: readonly Case[], operands: readonly Type[]): string[] {
  const planes: Plane[] = []
  const plane = (type: Type) => planes.push({ name: `p${planes.length}`, role: 'sample', type, components: 1 }) - 1
  const inputs = operands.map((type) => halves(type).map(plane))
  const outputs = cases.map(({ result }) => halves(result).map(plane))
  const b = createBuilder(planes)
  const values = inputs.map((numbers, k) => read(b, operands[k]!, numbers))
  cases.forEach(({ op, result }, k) => {
    const value = isPlain(op)
      ? b.apply(op, values)
      : op === 'convert'
        ? b.convert(values[0]!, result)
        : b.bitcast(values[0]!, result)
    write(b, value, outputs[k]!)
  })
  const executable = build(b.finishGraph())
  const literals = columns(operands)
  const size = literals[0]!.length
  const arrays = planes.map(({ type }) => new ARRAYS[type]!(size))
  literals.forEach((column, k) =>
    column.forEach((x, i) => toHalves(operands[k]!, x).forEach((half, h) => (arrays[inputs[k]![h]!]![i] = half))),
  )
  const launch = executable.launch()
  arrays.forEach((array, number) => launch.bind(number, array, size, size))
  launch.run({ sampleCount: size, begin: 0, end: size, threads: 1 })
  launch.release()
  return cases.flatMap(({ op, shared, result }, k) =>
    Array.from({ length: size }, (_, i) => {
      const [x, y = x, z = x] = literals.map((column) => column[i]!) as [Literal, Literal?, Literal?]
      const expected = semantics[op](shared, result)(x, y, z)
      const halvesGot = outputs[k]!.map((number) => arrays[number]![i]!)
      const got = fromHalves(result, halvesGot)
      if (sameBits(expected, got)) return ''
      // The bits of a NaN are unspecified.
      if (op === 'bitcast' && isFloat(shared) && Number.isNaN(x)) return ''
      const call = `${op}(${literals.map((column) => showNumber(column[i]!)).join(', ')}) as ${result}`
      return `${call}: expected ${showNumber(expected)}, got ${showNumber(got)}`
    }).filter((text) => text !== ''),
  )
}
