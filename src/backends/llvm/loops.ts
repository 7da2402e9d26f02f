// Loops whose lanes run in lockstep. Where all lanes leave together it is a plain loop; else a live mask says which lanes still run,
// the carries of the others keep what they had, and the loop ends when no lane lives.
// (Loops whose lanes are retired and refilled are in refill.ts.)
import type { Construct, Region, Value } from '../../ir/graph.ts'
import { isComputed } from '../../ir/semantics.ts'
import type { Type } from '../../ir/types.ts'
import {
  anyLane,
  both,
  constantMask,
  defineUniform,
  isUniform,
  lanesOf,
  partsOf,
  scalarOf,
  select,
  spread,
  type Context,
  type Lanes,
  type Mask,
} from './context.ts'
import { openCrossings, prepare } from './crossing.ts'
import { laneType } from './lanes.ts'

export function printLoop(context: Context, loop: Construct, mask: Mask): void {
  if (context.width === 1 || context.uniformity.leavesTogether(loop)) printLockstep(context, loop, mask)
  else printMasked(context, loop, mask)
}

const alwaysHolds = ({ op, ...value }: Value): boolean => op === 'const' && 'literal' in value && value.literal === true

/** All lanes leave together. */
function printLockstep(context: Context, loop: Construct, mask: Mask): void {
  const { code, vectors, width, uniformity } = context
  const [body, condition] = loop.regions as readonly [Region, Region]
  const [count, ...initial] = loop.operands as readonly [Value, ...Value[]]
  const isShared = loop.types.map((_, k) => width === 1 || uniformity.isUniformResult(loop, k))
  const mixedTypes = partTypes(
    loop.types.filter((_, k) => !isShared[k]),
    vectors,
  )
  const separate = (values: readonly Value[]) => ({
    scalars: values.map((value, k) => (isShared[k] ? scalarOf(context, value) : '')),
    ready: values
      .flatMap((value, k) => (isShared[k] ? [] : partsOf(context, value)))
      .map((value, k) => prepare(context, mixedTypes[k]!, value)),
  })

  const start = separate(initial)
  const header = code.label('loop')
  const enter = code.label('body')
  const leave = code.label('done')
  const before = code.current
  code.jump(header)
  code.begin(header)
  const iteration = code.phi('i32', [{ value: '0', block: before }])
  const scalars = loop.types.map((type, k) => (isShared[k] ? code.phi(laneType(type, 1)) : undefined))
  const crossings = openCrossings(context, mixedTypes).settle()
  const feed = (from: ReturnType<typeof separate>, block: string) => {
    scalars.forEach((phi, k) => phi?.add({ value: from.scalars[k]!, block }))
    crossings.forEach((crossing, k) => crossing.add(from.ready[k]!, block))
  }
  feed(start, before)

  let next = 0
  const carries = loop.types.map((type, k): Lanes => {
    const phi = scalars[k]
    if (phi) {
      const isUsed = [body, condition].some(({ parameters }) => uniformity.isSpread(parameters[k + 1]!))
      return spread(context, type, phi.name, isUsed || uniformity.isSpreadResult(loop, k))
    }
    next += vectors
    return { parts: crossings.slice(next - vectors, next).map(({ value }) => value) }
  })
  defineParameters(context, loop, iteration.name, carries)

  const isBelow = code.value(`icmp slt i32 ${iteration.name}, ${scalarOf(context, count)}`)
  const isGuarded = !isSpeculable(condition)
  if (isGuarded) printGuard(context, isBelow, leave)
  context.region(context, condition.nodes, mask)
  const holds = alwaysHolds(condition.results[0]!) ? undefined : scalarOf(context, condition.results[0]!)
  const tests = [...(isGuarded ? [] : [isBelow]), ...(holds === undefined ? [] : [holds])]
  code.branch(allOf(context, tests), enter, leave)

  code.begin(enter)
  context.region(context, body.nodes, mask)
  const following = code.value(`add nuw nsw i32 ${iteration.name}, 1`)
  const end = separate(body.results)
  iteration.add({ value: following, block: code.current })
  feed(end, code.current)
  code.jump(header)

  code.begin(leave)
  context.results.set(loop, carries)
}

