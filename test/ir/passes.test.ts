// Passes that rebuild a graph: what they drop and change, as text; and on random graphs, that what is computed stays.
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { referenceBackend } from '../../src/backends/reference/index.ts'
import { createBuilder } from '../../src/ir/build.ts'
import { contract } from '../../src/ir/contract.ts'
import type { Graph, Value } from '../../src/ir/graph.ts'
import { compile } from '../../src/ir/interpret.ts'
import { parse } from '../../src/ir/parse.ts'
import { print } from '../../src/ir/print.ts'
import { rebuild } from '../../src/ir/rebuild.ts'
import { simplify } from '../../src/ir/simplify.ts'
import { specialise } from '../../src/ir/specialise.ts'
import { isFloat } from '../../src/ir/types.ts'
import { violations } from '../../src/ir/verify.ts'
import { compareBackends } from '../support/compareBackends.ts'
import { expectGolden } from '../support/golden.ts'
import { randomGraph } from '../support/randomGraph.ts'
import { element, planeArray, random, sameBits } from '../support/values.ts'

const PLANES = 'plane x: sample f64\nplane n: sample i32\nplane y: sample f64\n\n'
const nodesOf = (graph: Graph): string => print(graph).slice(PLANES.length)
const parsed = (body: string): Graph => parse(PLANES + body)

const build = (graph: Graph) => referenceBackend.build(graph, { name: 'random' })

describe('what nothing needs is dropped', () => {
  test.each<[string, string, string]>([
    [
      'a dead value, and a loop without use',
      `%0: f64 = load x
%1: f64 = sin %0
%2: i32 = load n
%3: f64 = loop %2, %0 body(%4: i32, %5: f64) {
  yield %1
} condition(%6: i32, %7: f64) {
  yield true
}
store y, %0`,
      '%0: f64 = load x\nstore y, %0\n',
    ],
    [
      'a carry that only feeds itself',
      `%0: f64 = load x
%1: i32 = load n
%2: f64, %3: f64 = loop %1, %0, %0 body(%4: i32, %5: f64, %6: f64) {
  %7: f64 = neg %5
  %8: f64 = add %6, %6
  yield %7, %8
} condition(%9: i32, %10: f64, %11: f64) {
  yield true
}
store y, %2`,
      `%0: f64 = load x
%1: i32 = load n
%2: f64 = loop %1, %0 body(%3: i32, %4: f64) {
  %5: f64 = neg %4
  yield %5
} condition(%6: i32, %7: f64) {
  yield true
}
store y, %2
`,
    ],
    [
      'a carry that never changes, and then the loop',
      `%0: f64 = load x
%1: i32 = load n
%2: f64 = loop %1, %0 body(%3: i32, %4: f64) {
  yield %4
} condition(%5: i32, %6: f64) {
  yield true
}
store y, %2`,
      '%0: f64 = load x\nstore y, %0\n',
    ],
    [
      'a result of a branch, with the work for it',
      `%0: f64 = load x
%1: bool = lt %0, f64:0x0000000000000000
%2: f64, %3: f64 = branch %1 then {
  %4: f64 = sin %0
  %5: f64 = neg %0
  yield %4, %5
} else {
  yield %0, %0
}
store y, %3`,
      `%0: f64 = load x
%1: bool = lt %0, f64:0x0000000000000000  ; 0
%2: f64 = branch %1 then {
  %3: f64 = neg %0
  yield %3
} else {
  yield %0
}
store y, %2
`,
    ],
  ])('%s', (_, before, after) => {
    expect(nodesOf(simplify(parsed(before)))).toBe(after)
  })

  test('a carry that the condition looks at stays, and so does a loop with an effect', () => {
    const text = `%0: f64 = load x
%1: i32 = load n
%2: f64 = loop %1, %0 body(%3: i32, %4: f64) {
  store y, %0
  %5: f64 = neg %4
  yield %5
} condition(%6: i32, %7: f64) {
  %8: bool = lt %7, %0
  yield %8
}
`
    expect(nodesOf(simplify(parsed(text)))).toBe(text)
  })

  test('records on a tape that nothing recalls are dropped, and the tape', () => {
    const body = (recalled: string) =>
      `tape #0: f64[4]\n\n%0: f64 = load x\nrecord #0, i32:1, %0\n${recalled}store y, %0\n`
    const dead = body('%1: f64 = recall #0, i32:1\n')
    const graph = parse(PLANES.trimEnd() + '\n' + dead)
    expect(print(simplify(graph))).toBe(`${PLANES}%0: f64 = load x\nstore y, %0\n`)
    const live = `${PLANES.trimEnd()}\n${dead.replace('store y, %0', 'store y, %1')}`
    expect(print(simplify(parse(live)))).toBe(live)
  })
})

