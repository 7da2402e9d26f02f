// Philox4x32-10 (J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011): ten rounds of two 32×32-bit products on a
// counter of four words, keyed by two. Key: (seed, 0); counter: (block, sample, 0, 0). A block holds two f64 or four f32 numbers, so that
// neighbouring counters of one sample share it: block = counter / 2 or / 4.
import type { Builder } from '../build.ts'
import type { Value } from '../graph.ts'
import type { Lowering } from './kit.ts'

const ROUNDS = 10
const MULTIPLIERS = [0xd2511f53, 0xcd9e8d57] as const
/** Weyl steps of the key: the golden ratio and √3 − 1. */
const KEY_STEPS = [0x9e3779b9, 0xbb67ae85] as const

export type Words = readonly [Value, Value, Value, Value]

/** Upper and lower word of the product of a word with a constant. */
function wideProduct(b: Builder, x: Value, multiplier: number): { upper: Value; lower: Value } {
  const product = b.mul(b.convert(x, 'i64'), b.const('i64', BigInt(multiplier)))
  return {
    upper: b.convert(b.shrUnsigned(product, b.const('i64', 32n)), 'u32'),
    lower: b.convert(product, 'u32'),
  }
}

/** The generator itself: four u32 from a counter of four u32 and a key of two. */
export function philox4x32(b: Builder, counter: Words, key: readonly [Value, Value]): Words {
  let [c0, c1, c2, c3] = counter
  let [k0, k1] = key
  for (let round = 0; round < ROUNDS; round++) {
    if (round > 0) {
      k0 = b.add(k0, b.const('u32', KEY_STEPS[0]))
      k1 = b.add(k1, b.const('u32', KEY_STEPS[1]))
    }
    const first = wideProduct(b, c0, MULTIPLIERS[0])
    const second = wideProduct(b, c2, MULTIPLIERS[1])
    ;[c0, c1, c2, c3] = [
      b.xor(b.xor(second.upper, c1), k0),
      second.lower,
      b.xor(b.xor(first.upper, c3), k1),
      first.lower,
    ]
  }
  return [c0, c1, c2, c3]
}

/** Uniform in [0, 1): the upper 53 or 24 random bits as a whole number, scaled. */
export const random: Lowering = (b, [seed, sample, counter], _, type) => {
  const wide = type === 'f64'
  const u32 = (x: number) => b.const('u32', x)
  const number = b.bitcast(counter!, 'u32')
  const zero = u32(0)
  const block = b.shrUnsigned(number, u32(wide ? 1 : 2))
  const words = philox4x32(b, [block, b.bitcast(sample!, 'u32'), zero, zero], [b.bitcast(seed!, 'u32'), zero])
  const isOdd = b.ne(b.and(number, u32(1)), zero)
  if (wide) {
    const upper = b.shrUnsigned(b.select(isOdd, words[2], words[0]), u32(5))
    const lower = b.shrUnsigned(b.select(isOdd, words[3], words[1]), u32(6))
    const whole = b.add(b.mul(b.convert(upper, 'f64'), b.const('f64', 2 ** 26)), b.convert(lower, 'f64'))
    return b.mul(whole, b.const('f64', 2 ** -53))
  }
  const isUpper = b.ne(b.and(number, u32(2)), zero)
  const word = b.select(isUpper, b.select(isOdd, words[3], words[2]), b.select(isOdd, words[1], words[0]))
  return b.mul(b.convert(b.shrUnsigned(word, u32(8)), 'f32'), b.const('f32', 2 ** -24))
}
