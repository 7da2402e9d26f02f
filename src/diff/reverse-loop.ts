// Loops in reverse. Forward, a loop records its carries at the start of each iteration on tapes; backward, a second loop runs from the
// last iteration that was executed to the first: it recalls the carries, repeats the body and passes the adjoints back.
// A tape that nothing needed recalls is dropped by liveness, so that a loop that only accumulates stores nothing.
//
// Checkpoints (A. Griewank, "Achieving logarithmic growth of temporal and spatial complexity in reverse automatic differentiation",
// 1992, with one level): C iterations are cut into M segments of S = ⌈√C⌉. Forward records the carries at the start of each segment in
// slot m. Backward, from the last segment to the first, runs the segment again and records its iterations in slots m, m + 1, …: slot m
// holds the same already, and later slots belong to segments that are done. So M + S − 1 < 2·√C + 1 slots are enough.
import type { Construct, Region, Value } from '../ir/graph.ts'
import { materialise, type Flow } from './product.ts'
import type { Adjoints, Sweep } from './reverse.ts'
import { createValueMap } from './value-map.ts'

/** How a loop remembers its carries. */
export interface LoopPlan {
  /** Iterations that the loop cannot exceed; undefined where unknown. */
  readonly bound: number | undefined
  readonly checkpoints: boolean
}

export interface LoopSchedule {
  plan(loop: Construct): LoopPlan
  /** Is told of each tape that a loop declares. */
  declared(loop: Construct, tape: number): void
}

/** What the forward sweep leaves for the backward sweep. */
interface Recording {
  /** Iterations executed by this sample. */
  readonly iterations: Value
  /** Segments begun; with checkpoints only. */
  readonly segments: Value | undefined
  /** One for each carry. */
  readonly tapes: readonly number[]
}

/** Iterations first … first + length − 1, of which iteration first + k is recorded in slot `slot` + k. */
interface Stretch {
  readonly first: Value
  readonly length: Value
  readonly slot: Value
}

/** A literal that a whole number cannot exceed, where one follows from how it is made. */
export function upperBound(value: Value): number | undefined {
  if (value.type !== 'i32') return undefined
  const operands = () => value.operands.filter(({ type }) => type === 'i32').map(upperBound)
  const known = () => operands().filter((bound) => bound !== undefined)
  switch (value.op) {
    case 'const':
      return Number(value.literal)
    case 'min':
      return known().length > 0 ? Math.min(...known()) : undefined
    case 'max':
    case 'select':
      return known().length === operands().length ? Math.max(...known()) : undefined
    default:
      return undefined
  }
}

