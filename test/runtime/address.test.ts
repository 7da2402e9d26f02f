// Zero copy, seen from the native side: the address that the entry of a compiled kernel finds in its argument block is that of the
// caller's own buffer, for each layout that binds.
import { expect, test } from 'vitest'
import { createHostBackend } from '../../src/backends/host/index.ts'
import type { Entries } from '../../src/backends/host/machine.ts'
import { argumentLayout } from '../../src/backends/llvm/arguments.ts'
import { generate } from '../../src/backends/llvm/generate.ts'
import { interleaved, kernel, Mutable, ndarray, Vector } from '../../src/index.ts'
import { addressOf, readMemory } from '../../src/runtime/ffi.ts'
import { INTERNALS } from '../../src/runtime/internals.ts'
import { isRefusal, place } from '../../src/runtime/layout.ts'
import { createMachine } from '../../src/runtime/machine.ts'

const double = kernel('double', { v: Mutable(Vector(3)) }, ({ v }) => v.set(v.mul(2)))
const { traced } = double[INTERNALS]

/** Addresses that the entry found in the first plane's slot. */
const found: bigint[] = []
const machine = createMachine()
const spying = {
  ...machine,
  load(path: string, symbol: string): Entries {
    const entries = machine.load(path, symbol)
    const slot = argumentLayout(traced.graph.planes).slots[0]!
    return {
      ...entries,
      run(block, begin, end) {
        const bytes = readMemory(block + BigInt(slot * 8), 8)
        found.push(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true))
        return entries.run(block, begin, end)
      },
    }
  },
}
const backend = createHostBackend(spying, generate)

const layouts: readonly (readonly [string, (data: Float64Array) => unknown, number])[] = [
  ['component-major', (data) => ndarray(data, [3, 4]), 0],
  ['transposed', (data) => ndarray(data, [3, 4]).T, 0],
  ['interleaved', (data) => interleaved(data, 3), 0],
  ['at an offset', (data) => ndarray(data, [3, 2], undefined, 5), 5],
  ['one sample', (data) => data.subarray(2, 5), 2],
]

test.each(layouts)('%s', (_, wrap, offset) => {
  const own = Float64Array.from({ length: 12 }, (_, i) => i + 1)
  const placement = place(wrap(own), [3])
  if (isRefusal(placement)) throw new Error(placement.problem)
  const { array, pitch, sampleStride, samples } = placement
  const launch = backend.build(traced.graph, { name: 'double', sampleStrides: [sampleStride] }).launch()
  launch.bind(0, array, pitch, samples)
  launch.run({ sampleCount: samples, begin: 0, end: samples, threads: 1 })
  expect(found.at(-1)).toBe(addressOf(own.buffer) + BigInt(8 * offset))
  expect(own[offset]).toBe(2 * (offset + 1))
})
