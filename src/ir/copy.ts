// Copies one node into another builder: the same op on operands of that builder. Whatever walks a graph and builds another from it
// (rebuilding passes, derivatives) copies through here.
// Invariant: constructs, region parameters and results are not copied here, as what they become is the walker's decision.
import { HarrierError } from '../errors.ts'
import type { Builder } from './build.ts'
import type { Effect, Value } from './graph.ts'
import type { Type } from './types.ts'

/** What the attributes of a node become in the other builder. */
export interface Renaming {
  /** Types of literals, conversions and random numbers; every other type follows from the operands. */
  readonly type: (type: Type) => Type
  readonly plane: (plane: number) => number
  readonly tape: (tape: number) => number
}

/** The same value on other operands. */
export function copyValue(
  b: Builder,
  value: Value,
  operands: readonly Value[],
  { type, plane, tape }: Renaming,
): Value {
  switch (value.op) {
    case 'const':
      return b.const(type(value.type), value.literal)
    case 'load':
      return b.load(plane(value.plane), value.component)
    case 'uniform':
      return b.uniform(plane(value.plane))
    case 'gather':
      return b.gather(plane(value.plane), value.component, operands[0]!)
    case 'entryCount':
      return b.entryCount(plane(value.plane))
    case 'sampleIndex':
      return b.sampleIndex()
    case 'sampleCount':
      return b.sampleCount()
    case 'random':
      return b.random(type(value.type), operands[0]!, operands[1]!, operands[2]!)
    case 'custom':
      return b.custom(value.rule, value.output, operands[0]!, operands.slice(1))
    case 'recall':
      return b.recall(tape(value.tape), operands[0]!)
    case 'convert':
      return b.convert(operands[0]!, type(value.type))
    case 'bitcast':
      return b.bitcast(operands[0]!, type(value.type))
    case 'parameter':
    case 'result':
      throw new HarrierError('E_INTERNAL', `copy: ${value.op} ${value.id} is used outside its region`)
    default:
      return b.apply(value.op, operands)
  }
}

/** The same effect on other operands. */
export function copyEffect(
  b: Builder,
  effect: Effect,
  operands: readonly Value[],
  { plane, tape }: Omit<Renaming, 'type'>,
): void {
  switch (effect.op) {
    case 'store':
      b.store(plane(effect.plane), effect.component, operands[0]!)
      break
    case 'scatterAdd':
      b.scatterAdd(plane(effect.plane), effect.component, operands[0]!, operands[1]!)
      break
    case 'contribute':
      b.contribute(plane(effect.plane), effect.component, operands[0]!)
      break
    case 'finish':
      b.finish(plane(effect.plane), operands[0]!)
      break
    case 'record':
      b.record(tape(effect.tape), operands[0]!, operands[1]!)
      break
  }
}
