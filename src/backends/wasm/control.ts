// Loops, branches, shortcuts and dispatches over vectors: a row an op. What all lanes do alike is a plain jump; where lanes differ, a loop
// runs while any lane lives and a side runs when any lane takes it, each under the mask of its lanes.
// Invariants: lanes outside the mask compute values that nobody reads; a loop under a mask cannot hang on them, as its live lanes are
// a part of that mask.
import { usualSide } from '../../ir/cost.ts'
import type { Construct, Region, Value } from '../../ir/graph.ts'
import type { ConstructOp } from '../../ir/ops.ts'
import { read, type Emitter, type Mask } from './emitter.ts'
import { maskFor, widenMask } from './lanes.ts'

/** Emits the nodes of a region under a mask. */
export type EmitRegion = (region: Region, mask: Mask) => void

type Row = (e: Emitter, construct: Construct, mask: Mask, emitRegion: EmitRegion) => void

const joined = (op: 'and' | 'or', vectors: readonly string[]): string =>
  vectors.reduce((all, vector) => `(v128.${op} ${all} ${vector})`)

/** Whether a lane of any vector is set. */
export const anyLane = (masks: readonly string[]): string => `(v128.any_true ${joined('or', masks.map(read))})`

export const everyVector = (e: Emitter): readonly number[] =>
  Array.from({ length: e.frame.vectors }, (_, vector) => vector)

/** Replaces a value where a mask holds. */
export const blend = (e: Emitter, value: Value, vector: number, kept: string, mask: string): string =>
  `(v128.bitselect ${e.get(value, vector)} ${kept} ${maskFor(value.type, mask, e.frame.lanes)})`

/** Sets locals to values that may read those same locals: all are read before any is written. */
export function setTogether(
  e: Emitter,
  changes: readonly { readonly local: string; readonly expression: string }[],
): void {
  const needed = changes.filter(({ local, expression }) => expression !== read(local))
  const reads = (expression: string, local: string) => expression.includes(read(local))
  const clashes = needed.map(({ local }, k) => needed.slice(k + 1).some(({ expression }) => reads(expression, local)))
  // A local that a later change reads is set last, from a copy.
  const copies = needed.flatMap(({ local, expression }, k) => {
    if (!clashes[k]) {
      e.set(local, expression)
      return []
    }
    const copy = e.take('v128')
    e.set(copy, expression)
    return [{ local, copy }]
  })
  for (const { local, copy } of copies) {
    e.set(local, read(copy))
    e.give(copy)
  }
}

function loop(e: Emitter, construct: Construct, mask: Mask, emitRegion: EmitRegion): void {
  const [count, ...initial] = construct.operands
  const [body, condition] = construct.regions as readonly [Region, Region]
  const { lanes } = e.frame
  const together = e.uniformity.leavesTogether(construct)
  const carries = e.declareResults(construct)
  carries.forEach((locals, k) => locals.forEach((local, vector) => e.set(local, e.get(initial[k]!, vector))))

  const counter = e.take('i32')
  const iteration = e.take('v128')
  e.set(counter, '(i32.const 0)')
  for (const { parameters } of construct.regions) {
    e.alias(parameters[0]!, [iteration])
    carries.forEach((locals, k) => e.alias(parameters[k + 1]!, locals))
  }
  const live = together ? [] : everyVector(e).map(() => e.take('v128'))
  const all = e.constant(true, 'bool')
  live.forEach((local, vector) => e.set(local, mask ? read(mask[vector]!) : all))
  const inner: Mask = together ? mask : live

  const goesOn = condition.results[0]!
  const isCounted = goesOn.op === 'const' && goesOn.literal === true
  const leaveUnless = (test: string) => e.line(`(br_if $leave (i32.eqz ${test}))`)
  const leaveWithNone = () => leaveUnless(anyLane(live))
  const narrow = (restrict: (vector: number) => string) =>
    live.forEach((local, vector) => e.set(local, `(v128.and ${read(local)} ${restrict(vector)})`))

  e.nest(
    '(block $leave (loop $again',
    () => {
      e.set(iteration, `(i32x4.splat ${read(counter)})`)
      if (e.uniformity.isUniform(count!)) {
        leaveUnless(`(i32.lt_s ${read(counter)} (i32x4.extract_lane 0 ${e.get(count!, 0)}))`)
      } else {
        narrow((vector) => widenMask(`(i32x4.lt_s ${read(iteration)} ${e.get(count!, vector)})`, lanes))
        leaveWithNone()
      }
      e.scoped(
        () => emitRegion(condition, inner),
        () => {
          if (isCounted) return
          if (together) leaveUnless(`(v128.any_true ${e.get(goesOn, 0)})`)
          else {
            narrow((vector) => e.get(goesOn, vector))
            leaveWithNone()
          }
        },
      )
      e.scoped(
        () => emitRegion(body, inner),
        () => {
          const changes = carries.flatMap((locals, k) =>
            locals.map((local, vector) => {
              const next = body.results[k]!
              const value = e.get(next, vector)
              const expression =
                together || value === read(local) ? value : blend(e, next, vector, read(local), read(live[vector]!))
              return { local, expression }
            }),
          )
          setTogether(e, changes)
        },
      )
      e.set(counter, `(i32.add ${read(counter)} (i32.const 1))`)
      e.line('(br $again)')
    },
    '))',
  )
  live.forEach(e.give)
  e.give(iteration)
  e.give(counter)
}

