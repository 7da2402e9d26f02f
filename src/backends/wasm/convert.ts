// Conversions between the types of the graph, lane by lane. WebAssembly has vector instructions for all of them but those between
// floats and i64; its own saturating conversions give 0 for NaN, as the op does.
import { isFloat, type FloatType, type IntegerType, type Literal, type Type } from '../../ir/types.ts'
import { byLane, extract, narrowMask, shape, splat, widenMask, type Lanes } from './lanes.ts'

/** A literal in every lane. */
type Constant = (literal: Literal, type: Type) => string

/** 1 where a condition holds, else 0. */
function fromCondition(mask: string, to: Exclude<Type, 'bool'>, lanes: Lanes, constant: Constant): string {
  const one = constant(to === 'i64' ? 1n : 1, to)
  return `(v128.and ${to === 'f64' || to === 'i64' ? mask : narrowMask(mask, lanes)} ${one})`
}

function toCondition(x: string, from: Exclude<Type, 'bool'>, lanes: Lanes): string {
  const zero = splat(from === 'i64' ? 0n : 0, from, lanes)
  const mask = `(${shape(from, lanes)}.ne ${x} ${zero})`
  return from === 'f64' || from === 'i64' ? mask : widenMask(mask, lanes)
}

function floatToInteger(x: string, from: FloatType, to: IntegerType, lanes: Lanes): string {
  if (to === 'i64') return byLane('i64', lanes, (k) => `(i64.trunc_sat_${from}_s ${extract(from, lanes, k, x)})`)
  const sign = to === 'u32' ? 'u' : 's'
  return from === 'f64' ? `(i32x4.trunc_sat_f64x2_${sign}_zero ${x})` : `(i32x4.trunc_sat_f32x4_${sign} ${x})`
}

function integerToFloat(x: string, from: IntegerType, to: FloatType, lanes: Lanes): string {
  if (from === 'i64') return byLane(to, lanes, (k) => `(${to}.convert_i64_s ${extract('i64', lanes, k, x)})`)
  const sign = from === 'u32' ? 'u' : 's'
  return to === 'f64' ? `(f64x2.convert_low_i32x4_${sign} ${x})` : `(f32x4.convert_i32x4_${sign} ${x})`
}

function integerToInteger(x: string, from: IntegerType, to: IntegerType): string {
  if (to === 'i64') return `(i64x2.extend_low_i32x4_${from === 'u32' ? 'u' : 's'} ${x})`
  return from === 'i64' ? `(i8x16.shuffle 0 1 2 3 8 9 10 11 0 1 2 3 8 9 10 11 ${x} ${x})` : x
}

/** A value in another type. `x` is an expression without effects and may appear more than once. */
export function conversion(x: string, from: Type, to: Type, lanes: Lanes, constant: Constant): string {
  if (from === to) return x
  if (from === 'bool') return to === 'bool' ? x : fromCondition(x, to, lanes, constant)
  if (to === 'bool') return toCondition(x, from, lanes)
  if (isFloat(from)) {
    if (!isFloat(to)) return floatToInteger(x, from, to, lanes)
    return to === 'f64' ? `(f64x2.promote_low_f32x4 ${x})` : `(f32x4.demote_f64x2_zero ${x})`
  }
  return isFloat(to) ? integerToFloat(x, from, to, lanes) : integerToInteger(x, from, to)
}
