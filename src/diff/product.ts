// The product of a partial derivative with a tangent or an adjoint. Both modes form every contribution here, so that the policy for a
// zero factor is the same everywhere: it contributes exactly zero, whatever the partial is.
import type { Builder } from '../ir/build.ts'
import type { Value } from '../ir/graph.ts'
import { isCertainlyFinite } from './finite.ts'

/** A tangent or adjoint; undefined is a zero that is known while building, and costs nothing. */
export type Flow = Value | undefined

/** partial · flow. */
export function product(b: Builder, partial: Value, flow: Flow): Flow {
  if (!flow || isZero(flow)) return undefined
  // Signs move outwards, so that products that differ in sign alone are one, with one guard.
  if (flow.op === 'neg') return negative(b, product(b, partial, flow.operands[0]!))
  if (partial.op === 'neg') return negative(b, product(b, partial.operands[0]!, flow))
  if (partial.op === 'const') {
    if (partial.literal === 1) return flow
    if (partial.literal === 0) return undefined
    if (Number.isFinite(partial.literal)) return b.mul(flow, partial)
  }
  if (partial.op === 'select') {
    const [condition, yes, no] = partial.operands
    // Choosing between contributions instead of partials spares the multiplication with a plain 0, 1 or −1.
    if (yes!.op === 'const' || no!.op === 'const') {
      const [ifTrue, ifFalse] = [product(b, yes!, flow), product(b, no!, flow)]
      if (!ifTrue && !ifFalse) return undefined
      return b.select(condition!, ifTrue ?? b.zero(flow.type), ifFalse ?? b.zero(flow.type))
    }
  }
  return isCertainlyFinite(partial) ? b.mul(flow, partial) : b.guardedMul(partial, flow)
}

const negative = (b: Builder, flow: Flow): Flow => flow && b.neg(flow)

/** The sum of two flows. */
export const sum = (b: Builder, left: Flow, right: Flow): Flow => (left && right ? b.add(left, right) : (left ?? right))

/** A literal zero. The sign does not matter: adding either to a flow changes at most the sign of a zero. */
const isZero = (value: Value): boolean => value.op === 'const' && value.literal === 0

/** The flow as a value. */
export const materialise = (b: Builder, flow: Flow, like: Value): Value => flow ?? b.zero(like.type)
