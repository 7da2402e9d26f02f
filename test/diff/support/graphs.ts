// Small graphs for the derivative tests, written like kernels: inputs by name, outputs by name.
import { createBuilder, type Builder } from '../../../src/ir/build.ts'
import type { Graph, Plane, PlaneRole, ReduceOp, Value } from '../../../src/ir/graph.ts'
import type { Type } from '../../../src/ir/types.ts'

export const plane = (name: string, role: PlaneRole = 'sample', type: Type = 'f64', components = 1): Plane => ({
  name,
  role,
  type,
  components,
})
export const reduction = (name: string, reduce: ReduceOp, type: Type = 'f64', components = 1): Plane => ({
  ...plane(name, 'reduction', type, components),
  reduce,
})

/** A graph over declared planes; the body gets the builder and the number of each plane by name. */
export function graphOf(
  planes: readonly Plane[],
  body: (b: Builder, planes: Readonly<Record<string, number>>) => void,
): Graph {
  const b = createBuilder(planes)
  body(b, Object.fromEntries(planes.map(({ name }, number) => [name, number])))
  return b.finishGraph()
}

/** y = f(inputs…) with scalar sample planes. */
export function scalarGraph(inputs: readonly string[], f: (b: Builder, ...inputs: Value[]) => Value): Graph {
  return graphOf([...inputs.map((name) => plane(name)), plane('y')], (b, planes) =>
    b.store(planes['y']!, 0, f(b, ...inputs.map((name) => b.load(planes[name]!, 0)))),
  )
}
