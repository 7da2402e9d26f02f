// Every computed op, for every type, on the value grid: the module against constant folding, which goes through semantics.ts.
import { describe, expect, test } from 'vitest'
import { folder, GRID_PROGRAMS, type GridProgram } from '../support/gridPrograms.ts'
import { COMPUTED_OPS } from '../support/randomGraph.ts'
import { sameBits, showNumber } from '../support/values.ts'
import { wasm } from './support/backend.ts'

/** Calls with a wrong result, in words. */
function wrongResults(program: GridProgram, width: number): readonly string[] {
  const { graph, samples, name } = program
  const size = samples.length
  const arrays = program.planes()
  const launch = wasm.build(graph, { name, width }).launch()
  arrays.forEach((array, plane) => launch.bind(plane, array, size, size))
  launch.run({ sampleCount: size, begin: 0, end: size })
  const fold = folder(program)
  return samples.flatMap((operands, sample) => {
    const expected = fold(operands)
    const got = program.result(arrays, sample)
    if (sameBits(expected, got)) return []
    return [
      `${name} of ${operands.map(showNumber).join(', ')}: expected ${showNumber(expected)}, got ${showNumber(got)}`,
    ]
  })
}

// `fma` among them: the backend lowers it to basic ops, as WebAssembly has no such instruction.
describe.each([
  { name: 'one vector at a time', width: 1 },
  { name: 'vectors side by side', width: 8 },
])('$name', ({ width }) => {
  test.each(COMPUTED_OPS)('%s', (op) => {
    const programs = GRID_PROGRAMS.filter((program) => program.op === op)
    expect(programs.length).toBeGreaterThan(0)
    expect(programs.flatMap((program) => wrongResults(program, width)).slice(0, 20)).toEqual([])
  })
})
