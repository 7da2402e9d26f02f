// The loop over the samples of a range, K vectors an iteration.
// Invariants: an iteration without a mask covers samples of the range only; with `aligned`, vectors start at multiples of 32, so that a
// lane always belongs to the same accumulator of a reduction.
import { ACCUMULATORS } from '../../ir/reduction.ts'
import type { Context, Group } from './context.ts'
import { countingVector, laneType } from './lanes.ts'

export interface SampleLoop {
  readonly begin: string
  readonly end: string
  /** Vectors start at multiples of 32 rather than at `begin`. */
  readonly aligned: boolean
  /** The body is printed once, always masked, as it is large; else whole iterations have a form of their own. */
  readonly single: boolean
  readonly body: (group: Group) => void
}

export function printSamples(context: Context, { begin, end, aligned, single, body }: SampleLoop): void {
  const { code, width, vectors } = context
  const step = width * vectors
  const start = aligned && step > 1 ? code.value(`and i64 ${begin}, ${-ACCUMULATORS}`) : begin
  const before = code.current
  const outer = code.label('samples')
  const done = code.label('done')
  code.jump(outer)
  code.begin(outer)
  const first = code.phi('i64', [{ value: start, block: before }])

  if (step === 1) {
    // A single sample is whole or not there at all.
    const enter = code.label('sample')
    const next = code.fresh()
    code.branch(code.value(`icmp slt i64 ${first.name}, ${end}`), enter, done)
    code.begin(enter)
    body({ first: first.name, mask: undefined })
    code.line(`${next} = add i64 ${first.name}, 1`)
    first.add({ value: next, block: code.current })
    code.jump(outer)
    code.begin(done)
    return
  }

  let position = first.name
  if (!single) {
    const whole = code.label('whole')
    const enter = code.label('vectors')
    const rest = code.label('rest')
    const from = code.current
    code.jump(whole)
    code.begin(whole)
    const at = code.phi('i64', [{ value: first.name, block: from }])
    const next = code.value(`add i64 ${at.name}, ${step}`)
    const fits = code.value(`icmp sle i64 ${next}, ${end}`)
    const starts = aligned ? code.value(`icmp sge i64 ${at.name}, ${begin}`) : undefined
    code.branch(starts === undefined ? fits : code.value(`and i1 ${fits}, ${starts}`), enter, rest)
    code.begin(enter)
    body({ first: at.name, mask: undefined })
    at.add({ value: next, block: code.current })
    code.jump(whole)
    code.begin(rest)
    position = at.name
  }
  const enter = code.label('partial')
  code.branch(code.value(`icmp slt i64 ${position}, ${end}`), enter, done)
  code.begin(enter)
  body({ first: position, mask: lanesInside(context, position, aligned ? begin : undefined, end) })
  const next = code.value(`add i64 ${position}, ${step}`)
  first.add({ value: next, block: code.current })
  code.jump(outer)
  code.begin(done)
}

/** Lanes whose sample is in [begin, end), or below `end` where begin is not given. */
export function lanesInside(
  context: Context,
  first: string,
  begin: string | undefined,
  end: string,
): readonly string[] {
  const { code, width, vectors, options } = context
  // Lane numbers as wide as the vectors that the mask is for.
  const type = width * 8 <= options.target.vectorBytes ? 'i64' : 'i32'
  const step = width * vectors
  const narrow = (number: string) => (type === 'i64' ? number : code.value(`trunc i64 ${number} to i32`))
  const left = code.value(`sub i64 ${end}, ${first}`)
  const isWhole = code.value(`icmp sgt i64 ${left}, ${step}`)
  const last = narrow(code.value(`select i1 ${isWhole}, i64 ${step}, i64 ${left}`))
  const limit = code.splat(type, last, width)
  let start: string | undefined
  if (begin !== undefined) {
    const ahead = code.value(`sub i64 ${begin}, ${first}`)
    const isInside = code.value(`icmp slt i64 ${ahead}, 0`)
    start = code.splat(type, narrow(code.value(`select i1 ${isInside}, i64 0, i64 ${ahead}`)), width)
  }
  const lanes = laneType(type, width)
  return Array.from({ length: vectors }, (_, part) => {
    const counting = code.value(`add ${lanes} ${countingVector(type, width, part * width)}, zeroinitializer`)
    const isBelow = code.value(`icmp slt ${lanes} ${counting}, ${limit}`)
    if (start === undefined) return isBelow
    const isFrom = code.value(`icmp sge ${lanes} ${counting}, ${start}`)
    return code.value(`and ${laneType('bool', width)} ${isBelow}, ${isFrom}`)
  })
}
