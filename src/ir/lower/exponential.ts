// exp, exp2, exp10, expm1: x = n·log 2 + r with |r| ≤ log(2)/2 (Cody and Waite, two pieces), eʳ = 1 + r + r²·T(r), scaled by 2ⁿ.
// Degree 12 in f64, 6 in f32. 1 and the first, exact piece of r are added without loss, so that one large rounding is left:
// below 0.65 ULP. Coefficients: `expTail…` and friends in coefficients.ts, by tools/fit.
import { expTailF32, expTailF64, ln2F32, ln2F64, log2E } from './coefficients.ts'
import type { Value } from '../graph.ts'
import { createKit, type Kit, type Lowering } from './kit.ts'

/** Bits of the shifter 1.5·2²³ in front of the whole number in the low bits. */
const SHIFTER_BITS_F32 = 0x4b400000n

/** The whole number of `nearest` as i32. */
export function wholeAsInteger(kit: Kit, bits: Value): Value {
  const { b } = kit
  return kit.type === 'f64' ? b.convert(bits, 'i32') : b.sub(bits, kit.bitsConst(SHIFTER_BITS_F32))
}

/** Arguments above `over` give Infinity, below `under` 0; the borders of the exact function rounded outwards. */
interface Range {
  readonly over: number
  readonly under: number
}

const EXP_RANGE: Record<Kit['type'], Range> = {
  f64: { over: 709.782712893384, under: -745.1332191019412 },
  f32: { over: 88.72283172607422, under: -103.97208404541016 },
}

/** Gives the values outside the range, where the reduction has left nothing of x. NaN passes. */
function clampRange({ b, k }: Kit, x: Value, inside: Value, { over, under }: Range): Value {
  return b.select(b.gt(x, k(over)), k(Infinity), b.select(b.lt(x, k(under)), k(0), inside))
}

/** x = n·log 2 + (high + low), |high + low| ≤ log(2)/2. */
export function reduceByLn2(kit: Kit, x: Value) {
  const { k, mad, nmad, b } = kit
  const [first, second] = kit.type === 'f64' ? ln2F64 : ln2F32
  const { whole, bits } = kit.nearest(x, log2E[0])
  const high = nmad(whole, k(first), x)
  const low = b.mul(whole, k(-second))
  return { exponent: wholeAsInteger(kit, bits), whole, high, low, reduced: mad(whole, k(-second), high) }
}

export const exp: Lowering = (b, [x], target) => {
  const kit = createKit(b, x!.type, target)
  const { exponent, high, low, reduced } = reduceByLn2(kit, x!)
  const tail = kit.polynomial(kit.type === 'f64' ? expTailF64 : expTailF32, reduced)
  const rest = kit.mad(b.mul(reduced, reduced), tail, low)
  const top = kit.quickSum(kit.k(1), high)
  const scaled = b.ldexp(b.add(top.high, b.add(top.low, rest)), exponent)
  return clampRange(kit, x!, scaled, EXP_RANGE[kit.type])
}
