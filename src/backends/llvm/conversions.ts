// Templates of `convert` and `bitcast`. What LLVM calls poison (a float outside the range of the integer type) is guarded before LLVM
// sees it; `llvm.fptosi.sat` is not used, as it falls apart into scalars.
import type { Type } from '../../ir/types.ts'

/** Float to integer where the largest integer is exact in the float type: NaN to 0, clamp, truncate. */
const clampedTo = (instruction: 'fptosi' | 'fptoui', lowest: string, highest: string) => `
  %ordered = fcmp ord $T $0, $0
  %number = select $i1 %ordered, $T $0, $T $T(0)
  %isLow = fcmp olt $T %number, $T(${lowest})
  %raised = select $i1 %isLow, $T $T(${lowest}), $T %number
  %isHigh = fcmp ogt $T %raised, $T(${highest})
  %lowered = select $i1 %isHigh, $T $T(${highest}), $T %raised
  ${instruction} $T %lowered to $R`

/** Float to integer where only the number above the largest integer, the limit, is exact in the float type. */
const limitedTo = (instruction: 'fptosi' | 'fptoui', lowest: string, limit: string, highest: string) => `
  %ordered = fcmp ord $T $0, $0
  %number = select $i1 %ordered, $T $0, $T $T(0)
  %isLow = fcmp olt $T %number, $T(${lowest})
  %raised = select $i1 %isLow, $T $T(${lowest}), $T %number
  %isInside = fcmp olt $T %raised, $T(${limit})
  %inside = select $i1 %isInside, $T %raised, $T $T(0)
  %whole = ${instruction} $T %inside to $R
  select $i1 %isInside, $R %whole, $R $R(${highest})`

const SAME = 'bitcast $T $0 to $R'
const TO_I64 = limitedTo('fptosi', '-9223372036854775808', '9223372036854775808', '9223372036854775807')
const isNot0 = (compare: string) => `${compare} $T $0, $T(0)`

/** From the first type to the second. */
export const CONVERT: Record<Type, Record<Type, string>> = {
  f64: {
    f64: SAME,
    f32: 'fptrunc $T $0 to $R',
    i32: clampedTo('fptosi', '-2147483648', '2147483647'),
    u32: clampedTo('fptoui', '0', '4294967295'),
    i64: TO_I64,
    bool: isNot0('fcmp une'),
  },
  f32: {
    f64: 'fpext $T $0 to $R',
    f32: SAME,
    i32: limitedTo('fptosi', '-2147483648', '2147483648', '2147483647'),
    u32: limitedTo('fptoui', '0', '4294967296', '4294967295'),
    i64: TO_I64,
    bool: isNot0('fcmp une'),
  },
  i32: {
    f64: 'sitofp $T $0 to $R',
    f32: 'sitofp $T $0 to $R',
    i32: SAME,
    u32: SAME,
    i64: 'sext $T $0 to $R',
    bool: isNot0('icmp ne'),
  },
  u32: {
    f64: 'uitofp $T $0 to $R',
    f32: 'uitofp $T $0 to $R',
    i32: SAME,
    u32: SAME,
    i64: 'zext $T $0 to $R',
    bool: isNot0('icmp ne'),
  },
  i64: {
    f64: 'sitofp $T $0 to $R',
    f32: 'sitofp $T $0 to $R',
    i32: 'trunc $T $0 to $R',
    u32: 'trunc $T $0 to $R',
    i64: SAME,
    bool: isNot0('icmp ne'),
  },
  bool: {
    f64: 'select $T $0, $R $R(1), $R $R(0)',
    f32: 'select $T $0, $R $R(1), $R $R(0)',
    i32: 'zext $T $0 to $R',
    u32: 'zext $T $0 to $R',
    i64: 'zext $T $0 to $R',
    bool: SAME,
  },
}

export const BITCAST = SAME
