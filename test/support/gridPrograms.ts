// For each basic op that computes, and each type it takes: a graph of that op alone, and samples that put every combination of grid
// values through it (all of them for one and two operands, for three a fixed part).
// Invariant: types that no plane holds travel as bits in i32 planes, so that every op can be run by every backend; operands whose
// result is unspecified (the bits of a NaN) do not occur.
import { createBuilder, type Builder } from '../../src/ir/build.ts'
import type { Graph, Plane, Value } from '../../src/ir/graph.ts'
import { definition, type ComputedOp } from '../../src/ir/ops.ts'
import { canBitcast, TYPES, type Literal, type PlaneArray, type PlaneType, type Type } from '../../src/ir/types.ts'
import { COMPUTED_OPS, typesOf } from './randomGraph.ts'
import { GRID } from './values.ts'

export interface GridProgram {
  /** op, operand types and result type. */
  readonly name: string
  readonly op: ComputedOp
  readonly operandTypes: readonly Type[]
  readonly resultType: Type
  readonly graph: Graph
  /** Operands of each sample. */
  readonly samples: readonly (readonly Literal[])[]
  /** New arrays, by plane number, one component of one element a sample: operands filled in, results empty. */
  planes(): readonly PlaneArray[]
  /** The result of a sample, read from the arrays. */
  result(planes: readonly PlaneArray[], sample: number): Literal
}

/** How values of a type travel through planes. */
interface Carrier {
  readonly planes: readonly PlaneType[]
  toElements(x: Literal): readonly number[]
  fromElements(elements: readonly number[]): Literal
  load(b: Builder, planes: readonly number[]): Value
  store(b: Builder, planes: readonly number[], x: Value): void
}

const itself = (type: PlaneType): Carrier => ({
  planes: [type],
  toElements: (x) => [Number(x)],
  fromElements: ([x]) => (type === 'bool' ? x !== 0 : x!),
  load: (b, [plane]) => b.load(plane!, 0),
  store: (b, [plane], x) => b.store(plane!, 0, x),
})

const CARRIERS: Record<Type, Carrier> = {
  f64: itself('f64'),
  f32: itself('f32'),
  i32: itself('i32'),
  bool: itself('bool'),
  u32: {
    planes: ['i32'],
    toElements: (x) => [Number(x) | 0],
    fromElements: ([x]) => x! >>> 0,
    load: (b, [plane]) => b.bitcast(b.load(plane!, 0), 'u32'),
    store: (b, [plane], x) => b.store(plane!, 0, b.bitcast(x, 'i32')),
  },
  i64: {
    planes: ['i32', 'i32'],
    toElements: (x) => [Number(BigInt.asIntN(32, BigInt(x))), Number(BigInt.asIntN(32, BigInt(x) >> 32n))],
    fromElements: ([low, high]) => (BigInt(high!) << 32n) | BigInt(low! >>> 0),
    load: (b, [low, high]) =>
      b.or(
        b.shl(b.convert(b.load(high!, 0), 'i64'), b.const('i64', 32n)),
        b.and(b.convert(b.load(low!, 0), 'i64'), b.const('i64', 0xffff_ffffn)),
      ),
    store(b, [low, high], x) {
      b.store(low!, 0, b.convert(x, 'i32'))
      b.store(high!, 0, b.convert(b.shrSigned(x, b.const('i64', 32n)), 'i32'))
    },
  },
}

const ARRAYS: Record<PlaneType, new (length: number) => PlaneArray> = {
  f64: Float64Array,
  f32: Float32Array,
  i32: Int32Array,
  bool: Uint8Array,
}

/** Every combination; of three operands every 29th, a step that shares no factor with the lengths of the grids. */
function combinations(types: readonly Type[]): readonly (readonly Literal[])[] {
  const all = types.reduce<readonly (readonly Literal[])[]>(
    (rows, type) => rows.flatMap((row) => GRID[type].map((x) => [...row, x])),
    [[]],
  )
  return types.length < 3 ? all : all.filter((_, k) => k % 29 === 0)
}

function build(op: ComputedOp, b: Builder, operands: readonly Value[], resultType: Type): Value {
  if (op === 'convert') return b.convert(operands[0]!, resultType)
  return op === 'bitcast' ? b.bitcast(operands[0]!, resultType) : b.apply(op, operands)
}

function program(op: ComputedOp, operandTypes: readonly Type[], resultType: Type): GridProgram {
  const planes: Plane[] = []
  const numbers = [...operandTypes, resultType].map((type, k) =>
    CARRIERS[type].planes.map((planeType, part) => {
      const name = `${k === operandTypes.length ? 'result' : `operand${k}`}${part === 0 ? '' : 'High'}`
      return planes.push({ name, role: 'sample', type: planeType, components: 1 }) - 1
    }),
  )
  const b = createBuilder(planes)
  const operands = operandTypes.map((type, k) => CARRIERS[type].load(b, numbers[k]!))
  CARRIERS[resultType].store(b, numbers.at(-1)!, build(op, b, operands, resultType))
  const samples = combinations(operandTypes).filter((row) => op !== 'bitcast' || !Number.isNaN(row[0]))
  return {
    name: `${op}(${operandTypes.join(', ')}): ${resultType}`,
    op,
    operandTypes,
    resultType,
    graph: b.finishGraph(),
    samples,
    planes() {
      const arrays = planes.map(({ type }) => new ARRAYS[type as PlaneType](samples.length))
      samples.forEach((row, sample) => {
        row.forEach((x, k) => {
          CARRIERS[operandTypes[k]!].toElements(x).forEach((element, part) => {
            arrays[numbers[k]![part]!]![sample] = element
          })
        })
      })
      return arrays
    },
    result: (arrays, sample) =>
      CARRIERS[resultType].fromElements(numbers.at(-1)!.map((plane) => arrays[plane]![sample]!)),
  }
}

function programsOf(op: ComputedOp): readonly GridProgram[] {
  const { operands, result } = definition(op)
  return typesOf(op).flatMap((type) => {
    const operandTypes = operands.map((wanted) => (wanted === 'T' ? type : wanted))
    const resultTypes: readonly Type[] =
      op === 'convert'
        ? TYPES
        : op === 'bitcast'
          ? TYPES.filter((to) => canBitcast(type, to))
          : [result === 'T' || result === undefined ? type : result]
    return resultTypes.map((resultType) => program(op, operandTypes, resultType))
  })
}

/** One program for each op and types. */
export const GRID_PROGRAMS: readonly GridProgram[] = COMPUTED_OPS.flatMap(programsOf)

/** Evaluates the op of a program on literals through constant folding. */
export function folder({ op, operandTypes, resultType }: GridProgram): (operands: readonly Literal[]) => Literal {
  const b = createBuilder()
  return (operands) => {
    const constants = operands.map((x, k) => b.const(operandTypes[k]!, x))
    const value = build(op, b, constants, resultType)
    if (value.op !== 'const') throw new Error(`${op} of literals did not fold`)
    return value.literal
  }
}
