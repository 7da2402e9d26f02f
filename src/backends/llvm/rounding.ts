// Templates of the ops that need a processor feature: rounding to whole numbers and scaling by powers of two. Each has a form for
// processors without the instruction, as LLVM would call a library function there.
import type { FloatType } from '../../ir/types.ts'

interface Format {
  /** Floats of at least this size are whole. */
  readonly wholeFrom: string
  readonly signBit: string
  readonly fractionBits: number
  readonly bias: number
  /** Largest and smallest exponent of a normal power of two. */
  readonly highest: number
  readonly lowest: number
  /** lowest + precision: after this step down, what is left to go is below −precision. */
  readonly step: number
}

const FORMAT: Record<FloatType, Format> = {
  f64: {
    wholeFrom: '4503599627370496',
    signBit: '-9223372036854775808',
    fractionBits: 52,
    bias: 1023,
    highest: 1023,
    lowest: -1022,
    step: -969,
  },
  f32: {
    wholeFrom: '8388608',
    signBit: '-2147483648',
    fractionBits: 23,
    bias: 127,
    highest: 127,
    lowest: -126,
    step: -102,
  },
}

export type RoundingOp = 'floor' | 'ceil' | 'trunc' | 'rint'

export const ROUND_BY_INSTRUCTION: Record<RoundingOp, string> = {
  floor: 'call $T @llvm.floor.#T($T $0)',
  ceil: 'call $T @llvm.ceil.#T($T $0)',
  trunc: 'call $T @llvm.trunc.#T($T $0)',
  rint: 'call $T @llvm.rint.#T($T $0)',
}

/** %sign: the sign bit of the operand; %size: its magnitude; %even: the magnitude rounded to even, right below `wholeFrom`. */
const roundedSize = ({ wholeFrom, signBit }: Format) => `
  %bits = bitcast $T $0 to $I
  %sign = and $I %bits, $I(${signBit})
  %size = call $T @llvm.fabs.#T($T $0)
  %pushed = fadd $T %size, $T(${wholeFrom})
  %even = fsub $T %pushed, $T(${wholeFrom})
  %hasFraction = fcmp olt $T %size, $T(${wholeFrom})`

const withSign = (magnitude: string, result: string) => `
  ${result}.bits = bitcast $T ${magnitude} to $I
  ${result}.signed = or $I ${result}.bits, %sign
  ${result} = bitcast $I ${result}.signed to $T`

const whereFraction = (value: string) => `
  select $i1 %hasFraction, $T ${value}, $T $0`

export const roundByArithmetic = (type: FloatType): Record<RoundingOp, string> => {
  const size = roundedSize(FORMAT[type])
  return {
    rint: size + withSign('%even', '%whole') + whereFraction('%whole'),
    trunc:
      size +
      `
      %isAbove = fcmp ogt $T %even, %size
      %lower = fsub $T %even, $T(1)
      %cut = select $i1 %isAbove, $T %lower, $T %even` +
      withSign('%cut', '%whole') +
      whereFraction('%whole'),
    floor:
      size +
      withSign('%even', '%near') +
      `
      %isAbove = fcmp ogt $T %near, $0
      %lower = fsub $T %near, $T(1)
      %whole = select $i1 %isAbove, $T %lower, $T %near` +
      whereFraction('%whole'),
    // The sum of −1 and 1 is +0: the sign bit brings −0 back.
    ceil:
      size +
      withSign('%even', '%near') +
      `
      %isBelow = fcmp olt $T %near, $0
      %upper = fadd $T %near, $T(1)
      %raised = select $i1 %isBelow, $T %upper, $T %near` +
      withSign('%raised', '%whole') +
      whereFraction('%whole'),
  }
}

/**
 * x·2ⁱ as x times three powers of two whose exponents add up to i. Only the last factor that is not 1 rounds: a product that turns
 * subnormal before is multiplied by less than 2^−precision afterwards, which gives 0 either way.
 */
export function scaleByFactors(type: FloatType): string {
  const { fractionBits, bias, highest, lowest, step } = FORMAT[type]
  const take = (part: string, from: string) => `
    ${part}.isHigh = icmp sgt $i32 ${from}, $i32(${highest})
    ${part}.isLow = icmp slt $i32 ${from}, $i32(${lowest})
    ${part}.low = select $i1 ${part}.isLow, $i32 $i32(${step}), $i32 ${from}
    ${part} = select $i1 ${part}.isHigh, $i32 $i32(${highest}), $i32 ${part}.low`
  const widen = type === 'f64' ? 'sext $i32 %SOURCE to $I' : 'bitcast $i32 %SOURCE to $I'
  const power = (part: string) => `
    ${part}.wide = ${widen.replace('%SOURCE', part)}
    ${part}.biased = add $I ${part}.wide, $I(${bias})
    ${part}.bits = shl $I ${part}.biased, $I(${fractionBits})
    ${part}.power = bitcast $I ${part}.bits to $T`
  return `
    ${take('%a', '$1')}
    %rest = sub $i32 $1, %a
    ${take('%b', '%rest')}
    %last = sub $i32 %rest, %b
    %isHigh = icmp sgt $i32 %last, $i32(${highest})
    %lowered = select $i1 %isHigh, $i32 $i32(${highest}), $i32 %last
    %isLow = icmp slt $i32 %lowered, $i32(${lowest})
    %c = select $i1 %isLow, $i32 $i32(${lowest}), $i32 %lowered
    ${power('%a')}
    ${power('%b')}
    ${power('%c')}
    %once = fmul $T $0, %a.power
    %twice = fmul $T %once, %b.power
    fmul $T %twice, %c.power`
}

/** Bytes of a vector and what the AVX-512 instruction takes beside its two operands. */
const SCALE_INSTRUCTION: Record<number, { suffix: string; rest: (mask: string) => string }> = {
  64: { suffix: '512', rest: (mask) => `, ${mask} -1, i32 4` },
  32: { suffix: '256', rest: () => ', i8 -1' },
  16: { suffix: '128', rest: () => ', i8 -1' },
}

/** x·2ⁱ by the AVX-512 instruction, where there is one for this many lanes. */
export function scaleByInstruction(type: FloatType, width: number): string | undefined {
  const found = SCALE_INSTRUCTION[width * (type === 'f64' ? 8 : 4)]
  if (width === 1 || found === undefined) return undefined
  const [letter, mask] = type === 'f64' ? ['pd', 'i8'] : ['ps', 'i16']
  return `
    %count = sitofp $i32 $1 to $T
    call $T @llvm.x86.avx512.mask.scalef.${letter}.${found.suffix}($T $0, $T %count, $T zeroinitializer${found.rest(mask)})`
}