export function createLoopReversal(sweep: Sweep) {
  const { b, active, schedule, primalOf, enter } = sweep
  const recordings = new Map<Construct, Recording>()
  const integer = (literal: number) => b.const('i32', literal)
  const parts = (loop: Construct) => loop.regions as readonly [body: Region, condition: Region]

  function copyBody(loop: Construct, iteration: Value, carries: readonly Value[]): readonly Value[] {
    const [body] = parts(loop)
    enter(body, iteration, carries)
    sweep.copy(body)
    return body.results.map(primalOf)
  }

  function copyCondition(loop: Construct, iteration: Value, carries: readonly Value[]): Value {
    const [, condition] = parts(loop)
    enter(condition, iteration, carries)
    sweep.copy(condition)
    return primalOf(condition.results[0]!)
  }

  const record = (tapes: readonly number[], slot: Value, carries: readonly Value[]) =>
    tapes.forEach((tape, k) => b.record(tape, slot, carries[k]!))
  const recall = (tapes: readonly number[], slot: Value) => tapes.map((tape) => b.recall(tape, slot))

  const segmentLength = (bound: number) => Math.ceil(Math.sqrt(bound))

  function forward(loop: Construct): void {
    const { bound, checkpoints } = schedule.plan(loop)
    const steps = checkpoints ? segmentLength(bound!) : 0
    const segmentCount = checkpoints ? Math.ceil(bound! / steps) : 0
    // Without a bound the tapes have no slots: they must turn out not to be needed.
    const capacity = checkpoints ? segmentCount + steps - 1 : Math.max(bound ?? 0, 0)
    const tapes = loop.types.map((type) => {
      const tape = b.tape({ type, capacity })
      schedule.declared(loop, tape)
      return tape
    })
    const count = primalOf(loop.operands[0]!)
    const initial = loop.operands.slice(1).map(primalOf)
    const executed = checkpoints
      ? forwardSegments(loop, tapes, count, initial, steps, segmentCount)
      : forwardWhole(loop, tapes, count, initial)
    executed.carries.forEach((value, k) => sweep.setPrimalResult(loop, k, value))
    const limit = (value: Value, most: number | undefined) =>
      value.op === 'const' || most === undefined ? value : b.min(value, integer(most))
    // Never above the bound already; saying so lets the backward loop be reversed again.
    recordings.set(loop, {
      iterations: limit(executed.iterations, bound),
      segments: executed.segments && limit(executed.segments, segmentCount),
      tapes,
    })
  }

  function forwardWhole(loop: Construct, tapes: readonly number[], count: Value, initial: readonly Value[]) {
    const [, condition] = parts(loop)
    const [verdict] = condition.results
    const runsToEnd = verdict!.op === 'const' && verdict!.literal === true
    const made = b.loop({
      count,
      initial: [...initial, integer(0)],
      body(iteration, all) {
        const carries = all.slice(0, -1)
        record(tapes, iteration, carries)
        return [...copyBody(loop, iteration, carries), b.add(iteration, integer(1))]
      },
      condition: (iteration, all) => copyCondition(loop, iteration, all.slice(0, -1)),
    })
    const iterations = runsToEnd ? b.max(count, integer(0)) : made.at(-1)!
    return { carries: made.slice(0, -1), iterations, segments: undefined }
  }

  function forwardSegments(
    loop: Construct,
    tapes: readonly number[],
    count: Value,
    initial: readonly Value[],
    steps: number,
    segmentCount: number,
  ) {
    const made = b.loop({
      count: integer(segmentCount),
      initial: [...initial, integer(0), integer(0)],
      body(segment, all) {
        const carries = all.slice(0, -2)
        record(tapes, segment, carries)
        const first = b.mul(segment, integer(steps))
        const inner = b.loop({
          count: b.min(integer(steps), b.sub(count, first)),
          initial: [...carries, first],
          body(k, innerAll) {
            const iteration = b.add(first, k)
            return [...copyBody(loop, iteration, innerAll.slice(0, -1)), b.add(iteration, integer(1))]
          },
          condition: (k, innerAll) => copyCondition(loop, b.add(first, k), innerAll.slice(0, -1)),
        })
        return [...inner, b.add(segment, integer(1))]
      },
      // A segment begins where the one before ran to its end and the loop goes on.
      condition(segment, all) {
        const first = b.mul(segment, integer(steps))
        const arrived = b.eq(all.at(-2)!, first)
        return b.and(b.and(arrived, b.lt(first, count)), copyCondition(loop, first, all.slice(0, -2)))
      },
    })
    return { carries: made.slice(0, -2), iterations: made.at(-2)!, segments: made.at(-1)! }
  }

  function backward(loop: Construct, resultAdjoints: readonly Flow[], adjoints: Adjoints): void {
    const { bound, checkpoints } = schedule.plan(loop)
    const { iterations, segments, tapes } = recordings.get(loop)!
    const [body] = parts(loop)
    const carried = loop.types.flatMap((_, k) => (active.has(body.parameters[k + 1]!) ? [k] : []))
    const free = sweep.freeValues(loop)
    const initial = [
      ...carried.map((k) => materialise(b, resultAdjoints[k], body.parameters[k + 1]!)),
      ...free.map((value) => b.zero(value.type)),
    ]
    const zero = integer(0)
    const made = checkpoints
      ? b.loop({
          count: segments!,
          initial,
          body(passed, bars) {
            const segment = b.sub(b.sub(segments!, integer(1)), passed)
            const steps = integer(segmentLength(bound!))
            const first = b.mul(segment, steps)
            const stretch = { first, length: b.min(steps, b.sub(iterations, first)), slot: segment }
            repeat(loop, tapes, stretch)
            return backwardStretch(loop, tapes, stretch, carried, free, bars)
          },
        })
      : backwardStretch(loop, tapes, { first: zero, length: iterations, slot: zero }, carried, free, initial)
    carried.forEach((k, place) => sweep.add(adjoints, loop.operands[k + 1]!, made[place]))
    free.forEach((value, place) => sweep.add(adjoints, value, made[carried.length + place]))
  }

  /** Runs a segment again from its checkpoint and records its iterations. */
  function repeat(loop: Construct, tapes: readonly number[], { first, length, slot }: Stretch): void {
    b.loop({
      count: length,
      initial: recall(tapes, slot),
      body(k, carries) {
        record(tapes, b.add(slot, k), carries)
        return copyBody(loop, b.add(first, k), carries)
      },
    })
  }

  /** Adjoints of carries and free values at the start of a stretch, from those at its end. */
  function backwardStretch(
    loop: Construct,
    tapes: readonly number[],
    { first, length, slot }: Stretch,
    carried: readonly number[],
    free: readonly Value[],
    initial: readonly Value[],
  ): readonly Value[] {
    const [body] = parts(loop)
    return b.loop({
      count: length,
      initial,
      body(passed, bars) {
        const k = b.sub(b.sub(length, integer(1)), passed)
        enter(body, b.add(first, k), recall(tapes, b.add(slot, k)))
        sweep.forward(body)
        const inner: Adjoints = createValueMap<Value>()
        carried.forEach((carry, place) => sweep.add(inner, body.results[carry]!, bars[place]))
        free.forEach((value, place) => sweep.add(inner, value, bars[carried.length + place]))
        sweep.backward(body, inner)
        return [...carried.map((carry) => body.parameters[carry + 1]!), ...free].map((value) =>
          materialise(b, inner.get(value), value),
        )
      },
    })
  }

  return { forward, backward }
}