/** Each lane leaves by itself. */
function printMasked(context: Context, loop: Construct, mask: Mask): void {
  const { code, vectors } = context
  const [body, condition] = loop.regions as readonly [Region, Region]
  const [count, ...initial] = loop.operands as readonly [Value, ...Value[]]
  const types = partTypes(['bool', ...loop.types], vectors)
  const ready = (parts: readonly string[]) => parts.map((part, k) => prepare(context, types[k]!, part))

  const start = ready([
    ...(mask ?? constantMask(context, true)),
    ...initial.flatMap((value) => partsOf(context, value)),
  ])
  const header = code.label('loop')
  const enter = code.label('body')
  const leave = code.label('done')
  const before = code.current
  code.jump(header)
  code.begin(header)
  const iteration = code.phi('i32', [{ value: '0', block: before }])
  const crossings = openCrossings(context, types).settle()
  crossings.forEach((crossing, k) => crossing.add(start[k]!, before))
  const group = (k: number) => crossings.slice(k * vectors, (k + 1) * vectors).map(({ value }) => value)
  const carries = loop.types.map((_, k): Lanes => ({ parts: group(k + 1) }))
  defineParameters(context, loop, iteration.name, carries)

  let live: Mask = group(0)
  let isBelow: string | undefined
  if (isUniform(context, count)) isBelow = code.value(`icmp slt i32 ${iteration.name}, ${scalarOf(context, count)}`)
  else {
    const lanes = lanesOf(context, 'i32')
    const number = code.splat('i32', iteration.name, context.width)
    live = both(
      context,
      live,
      partsOf(context, count).map((limit) => code.value(`icmp slt ${lanes} ${number}, ${limit}`)),
    )
  }
  const isGuarded = isBelow !== undefined && !isSpeculable(condition)
  if (isGuarded) printGuard(context, isBelow!, leave)
  context.region(context, condition.nodes, live)
  if (!alwaysHolds(condition.results[0]!)) live = both(context, live, partsOf(context, condition.results[0]!))
  const tests = isGuarded || isBelow === undefined ? [] : [isBelow]
  code.branch(allOf(context, [...tests, anyLane(context, live)]), enter, leave)

  code.begin(enter)
  context.region(context, body.nodes, live)
  const next = loop.types.flatMap((type, k) => {
    const given = partsOf(context, body.results[k]!)
    return live!.map((is, part) => select(context, type, is, given[part]!, carries[k]!.parts[part]!))
  })
  const end = ready([...live, ...next])
  iteration.add({ value: code.value(`add nuw nsw i32 ${iteration.name}, 1`), block: code.current })
  crossings.forEach((crossing, k) => crossing.add(end[k]!, code.current))
  code.jump(header)

  code.begin(leave)
  context.results.set(loop, carries)
}

/** Whether a condition may be evaluated once too often, after the last iteration: it only computes. */
const isSpeculable = ({ nodes }: Region): boolean => nodes.every(({ op }) => isComputed(op))

/** Leaves before the condition is evaluated when there is no iteration left. */
function printGuard({ code }: Context, isBelow: string, leave: string): void {
  const test = code.label('test')
  code.branch(isBelow, test, leave)
  code.begin(test)
}

const allOf = ({ code }: Context, conditions: readonly string[]): string =>
  conditions.length === 0 ? 'true' : conditions.reduce((left, right) => code.value(`and i1 ${left}, ${right}`))

const partTypes = (types: readonly Type[], vectors: number): readonly Type[] =>
  types.flatMap((type) => Array.from({ length: vectors }, () => type))

function defineParameters(
  context: Context,
  { regions }: Construct,
  iteration: string,
  carries: readonly Lanes[],
): void {
  for (const { parameters } of regions) {
    const [number, ...rest] = parameters
    defineUniform(context, number!, iteration)
    rest.forEach((parameter, k) => context.values.set(parameter, carries[k]!))
  }
}
