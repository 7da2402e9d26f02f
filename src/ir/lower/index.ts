// Lowering: rewrites every derived op to basic ops, so that backends, interpreter and verifier of lowered graphs know basic ops only.
import type { Builder } from '../build.ts'
import type { Value } from '../graph.ts'

/** What the target of a lowering has. */
export interface LoweringTarget {
  /** A fused multiply-add instruction. Without it the lowerings use forms that need none, with the same error bounds. */
  readonly fma: boolean
}

/** Builds the value of a derived op from basic ops (or from other derived ops, which are lowered in turn). */
export type Lowering = (b: Builder, operands: readonly Value[], target: LoweringTarget) => Value
