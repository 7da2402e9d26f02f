// The emitted text: the body of a whole vector and the shape of a few small kernels, to be read in review; and what holds for all text.
import { describe, expect, test } from 'vitest'
import { emit } from '../../src/backends/llvm/emit.ts'
import type { EmitOptions } from '../../src/backends/llvm/interface.ts'
import { createBuilder, type Builder } from '../../src/ir/build.ts'
import type { Graph, Plane } from '../../src/ir/graph.ts'
import { expectGolden } from '../support/golden.ts'

const AVX512: EmitOptions = {
  symbol: 'k',
  target: { vectorBytes: 64, vectorRegisters: 32, fma: true, rounding: true, avx512: true },
}
const AVX2: EmitOptions = {
  symbol: 'k',
  target: { vectorBytes: 32, vectorRegisters: 16, fma: true, rounding: true, avx512: false },
}

const PLANES: readonly Plane[] = [
  { name: 'x', role: 'sample', type: 'f64', components: 1 },
  { name: 'n', role: 'sample', type: 'i32', components: 1 },
  { name: 'p', role: 'uniform', type: 'f64', components: 1 },
  { name: 't', role: 'table', type: 'f64', components: 1 },
  { name: 'y', role: 'sample', type: 'f64', components: 1 },
]

function graphOf(body: (b: Builder) => void): Graph {
  const b = createBuilder(PLANES)
  body(b)
  return b.finishGraph()
}

/** The lines of one block of the work function, labels and names numbered anew from where it starts. */
function blockOf(text: string, start: RegExp): string {
  const lines = text.split('\n')
  const first = lines.findIndex((line) => start.test(line))
  const length = lines.slice(first + 1).findIndex((line) => line.endsWith(':') || line === '}')
  const names = new Map<string, string>()
  const renumber = (name: string) => names.get(name) ?? names.set(name, `%${names.size}`).get(name)!
  return `${lines
    .slice(first, first + 1 + length)
    .map((line) => line.replaceAll(/%v\d+/g, renumber))
    .join('\n')}\n`
}

describe('goldens', () => {
  test('straight: one vector of a polynomial', () => {
    const graph = graphOf((b) => {
      const x = b.load(0, 0)
      b.store(4, 0, b.max(b.fma(x, b.uniform(2), b.const('f64', 0.1)), b.const('f64', 1)))
    })
    const { definitions } = emit(graph, { ...AVX512, width: 8 })
    expectGolden('test/llvm/golden/straight.ll', blockOf(definitions, /^vectors/))
  })

  test('a loop that lanes leave by themselves', () => {
    const graph = graphOf((b) => {
      const [last] = b.loop({
        count: b.load(1, 0),
        initial: [b.load(0, 0)],
        condition: (_, [x]) => b.lt(x!, b.const('f64', 4)),
        body: (_, [x]) => [b.mul(x!, x!)],
      })
      b.store(4, 0, last!)
    })
    const { definitions } = emit(graph, { ...AVX512, divergence: 'masked' })
    expectGolden('test/llvm/golden/loop.ll', `${blockOf(definitions, /^loop/)}${blockOf(definitions, /^body/)}`)
  })

  test('a gather without gather instructions', () => {
    const graph = graphOf((b) => {
      const n = b.load(1, 0)
      const [sum] = b.loop({
        count: n,
        initial: [b.load(0, 0)],
        body: (i, [x]) => [b.add(x!, b.gather(3, 0, b.add(i, n)))],
      })
      b.store(4, 0, sum!)
    })
    const { definitions } = emit(graph, { ...AVX2, width: 2, divergence: 'masked' })
    expectGolden('test/llvm/golden/gather.ll', blockOf(definitions, /^body/))
  })

  test('one sample at a time: branches are jumps', () => {
    const graph = graphOf((b) => {
      const x = b.load(0, 0)
      const [y] = b.branch(
        b.lt(x, b.zero('f64')),
        () => [b.sqrt(b.neg(x))],
        () => [b.sqrt(x)],
      )
      b.store(4, 0, y!)
    })
    const { definitions } = emit(graph, { ...AVX512, width: 1 })
    expectGolden(
      'test/llvm/golden/branch.ll',
      `${blockOf(definitions, /^sample\d/)}${blockOf(definitions, /^side/)}${blockOf(definitions, /^join/)}`,
    )
  })
})

describe('shapes', () => {
  const shapeOf = (body: (b: Builder) => void, options: Partial<EmitOptions> = {}) =>
    emit(graphOf(body), { ...AVX512, ...options }).shape
  const streaming = (b: Builder) => b.store(4, 0, b.neg(b.load(0, 0)))
  const mainLoop = (cap: number) => (b: Builder) => {
    const n = b.load(1, 0)
    const [x] = b.loop({
      count: b.const('i32', cap),
      initial: [b.load(0, 0)],
      condition: (i) => b.lt(i, n),
      body: (_, [value]) => [b.mul(value!, b.uniform(2))],
    })
    b.store(4, 0, x!)
  }

  test('a streaming kernel takes four vectors at a time', () => {
    expect(shapeOf(streaming)).toEqual({ width: 8, vectors: 4, divergence: 'straight' })
    expect(shapeOf(streaming, { target: AVX2.target })).toEqual({ width: 4, vectors: 4, divergence: 'straight' })
    expect(shapeOf(streaming, { width: 1 })).toEqual({ width: 1, vectors: 1, divergence: 'straight' })
  })

  test('a main loop has its lanes refilled unless its cap is small', () => {
    expect(shapeOf(mainLoop(1000))).toEqual({ width: 8, vectors: 4, divergence: 'refilled' })
    expect(shapeOf(mainLoop(16))).toEqual({ width: 8, vectors: 4, divergence: 'interleaved' })
    expect(shapeOf(mainLoop(1000), { divergence: 'masked' })).toEqual({ width: 8, vectors: 1, divergence: 'masked' })
    expect(shapeOf(mainLoop(1000), { width: 1 })).toEqual({ width: 1, vectors: 1, divergence: 'straight' })
  })

  test('what is the same for all samples is computed before them, as scalars', () => {
    const { definitions } = emit(
      graphOf((b) => {
        const p = b.uniform(2)
        const [power] = b.loop({ count: b.const('i32', 20), initial: [p], body: (_, [x]) => [b.mul(x!, p)] })
        b.store(4, 0, b.mul(b.load(0, 0), b.add(power!, b.gather(3, 0, b.const('i32', 2)))))
      }),
      AVX512,
    )
    const before = definitions.slice(0, definitions.indexOf('\nsamples'))
    expect(before.match(/fmul double/g)?.length).toBe(1)
    expect(definitions.slice(before.length)).not.toMatch(/f(mul|add) double/)
  })
})

test('nothing that only newer compilers read', () => {
  const { definitions } = emit(
    graphOf((b) => b.store(4, 0, b.floor(b.mul(b.load(0, 0), b.const('f64', 0.1))))),
    AVX512,
  )
  expect(definitions).not.toMatch(/splat \(|\bdouble \d+\.|nofpclass|captures\(|inrange\(/)
  expect(definitions).toContain('double 0x3FB999999999999A')
})