describe('rebuild', () => {
  test('parsed text is folded, shared and hoisted like built code', () => {
    expect(
      nodesOf(
        rebuild(
          parsed(`%0: f64 = load x
%1: i32 = load n
%2: f64 = loop %1, %0 body(%3: i32, %4: f64) {
  %5: f64 = mul %0, f64:0x3ff0000000000000
  %6: f64 = mul f64:0x4000000000000000, f64:0x4000000000000000
  %7: f64 = sin %5
  %8: f64 = mul %7, %6
  %9: f64 = add %4, %8
  yield %9
} condition(%10: i32, %11: f64) {
  yield true
}
store y, %2`),
        ),
      ),
    ).toBe(`%0: f64 = load x
%1: i32 = load n
%2: f64 = sin %0
%3: f64 = mul %2, f64:0x4010000000000000  ; 4
%4: f64 = loop %1, %0 body(%5: i32, %6: f64) {
  %7: f64 = add %6, %3
  yield %7
} condition(%8: i32, %9: f64) {
  yield true
}
store y, %4
`)
  })

  test('a hook may make of a constant what stands in one region only', () => {
    const graph = parsed(`%0: f64 = load x
%1: bool = lt %0, f64:0x0000000000000000
%2: f64 = branch %1 then {
  %3: f64 = sin f64:0x3ff0000000000000
  yield %3
} else {
  %4: f64 = cos f64:0x3ff0000000000000
  yield %4
}
store y, %2`)
    const made = rebuild(graph, {
      value: (value, _, b) => (value.op === 'const' && value.literal === 1 ? b.exp(b.load(0, 0)) : undefined),
    })
    expect(violations(made)).toEqual([])
  })
})

describe('random graphs', () => {
  const sizes = [1, 9]

  test('rebuilding and simplifying change no result', () => {
    fc.assert(
      fc.property(randomGraph({ effectsInRegions: true }), ({ graph }) => {
        const simpler = simplify(graph)
        expect(violations(simpler)).toEqual([])
        expect(print(rebuild(simpler))).toBe(print(simpler))
        // The interpreter runs what the parser read as it stands.
        const [expected, actual] = [parse(print(graph)), simpler].map((each) => compileAsIs(each))
        compareBackends({ graph, expected: expected!, actual: actual!, sizes })
      }),
      { numRuns: 60 },
    )
  })

  test('with its inputs as literals a graph folds to what it computes', () => {
    const options = { finishing: false } as const
    fc.assert(
      fc.property(randomGraph(options), fc.nat({ max: 1000 }), ({ graph }, seed) => {
        const next = random(seed)
        const inputs = graph.planes.map(({ type, components }) => planeArray(type as 'f64', components + 5, next))
        const known = rebuild(graph, {
          value(value, _, b) {
            if (value.op !== 'load') return undefined
            const number = inputs[value.plane]![value.component]!
            return b.const(value.type, value.type === 'bool' ? number === 1 : number)
          },
        })
        const outcomes = [graph, known].map((each) => {
          const uniforms = random(seed + 1)
          const bound = graph.planes.map(({ role, type, components }, plane) =>
            role === 'uniform'
              ? element(type as 'f64', uniforms)
              : { array: inputs[plane]!.slice(), pitch: 1, length: role === 'table' ? 6 - components : 1 },
          )
          compile(each)(bound, { sampleCount: 1, begin: 0, end: 1 })
          return bound.flatMap((plane) => (typeof plane === 'number' ? [] : [...plane.array]))
        }) as [number[], number[]]
        expect(outcomes[0].every((x, k) => sameBits(x, outcomes[1][k]!))).toBe(true)
      }),
      { numRuns: 100 },
    )
  })
})

