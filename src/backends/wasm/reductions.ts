// Reductions of a launch: compiled code folds the samples of a block into 32 accumulators, and those into one; the values of the blocks
// go on here as src/ir/reduction.ts says.
import { ACCUMULATORS, BLOCK, createFolder, IDENTITIES } from '../../ir/reduction.ts'
import type { Literal, Type } from '../../ir/types.ts'
import type { PlaneArray } from '../backend.ts'
import type { Frame, ReductionSlot } from './frame.ts'
import { laneBytes } from './lanes.ts'
import type { Views } from './memory.ts'

export interface Reductions {
  /** Puts the identity in every accumulator. */
  reset(views: Views, block: number): void
  /** Takes the folded accumulators of the block of samples that holds `sample`, which starts afresh. */
  endBlock(views: Views, block: number, sample: number): void
  /** Writes each component of each reduction. */
  write(arrayOf: (plane: number) => PlaneArray, pitchOf: (plane: number) => number): void
}

/** How the accumulators of a type lie in memory: a condition is a mask as wide as a lane. */
type Stored = Exclude<Type, 'bool'>

const toLiteral = (stored: number | bigint, type: Type): Literal => (type === 'bool' ? Number(stored) !== 0 : stored)
const toStored = (literal: Literal): number | bigint => (typeof literal === 'boolean' ? (literal ? -1 : 0) : literal)

export function startReductions({ reductions, lanes }: Frame): Reductions {
  const folders = reductions.map(({ reduce, type }) => createFolder(reduce, type))

  const storedType = (type: Type): Stored => (type !== 'bool' ? type : laneBytes(type, lanes) === 8 ? 'i64' : 'i32')
  const place = (views: Views, block: number, { type, offset }: ReductionSlot) => {
    const stored = storedType(type)
    return { array: views[stored], start: (block + offset) / laneBytes(type, lanes) }
  }

  function reset(views: Views, block: number): void {
    for (const slot of reductions) {
      const { array, start } = place(views, block, slot)
      const identity = toStored(IDENTITIES[slot.reduce][slot.type])
      if (array instanceof BigInt64Array) array.fill(BigInt(identity), start, start + ACCUMULATORS)
      else array.fill(Number(identity), start, start + ACCUMULATORS)
    }
  }

  return {
    reset,
    endBlock(views, block, sample) {
      reductions.forEach((slot, k) => {
        const { array, start } = place(views, block, slot)
        // As the only contribution of the block it is folded with identities, which changes nothing.
        folders[k]!.add(Math.floor(sample / BLOCK) * BLOCK, toLiteral(array[start]!, slot.type))
      })
      reset(views, block)
    },
    write(arrayOf, pitchOf) {
      reductions.forEach(({ plane, component }, k) => {
        arrayOf(plane)[component * pitchOf(plane)] = Number(folders[k]!.result())
      })
    },
  }
}
