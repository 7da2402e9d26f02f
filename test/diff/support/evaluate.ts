// Runs a graph on plain numbers through the interpreter, planes by name: what the derivative tests compare with.
import { compile, type Bindings, type BoundPlane } from '../../../src/ir/interpret.ts'
import { accesses, type Graph } from '../../../src/ir/graph.ts'
import { lower } from '../../../src/ir/lower/lower.ts'
import type { PlaneArray, Type } from '../../../src/ir/types.ts'
import { verify } from '../../../src/ir/verify.ts'

/** Numbers of a plane: component after component, each as long as the plane; a single number for a uniform. */
export type Planes = Readonly<Record<string, readonly number[] | number>>

const ARRAYS: Record<Type, (length: number) => PlaneArray> = {
  f64: (length) => new Float64Array(length),
  f32: (length) => new Float32Array(length),
  i32: (length) => new Int32Array(length),
  bool: (length) => new Uint8Array(length),
  u32: () => {
    throw new Error('no plane holds u32')
  },
  i64: () => {
    throw new Error('no plane holds i64')
  },
}

/** A graph made ready: evaluates it on `samples` samples and gives what it wrote. Accumulators start from the input of their name, or from 0. */
export function evaluator(graph: Graph): (inputs: Planes, samples: number) => Record<string, number[]> {
  verify(graph)
  const lowered = lower(graph, { fma: true, scaling: true })
  const run = compile(lowered)
  const { written } = accesses(graph)
  return (inputs, samples) => {
    const bindings: Bindings = graph.planes.map((plane, number): BoundPlane | number => {
      const { name, role, type, components } = plane
      const given = inputs[name]
      if (role === 'uniform') {
        if (typeof given !== 'number') throw new Error(`no number for '${name}'`)
        return given
      }
      if (typeof given === 'number') throw new Error(`'${name}' takes numbers, not one number`)
      const isOutput = written.has(number) || role === 'accumulator' || role === 'reduction'
      if (!given && !isOutput) throw new Error(`no numbers for '${name}'`)
      const length = given
        ? given.length / components
        : role === 'reduction'
          ? 1
          : role === 'accumulator'
            ? (inputs[name.replace(/^((bar|dot)_)+/, '')] as readonly number[]).length / components
            : samples
      const array = ARRAYS[type](length * components)
      if (given) array.set(given)
      return { array, pitch: length, length }
    })
    run(bindings, { sampleCount: samples, begin: 0, end: samples })
    return Object.fromEntries(
      graph.planes.flatMap(({ name, role }, number) => {
        const bound = bindings[number]
        return (written.has(number) || role === 'accumulator') && typeof bound === 'object'
          ? [[name, [...bound.array]]]
          : []
      }),
    )
  }
}

/** Evaluates a graph once. */
export const evaluate = (graph: Graph, inputs: Planes, samples: number): Record<string, number[]> =>
  evaluator(graph)(inputs, samples)
