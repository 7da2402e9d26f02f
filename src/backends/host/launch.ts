// One call of a compiled kernel: binds arrays by address into an argument block, then enters the code.
// Invariants: an array is held in a field of the launch from binding until it is replaced or released, and that field is used after
// the native call, as a local variable would not keep it alive; an address is never used after its array was detached or resized.
import type { Plane } from '../../ir/graph.ts'
import { HarrierError } from '../../errors.ts'
import type { Launch, LaunchRange, PlaneArray } from '../backend.ts'
import { argumentLayout, SAMPLE_COUNT_SLOT, SCRATCH_SLOT } from '../llvm/arguments.ts'
import type { ScratchPlan } from '../llvm/interface.ts'
import { createArgumentBlock, type ArgumentBlock } from './argumentBlock.ts'
import { whenFree } from './asyncLimit.ts'
import { movedArray } from '../movedArray.ts'
import { outOfRange } from '../outOfRange.ts'
import { NO_SCRATCH, readReport, scratchFor, type Scratch } from './scratch.ts'
import type { Entries, Machine } from './machine.ts'
import type { ThreadRule } from './threadRule.ts'

/** A kernel in memory, shared by all its launches. */
export interface LoadedKernel {
  readonly name: string
  readonly planes: readonly Plane[]
  readonly entries: Entries
  readonly scratch: ScratchPlan
  /** Whether the code reports accesses outside tables and accumulators. */
  readonly check: boolean
  readonly rule: ThreadRule
}

/** More threads than this per processor only cost memory, and the OpenMP runtime ends the process when it cannot create one. */
const MOST_THREADS = 256

const NO_MEMORY = -1

const isResizable = ({ buffer }: PlaneArray): boolean =>
  ('resizable' in buffer && buffer.resizable) || ('growable' in buffer && buffer.growable === true)

/**
 * The length of an array over a buffer that may change its own. Apart from that of others: V8 11 compiles code that has read the length
 * of one of these so that it goes on reading the old length of any array after it was detached.
 */
const lengthInResizable = (array: PlaneArray): number => (array.buffer.byteLength === 0 ? 0 : array.length)

/** A clock. (The first use of `performance` loads a module of Node, which takes longer than a launch.) */
const milliseconds = (): number => Number(process.hrtime.bigint()) / 1e6

/** What native code may reach during a call. */
interface Reachable {
  /** By plane number; uniforms have none. */
  readonly arrays: (PlaneArray | undefined)[]
  /** Samples or entries that each array was bound with. */
  readonly lengths: number[]
  /** Elements of each array when it was bound; NO_MEMORY where it had none although there are samples. */
  readonly sizes: number[]
  /** Whether the buffer of each array may change its length. */
  readonly resizable: boolean[]
  readonly block: ArgumentBlock
  scratch: Scratch
}

/**
 * What native code is working on right now, innermost last. Nothing else is sure to hold the arrays of a call: a local variable ends
 * with its last use. (An array, as adding an object to a Set and deleting it takes longer than the native call.)
 */
const running: Reachable[] = []

/** The same for calls on other threads. */
const pending = new Set<Reachable>()

