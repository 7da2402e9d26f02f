// The writes of a sample: a row an op. Stores and marks go straight to memory under the mask of the lanes that run; contributions go to
// the accumulators of a reduction; scatter-adds are noted and applied sample by sample once the group is through (scatter.ts).
import type { Effect, PlaneEffect, RecordEffect } from '../../ir/graph.ts'
import type { EffectOp } from '../../ir/ops.ts'
import { ACCUMULATORS } from '../../ir/reduction.ts'
import { inScratch, loadLanes, loadSamples, storeLanes, storeSamples } from './access.ts'
import { BLOCK, read, SAMPLE, type Emitter, type Mask } from './emitter.ts'
import { foldTwo } from './fold.ts'
import { laneBytes, maskFor } from './lanes.ts'
import { noteScatter } from './scatter.ts'
import { recordTo } from './tapes.ts'

function store(e: Emitter, { plane, component, operands }: PlaneEffect, mask: Mask): void {
  for (let vector = 0; vector < e.frame.vectors; vector++) {
    const written = (e.frame.storesInPart || e.samples) && mask ? read(mask[vector]!) : undefined
    storeSamples(e, plane, component, vector, e.get(operands[0]!, vector), written)
  }
}

/** Sample i goes to accumulator i mod 32; a group starts at a multiple of its size, which divides 32, so its lanes are neighbours. */
function contribute(e: Emitter, { plane, component, operands }: PlaneEffect, mask: Mask): void {
  const { lanes, vectors, reductions } = e.frame
  const { type, reduce, offset } = reductions.find((slot) => slot.plane === plane && slot.component === component)!
  const bytes = laneBytes(type, lanes)
  const base = e.perGroup(
    `accumulator ${bytes}`,
    'i32',
    () => `(i32.add ${BLOCK} (i32.mul (i32.and ${SAMPLE} (i32.const ${ACCUMULATORS - 1})) (i32.const ${bytes})))`,
  )
  const accumulated = e.take('v128')
  for (let vector = 0; vector < vectors; vector++) {
    const address = { base, offset: offset + vector * lanes * bytes }
    e.set(accumulated, loadLanes(inScratch(type), lanes, address))
    const folded = foldTwo(reduce, type, read(accumulated), e.get(operands[0]!, vector), lanes)
    const kept = mask
      ? `(v128.bitselect ${folded} ${read(accumulated)} ${maskFor(type, read(mask[vector]!), lanes)})`
      : folded
    e.line(storeLanes(inScratch(type), lanes, address, kept))
  }
  e.give(accumulated)
}

/** Only sets marks. */
function finish(e: Emitter, { plane, operands }: PlaneEffect, mask: Mask): void {
  for (let vector = 0; vector < e.frame.vectors; vector++) {
    const condition = e.get(operands[0]!, vector)
    const marked = mask ? `(v128.and ${condition} ${read(mask[vector]!)})` : condition
    storeSamples(e, plane, 0, vector, `(v128.or ${loadSamples(e, plane, 0, vector)} ${marked})`, undefined)
  }
}

export const effects: Record<EffectOp, (e: Emitter, effect: Effect, mask: Mask) => void> = {
  store: (e, effect, mask) => store(e, effect as PlaneEffect, mask),
  scatterAdd: (e, effect, mask) => noteScatter(e, effect as PlaneEffect, mask),
  contribute: (e, effect, mask) => contribute(e, effect as PlaneEffect, mask),
  finish: (e, effect, mask) => finish(e, effect as PlaneEffect, mask),
  record: (e, effect, mask) => recordTo(e, effect as RecordEffect, mask),
}
