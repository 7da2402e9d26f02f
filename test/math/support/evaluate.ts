// Evaluates elementary functions on arrays through a backend: many functions in one kernel, each with operands of its own.
import type { Backend, PlaneArray } from '../../../src/backends/backend.ts'
import { createBuilder } from '../../../src/ir/build.ts'
import type { Graph, Plane } from '../../../src/ir/graph.ts'
import { compile } from '../../../src/ir/interpret.ts'
import type { LoweringTarget } from '../../../src/ir/lower/kit.ts'
import { lower } from '../../../src/ir/lower/lower.ts'
import { definition, type PlainOp } from '../../../src/ir/ops.ts'
import type { FloatType, Type } from '../../../src/ir/types.ts'

/** One function and what it is applied to; all of one evaluation have equal lengths. */
export interface Application {
  readonly op: PlainOp
  readonly operands: readonly PlaneArray[]
}

export type Evaluate = (applications: readonly Application[], type: FloatType) => readonly PlaneArray[]

const ARRAYS = { f64: Float64Array, f32: Float32Array, i32: Int32Array, bool: Uint8Array }
type Stored = keyof typeof ARRAYS

/** Type of an operand or result of the signature. */
const typeOf = (wanted: Type | 'T', type: FloatType): Stored => (wanted === 'T' ? type : (wanted as Stored))

interface Prepared {
  readonly graph: Graph
  /** Input planes by application. */
  readonly inputs: readonly (readonly number[])[]
  readonly outputs: readonly number[]
  readonly results: readonly Stored[]
}

function prepare(applications: readonly Application[], type: FloatType): Prepared {
  const b = createBuilder()
  const plane = (name: string, of: Stored) => {
    const made: Plane = { name, role: 'sample', type: of, components: 1 }
    return b.plane(made)
  }
  const inputs: number[][] = []
  const outputs: number[] = []
  const results: Stored[] = []
  applications.forEach(({ op }, k) => {
    const { operands, result } = definition(op)
    const planes = operands.map((wanted, i) => plane(`${op}${k}_${i}`, typeOf(wanted as Type | 'T', type)))
    const of = typeOf((result ?? 'T') as Type | 'T', type)
    const output = plane(`${op}${k}`, of)
    b.store(
      output,
      0,
      b.apply(
        op,
        planes.map((number) => b.load(number, 0)),
      ),
    )
    inputs.push(planes)
    outputs.push(output)
    results.push(of)
  })
  return { graph: b.finishGraph(), inputs, outputs, results }
}

const newArrays = ({ results }: Prepared, length: number): PlaneArray[] => results.map((of) => new ARRAYS[of](length))

/** Through a backend, at a width. */
export const throughBackend =
  (backend: Backend, width?: number): Evaluate =>
  (applications, type) => {
    const prepared = prepare(applications, type)
    const length = applications[0]!.operands[0]!.length
    const executable = backend.build(prepared.graph, { name: 'math', ...(width === undefined ? {} : { width }) })
    const launch = executable.launch()
    const arrays = newArrays(prepared, length)
    prepared.inputs.forEach((planes, k) =>
      planes.forEach((plane, i) => launch.bind(plane, applications[k]!.operands[i]!, length, length)),
    )
    prepared.outputs.forEach((plane, k) => launch.bind(plane, arrays[k]!, length, length))
    launch.run({ sampleCount: length, begin: 0, end: length, threads: 1 })
    launch.release()
    return arrays
  }

/** Targets between which lowerings differ. */
export const LOWERING_TARGETS: readonly LoweringTarget[] = [
  { fma: true, scaling: true },
  { fma: true, scaling: false },
  { fma: false, scaling: false },
]

/** Through the interpreter, lowered for a target. */
export const throughInterpreter =
  (target: LoweringTarget): Evaluate =>
  (applications, type) => {
    const prepared = prepare(applications, type)
    const length = applications[0]!.operands[0]!.length
    const arrays = newArrays(prepared, length)
    const bound = prepared.graph.planes.map(() => ({ array: arrays[0]!, pitch: length, length }))
    prepared.inputs.forEach((planes, k) =>
      planes.forEach((plane, i) => (bound[plane] = { array: applications[k]!.operands[i]!, pitch: length, length })),
    )
    prepared.outputs.forEach((plane, k) => (bound[plane] = { array: arrays[k]!, pitch: length, length }))
    compile(lower(prepared.graph, target))(bound, { sampleCount: length, begin: 0, end: length })
    return arrays
  }
