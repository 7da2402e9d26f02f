// One call of a compiled kernel, as the runtime makes it: what is bound, and when it runs.
// Invariants: an array inside the linear memory is known by its address, so that it stays bound when the memory grows; a call under way
// keeps the bindings that it began with.
import type { Launch, PlaneArray } from '../backend.ts'
import type { Memory } from './memory.ts'
import type { Runner } from './runner.ts'

export interface Bound {
  readonly array: PlaneArray
  readonly pitch: number
  readonly length: number
  /** Elements when it was bound. */
  readonly size: number
  /** Where it lies in the linear memory; undefined outside. */
  readonly address: number | undefined
}

/** What is bound to a plane: an array, or the number of a uniform. */
export type Binding = Bound | number | undefined

export const isBound = (binding: Binding): binding is Bound => typeof binding === 'object'

export function createLaunch(memory: Memory, planeCount: number, run: Runner): Launch {
  const bindings: Binding[] = Array.from({ length: planeCount })
  return {
    bind(plane, array, pitch, length) {
      bindings[plane] = { array, pitch, length, size: array.length, address: memory.addressOf(array) }
    },
    set(plane, value) {
      bindings[plane] = value
    },
    run: (range) => run(bindings, range),
    async runAsync(range, beforeStart) {
      const own = [...bindings]
      await new Promise((resolve) => setTimeout(resolve, 0))
      beforeStart?.()
      run(own, range)
    },
    release() {
      for (let plane = 0; plane < planeCount; plane++) if (isBound(bindings[plane])) bindings[plane] = undefined
    },
  }
}
