// Blocks of reductions while lanes are refilled: samples end in any order, so what they contribute goes to memory, one value for each
// sample, and is folded in the order of src/ir/reduction.ts when the last sample of a block is delivered.
// Invariants: at most two blocks are open; a sample that was finished before the launch contributes the identity, which changes nothing.
import type { PlaneEffect } from '../../ir/graph.ts'
import { ACCUMULATORS, BLOCK } from '../../ir/reduction.ts'
import { BYTES } from '../../ir/types.ts'
import { BLOCK_BITS, blockOf, lowerOf, startOf } from './blocks.ts'
import { internal, lanesOf, partsOf, type Context, type Mask } from './context.ts'
import { printCounted } from './control.ts'
import type { Frame } from './frame.ts'
import type { EmitOptions, KernelShape } from './interface.ts'
import { laneType } from './lanes.ts'
import { storeScattered } from './memory.ts'
import { columnType, countLanes, toColumn } from './queue.ts'
import { createReducer, type Reduction } from './reduce.ts'
import { OPEN_BLOCKS, type RefillLayout } from './refillLayout.ts'

export interface OpenBlocks {
  contribute(context: Context, effect: PlaneEffect, mask: Mask): void
  /**
   * Opens the block of sample `begin` unless it is open; jumps to `wait` while there is no room.
   * @returns the sample before which to stop: the end of the chunk or of the block (i64)
   */
  open(begin: string, chunkEnd: string, wait: string): string
  /** Of the lanes of `inside` only `prepared` (i64) run; the others were finished before. */
  skip(context: Context, inside: string, prepared: string): void
  /** The samples of the lanes of a mask are delivered. */
  count(context: Context, mask: string): void
  /** Folds the blocks whose samples are all delivered. */
  close(): void
  /** A block waits to be opened (i1). */
  isWaiting(): string
  /** Any block is open (i1). */
  isOpen(): string
}

/** For kernels without reductions. */
const NO_BLOCKS: OpenBlocks = {
  contribute() {
    throw internal('there is no reduction plane')
  },
  open: (_begin, chunkEnd) => chunkEnd,
  skip() {},
  count() {},
  close() {},
  isWaiting: () => 'false',
  isOpen: () => 'false',
}

