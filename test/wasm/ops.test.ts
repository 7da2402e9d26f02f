import { describe, expect, test } from 'vitest'
import { TYPES } from '../../src/ir/types.ts'
import { wrongResults } from '../support/opGrid.ts'
import { wasm } from './support/backend.ts'

// `fma` among them: the backend lowers it to basic ops, as WebAssembly has no such instruction.

for (const width of [1, 8]) {
  describe(width === 1 ? 'one vector at a time' : 'vectors side by side', () => {
    for (const type of TYPES) {
      test(`ops on ${type}`, () => {
        const wrong = wrongResults((graph) => wasm.build(graph, { name: 'ops', width }), type)
        expect(wrong.slice(0, 20)).toEqual([])
      })
    }
  })
}