/** Sides of which all lanes take the same one: the first whose test holds, the last without one. */
function sidesTogether(
  e: Emitter,
  construct: Construct,
  tests: readonly string[],
  mask: Mask,
  emitRegion: EmitRegion,
): void {
  const results = e.declareResults(construct)
  construct.regions.forEach((region, k) => {
    const emit = () =>
      e.scoped(
        () => emitRegion(region, mask),
        () =>
          results.forEach((locals, index) =>
            locals.forEach((local, vector) => e.set(local, e.get(region.results[index]!, vector))),
          ),
      )
    const isLast = k === construct.regions.length - 1
    if (!isLast) e.nest(`(if ${tests[k]} (then`, emit, ') (else')
    else e.nest('', emit, '))'.repeat(k))
  })
}

/** Which lanes take a side. */
interface Choice {
  readonly lanes: (side: number, vector: number) => string
  /** Whether any lane of any vector does. */
  readonly any: (side: number) => string
}

/** Sides of which each lane takes one. */
function sidesApart(e: Emitter, construct: Construct, chosen: Choice, mask: Mask, emitRegion: EmitRegion): void {
  const results = e.declareResults(construct)
  const vectors = everyVector(e)
  const taken = vectors.map(() => e.take('v128'))
  const running = mask ? vectors.map(() => e.take('v128')) : taken
  // A side without code needs no test, so that it comes first; what comes first needs no blending.
  const free = construct.regions.findIndex(({ nodes }) => nodes.length === 0)
  const first = Math.max(0, free)
  const order = [first, ...construct.regions.keys()].filter((k, place) => place === 0 || k !== first)
  if (free < 0) {
    results.forEach((locals, index) => {
      const type = construct.types[index]!
      for (const local of locals) e.set(local, e.constant(type === 'i64' ? 0n : 0, type))
    })
  }
  for (const k of order) {
    const { results: values } = construct.regions[k]!
    const choose = () => vectors.forEach((vector) => e.set(taken[vector]!, chosen.lanes(k, vector)))
    const use = () =>
      results.forEach((locals, index) =>
        locals.forEach((local, vector) => {
          const value = values[index]!
          e.set(local, k === first ? e.get(value, vector) : blend(e, value, vector, read(local), read(taken[vector]!)))
        }),
      )
    const run = () => e.scoped(() => emitRegion(construct.regions[k]!, running), use)
    if (k === free) use()
    else if (mask) {
      choose()
      vectors.forEach((vector) => e.set(running[vector]!, `(v128.and ${read(taken[vector]!)} ${read(mask[vector]!)})`))
      e.nest(`(if ${anyLane(running)} (then`, run, '))')
    } else {
      e.nest(
        `(if ${chosen.any(k)} (then`,
        () => {
          choose()
          run()
        },
        '))',
      )
    }
  }
  if (mask) running.forEach(e.give)
  taken.forEach(e.give)
}

function branch(e: Emitter, construct: Construct, mask: Mask, emitRegion: EmitRegion): void {
  const condition = construct.operands[0]!
  if (e.uniformity.isUniform(condition)) {
    const holds = `(v128.any_true ${e.get(condition, 0)})`
    sidesTogether(e, construct, [holds], mask, emitRegion)
    return
  }
  const conditions = everyVector(e).map((vector) => e.get(condition, vector))
  const chosen: Choice = {
    lanes: (k, vector) => (k === 0 ? conditions[vector]! : `(v128.not ${conditions[vector]})`),
    any: (k) => `(v128.any_true ${k === 0 ? joined('or', conditions) : `(v128.not ${joined('and', conditions)})`})`,
  }
  sidesApart(e, construct, chosen, mask, emitRegion)
}

function shortcut(e: Emitter, construct: Construct, mask: Mask, emitRegion: EmitRegion): void {
  const condition = construct.operands[0]!
  // Lanes that do not run hold anything, and would mostly send the others the long way.
  const conditions = everyVector(e).map((vector) =>
    mask ? `(v128.or ${e.get(condition, vector)} (v128.not ${read(mask[vector]!)}))` : e.get(condition, vector),
  )
  const holdsInAll = `(i32.eqz (v128.any_true (v128.not ${joined('and', conditions)})))`
  const usual = usualSide(construct)
  const holdsUsual = (region: Region) => region === usual || region.nodes.some((node) => node.op === 'shortcut')
  sidesTogether(e, construct, [holdsInAll], mask, (region, inner) => {
    if (holdsUsual(region)) emitRegion(region, inner)
    else e.rarely(() => emitRegion(region, inner))
  })
}

function dispatch(e: Emitter, construct: Construct, mask: Mask, emitRegion: EmitRegion): void {
  const index = construct.operands[0]!
  const { lanes } = e.frame
  const last = construct.regions.length - 1
  const clamped = (vector: number) =>
    `(i32x4.max_s (i32x4.min_s ${e.get(index, vector)} ${e.constant(last, 'i32')}) ${e.constant(0, 'i32')})`
  const isCase = (k: number, vector: number) => `(i32x4.eq ${clamped(vector)} ${e.constant(k, 'i32')})`
  if (e.uniformity.isUniform(index)) {
    const tests = construct.regions.slice(1).map((_, k) => `(i32x4.extract_lane 0 ${isCase(k, 0)})`)
    sidesTogether(e, construct, tests, mask, emitRegion)
    return
  }
  const chosen: Choice = {
    lanes: (k, vector) => widenMask(isCase(k, vector), lanes),
    any: (k) => {
      const cases = everyVector(e).map((vector) => widenMask(isCase(k, vector), lanes))
      return `(v128.any_true ${joined('or', cases)})`
    },
  }
  sidesApart(e, construct, chosen, mask, emitRegion)
}

export const constructs: Record<ConstructOp, Row> = { loop, branch, shortcut, dispatch }
