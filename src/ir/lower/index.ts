// Lowering: rewrites every derived op to basic ops, so that backends, interpreter and verifier of lowered graphs know basic ops only.
import * as exponential from './exponential.ts'
import * as inverseTrigonometric from './inverseTrigonometric.ts'
import * as logarithm from './logarithm.ts'
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
export const lowerings: Partial<Record<DerivedOp, Lowering>> = {
  exp: widened(exponential.exp),
  log: widened(logarithm.log),
  sin: widened(trigonometric.sin),
  cos: widened(trigonometric.cos),
  tan: widened(trigonometric.tan),
  asin: widened(inverseTrigonometric.asin),
  acos: widened(inverseTrigonometric.acos),
  atan: widened(inverseTrigonometric.atan),
  atan2: widened(inverseTrigonometric.atan2),
}
