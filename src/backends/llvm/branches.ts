// Branches, shortcuts and dispatches. Where lanes decide for themselves, a side runs only if some lane takes it, and its results are
// selected lane by lane; where all lanes go the same way, it is a jump.
// Invariant: lanes that take no part hold 0, never poison: a poisoned condition of an idle lane would poison the test of all lanes.
import type { Construct, Region } from '../../ir/graph.ts'
import { isComputed } from '../../ir/semantics.ts'
import type { Type } from '../../ir/types.ts'
import {
  anyLane,
  both,
  isUniform,
  lanesOf,
  negate,
  partsOf,
  scalarOf,
  select,
  spread,
  type Context,
  type Lanes,
  type Mask,
} from './context.ts'
import { openCrossings, prepare } from './crossing.ts'
import { printLaneByLane, runsLaneByLane } from './laneByLane.ts'

/** A side this small runs for all lanes rather than behind a test. */
const CHEAP_SIDE = 4

export function printBranch(context: Context, branch: Construct, mask: Mask): void {
  const condition = branch.operands[0]!
  const sides = branch.regions as readonly [Region, Region]
  if (isUniform(context, condition)) return printJump(context, branch, mask, scalarOf(context, condition))
  const taken = partsOf(context, condition)
  const thenResults = printSide(context, branch, sides[0], both(context, mask, taken))
  const elseMask = sides[1].nodes.length > 0 ? both(context, mask, negate(context, taken)) : undefined
  const elseResults = printSide(context, branch, sides[1], elseMask)
  const results = branch.types.map((type, k) => ({
    parts: taken.map((is, part) => select(context, type, is, thenResults[k]![part]!, elseResults[k]![part]!)),
  }))
  context.results.set(branch, results)
}

/** All lanes take the quick side or all the general one, so that nothing is selected. */
export function printShortcut(context: Context, shortcut: Construct, mask: Mask): void {
  const { code } = context
  const condition = shortcut.operands[0]!
  if (isUniform(context, condition)) return printJump(context, shortcut, mask, scalarOf(context, condition))
  const others = both(context, mask, negate(context, partsOf(context, condition)))
  const holdsInAll = code.value(`xor i1 ${anyLane(context, others)}, true`)
  const general = shortcut.regions[1]!
  printJump(context, shortcut, mask, holdsInAll, runsLaneByLane(context, general) ? general : undefined)
}

export function printDispatch(context: Context, dispatch: Construct, mask: Mask): void {
  const { code, vectors } = context
  const index = dispatch.operands[0]!
  const last = dispatch.regions.length - 1
  if (isUniform(context, index)) {
    const labels = dispatch.regions.map(() => code.label('case'))
    return printJumps(context, dispatch, labels, mask, () => {
      const isPast = code.value(`icmp sgt i32 ${scalarOf(context, index)}, ${last}`)
      const limited = code.value(`select i1 ${isPast}, i32 ${last}, i32 ${scalarOf(context, index)}`)
      const cases = labels.slice(1).map((label, k) => `i32 ${k + 1}, label %${label}`)
      code.line(`switch i32 ${limited}, label %${labels[0]} [ ${cases.join(' ')} ]`)
    })
  }
  const lanes = lanesOf(context, 'i32')
  const indices = partsOf(context, index)
  /** Lanes whose index, clamped to the range, is a case. */
  const isCase = (k: number) =>
    indices.map((lane) => {
      const compare = k === 0 ? 'sle' : k === last ? 'sge' : 'eq'
      return code.value(`icmp ${compare} ${lanes} ${lane}, ${code.constant('i32', k, context.width)}`)
    })
  let results: readonly (readonly string[])[] = []
  dispatch.regions.forEach((region, k) => {
    const taken =
      last === 0 ? Array.from({ length: vectors }, () => code.constant('bool', true, context.width)) : isCase(k)
    const given = printSide(context, dispatch, region, both(context, mask, taken))
    results =
      k === 0
        ? given
        : dispatch.types.map((type, place) =>
            taken.map((is, part) => select(context, type, is, given[place]![part]!, results[place]![part]!)),
          )
  })
  context.results.set(
    dispatch,
    results.map((parts) => ({ parts })),
  )
}

