// Reductions of a launch: compiled code folds the samples of a block into 32 accumulators, and those into one; the values of the blocks
// go on here as src/ir/reduction.ts says.
import { BLOCK, createFolder, type Folder, IDENTITIES } from '../../ir/reduction.ts'
import type { Literal, Type } from '../../ir/types.ts'
import type { PlaneArray } from '../backend.ts'
import type { Frame } from './frame.ts'
import { laneBytes } from './lanes.ts'
import type { Views } from './memory.ts'

export interface Reductions {
  /** Takes the folded accumulators of the block of samples that holds `sample`. */
  endBlock(views: Views, block: number, sample: number): void
  /** Writes each component of each reduction. */
  write(arrayOf: (plane: number) => PlaneArray, pitchOf: (plane: number) => number): void
}

/** The fold of the blocks so far. */
interface Progress {
  /** The first sample of the only block, while there is one. */
  sample: number
  /** Its value, which is the result: further folds of one value are with identities only, and change nothing. */
  value: Literal | undefined
  /** Once there are more. */
  folder: Folder | undefined
}

const toLiteral = (stored: number | bigint, type: Type): Literal => (type === 'bool' ? Number(stored) !== 0 : stored)

export function startReductions({ reductions, lanes }: Frame): Reductions {
  const progress = reductions.map((): Progress => ({ sample: 0, value: undefined, folder: undefined }))
  return {
    endBlock(views, block, sample) {
      const first = Math.floor(sample / BLOCK) * BLOCK
      reductions.forEach(({ type, reduce, offset }, k) => {
        const bytes = laneBytes(type, lanes)
        // A condition is a mask as wide as a lane.
        const stored = type !== 'bool' ? type : bytes === 8 ? 'i64' : 'i32'
        const value = toLiteral(views[stored][(block + offset) / bytes]!, type)
        const state = progress[k]!
        if (state.value === undefined) Object.assign(state, { sample: first, value })
        else {
          if (!state.folder) {
            state.folder = createFolder(reduce, type)
            state.folder.add(state.sample, state.value)
          }
          // As the only contribution of its block.
          state.folder.add(first, value)
        }
      })
    },
    write(arrayOf, pitchOf) {
      reductions.forEach(({ plane, component, type, reduce }, k) => {
        const { folder, value } = progress[k]!
        arrayOf(plane)[component * pitchOf(plane)] = Number(folder?.result() ?? value ?? IDENTITIES[reduce][type])
      })
    },
  }
}
