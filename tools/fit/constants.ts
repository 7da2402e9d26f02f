// Constants of argument reduction: logarithms and π cut into pieces that products with small integers leave exact, and the bits of 2/π.
import { div, fromNumber, log, LN2, PI, roundBits, toNumber, whole, type Fixed, FRACTION } from './fixed.ts'
import { split } from './remez.ts'

/** Cuts a constant into pieces of the given numbers of significant bits; the last piece is rounded, the others truncated alike. */
export function pieces(value: Fixed, bits: readonly number[]): number[] {
  let rest = value
  return bits.map((count) => {
    const piece = roundBits(rest, count)
    rest -= piece
    return toNumber(piece)
  })
}

const LN10 = log(whole(10))

/** 2/π after the point, in words of 32 bits, for arguments up to the largest double: 1024 + 53 + 128 bits and more. */
function twoOverPiWords(count: number): string[] {
  // 2/π to 32·count bits needs π to as many: Machin's formula again at that precision.
  const fraction = BigInt(32 * count + 64)
  const one = 1n << fraction
  const atanInverse = (n: bigint): bigint => {
    let power = one / n
    let sum = 0n
    for (let k = 1n; power !== 0n; k += 2n) {
      sum += k & 2n ? -(power / k) : power / k
      power /= n * n
    }
    return sum
  }
  const pi = 4n * (4n * atanInverse(5n) - atanInverse(239n))
  const value = (2n * one * one) / pi
  return Array.from({ length: count }, (_, i) => {
    const word = (value >> (fraction - 32n * BigInt(i + 1))) & 0xffffffffn
    return `0x${word.toString(16).padStart(8, '0')}`
  })
}

const list = (values: readonly number[]): string => `[${values.join(', ')}]`

export function constantTables(): string {
  const log10Of2 = div(LN2, LN10)
  const lines: [string, string, string][] = [
    ['log 2: 42 + 53 bits; n·first is exact for |n| < 2^11.', 'ln2F64', list(pieces(LN2, [42, 53]))],
    ['log 2: 15 + 24 bits; n·first is exact for |n| < 2^9.', 'ln2F32', list(pieces(LN2, [15, 24]))],
    ['log 2 and its rest.', 'ln2Pair', list(split(LN2))],
    ['1/log 2 and its rest.', 'log2E', list(split(div(1n << FRACTION, LN2)))],
    ['1/log 2 in f32: 24 + 24 bits.', 'log2EF32', list(pieces(div(1n << FRACTION, LN2), [24, 24]))],
    ['1/log 10 in f32: 24 + 24 bits.', 'log10EF32', list(pieces(div(1n << FRACTION, LN10), [24, 24]))],
    ['log 2 in f32: 24 + 24 bits.', 'ln2PairF32', list(pieces(LN2, [24, 24]))],
    ['log 10 in f32: 24 + 24 bits.', 'ln10F32', list(pieces(LN10, [24, 24]))],
    ['log₁₀ 2: 42 + 53 bits.', 'log10Of2F64', list(pieces(log10Of2, [42, 53]))],
    ['log₁₀ 2: 15 + 24 bits.', 'log10Of2F32', list(pieces(log10Of2, [15, 24]))],
    ['log₂ 10.', 'log2Of10', String(toNumber(div(LN10, LN2)))],
    ['log 10 and its rest.', 'ln10', list(split(LN10))],
    ['1/log 10 and its rest.', 'log10E', list(split(div(1n << FRACTION, LN10)))],
    [
      'π/2 for fused reduction in f64: 53 + 33 + 53 bits; n·second is exact for |n| < 2^20.',
      'halfPiFused',
      list(pieces(PI / 2n, [53, 33, 53])),
    ],
    [
      'π/2 for unfused reduction in f64: 33 + 33 + 33 + 53 bits; products with |n| < 2^20 are exact.',
      'halfPiPieces',
      list(pieces(PI / 2n, [33, 33, 33, 53])),
    ],
    [
      'π/2 for fused reduction in f32: 24 + 16 + 24 bits; n·second is exact for |n| < 2^8.',
      'halfPiFusedF32',
      list(pieces(PI / 2n, [24, 16, 24])),
    ],
    ['2/π.', 'twoOverPi', String(toNumber(div(whole(2), PI)))],
    ['π/2 and its rest.', 'halfPi', list(split(PI / 2n))],
    ['π/4: 50 + 53 bits; k·first is exact for k ≤ 4.', 'quarterPi', list(pieces(PI / 4n, [50, 53]))],
    ['π/4: 21 + 24 bits; k·first is exact for k ≤ 4.', 'quarterPiF32', list(pieces(PI / 4n, [21, 24]))],
    ['π and its rest.', 'piPair', list(split(PI))],
    ['½·log 2π and its rest.', 'halfLog2Pi', list(split(log(2n * PI) / 2n))],
    ['log π and its rest.', 'logPi', list(split(log(PI)))],
    ['2/3 and its rest.', 'twoThirds', list(split(whole(2) / 3n))],
    ['π/2 in f32: 24 + 24 bits.', 'halfPiF32', list(pieces(PI / 2n, [24, 24]))],
  ]
  const numbers = lines.map(([meaning, name, value]) => `/** ${meaning} */\nexport const ${name} = ${value} as const\n`)
  const words = `/** 2/π after the point, in words of 32 bits, most significant first. */\nexport const twoOverPiWords = [${twoOverPiWords(40).join(', ')}] as const\n`
  return [...numbers, words].join('\n')
}

export { fromNumber }