/** One side for the lanes that take it, behind a test unless it costs next to nothing. Gives the parts of its results. */
function printSide(
  context: Context,
  { types }: Construct,
  region: Region,
  taken: Mask,
): readonly (readonly string[])[] {
  const { code, vectors } = context
  const results = () => region.results.map((result) => partsOf(context, result))
  if (region.nodes.length === 0) return results()
  if (isCheap(region) || taken === undefined) {
    context.region(context, region.nodes, taken)
    return results()
  }
  const before = code.current
  const side = code.label('side')
  const after = code.label('join')
  code.branch(anyLane(context, taken), side, after)
  code.begin(side)
  context.region(context, region.nodes, taken)
  const all = types.flatMap((type) => Array.from({ length: vectors }, () => type))
  const ready = results()
    .flat()
    .map((value, k) => prepare(context, all[k]!, value))
  const end = code.current
  code.jump(after)
  code.begin(after)
  const crossings = openCrossings(context, all).settle()
  crossings.forEach((crossing, k) => {
    crossing.add('zeroinitializer', before)
    crossing.add(ready[k]!, end)
  })
  return types.map((_, k) => crossings.slice(k * vectors, (k + 1) * vectors).map(({ value }) => value))
}

const COSTLY = new Set(['div', 'sqrt', 'ldexp'])
const isCheap = ({ nodes }: Region): boolean =>
  nodes.length <= CHEAP_SIDE && nodes.every(({ op }) => isComputed(op) && !COSTLY.has(op))

/**
 * All lanes take the first side or all the second, by an i1.
 * @param laneByLane the side that is run for one lane after the other
 */
function printJump(context: Context, construct: Construct, mask: Mask, takesFirst: string, laneByLane?: Region): void {
  const labels = construct.regions.map(() => context.code.label('side'))
  const jump = () => context.code.branch(takesFirst, labels[0]!, labels[1]!)
  printJumps(context, construct, labels, mask, jump, laneByLane)
}

/** All lanes take one side: it is jumped to, and phis collect the results. */
function printJumps(
  context: Context,
  construct: Construct,
  labels: readonly string[],
  mask: Mask,
  jump: () => void,
  laneByLane?: Region,
): void {
  const { code, vectors, uniformity, width } = context
  const after = code.label('join')
  jump()
  const isShared = construct.types.map((_, k) => width === 1 || uniformity.isUniformResult(construct, k))
  const phiTypes: Type[] = []
  construct.types.forEach((type, k) => {
    if (!isShared[k]) for (let part = 0; part < vectors; part++) phiTypes.push(type)
  })
  const sides = construct.regions.map((region, side) => {
    code.begin(labels[side]!)
    const given = region === laneByLane ? printLaneByLane(context, region) : undefined
    if (given === undefined) context.region(context, region.nodes, mask)
    const scalars = region.results.map((result, k) => (isShared[k] ? scalarOf(context, result) : ''))
    const parts = region.results.flatMap((result, k) => (isShared[k] ? [] : (given?.[k] ?? partsOf(context, result))))
    const ready = parts.map((value, k) => prepare(context, phiTypes[k]!, value))
    const block = code.current
    code.jump(after)
    return { scalars, ready, block }
  })
  code.begin(after)
  const scalarPhis = construct.types.map((type, k) =>
    isShared[k]
      ? code.phi(
          lanesOf({ ...context, width: 1 }, type),
          sides.map(({ scalars, block }) => ({ value: scalars[k]!, block })),
        )
      : undefined,
  )
  const crossings = openCrossings(context, phiTypes).settle()
  for (const { ready, block } of sides) crossings.forEach((crossing, k) => crossing.add(ready[k]!, block))
  let next = 0
  const results = construct.types.map((type, k): Lanes => {
    const phi = scalarPhis[k]
    if (phi) return spread(context, type, phi.name, uniformity.isSpreadResult(construct, k))
    next += vectors
    return { parts: crossings.slice(next - vectors, next).map(({ value }) => value) }
  })
  context.results.set(construct, results)
}
