// exp, exp2, exp10, expm1: x = n·log 2 + r with |r| ≤ log(2)/2 (Cody and Waite, two pieces), eʳ = 1 + r + r²·T(r), scaled by 2ⁿ;
// the other bases likewise with n/log₂ of the base. Degree 12 in f64, 6 in f32. 1 and the first, exact piece of r are added without
// loss, so that one large rounding is left: below 0.76 ULP (0.81 in f32, 0.91 for expm1). Coefficients: `exp…Tail…` in coefficients.ts, by tools/fit.
import {
  exp10TailF32,
  exp10TailF64,
  exp2TailF32,
  exp2TailF64,
  expTailF32,
  expTailF64,
  expTailLong,
  ln10,
  ln10F32,
  ln2F32,
  ln2F64,
  ln2Pair,
  ln2PairF32,
  log10Of2F32,
  log10Of2F64,
  log2E,
  log2Of10,
} from './coefficients.ts'
import type { Value } from '../graph.ts'
import { createKit, type Kit, type Lowering, type Pair } from './kit.ts'

/** Arguments above `over` give Infinity, below `under` 0; the borders of the exact function, rounded outwards. */
interface Range {
  readonly over: number
  readonly under: number
}

const EXP_RANGE: Record<Kit['type'], Range> = {
  f64: { over: 709.782712893384, under: -745.1332191019412 },
  f32: { over: 88.72283935546875, under: -103.97208404541016 },
}
const EXP2_RANGE: Record<Kit['type'], Range> = { f64: { over: 1024, under: -1076 }, f32: { over: 128, under: -151 } }
const EXP10_RANGE: Record<Kit['type'], Range> = {
  f64: { over: 308.2547155599168, under: -323.60724533877976 },
  f32: { over: 38.53184127807617, under: -45.15451431274414 },
}

/** Gives the values outside the range, where the reduction has left nothing of x. NaN passes. */
export function clampRange({ b, k }: Kit, x: Value, inside: Value, { over, under }: Range): Value {
  return b.select(b.gt(x, k(over)), k(Infinity), b.select(b.lt(x, k(under)), k(0), inside))
}

/**
 * 2^n·(high + low) rounded once, also where it is subnormal: there the sum is made beside an anchor whose last place is that of the
 * result. Vectors without such a lane skip that. For high in [½, 2) and n in the low bits of `bits`.
 */
function scaleOnce(kit: Kit, high: Value, low: Value, bits: Value): Value {
  const { b, k } = kit
  const sum = b.add(high, low)
  if (kit.type === 'f32') return b.ldexp(sum, bits)
  const exponent = b.convert(bits, 'i32')
  const isNormal = b.ge(exponent, b.const('i32', -1021))
  const [mantissa] = b.shortcut(
    isNormal,
    () => [sum],
    () => {
      // In the middle of its binade, which the sum must not leave.
      const anchor = b.sub(b.ldexp(k(1.5), b.sub(b.const('i32', -1022), exponent)), k(1))
      const top = kit.sum(anchor, high)
      return [b.select(isNormal, sum, b.sub(b.add(top.high, b.add(top.low, low)), anchor))]
    },
  )
  return b.ldexp(mantissa!, exponent)
}

/** What decides the ends of an exponential: its argument, and the magnitudes of it below which the result is a normal number. */
interface Ends {
  readonly argument: Value
  readonly normal: number
  readonly range: Range
}

/** 2^n·(high + low), for high in [½, 2) and n in the low bits of `bits`; outside the range Infinity and 0. */
export function scaleWithin(kit: Kit, { high, low }: Pair, bits: Value, { argument, normal, range }: Ends): Value {
  const { b, k } = kit
  return kit.ordinaryOr(
    b.lt(b.abs(argument), k(normal)),
    () => kit.scaleNormal(b.add(high, low), bits),
    () => clampRange(kit, argument, scaleOnce(kit, high, low, bits), range),
  )
}

/** x = n·unit + (high + low), |high + low| ≤ unit/2, for a unit in two pieces; `high` is exact. */
function reduce(kit: Kit, x: Value, [first, second]: readonly [number, number], reciprocal: number) {
  const { k, nmad, b } = kit
  const { whole, bits } = kit.nearest(x, reciprocal)
  return { bits, high: nmad(whole, k(first), x), low: b.mul(whole, k(-second)) }
}

export const reduceByLn2 = (kit: Kit, x: Value) => reduce(kit, x, kit.type === 'f64' ? ln2F64 : ln2F32, log2E[0])

const expTail = (kit: Kit, reduced: Value) => kit.polynomial(kit.type === 'f64' ? expTailF64 : expTailF32, reduced)

/** e^(high + low) = 2ⁿ·(mantissa pair) in f64, n in the low bits: the pair in [0.7, 1.42], its relative error below 2^-58. */
export function expOfPair(kit: Kit, high: Value, low: Value): { readonly mantissa: Pair; readonly bits: Value } {
  const { b, k } = kit
  const parts = reduceByLn2(kit, high)
  const rest = b.add(parts.low, low)
  const r = b.add(parts.high, rest)
  // 1 + r + r²/2 keeps its rests, so that only r³·T rounds.
  const half = kit.product(r, b.mul(r, k(0.5)))
  const cubic = kit.mad(b.mul(half.high, b.add(r, r)), kit.polynomial(expTailLong.slice(1), r), half.low)
  const linear = kit.quickSum(k(1), parts.high)
  const top = kit.quickSum(linear.high, half.high)
  const small = b.add(b.add(linear.low, top.low), b.add(rest, cubic))
  return { mantissa: kit.quickSum(top.high, small), bits: parts.bits }
}

