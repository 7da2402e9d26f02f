// Lowering: rewrites every derived op to basic ops, so that backends, interpreter and verifier of lowered graphs know basic ops only.
import * as errorFunction from './errorFunction.ts'
import * as exponential from './exponential.ts'
import * as gammaFunctions from './gamma.ts'
import * as hyperbolic from './hyperbolic.ts'
import * as integer from './integer.ts'
import * as inverseTrigonometric from './inverseTrigonometric.ts'
import * as logarithm from './logarithm.ts'
import { pow } from './power.ts'
import { random } from './random.ts'
import * as remainders from './remainder.ts'
import * as roots from './roots.ts'
import * as rounding from './rounding.ts'
import * as trigonometric from './trigonometric.ts'
import type { DerivedOp } from '../ops.ts'
import type { Lowering } from './kit.ts'

export type { Lowering, LoweringTarget } from './kit.ts'

/** In f32 without FMA the f64 form, rounded once: Wasm and old processors have f64 anyway, and the bound is met at once. */
const widened =
  (lowering: Lowering): Lowering =>
  (b, operands, target, type) =>
    operands[0]!.type === 'f32' && !target.fma
      ? b.convert(
          lowering(
            b,
            operands.map((operand) => b.convert(operand, 'f64')),
            target,
            'f64',
          ),
          'f32',
        )
      : lowering(b, operands, target, type)

/** The lowering of each derived op. */
export const lowerings: Record<DerivedOp, Lowering> = {
  exp: widened(exponential.exp),
  exp2: widened(exponential.exp2),
  exp10: widened(exponential.exp10),
  expm1: widened(exponential.expm1),
  log: widened(logarithm.log),
  log2: widened(logarithm.log2),
  log10: widened(logarithm.log10),
  log1p: widened(logarithm.log1p),
  pow,
  rsqrt: widened(roots.rsqrt),
  cbrt: widened(roots.cbrt),
  hypot: widened(roots.hypot),
  sin: widened(trigonometric.sin),
  cos: widened(trigonometric.cos),
  tan: widened(trigonometric.tan),
  asin: widened(inverseTrigonometric.asin),
  acos: widened(inverseTrigonometric.acos),
  atan: widened(inverseTrigonometric.atan),
  atan2: widened(inverseTrigonometric.atan2),
  sinh: widened(hyperbolic.sinh),
  cosh: widened(hyperbolic.cosh),
  tanh: widened(hyperbolic.tanh),
  asinh: widened(hyperbolic.asinh),
  acosh: widened(hyperbolic.acosh),
  atanh: widened(hyperbolic.atanh),
  erf: widened(errorFunction.erf),
  erfc: errorFunction.erfc,
  lgamma: gammaFunctions.lgamma,
  gamma: gammaFunctions.gamma,
  round: rounding.round,
  sign: rounding.sign,
  copysign: rounding.copysign,
  fdim: rounding.fdim,
  fmod: remainders.fmod,
  remainder: remainders.remainder,
  mod: remainders.mod,
  isnan: rounding.isnan,
  isinf: rounding.isinf,
  isfinite: rounding.isfinite,
  idiv: integer.idiv,
  floorDiv: integer.floorDiv,
  floorMod: integer.floorMod,
  random,
  // x·y, but 0 where y is ±0, whatever x is.
  guardedMul: (b, [x, y]) => b.select(b.eq(y!, b.zero(y!.type)), b.zero(y!.type), b.mul(x!, y!)),
  stopGradient: (_, [x]) => x!,
  custom: (_, [value]) => value!,
}
