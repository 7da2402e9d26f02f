// Tapes in scratch memory: slot by slot, and within a slot one lane for each sample of the group.
// Invariants: a lane that does not run neither changes a slot that it recorded nor reads outside the tape; a slot that is alike in all
// lanes takes one vector access, others one access a lane, where lanes that do not run use the slot after the last.
import type { RecallValue, RecordEffect, Value } from '../../ir/graph.ts'
import type { Type } from '../../ir/types.ts'
import { inScratch, loadApart, loadLanes, storeApart, storeLanes, type Address } from './access.ts'
import { BLOCK, read, type Emitter, type Mask } from './emitter.ts'
import { laneBytes, maskFor, narrowMask } from './lanes.ts'

/** The address of lane 0 of a slot, the same for all lanes. */
function slotAddress(e: Emitter, tape: number, type: Type, slot: Value, vector: number): Address {
  const { lanes, group, tapes } = e.frame
  const bytes = laneBytes(type, lanes)
  const distance = `(i32.mul (i32x4.extract_lane 0 ${e.get(slot, vector)}) (i32.const ${group * bytes}))`
  return { base: `(i32.add ${BLOCK} ${distance})`, offset: tapes[tape]! + vector * lanes * bytes }
}

/** The address of each lane, in a slot of its own. */
function laneAddresses(e: Emitter, tape: number, type: Type, slots: string, vector: number): (lane: number) => Address {
  const { lanes, group, tapes } = e.frame
  const bytes = laneBytes(type, lanes)
  return (lane) => ({
    base: `(i32.add ${BLOCK} (i32.mul (i32x4.extract_lane ${lane} ${slots}) (i32.const ${group * bytes})))`,
    offset: tapes[tape]! + (vector * lanes + lane) * bytes,
  })
}

/** The slots of lanes that run; of the others, the one after the last. */
function runningSlots(e: Emitter, tape: number, slot: Value, vector: number, mask: Mask): string {
  const { lanes } = e.frame
  const given = e.get(slot, vector)
  if (mask === undefined) return given
  const spare = e.constant(e.graph.tapes[tape]!.capacity, 'i32')
  return `(v128.bitselect ${given} ${spare} ${narrowMask(read(mask[vector]!), lanes)})`
}

export function recordTo(e: Emitter, { tape, operands }: RecordEffect, mask: Mask): void {
  const [slot, value] = operands
  const { lanes, vectors } = e.frame
  const { type } = value!
  const stored = inScratch(type)
  for (let vector = 0; vector < vectors; vector++) {
    const written = e.get(value!, vector)
    if (e.uniformity.isUniform(slot!)) {
      const address = slotAddress(e, tape, type, slot!, vector)
      const kept = loadLanes(stored, lanes, address)
      const merged = mask ? `(v128.bitselect ${written} ${kept} ${maskFor(type, read(mask[vector]!), lanes)})` : written
      e.line(storeLanes(stored, lanes, address, merged))
    } else {
      const slots = e.take('v128')
      e.set(slots, runningSlots(e, tape, slot!, vector, mask))
      storeApart(stored, lanes, laneAddresses(e, tape, type, read(slots), vector), written).forEach(e.line)
      e.give(slots)
    }
  }
}

export function recallFrom(e: Emitter, value: RecallValue, mask: Mask): void {
  const { tape, type } = value
  const { lanes } = e.frame
  const [slot] = value.operands
  const stored = inScratch(type)
  e.define(value, (vector, temporary) => {
    if (e.uniformity.isUniform(slot!)) return loadLanes(stored, lanes, slotAddress(e, tape, type, slot!, vector))
    const slots = temporary()
    e.set(slots, runningSlots(e, tape, slot!, vector, mask))
    return loadApart(stored, lanes, laneAddresses(e, tape, type, read(slots), vector))
  })
}