/** Printed in the entry block. */
export function createOpenBlocks(
  { code, own, results, firstBlock }: Frame,
  { contributions }: RefillLayout,
  { width }: KernelShape,
  reductions: readonly Reduction[],
  options: EmitOptions,
): OpenBlocks {
  if (reductions.length === 0) return NO_BLOCKS
  const reducer = createReducer({ code, width, vectors: ACCUMULATORS / width, reductions, options, results })
  const array = (initial: string) => {
    const address = code.alloca(`[${OPEN_BLOCKS} x i64]`, 16)
    const at = (slot: string) => code.value(`getelementptr i64, ptr ${address}, i64 ${slot}`)
    const cells = {
      load: (slot: string) => code.value(`load i64, ptr ${at(slot)}, align 8`),
      store: (slot: string, value: string) => code.line(`store i64 ${value}, ptr ${at(slot)}, align 8`),
    }
    for (let slot = 0; slot < OPEN_BLOCKS; slot++) cells.store(String(slot), initial)
    return cells
  }
  const NONE = '-1'
  /** Number of the block in each slot, −1 for none, and how many of its samples are not delivered yet. */
  const numbers = array(NONE)
  const remaining = array('0')
  const current = code.alloca('i64', 8)
  code.line(`store i64 0, ptr ${current}, align 8`)
  const waiting = code.alloca('i1', 1)
  code.line(`store i1 false, ptr ${waiting}, align 1`)
  const reductionOf = ({ plane, component }: PlaneEffect) =>
    reductions.findIndex((one) => one.plane === plane && one.component === component)
  /** Address of the values of a contribution in a slot. */
  const valuesOf = (offset: number, size: number, slot: string): string => {
    const start = code.value(`mul i64 ${slot}, ${BLOCK * size}`)
    return code.value(`getelementptr i8, ptr ${own}, i64 ${code.value(`add i64 ${start}, ${offset}`)}`)
  }

  /** Fills the values of a slot with identities. */
  function clear(slot: string): void {
    for (const { effect, offset } of contributions) {
      const { folded, identity } = reductions[reductionOf(effect)]!
      const values = valuesOf(offset, BYTES[folded], slot)
      const lanes = laneType(folded, width)
      printCounted(code, 'clear', '0', String(BLOCK / width), (vector) => {
        const address = code.value(`getelementptr ${lanes}, ptr ${values}, i64 ${vector}`)
        code.line(`store ${lanes} ${code.constant(folded, identity, width)}, ptr ${address}, align ${BYTES[folded]}`)
      })
    }
  }

  function fold(slot: string): void {
    reducer.printBlockStart()
    printCounted(code, 'row', '0', String(BLOCK / ACCUMULATORS), (row) => {
      for (const { effect, offset } of contributions) {
        const number = reductionOf(effect)
        const { folded } = reductions[number]!
        const values = valuesOf(offset, BYTES[folded], slot)
        const lanes = laneType(folded, width)
        const first = code.value(`mul i64 ${row}, ${ACCUMULATORS / width}`)
        for (let part = 0; part < ACCUMULATORS / width; part++) {
          const vector = code.value(`add i64 ${first}, ${part}`)
          const address = code.value(`getelementptr ${lanes}, ptr ${values}, i64 ${vector}`)
          reducer.add(number, part, code.value(`load ${lanes}, ptr ${address}, align ${BYTES[folded]}`))
        }
      }
    })
    reducer.printBlockEnd(code.value(`sub i64 ${numbers.load(slot)}, ${firstBlock}`))
  }

  /** Lanes whose sample is in the block of a slot. */
  function lanesIn(context: Context, slot: string): string {
    const lanes = lanesOf(context, 'i64')
    const bits = code.constant('i64', BigInt(BLOCK_BITS), width)
    const blocks = code.value(`ashr ${lanes} ${context.group.numbers![0]}, ${bits}`)
    return code.value(`icmp eq ${lanes} ${blocks}, ${code.splat('i64', numbers.load(slot), width)}`)
  }

  return {
    contribute(context, effect, mask) {
      const { offset } = contributions.find((one) => one.effect === effect)!
      const { type } = context.graph.planes[effect.plane]!
      const column = columnType(type)
      const lanes = lanesOf(context, 'i64')
      const place = code.value(
        `and ${lanes} ${context.group.numbers![0]}, ${code.constant('i64', BigInt(BLOCK - 1), width)}`,
      )
      const second = code.value(`add ${lanes} ${place}, ${code.constant('i64', BigInt(BLOCK), width)}`)
      const isSecond = lanesIn(context, '1')
      const element = code.value(
        `select ${lanesOf(context, 'bool')} ${isSecond}, ${lanes} ${second}, ${lanes} ${place}`,
      )
      const values = code.value(`getelementptr i8, ptr ${own}, i64 ${offset}`)
      const addresses = code.value(`getelementptr ${laneType(column, 1)}, ptr ${values}, ${lanes} ${element}`)
      const [value] = partsOf(context, effect.operands[0]!)
      storeScattered(context, column, toColumn(context, type, value!), addresses, mask?.[0])
    },

    open(begin, chunkEnd, wait) {
      const fresh = code.label('block')
      const full = code.label('full')
      const start = code.label('start')
      const go = code.label('go')
      const block = blockOf(code, begin)
      const end = startOf(code, code.value(`add i64 ${block}, 1`))
      const limit = lowerOf(code, chunkEnd, end)
      const slot = code.value(`load i64, ptr ${current}, align 8`)
      code.branch(code.value(`icmp eq i64 ${numbers.load(slot)}, ${block}`), go, fresh)
      code.begin(fresh)
      const other = code.value(`xor i64 ${slot}, 1`)
      code.branch(code.value(`icmp eq i64 ${numbers.load(other)}, ${NONE}`), start, full)
      code.begin(full)
      code.line(`store i1 true, ptr ${waiting}, align 1`)
      code.jump(wait)
      code.begin(start)
      code.line(`store i1 false, ptr ${waiting}, align 1`)
      code.line(`store i64 ${other}, ptr ${current}, align 8`)
      numbers.store(other, block)
      remaining.store(other, code.value(`sub i64 ${limit}, ${begin}`))
      clear(other)
      code.jump(go)
      code.begin(go)
      return limit
    },

    skip(context, inside, prepared) {
      const slot = code.value(`load i64, ptr ${current}, align 8`)
      const skipped = code.value(`sub i64 ${countLanes(context, inside)}, ${prepared}`)
      remaining.store(slot, code.value(`sub i64 ${remaining.load(slot)}, ${skipped}`))
    },

    count(context, mask) {
      for (let slot = 0; slot < OPEN_BLOCKS; slot++) {
        const here = code.value(`and ${lanesOf(context, 'bool')} ${mask}, ${lanesIn(context, String(slot))}`)
        const left = code.value(`sub i64 ${remaining.load(String(slot))}, ${countLanes(context, here)}`)
        remaining.store(String(slot), left)
      }
    },

    close() {
      printCounted(code, 'slot', '0', String(OPEN_BLOCKS), (slot) => {
        const isUsed = code.value(`icmp ne i64 ${numbers.load(slot)}, ${NONE}`)
        const isComplete = code.value(`icmp eq i64 ${remaining.load(slot)}, 0`)
        const complete = code.label('complete')
        const after = code.label('next')
        code.branch(code.value(`and i1 ${isUsed}, ${isComplete}`), complete, after)
        code.begin(complete)
        fold(slot)
        numbers.store(slot, NONE)
        code.jump(after)
        code.begin(after)
      })
    },

    isWaiting: () => code.value(`load i1, ptr ${waiting}, align 1`),

    isOpen() {
      const used = Array.from({ length: OPEN_BLOCKS }, (_, slot) =>
        code.value(`icmp ne i64 ${numbers.load(String(slot))}, ${NONE}`),
      )
      return used.reduce((left, right) => code.value(`or i1 ${left}, ${right}`))
    },
  }
}
