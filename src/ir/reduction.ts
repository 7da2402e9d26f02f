// How contributions fold: op and identity of each fold, and the one order of work.
// Invariant: the result depends on the contributions and their sample numbers alone, not on partition, vector width or threads.
//
// Samples are cut into blocks of 4,096 by absolute sample number. In a block sample i goes to accumulator i mod 32, in ascending
// order, within a sample in program order; accumulators start at the identity. They fold by halves: accumulator l takes l + 16, then
// 8, 4, 2, 1. The results of the blocks fold by the same rule, each under the number of its block, until one is left. Blocks without
// contributions, and levels with one block, change nothing, as folding the identity does not.
import type { ComputedOp } from './ops.ts'
import type { ReduceOp } from './graph.ts'
import { semantics } from './semantics.ts'
import type { Literal, Type } from './types.ts'

/** Samples of a block, and results of a level that fold into one of the next. */
export const BLOCK = 4096

/** Accumulators of a block. */
export const ACCUMULATORS = 32

/** The op that each fold applies. */
export const FOLD_OPS = {
  sum: 'add',
  prod: 'mul',
  max: 'max',
  min: 'min',
  all: 'and',
  any: 'or',
} as const satisfies Record<ReduceOp, ComputedOp>

const LARGEST: Record<Type, Literal> = {
  f64: Infinity,
  f32: Infinity,
  i32: 2 ** 31 - 1,
  u32: 2 ** 32 - 1,
  i64: 2n ** 63n - 1n,
  bool: true,
}
const SMALLEST: Record<Type, Literal> = {
  f64: -Infinity,
  f32: -Infinity,
  i32: -(2 ** 31),
  u32: 0,
  i64: -(2n ** 63n),
  bool: false,
}
/** −0 for floats: −0 + x is x for every x, also for −0. */
const ZERO: Record<Type, Literal> = { f64: -0, f32: -0, i32: 0, u32: 0, i64: 0n, bool: false }
const ONE: Record<Type, Literal> = { f64: 1, f32: 1, i32: 1, u32: 1, i64: 1n, bool: true }

/** What accumulators of each fold start at, by type. */
export const IDENTITIES: Record<ReduceOp, Record<Type, Literal>> = {
  sum: ZERO,
  prod: ONE,
  max: SMALLEST,
  min: LARGEST,
  all: ONE,
  any: ZERO,
}

export interface Folder {
  /** Folds a value in; sample numbers never descend. */
  add(sample: number, value: Literal): void
  /** The fold of all that was added, or the identity if nothing was. */
  result(): Literal
}

interface Level {
  /** The block that the accumulators are of. */
  block: number
  readonly accumulators: Literal[]
}

/** Folds contributions in the order above. */
export function createFolder(reduce: ReduceOp, type: Type): Folder {
  const fold = semantics[FOLD_OPS[reduce]](type, type)
  const identity = IDENTITIES[reduce][type]
  const levels: Level[] = []

  /** The result of the block of a level, which starts afresh. */
  function take({ accumulators }: Level): Literal {
    for (let half = ACCUMULATORS / 2; half >= 1; half /= 2) {
      for (let lane = 0; lane < half; lane++) {
        const other = accumulators[lane + half]!
        accumulators[lane] = fold(accumulators[lane]!, other, other)
      }
    }
    const taken = accumulators[0]!
    accumulators.fill(identity)
    return taken
  }

  function addTo(depth: number, position: number, value: Literal): void {
    const block = Math.floor(position / BLOCK)
    const level = (levels[depth] ??= { block, accumulators: Array.from({ length: ACCUMULATORS }, () => identity) })
    if (level.block !== block) {
      addTo(depth + 1, level.block, take(level))
      level.block = block
    }
    const accumulator = position % ACCUMULATORS
    level.accumulators[accumulator] = fold(level.accumulators[accumulator]!, value, value)
  }

  return {
    add: (sample, value) => addTo(0, sample, value),
    result() {
      for (let depth = 0; depth < levels.length - 1; depth++) {
        addTo(depth + 1, levels[depth]!.block, take(levels[depth]!))
      }
      const last = levels.at(-1)
      return last ? take(last) : identity
    },
  }
}
