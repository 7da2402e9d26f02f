// Turns a traced graph, whose floats are all f64, into the build for one float type. The body is traced once; Float32Array calls
// run the graph that this gives for f32.
import type { Graph } from './graph.ts'
import { rebuild } from './rebuild.ts'
import type { FloatType, Type } from './types.ts'

export function specialise(graph: Graph, floatType: FloatType): Graph {
  const type = (from: Type): Type => (from === 'f64' ? floatType : from)
  return rebuild(graph, { type, plane: (plane) => ({ ...plane, type: type(plane.type) }) })
}
