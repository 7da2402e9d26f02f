// Folds of reductions: two values by an op of the table, and the accumulators of a block, by halves, into the first of them.
import type { ReduceOp } from '../../ir/graph.ts'
import { ACCUMULATORS, FOLD_OPS, IDENTITIES } from '../../ir/reduction.ts'
import type { Literal, Type } from '../../ir/types.ts'
import { inScratch, loadLanes, storeLanes } from './access.ts'
import type { Frame, ReductionSlot } from './frame.ts'
import { laneBytes, splat, type Lanes } from './lanes.ts'
import { rows } from './rows.ts'

/** Two values of a reduction as one. */
export function foldTwo(reduce: ReduceOp, type: Type, a: string, b: string, lanes: Lanes): string {
  const place = {
    lanes,
    constant: (literal: Literal, of: Type) => splat(literal, of, lanes),
    temporary: () => '$folded',
    literal: () => undefined,
    isUniform: () => false,
  }
  return rows[FOLD_OPS[reduce]](place, [a, b], type, type)
}

/** Accumulator l takes l + 16, then 8, 4, 2, 1: whole vectors as long as there are, then the lanes of one. */
function foldSlot({ type, reduce, offset }: ReductionSlot, lanes: Lanes): readonly string[] {
  const bytes = laneBytes(type, lanes)
  const at = (lane: number) => ({ base: '(local.get $block)', offset: offset + lane * bytes })
  const load = (lane: number) => loadLanes(inScratch(type), lanes, at(lane))
  const store = (lane: number, value: string) => storeLanes(inScratch(type), lanes, at(lane), value)
  const lines: string[] = []
  for (let half = ACCUMULATORS / 2; half >= 1; half /= 2) {
    if (half >= lanes) {
      for (let lane = 0; lane < half; lane += lanes) {
        lines.push(store(lane, foldTwo(reduce, type, load(lane), load(lane + half), lanes)))
      }
    } else {
      const turned = Array.from({ length: 16 }, (_, byte) => (byte + half * bytes) % 16).join(' ')
      lines.push(store(0, foldTwo(reduce, type, load(0), `(i8x16.shuffle ${turned} ${load(0)} ${load(0)})`, lanes)))
    }
  }
  return lines
}

/** The identity in every accumulator. */
function resetSlot({ type, reduce, offset }: ReductionSlot, lanes: Lanes): readonly string[] {
  const identity = splat(IDENTITIES[reduce][type], type, lanes)
  return Array.from({ length: ACCUMULATORS / lanes }, (_, k) =>
    storeLanes(
      inScratch(type),
      lanes,
      { base: '(local.get $block)', offset: offset + k * lanes * laneBytes(type, lanes) },
      identity,
    ),
  )
}

const functionOf = (name: string, lines: readonly string[]): string =>
  `  (func $${name} (param $block i32)\n${lines.map((line) => `    ${line}`).join('\n')})`

/** The functions `reset` and `fold`; empty in a kernel without reductions. */
export function foldFunctions({ reductions, lanes }: Pick<Frame, 'reductions' | 'lanes'>): readonly string[] {
  return [
    functionOf(
      'reset',
      reductions.flatMap((slot) => resetSlot(slot, lanes)),
    ),
    functionOf(
      'fold',
      reductions.flatMap((slot) => foldSlot(slot, lanes)),
    ),
  ]
}
