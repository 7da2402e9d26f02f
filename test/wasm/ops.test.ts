import { describe, expect, test } from 'vitest'
import { TYPES } from '../../src/ir/types.ts'
import { wrongResults } from '../support/opGrid.ts'
import { wasm } from './support/backend.ts'

// `fma` among them: the backend lowers it to basic ops, as WebAssembly has no such instruction.

describe.each([
  { name: 'one vector at a time', width: 1 },
  { name: 'vectors side by side', width: 8 },
])('$name', ({ width }) => {
  test.each(TYPES)('ops on %s', (type) => {
    const wrong = wrongResults((graph) => wasm.build(graph, { name: 'ops', width }), type)
    expect(wrong.slice(0, 20)).toEqual([])
  })
})