/** An executable of a graph that no pass has touched. */
const compileAsIs = (graph: Graph): ReturnType<typeof build> => ({
  backend: 'reference',
  launch() {
    const run = compile(graph)
    const bindings: Parameters<typeof run>[0][number][] = graph.planes.map(() => undefined)
    return {
      bind: (plane, array, pitch, length) => void (bindings[plane] = { array, pitch, length }),
      set: (plane, value) => void (bindings[plane] = value),
      run: (range) => run(bindings, range),
      release: () => {},
      runAsync: async (range) => run(bindings, range),
    }
  },
})

describe('specialise', () => {
  test('every f64 becomes f32: planes, literals, conversions, random numbers, tapes', () => {
    const graph = parse(`plane x: sample f64
plane n: sample i32
plane y: sample f64
tape #0: f64[2]

%0: f64 = load x
%1: i32 = load n
%2: f64 = convert %1
%3: f64 = random %1, %1, %1
%4: f64 = mul %0, f64:0x3fb999999999999a
%5: f64 = add %2, %3
record #0, i32:0, %5
%6: f64 = recall #0, i32:0
%7: f64 = add %4, %6
store y, %7`)
    expect(print(specialise(graph, 'f64'))).toBe(print(graph))
    expectGolden(join(import.meta.dirname, 'golden', 'specialised.ir'), print(specialise(graph, 'f32')))
  })
})

describe('contract', () => {
  const fused = (make: (b: ReturnType<typeof createBuilder>, x: Value, y: Value) => Value): string => {
    const b = createBuilder(parse(PLANES).planes)
    const x = b.load(0, 0)
    b.store(2, 0, make(b, x, b.convert(b.load(1, 0), 'f64')))
    return nodesOf(contract(b.finishGraph())).split('\n').slice(3, -2).join('; ')
  }

  test.each<[string, (b: ReturnType<typeof createBuilder>, x: Value, y: Value) => Value, string]>([
    ['a·b + c', (b, x, y) => b.add(b.mul(x, y), x), '%3: f64 = fma %0, %2, %0'],
    ['c + a·b', (b, x, y) => b.add(x, b.mul(x, y)), '%3: f64 = fma %0, %2, %0'],
    ['a·b − c', (b, x, y) => b.sub(b.mul(x, y), x), '%3: f64 = neg %0; %4: f64 = fma %0, %2, %3'],
    ['c − a·b', (b, x, y) => b.sub(x, b.mul(x, y)), '%3: f64 = neg %0; %4: f64 = fma %3, %2, %0'],
    [
      'of two products the first',
      (b, x, y) => b.add(b.mul(x, x), b.mul(y, y)),
      '%3: f64 = mul %2, %2; %4: f64 = fma %0, %0, %3',
    ],
    [
      'not a product that is used twice',
      (b, x, y) => b.add(b.add(b.mul(x, y), x), b.mul(x, y)),
      '%3: f64 = mul %0, %2; %4: f64 = add %3, %0; %5: f64 = add %4, %3',
    ],
  ])('%s', (_, make, expected) => {
    expect(fused(make)).toBe(expected)
  })

  test('integers are left alone', () => {
    const b = createBuilder(parse(PLANES).planes)
    const n = b.load(1, 0)
    b.store(1, 0, b.add(b.mul(n, n), n))
    const graph = b.finishGraph()
    expect(print(contract(graph))).toBe(print(graph))
  })

  test('fusing is all that changes: with exact products the results are the same', () => {
    // Products of f32 numbers are exact in f64, so that rounding them first changes nothing.
    const b = createBuilder(parse(PLANES).planes)
    const x = b.convert(b.convert(b.load(0, 0), 'f32'), 'f64')
    b.store(2, 0, b.sub(b.sqrt(x), b.mul(x, b.const('f64', 3))))
    const graph = b.finishGraph()
    expect(isFloat(x.type) && print(contract(graph)).includes('fma')).toBe(true)
    compareBackends({ graph, expected: build(graph), actual: build(contract(graph)), sizes: [200] })
  })
})
