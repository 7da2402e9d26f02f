// The argument block that compiled entries read: one 8-byte slot each, in the order of the planes. The emitter reads it, the host
// backend fills it.
// Layout: slot 0 sampleCount (i64), slot 1 address of scratch memory; then a uniform takes one slot (its value, in its own type, in
// the low bytes) and every other plane three: address of its first element, pitch in elements (i64), length (i64).
import type { Plane } from '../../ir/graph.ts'

export const SLOT_BYTES = 8
export const SAMPLE_COUNT_SLOT = 0
export const SCRATCH_SLOT = 1
const FIRST_PLANE_SLOT = 2

export interface ArgumentLayout {
  /** First slot of each plane. */
  readonly slots: readonly number[]
  readonly slotCount: number
}

export function argumentLayout(planes: readonly Plane[]): ArgumentLayout {
  let next = FIRST_PLANE_SLOT
  const slots = planes.map(({ role }) => {
    const slot = next
    next += role === 'uniform' ? 1 : 3
    return slot
  })
  return { slots, slotCount: next }
}
