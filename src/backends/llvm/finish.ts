// Samples that are finished: skipped at entry, with all their bytes untouched, and marked when they finish. The mask is set-only.
import type { Graph, PlaneEffect } from '../../ir/graph.ts'
import { both, constantMask, lanesOf, partNumbers, partsOf, type Context, type Mask } from './context.ts'
import { addressOfPlane, firstOf, loadConsecutive, scalarAddress, storeSamples } from './memory.ts'

/** Planes that say which samples are finished. */
export const maskPlanes = (graph: Graph): readonly number[] =>
  graph.planes.flatMap(({ role }, plane) => (role === 'mask' ? [plane] : []))

const maskByte = (context: Context, plane: number, part: number): string =>
  scalarAddress(context, 'bool', addressOfPlane(context, plane), 0, 'i64', firstOf(context, context.group, part))

/** Lanes of the group whose sample is not finished yet. */
export function unfinished(context: Context): readonly string[] {
  const { code, graph, group } = context
  const lanes = lanesOf(context, 'i8')
  let running: Mask = group.mask
  for (const plane of maskPlanes(graph)) {
    const isRunning = partNumbers(context).map((part) => {
      const bytes = loadConsecutive(context, 'bool', maskByte(context, plane, part), group.mask?.[part])
      return code.value(`icmp eq ${lanes} ${bytes}, ${code.constant('i32', 0, context.width)}`)
    })
    running = both(context, running, isRunning)
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
