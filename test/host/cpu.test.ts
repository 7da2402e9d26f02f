import { describe, expect, test } from 'vitest'
import { describeProcessor, processor } from '../../src/runtime/cpu.ts'

/** An entry of /proc/cpuinfo as the kernel prints it on x86, shortened to the lines that matter. */
const x86 = (model: string, flags: string) =>
  `processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: ${model}\ncpu MHz\t\t: 2700.000\nflags\t\t: ${flags}\n\nprocessor\t: 1\nflags\t\t: other\n`

const OLD = 'fpu sse sse2 ssse3'
const MIDDLE = `${OLD} sse4_1 sse4_2 avx fma avx2`
const NEW = `${MIDDLE} avx512f avx512dq avx512cd avx512bw avx512vl`

describe('targets', () => {
  test.each([
    ['x64', OLD, { vectorBytes: 16, vectorRegisters: 16, fma: false, rounding: false, avx512: false }, 'SSE2'],
    ['x64', MIDDLE, { vectorBytes: 32, vectorRegisters: 16, fma: true, rounding: true, avx512: false }, 'AVX2'],
    ['x64', NEW, { vectorBytes: 64, vectorRegisters: 32, fma: true, rounding: true, avx512: true }, 'AVX-512'],
    // Knights Landing: AVX-512 without its byte, doubleword and short-vector parts.
    ['x64', `${MIDDLE} avx512f avx512cd avx512er`, { vectorBytes: 32, avx512: false }, 'AVX2'],
  ])('%s with %s', (architecture, flags, target, set) => {
    const described = describeProcessor(x86('Some CPU', flags), architecture)
    expect(described.target).toMatchObject(target)
    expect(described.description).toBe(`Some CPU (${set})`)
  })

  test('arm64', () => {
    const entry = 'processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n'
    expect(describeProcessor(entry, 'arm64')).toMatchObject({
      description: '0xd40 (NEON)',
      target: { vectorBytes: 16, vectorRegisters: 32, fma: true, rounding: true, avx512: false },
    })
  })
})

describe('identities', () => {
  const identity = (model: string, flags: string) => describeProcessor(x86(model, flags), 'x64').identity

  test('differ by model and by every feature, which decide what -march=native means', () => {
    const others = [identity('A', MIDDLE), identity('B', NEW), identity('A', NEW.replace(' avx512cd', ''))]
    expect(others).not.toContain(identity('A', NEW))
  })

  test('do not differ by the clock or the number of processors', () => {
    const entry = x86('A', NEW)
    const other = entry.replace('2700.000', '1200.123').split('\n\n')[0]!
    expect(describeProcessor(other, 'x64').identity).toBe(describeProcessor(entry, 'x64').identity)
  })
})

test('this processor is described from what the system says', () => {
  expect(processor().description).not.toContain('unknown')
  expect(processor()).toBe(processor())
})
