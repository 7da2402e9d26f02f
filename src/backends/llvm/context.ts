// What the parts of the emitter share while they print one function, and how a value of the graph looks in it.
// Invariant: a value is K operands of W lanes each (one for each vector that runs side by side); one that is alike in all lanes is
// also a scalar.
import { HarrierError } from '../../errors.ts'
import type { Construct, Effect, Graph, Node, Value } from '../../ir/graph.ts'
import type { ComputedOp } from '../../ir/ops.ts'
import type { Type } from '../../ir/types.ts'
import type { Code } from './code.ts'
import type { EmitOptions } from './interface.ts'
import { laneType, literalText, type LaneType } from './lanes.ts'
import type { PlaneAddress } from './planes.ts'
import type { Row } from './rows.ts'
import type { Uniformity } from './uniformity.ts'

/** The operands that a value stands for, one for each vector. */
export interface Lanes {
  readonly parts: readonly string[]
  /** Where all lanes are alike. */
  readonly scalar?: string
}

/** Lanes that take part, one condition vector for each vector; undefined: all of them. */
export type Mask = readonly string[] | undefined

/** The samples that the lanes hold. */
export interface Group {
  /** Number of the sample in the first lane of the first vector (i64); the others follow it. */
  readonly first: string
  /** Lanes that hold a sample. */
  readonly mask: Mask
  /** Where samples do not follow each other: their numbers, i64 vectors. */
  readonly numbers?: readonly string[]
}

export interface Context {
  readonly graph: Graph
  readonly options: EmitOptions
  readonly code: Code
  readonly width: number
  readonly vectors: number
  readonly uniformity: Uniformity
  readonly rows: Record<ComputedOp, Row>
  readonly planes: readonly (PlaneAddress | undefined)[]
  /** Addresses of the tapes of this thread. */
  readonly tapes: readonly string[]
  readonly values: Map<Value, Lanes>
  /** What constructs gave; a result is known by its construct and number. */
  readonly results: Map<Construct, readonly Lanes[]>
  readonly group: Group
  /** Wide accesses of the group to planes whose numbers lie together: what was loaded, and what waits to be stored. */
  readonly together: {
    readonly loaded: Map<string, string>
    readonly stored: Map<number, Map<number, readonly string[]>>
  }
  /** Prints the nodes of a region for the lanes of a mask. */
  readonly region: (context: Context, nodes: readonly Node[], mask: Mask) => void
  readonly effect: (context: Context, effect: Effect, mask: Mask) => void
  /** Reports the lanes whose index is outside a table or accumulator; absent where nobody asked. */
  readonly check?: (context: Context, plane: number, index: Value, mask: Mask) => void
}

export const internal = (message: string): HarrierError => new HarrierError('E_INTERNAL', `llvm: ${message}`)

/** Numbers of the vectors: 0 … K − 1. */
export const partNumbers = ({ vectors }: Context): readonly number[] =>
  Array.from({ length: vectors }, (_, part) => part)

/** A type as lanes of the function's width. */
export const lanesOf = ({ width }: Context, type: LaneType): string => laneType(type, width)

/** With one lane everything is a scalar and control flow is real. */
export const isUniform = ({ width, uniformity }: Context, value: Value): boolean =>
  width === 1 || uniformity.isUniform(value)

function lookUp({ values, results }: Context, value: Value): Lanes {
  const known = value.op === 'result' ? results.get(value.source)?.[value.index] : values.get(value)
  if (!known) throw internal(`value ${value.id} (${value.op}) is used before it is computed`)
  return known
}

export function partsOf(context: Context, value: Value): readonly string[] {
  const { code, width, vectors } = context
  if (value.op === 'const')
    return Array.from({ length: vectors }, () => code.constant(value.type, value.literal, width))
  return lookUp(context, value).parts
}

export function scalarOf(context: Context, value: Value): string {
  if (value.op === 'const') return literalText(value.type, value.literal)
  const { scalar } = lookUp(context, value)
  if (scalar === undefined) throw internal(`value ${value.id} (${value.op}) is no scalar here`)
  return scalar
}

export const define = ({ values }: Context, value: Value, parts: readonly string[]): void =>
  void values.set(value, parts.length === 1 ? { parts, scalar: parts[0]! } : { parts })

/** A scalar in every lane as well, if something computed lane by lane uses it. */
export function spread({ code, width, vectors }: Context, type: Type, scalar: string, isUsed: boolean): Lanes {
  const vector = width === 1 || !isUsed ? scalar : code.splat(type, scalar, width)
  return { scalar, parts: Array.from({ length: vectors }, () => vector) }
}

/** Defines a value that all lanes share. */
export const defineUniform = (context: Context, value: Value, scalar: string): void =>
  void context.values.set(value, spread(context, value.type, scalar, context.uniformity.isSpread(value)))

/** The context of one group of samples within that of the function. */
export const ofGroup = (context: Context, group: Group): Context => ({
  ...context,
  values: new Map(context.values),
  results: new Map(context.results),
  group,
  together: { loaded: new Map(), stored: new Map() },
})

/** A condition vector that holds in every lane, or in none. */
export const constantMask = ({ code, width, vectors }: Context, holds: boolean): readonly string[] =>
  Array.from({ length: vectors }, () => code.constant('bool', holds, width))

export const both = (context: Context, mask: Mask, conditions: readonly string[]): readonly string[] =>
  mask === undefined
    ? conditions
    : conditions.map((condition, part) =>
        context.code.value(`and ${lanesOf(context, 'bool')} ${mask[part]}, ${condition}`),
      )

export const negate = (context: Context, conditions: readonly string[]): readonly string[] =>
  conditions.map((condition) =>
    context.code.value(
      `xor ${lanesOf(context, 'bool')} ${condition}, ${context.code.constant('bool', true, context.width)}`,
    ),
  )

/** Whether any lane of any vector holds, as an i1. */
export function anyLane({ code, width }: Context, conditions: readonly string[]): string {
  const vector = laneType('bool', width)
  const [first, ...rest] = conditions
  const joined = rest.reduce((left, right) => code.value(`or ${vector} ${left}, ${right}`), first!)
  if (width === 1) return joined
  const bits = code.value(`bitcast ${vector} ${joined} to i${width}`)
  return code.value(`icmp ne i${width} ${bits}, 0`)
}

export const select = (context: Context, type: Type, condition: string, yes: string, no: string): string => {
  if (yes === no) return yes
  const lanes = lanesOf(context, type)
  return context.code.value(`select ${lanesOf(context, 'bool')} ${condition}, ${lanes} ${yes}, ${lanes} ${no}`)
}
