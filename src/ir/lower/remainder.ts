// fmod, remainder, mod, exact: long division, 50 bits of quotient a step. With the divisor raised by a power of two so that the quotient
// stays below 2^52, its truncation q leaves r − q·d, which is a multiple of the last place of both and smaller than d, hence exact; where
// the division rounded up to a whole number it is negative and gets d back. All in f64: f32 operands are exact there.
import type { Builder } from '../build.ts'
import type { Value } from '../graph.ts'
import { createKit, type Kit, type Lowering, type LoweringTarget } from './kit.ts'

const STEP_BITS = 50
/** Steps that take the largest double down to below the smallest: (1024 + 1074)/50. */
const MOST_STEPS = 42

/** The exponent of a positive finite double, subnormal ones included, as i32. */
function exponentOf({ b, k, toBits, bitsConst }: Kit, x: Value): Value {
  const isSubnormal = b.lt(x, k(2 ** -1022))
  const bits = toBits(b.select(isSubnormal, b.mul(x, k(2 ** 54)), x))
  const offset = b.select(isSubnormal, b.const('i32', 1023 + 54), b.const('i32', 1023))
  return b.sub(b.convert(b.shrUnsigned(bits, bitsConst(52n)), 'i32'), offset)
}

/** r − q·d, exact. Without FMA a product beside the largest double could overflow; both are multiples of 2^800 there. */
function difference(kit: Kit, q: Value, d: Value, r: Value): Value {
  if (kit.target.fma) return kit.residual(q, d, r)
  const { b, k } = kit
  const isGreat = b.gt(r, k(2 ** 1000))
  const scale = b.select(isGreat, k(2 ** -100), k(1))
  const back = b.select(isGreat, k(2 ** 100), k(1))
  return b.mul(kit.residual(q, b.mul(d, scale), b.mul(r, scale)), back)
}

/** Remainder of two positive doubles; any value where one is 0, infinite or NaN. */
function reduce(kit: Kit, x: Value, y: Value): Value {
  const { b, k } = kit
  const i32 = (n: number) => b.const('i32', n)
  const isOrdinary = b.and(b.gt(y, k(0)), b.lt(x, k(Infinity)))
  const divisorExponent = exponentOf(kit, y)
  const [r] = b.loop({
    count: i32(MOST_STEPS),
    initial: [x],
    condition: (_, [rest]) => b.and(isOrdinary, b.ge(rest!, y)),
    body: (_, [rest]) => {
      const raise = b.max(b.sub(b.sub(exponentOf(kit, rest!), divisorExponent), i32(STEP_BITS)), i32(0))
      const divisor = b.ldexp(y, raise)
      const q = b.trunc(b.div(rest!, divisor))
      const left = difference(kit, q, divisor, rest!)
      return [b.select(b.lt(left, k(0)), b.add(left, divisor), left)]
    },
  })
  return r!
}

const inDouble =
  (rule: (kit: Kit, x: Value, y: Value) => Value): Lowering =>
  (b: Builder, [x, y]: readonly Value[], target: LoweringTarget) =>
    b.convert(rule(createKit(b, 'f64', target), b.convert(x!, 'f64'), b.convert(y!, 'f64')), x!.type)

/** NaN for an infinite dividend, a zero divisor or a NaN. */
function remainderSpecials({ b, k }: Kit, x: Value, y: Value, value: Value): Value {
  const isOrdinary = b.and(b.lt(b.abs(x), k(Infinity)), b.gt(b.abs(y), k(0)))
  return b.select(isOrdinary, value, k(NaN))
}

function truncatedRemainder(kit: Kit, x: Value, y: Value): Value {
  const { b } = kit
  return remainderSpecials(kit, x, y, kit.withSign(reduce(kit, b.abs(x), b.abs(y)), x))
}

export const fmod = inDouble(truncatedRemainder)

export const remainder = inDouble((kit, x, y) => {
  const { b } = kit
  const divisor = b.abs(y)
  // Modulo twice the divisor (an overflow to Infinity is right: nothing is taken away), then to the nearer multiple, ties to even.
  const rest = reduce(kit, b.abs(x), b.add(divisor, divisor))
  const isUpper = b.gt(rest, b.sub(divisor, rest))
  const once = b.select(isUpper, b.sub(rest, divisor), rest)
  const isOver = b.and(isUpper, b.ge(once, b.sub(divisor, once)))
  const nearest = b.select(isOver, b.sub(once, divisor), once)
  return remainderSpecials(kit, x, y, kit.flipSign(nearest, x))
})

export const mod = inDouble((kit, x, y) => {
  const { b, k } = kit
  const rest = truncatedRemainder(kit, x, y)
  const differs = b.ne(b.lt(rest, k(0)), b.lt(y, k(0)))
  const moved = b.select(differs, b.add(rest, y), rest)
  return b.select(b.eq(rest, k(0)), kit.withSign(rest, y), moved)
})