export function createLaunch(kernel: LoadedKernel, machine: Machine): Launch {
  const { planes, entries, rule } = kernel
  const layout = argumentLayout(planes)
  const arrayPlanes = planes.flatMap(({ role }, number) => (role === 'uniform' ? [] : [number]))
  const bound: Reachable = {
    arrays: planes.map(() => undefined),
    lengths: planes.map(() => 0),
    sizes: planes.map(() => 0),
    resizable: planes.map(() => false),
    block: createArgumentBlock(layout.slotCount, machine),
    scratch: NO_SCRATCH,
  }

  /** Refuses arrays that are missing, or whose memory is no longer where it was when they were bound. */
  function checkArrays({ arrays, sizes, resizable }: Reachable): void {
    for (let k = 0; k < arrayPlanes.length; k++) {
      const plane = arrayPlanes[k]!
      const array = arrays[plane]
      if (array === undefined) throw unusableArray(kernel, planes[plane]!, array)
      const length = resizable[plane] ? lengthInResizable(array) : array.length
      if (length !== sizes[plane]) throw unusableArray(kernel, planes[plane]!, array)
    }
  }

  function threadsFor({ begin, end, threads }: LaunchRange): number {
    if (threads === 1 || machine.openMp() === undefined) return 1
    return Math.min(threads ?? rule.choose(end - begin, machine.threads()), MOST_THREADS)
  }

  /** Writes what differs between two launches of the same arrays. */
  function prepare(reachable: Reachable, range: LaunchRange, threads: number): void {
    reachable.scratch = scratchFor(kernel.scratch, range, threads, machine, reachable.scratch)
    reachable.block.setWhole(SAMPLE_COUNT_SLOT, range.sampleCount)
    reachable.block.setAddress(SCRATCH_SLOT, reachable.scratch.address)
  }

  function refuseReported({ lengths, scratch }: Reachable): void {
    const report = readReport(scratch)
    if (report === undefined) return
    throw outOfRange(kernel.name, { ...report, plane: planes[report.plane]!, length: lengths[report.plane]! })
  }

  return {
    bind(plane, array, pitch, length) {
      const slot = layout.slots[plane]!
      bound.arrays[plane] = array
      bound.lengths[plane] = length
      const address = machine.addressOf(array)
      bound.sizes[plane] = address === 0n && length > 0 ? NO_MEMORY : array.length
      bound.resizable[plane] = isResizable(array)
      bound.block.setAddress(slot, address)
      bound.block.setWhole(slot + 1, pitch)
      bound.block.setWhole(slot + 2, length)
    },

    set(plane, value) {
      bound.block.setUniform(layout.slots[plane]!, planes[plane]!.type, value)
    },

    run(range) {
      checkArrays(bound)
      const { begin, end } = range
      const { address } = bound.block
      const threads = threadsFor(range)
      prepare(bound, range, threads)
      running.push(bound)
      try {
        if (threads > 1) entries.runParallel(address, begin, end, threads)
        else if (range.threads === undefined && rule.wantsTiming(end - begin)) {
          const start = milliseconds()
          entries.run(address, begin, end)
          rule.record(end - begin, milliseconds() - start)
        } else entries.run(address, begin, end)
      } finally {
        running.pop()
      }
      if (kernel.check) refuseReported(bound)
    },

    async runAsync(range, beforeStart) {
      checkArrays(bound)
      const { begin, end } = range
      const threads = threadsFor(range)
      // A block of its own, so that this launch can be bound anew while the call is under way.
      const own: Reachable = {
        arrays: [...bound.arrays],
        lengths: [...bound.lengths],
        sizes: [...bound.sizes],
        resizable: [...bound.resizable],
        block: createArgumentBlock(layout.slotCount, machine, bound.block),
        scratch: NO_SCRATCH,
      }
      prepare(own, range, threads)
      pending.add(own)
      try {
        await whenFree(async () => {
          // Again, as the call may have waited for its turn.
          beforeStart?.()
          checkArrays(own)
          if (threads > 1) return entries.runParallelAsync(own.block.address, begin, end, threads)
          const start = milliseconds()
          await entries.runAsync(own.block.address, begin, end)
          if (range.threads === undefined) rule.record(end - begin, milliseconds() - start)
        })
      } finally {
        pending.delete(own)
      }
      if (kernel.check) refuseReported(own)
    },

    release() {
      bound.arrays.fill(undefined)
    },
  }
}

function unusableArray({ name }: LoadedKernel, plane: Plane, array: PlaneArray | undefined): HarrierError {
  if (array === undefined) {
    return new HarrierError('E_INTERNAL', `kernel '${name}': launched while nothing is bound to '${plane.name}'`)
  }
  return movedArray(name, plane.name)
}
