// Runs a traced kernel on the reference backend over plain arrays, so that tests of the tracer compare numbers rather than graphs.
import { referenceBackend } from '../../../src/backends/reference/index.ts'
import type { PlaneArray } from '../../../src/backends/backend.ts'
import type { Kind } from '../../../src/trace/kinds.ts'
import { trace, type TraceOptions } from '../../../src/trace/trace.ts'
import type { TracedKernel } from '../../../src/trace/traced.ts'
import type { BodyArgument, Parameters } from '../../../src/trace/types.ts'
import { HarrierError } from '../../../src/errors.ts'

const ARRAYS = { f64: Float64Array, i32: Int32Array, bool: Uint8Array } as const

const arrayFor = ({ head }: { head: Kind['head'] }, length: number): PlaneArray =>
  new ARRAYS[head.type](length * head.components)

/**
 * Runs `n` samples.
 * @param inputs a number for a Param, else all components one after another; what is missing starts as zeros of n samples
 * @returns every plane that the kernel writes, by name
 */
export function evaluate(
  kernel: TracedKernel,
  inputs: Readonly<Record<string, number | readonly number[]>>,
  n: number,
): Record<string, number[]> {
  const executable = referenceBackend.build(kernel.graph, { name: kernel.name })
  const launch = executable.launch()
  const written: Record<string, PlaneArray> = {}
  for (const { name, kind, plane, isWritten } of kernel.parameters) {
    const given = inputs[name]
    if (kind.role === 'uniform') launch.set(plane, given as number)
    else {
      const isReduction = kind.role === 'reduce'
      const values = given as readonly number[] | undefined
      const length = isReduction ? 1 : values ? values.length / kind.head.components : n
      const array = arrayFor(kind, length)
      if (values) array.set(values)
      launch.bind(plane, array, length, length)
      if (isWritten) written[name] = array
    }
  }
  for (const { name, head, plane, isParameter } of kernel.outputs) {
    if (isParameter) continue
    const array = arrayFor({ head }, n)
    launch.bind(plane, array, n, n)
    written[name] = array
  }
  launch.run({ sampleCount: n, begin: 0, end: n, threads: 1 })
  return Object.fromEntries(Object.entries(written).map(([name, array]) => [name, Array.from(array)]))
}

/** Traces a body under the name `k`. */
export const traceBody = <const P extends Parameters>(
  params: P,
  body: (parameters: BodyArgument<P>) => unknown,
  options?: TraceOptions,
): TracedKernel => trace('k', params, body, options)

/** The only output of a body, for each of n samples. */
export function compute<const P extends Parameters>(
  params: P,
  body: (parameters: BodyArgument<P>) => unknown,
  inputs: Readonly<Record<string, number | readonly number[]>>,
  n = 1,
): number[] {
  const kernel = traceBody(params, body)
  return evaluate(kernel, inputs, n)[kernel.outputNames[0]!]!
}

/** The code and message of what a function throws. */
export function refusalOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof HarrierError) return `${error.code}: ${error.message}`
    throw error
  }
  throw new Error('nothing was refused')
}

/** The refusal of a body that the types would refuse too. */
export const refusalOfBody = (params: Parameters, body: (parameters: never) => unknown, options?: unknown): string =>
  refusalOf(() => trace('k', params, body, options))
