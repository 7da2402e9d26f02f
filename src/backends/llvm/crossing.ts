// Values that cross from one block to another through phis.
// Invariant: without mask registers a condition vector crosses as integer lanes as wide as the other vectors, all ones or zero, as the
// code generator would otherwise narrow and widen it at each crossing.
import type { Type } from '../../ir/types.ts'
import type { Incoming, Phi } from './code.ts'
import { lanesOf, type Context } from './context.ts'

/** A phi of a value of some type; `value` is how the code after it uses it. */
export interface Crossing {
  readonly value: string
  /** @param ready what `prepare` gave in the block that is left */
  add(ready: string, block: string): void
}

const crossesAsIntegers = ({ width, options }: Context, type: Type): boolean =>
  type === 'bool' && width > 1 && !options.target.avx512

const integerLanes = ({ width, options }: Context): string =>
  `<${width} x i${Math.min(64, (8 * options.target.vectorBytes) / width)}>`

/** The type in which a value crosses. */
export const crossingType = (context: Context, type: Type): string =>
  crossesAsIntegers(context, type) ? integerLanes(context) : lanesOf(context, type)

/** Turns what crossed into a value. */
export const fromCrossing = (context: Context, type: Type, crossed: string): string =>
  crossesAsIntegers(context, type)
    ? context.code.value(`icmp slt ${integerLanes(context)} ${crossed}, zeroinitializer`)
    : crossed

/** Turns a value into what crosses; to be printed in the block that is left. */
export function prepare(context: Context, type: Type, value: string): string {
  if (!crossesAsIntegers(context, type)) return value
  return context.code.value(`sext ${lanesOf(context, 'bool')} ${value} to ${integerLanes(context)}`)
}

/** Starts phis of values of some types; `settle` them after the last phi of the block. */
export function openCrossings(context: Context, types: readonly Type[]): { settle(): readonly Crossing[] } {
  const { code } = context
  const phis: readonly Phi[] = types.map((type) => code.phi(crossingType(context, type)))
  return {
    settle: () =>
      phis.map((phi, k) => ({
        value: fromCrossing(context, types[k]!, phi.name),
        add: (ready, block) => phi.add({ value: ready, block } satisfies Incoming),
      })),
  }
}