/** Below these magnitudes of the argument the result is a normal number, the power of two in it as well. */
export const EXP_NORMAL: Record<Kit['type'], number> = { f64: 708, f32: 86 }
const EXP2_NORMAL: Record<Kit['type'], number> = { f64: 1020, f32: 124 }
const EXP10_NORMAL: Record<Kit['type'], number> = { f64: 307, f32: 37 }

export const exp: Lowering = (b, [x], target) => {
  const kit = createKit(b, x!.type, target)
  const { bits, high, low } = reduceByLn2(kit, x!)
  const reduced = b.add(high, low)
  const rest = kit.mad(b.mul(reduced, reduced), expTail(kit, reduced), low)
  const top = kit.quickSum(kit.k(1), high)
  const ends = { argument: x!, normal: EXP_NORMAL[kit.type], range: EXP_RANGE[kit.type] }
  return scaleWithin(kit, { high: top.high, low: b.add(top.low, rest) }, bits, ends)
}

/** 1 + r·log(base) + r²·T, r·log(base) as a pair, for r = high + low. */
function powerOfBase(
  kit: Kit,
  high: Value,
  low: Value | undefined,
  [log, logLow]: readonly [number, number],
  tail: Value,
): Pair {
  const { b, k, mad } = kit
  const reduced = low ? b.add(high, low) : high
  const linear = kit.product(high, k(log))
  const small = mad(high, k(logLow), low ? mad(low, k(log), linear.low) : linear.low)
  const rest = mad(b.mul(reduced, reduced), tail, small)
  const top = kit.quickSum(k(1), linear.high)
  return { high: top.high, low: b.add(top.low, rest) }
}

export const exp2: Lowering = (b, [x], target) => {
  const kit = createKit(b, x!.type, target)
  const wide = kit.type === 'f64'
  const { whole, bits } = kit.nearest(x!, 1)
  const reduced = b.sub(x!, whole)
  const tail = kit.polynomial(wide ? exp2TailF64 : exp2TailF32, reduced)
  const value = powerOfBase(kit, reduced, undefined, wide ? ln2Pair : ln2PairF32, tail)
  return scaleWithin(kit, value, bits, { argument: x!, normal: EXP2_NORMAL[kit.type], range: EXP2_RANGE[kit.type] })
}

export const exp10: Lowering = (b, [x], target) => {
  const kit = createKit(b, x!.type, target)
  const wide = kit.type === 'f64'
  const { bits, high, low } = reduce(kit, x!, wide ? log10Of2F64 : log10Of2F32, log2Of10)
  const tail = kit.polynomial(wide ? exp10TailF64 : exp10TailF32, b.add(high, low))
  const value = powerOfBase(kit, high, low, wide ? ln10 : ln10F32, tail)
  return scaleWithin(kit, value, bits, { argument: x!, normal: EXP10_NORMAL[kit.type], range: EXP10_RANGE[kit.type] })
}

/** Below this eˣ − 1 rounds to −1. */
const EXPM1_FLOOR: Record<Kit['type'], number> = { f64: -38, f32: -18 }

/**
 * e^x = 2ⁿ·(1 + high + half + low), n in the low bits: the first piece of r and r²/2 exactly, so that of a difference that cancels them down to
 * a third only r³·T rounds.
 */
export function expm1Parts(kit: Kit, x: Value) {
  const { b, k } = kit
  const { bits, high, low } = reduceByLn2(kit, x)
  const r = b.add(high, low)
  const half = kit.product(r, b.mul(r, k(0.5)))
  const tail = kit.polynomial((kit.type === 'f64' ? expTailF64 : expTailF32).slice(1), r)
  const cubic = kit.mad(b.mul(half.high, b.add(r, r)), tail, half.low)
  return { bits, high, half: half.high, low: b.add(low, cubic) }
}

/** 2ⁿ·((1 − 2⁻ⁿ) + (eʳ − 1)). */
export const expm1: Lowering = (b, [x], target) => {
  const kit = createKit(b, x!.type, target)
  const { k } = kit
  const { bits, high, half, low } = expm1Parts(kit, x!)
  const scaled = (scale: Kit['scale']) => {
    const unit = scale(k(1), b.neg(bits))
    const offset = b.sub(k(1), unit)
    const offsetLow = b.sub(b.sub(k(1), offset), unit)
    const linear = kit.quickSum(offset, high)
    const top = kit.quickSum(linear.high, half)
    const rest = b.add(b.add(linear.low, offsetLow), b.add(top.low, low))
    return scale(b.add(top.high, rest), bits)
  }
  const value = kit.ordinaryOr(
    b.lt(b.abs(x!), k(EXP_NORMAL[kit.type])),
    () => scaled(kit.scaleNormal),
    () => b.select(b.gt(x!, k(EXP_RANGE[kit.type].over)), k(Infinity), scaled(kit.scale)),
  )
  const bounded = b.select(b.lt(x!, k(EXPM1_FLOOR[kit.type])), k(-1), value)
  return b.select(b.eq(x!, k(0)), x!, bounded)
}
