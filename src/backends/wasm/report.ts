// Checked kernels: notes the access outside a table or accumulator that comes first, by sample and then by program order.
import type { Value } from '../../ir/graph.ts'
import { lengthOf } from './access.ts'
import { BLOCK, read, SAMPLE, type Emitter, type Mask } from './emitter.ts'
import { REPORT } from './frame.ts'
import { narrowMask } from './lanes.ts'

/** Keeps the report of the lowest sample; of one sample, the one that came first. */
export const REPORT_FUNCTION = `(func $report (param $block i32) (param $sample i32) (param $plane i32) (param $index i32)
  (if (i32.lt_u (local.get $sample) (i32.load offset=${REPORT} (local.get $block)))
    (then
      (i32.store offset=${REPORT} (local.get $block) (local.get $sample))
      (i32.store offset=${REPORT + 4} (local.get $block) (local.get $plane))
      (i32.store offset=${REPORT + 8} (local.get $block) (local.get $index)))))`

/** Reports the lanes of a mask whose index is outside the range of a plane. Nothing in a kernel built without `check`. */
export function reportOutside(e: Emitter, plane: number, index: Value, mask: Mask): void {
  if (!e.check) return
  const { lanes, vectors } = e.frame
  const outside = e.take('v128')
  for (let vector = 0; vector < vectors; vector++) {
    const isOutside = `(i32x4.ge_u ${e.get(index, vector)} ${lengthOf(e, plane)})`
    e.set(outside, `(v128.and ${isOutside} ${narrowMask(read(mask![vector]!), lanes)})`)
    e.nest(
      `(if (v128.any_true ${read(outside)}) (then`,
      () => {
        for (let lane = 0; lane < lanes; lane++) {
          const sample = `(i32.add ${SAMPLE} (i32.const ${vector * lanes + lane}))`
          const found = `(i32x4.extract_lane ${lane} ${e.get(index, vector)})`
          e.line(
            `(if (i32x4.extract_lane ${lane} ${read(outside)}) (then (call $report ${BLOCK} ${sample} (i32.const ${plane}) ${found})))`,
          )
        }
      },
      '))',
    )
  }
  e.give(outside)
}
