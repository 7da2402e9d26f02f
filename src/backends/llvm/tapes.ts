// Tapes: memory of the samples in flight, in the scratch memory of the thread. Element (slot · K + part) · W + lane of a tape belongs to
// one lane.
// Invariants: a lane that takes no part keeps its slots; the slot number of an idle lane, which may be anything, is not followed.
import type { RecallValue, RecordEffect, Tape } from '../../ir/graph.ts'
import { BYTES, type Type } from '../../ir/types.ts'
import { define, internal, isUniform, lanesOf, partsOf, scalarOf, type Context, type Mask } from './context.ts'
import { countingVector, laneType, mangled, MEMORY_TYPE } from './lanes.ts'
import { fromMemory, loadConsecutive, storeConsecutive, storeScattered, toMemory } from './memory.ts'

/** Bytes that the tapes of a thread take, and where each starts. */
export function tapeLayout(
  tapes: readonly Tape[],
  lanes: number,
): { readonly offsets: readonly number[]; readonly bytes: number } {
  let bytes = 0
  const offsets = tapes.map(({ type, capacity }) => {
    const offset = bytes
    bytes += Math.ceil((capacity * lanes * BYTES[type]) / 64) * 64
    return offset
  })
  return { offsets, bytes }
}

const tapeOf = ({ graph, tapes }: Context, number: number): Tape & { readonly address: string } => {
  const tape = graph.tapes[number]
  const address = tapes[number]
  if (!tape || address === undefined) throw internal(`there is no tape ${number}`)
  return { ...tape, address }
}

/** Address of the elements of a slot that all lanes share. */
function slotAddress(context: Context, type: Type, base: string, slot: string, part: number): string {
  const { code, width, vectors } = context
  const wide = code.value(`zext i32 ${slot} to i64`)
  const scaled = code.value(`mul i64 ${wide}, ${width * vectors}`)
  const element = part === 0 ? scaled : code.value(`add i64 ${scaled}, ${part * width}`)
  return code.value(`getelementptr ${laneType(MEMORY_TYPE[type], 1)}, ptr ${base}, i64 ${element}`)
}

/** Addresses of one element for each lane, slot by slot. */
function laneSlots(
  context: Context,
  { type, address }: { type: Type; address: string },
  slots: string,
  part: number,
): string {
  const { code, width, vectors } = context
  const lanes = lanesOf(context, 'i64')
  const wide = code.value(`zext ${lanesOf(context, 'i32')} ${slots} to ${lanes}`)
  const scaled = code.value(`mul ${lanes} ${wide}, ${code.constant('i64', BigInt(width * vectors), width)}`)
  const element = code.value(`add ${lanes} ${scaled}, ${countingVector('i64', width, part * width)}`)
  return code.value(`getelementptr ${laneType(MEMORY_TYPE[type], 1)}, ptr ${address}, ${lanes} ${element}`)
}

export function printRecord(context: Context, { tape, operands }: RecordEffect, mask: Mask): void {
  const [slot, value] = operands
  const { type, address } = tapeOf(context, tape)
  partsOf(context, value!).forEach((part, k) => {
    const stored = toMemory(context, type, part)
    if (isUniform(context, slot!)) {
      storeConsecutive(
        context,
        type,
        stored,
        slotAddress(context, type, address, scalarOf(context, slot!), k),
        mask?.[k],
      )
    } else
      storeScattered(
        context,
        type,
        stored,
        laneSlots(context, { type, address }, partsOf(context, slot!)[k]!, k),
        mask?.[k],
      )
  })
}

export function printRecall(context: Context, value: RecallValue): void {
  const { code, width, vectors } = context
  const slot = value.operands[0]!
  const { type, address, capacity } = tapeOf(context, value.tape)
  const last = code.constant('i32', capacity - 1, isUniform(context, slot) ? 1 : width)
  const inside = (slots: string, lanes: string): string => {
    const isInside = code.value(`icmp ult ${lanes} ${slots}, ${last}`)
    const conditions = lanes === 'i32' ? 'i1' : lanesOf(context, 'bool')
    return code.value(`select ${conditions} ${isInside}, ${lanes} ${slots}, ${lanes} ${last}`)
  }
  const parts = Array.from({ length: vectors }, (_, part) => {
    if (isUniform(context, slot)) {
      const number = inside(scalarOf(context, slot), 'i32')
      return fromMemory(
        context,
        type,
        loadConsecutive(context, type, slotAddress(context, type, address, number, part), undefined),
      )
    }
    const addresses = laneSlots(
      context,
      { type, address },
      inside(partsOf(context, slot)[part]!, lanesOf(context, 'i32')),
      part,
    )
    const memory = MEMORY_TYPE[type]
    const loaded = code.call(laneType(memory, width), `llvm.masked.gather.${mangled(memory, width)}.v${width}p0`, [
      `${laneType('ptr', width)} ${addresses}`,
      `i32 ${BYTES[type]}`,
      `${lanesOf(context, 'bool')} ${code.constant('bool', true, width)}`,
      `${laneType(memory, width)} zeroinitializer`,
    ])
    return fromMemory(context, type, loaded)
  })
  define(context, value, parts)
}
