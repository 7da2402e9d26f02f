// Samples that are finished: skipped at entry, with all their bytes untouched, and marked when they finish. The mask is set-only.
import type { Graph, PlaneEffect } from '../../ir/graph.ts'
import { both, constantMask, negate, partsOf, type Context, type Mask } from './context.ts'
import { loadSamples, storeSamples } from './samplePlanes.ts'

/** Planes that say which samples are finished. */
export const maskPlanes = (graph: Graph): readonly number[] =>
  graph.planes.flatMap(({ role }, plane) => (role === 'mask' ? [plane] : []))

/** Lanes of the group whose sample is not finished yet. */
export function unfinished(context: Context): readonly string[] {
  const { graph, group } = context
  let running: Mask = group.mask
  for (const plane of maskPlanes(graph)) {
    running = both(context, running, negate(context, loadSamples(context, 'bool', plane, 0, group.mask)))
  }
  return running ?? constantMask(context, true)
}

/** Sets the bytes of the lanes whose condition holds; the other bytes are not written. */
export function printFinish(context: Context, { plane, operands }: PlaneEffect, mask: Mask): void {
  const { code, width } = context
  const finishes = both(context, mask, partsOf(context, operands[0]!))
  const yes = constantMask(context, true)
  if (width > 1) return storeSamples(context, 'bool', plane, 0, yes, finishes)
  const set = code.label('finish')
  const after = code.label('next')
  code.branch(finishes[0]!, set, after)
  code.begin(set)
  storeSamples(context, 'bool', plane, 0, yes, undefined)
  code.jump(after)
  code.begin(after)
}
