// The elementary functions by number of operands, from the op table, and where random arguments of each are drawn.
import { definition, isDerived, isPlain, OP_NAMES, type PlainOp } from '../../../src/ir/ops.ts'

/** Ops that derivatives are made of: no functions of their own. */
const HELPERS: readonly PlainOp[] = ['guardedMul', 'stopGradient']

const isFunctionOf =
  (arity: number) =>
  (op: PlainOp): boolean =>
    isDerived(op) && !HELPERS.includes(op) && definition(op).T === 'float' && definition(op).operands.length === arity

const plain = OP_NAMES.filter(isPlain)
export const unaryOps = plain.filter(isFunctionOf(1))
export const binaryOps = plain.filter(isFunctionOf(2))

/** Interval in which uniform arguments are drawn; every other set of points is the same for all functions. */
export const INTERVALS: Partial<Record<PlainOp, readonly [number, number]>> = {
  exp: [-745, 710],
  exp2: [-1076, 1024],
  exp10: [-324, 309],
  expm1: [-3, 3],
  log: [0, 3],
  log2: [0, 3],
  log10: [0, 3],
  log1p: [-1, 3],
  rsqrt: [0, 10],
  cbrt: [-100, 100],
  sin: [-1000, 1000],
  cos: [-1000, 1000],
  tan: [-1000, 1000],
  asin: [-1, 1],
  acos: [-1, 1],
  atan: [-4, 4],
  sinh: [-10, 10],
  cosh: [-10, 10],
  tanh: [-3, 3],
  asinh: [-4, 4],
  acosh: [1, 4],
  atanh: [-1, 1],
  erf: [-3, 3],
  erfc: [-3, 27],
  lgamma: [0, 30],
  gamma: [-30, 171],
  pow: [0, 20],
  atan2: [-4, 4],
  hypot: [-4, 4],
  fmod: [-1000, 1000],
  remainder: [-1000, 1000],
}
