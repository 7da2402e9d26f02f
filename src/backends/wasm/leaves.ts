// What reads something other than values: planes, tapes, the sample number. A row an op.
import type { GatherValue, LoadValue, RecallValue, UniformValue, Value } from '../../ir/graph.ts'
import type { BasicOp, OpName, ValueOp } from '../../ir/ops.ts'
import { isFloat } from '../../ir/types.ts'
import { entryAddress, inPlane, lengthOf, loadApart, loadSamples } from './access.ts'
import { BLOCK, read, SAMPLE, type Emitter, type Mask } from './emitter.ts'
import { planeSlot, SAMPLE_COUNT } from './frame.ts'
import { laneBytes, widenMask } from './lanes.ts'
import { reportOutside } from './report.ts'
import type { EmittedOp } from './rows.ts'
import { recallFrom } from './tapes.ts'

/** Basic ops that give a value of something else than their operands. Constants, parameters and results stand in no region. */
export type ReadingOp = Exclude<Extract<ValueOp, BasicOp>, EmittedOp | 'fma' | 'const' | 'parameter' | 'result'>

type Row = (e: Emitter, value: Value, mask: Mask) => void

function uniform(e: Emitter, value: UniformValue): void {
  const { lanes } = e.frame
  const bytes = value.type === 'bool' ? 4 : laneBytes(value.type, lanes)
  const loaded = `(v128.load${bytes * 8}_splat offset=${planeSlot(value.plane)} ${BLOCK})`
  const isCondition = value.type === 'bool'
  e.define(value, () => (isCondition ? widenMask(`(i32x4.ne ${loaded} ${e.constant(0, 'i32')})`, lanes) : loaded))
}

/** Numbers of the samples of one vector. */
export function sampleNumbers(e: Emitter, vector: number): string {
  const { lanes } = e.frame
  if (e.samples) return read(e.samples[vector]!)
  const first = vector * lanes
  const steps = Array.from({ length: 4 }, (_, lane) => first + (lane % lanes)).join(' ')
  return e.perGroup(
    `samples ${vector}`,
    'v128',
    () => `(i32x4.add (i32x4.splat ${SAMPLE}) (v128.const i32x4 ${steps}))`,
  )
}

/** Reads at index 0 where the index is outside, and replaces what it found: no lane can leave the table, and no branch is needed. */
function gather(e: Emitter, value: GatherValue, mask: Mask): void {
  const { plane, component, type } = value
  const { lanes } = e.frame
  const [index] = value.operands
  reportOutside(e, plane, index!, mask)
  e.define(value, (vector, temporary) => {
    const given = e.get(index!, vector)
    const [inside, safe] = [temporary(), temporary()]
    e.set(inside, `(i32x4.lt_u ${given} ${lengthOf(e, plane)})`)
    e.set(safe, `(v128.and ${given} ${read(inside)})`)
    const loaded = loadApart(inPlane(type), lanes, entryAddress(e, plane, component, read(safe)))
    const isInside = laneBytes(type, lanes) === 8 ? widenMask(read(inside), lanes) : read(inside)
    if (!isFloat(type)) return `(v128.and ${loaded} ${isInside})`
    return `(v128.bitselect ${loaded} ${e.constant(NaN, type)} ${isInside})`
  })
}

export const leaves: Record<ReadingOp, Row> = {
  load: (e, value) => {
    const { plane, component } = value as LoadValue
    e.define(value, (vector) => loadSamples(e, plane, component, vector))
  },
  uniform: (e, value) => uniform(e, value as UniformValue),
  sampleIndex: (e, value) => e.define(value, (vector) => sampleNumbers(e, vector)),
  sampleCount: (e, value) => e.define(value, () => `(v128.load32_splat offset=${SAMPLE_COUNT} ${BLOCK})`),
  entryCount: (e, value) => e.define(value, () => lengthOf(e, (value as UniformValue).plane)),
  gather: (e, value, mask) => gather(e, value as GatherValue, mask),
  recall: (e, value, mask) => recallFrom(e, value as RecallValue, mask),
}

export const isReading = (op: OpName): op is ReadingOp => op in leaves
