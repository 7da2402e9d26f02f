// Which values are finite whatever the inputs are. A product with such a value needs no guard for a zero adjoint or tangent; any other
// does, as data may hold NaN or infinities that the program selects away, and finite data may overflow.
import type { Value } from '../ir/graph.ts'
import { definition, type ValueOp } from '../ir/ops.ts'
import { isFloat } from '../ir/types.ts'

/** Ops that give a finite number for finite operands. */
const KEEPS_FINITE: ReadonlySet<ValueOp> = new Set<ValueOp>([
  'neg',
  'abs',
  'min',
  'max',
  'floor',
  'ceil',
  'trunc',
  'rint',
  'round',
  'sign',
  'copysign',
  'select',
  'sin',
  'cos',
  'tanh',
  'atan',
  'erf',
  'erfc',
  'stopGradient',
])

/** Whether a value is certainly neither infinite nor NaN; false where unknown. */
export function isCertainlyFinite(value: Value): boolean {
  if (!isFloat(value.type)) return true
  if (value.op === 'const') return Number.isFinite(value.literal)
  if (value.op === 'random') return true
  if (value.op === 'convert') {
    const [from] = value.operands
    // f64 to f32 can overflow; no integer type reaches the largest f32.
    return isCertainlyFinite(from!) && !(from!.type === 'f64' && value.type === 'f32')
  }
  return (
    definition(value.op).operands.length > 0 && KEEPS_FINITE.has(value.op) && value.operands.every(isCertainlyFinite)
  )
}
