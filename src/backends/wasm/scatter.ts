// Scatter-adds in ascending sample order, and of one sample in program order. A group notes (plane, index, value) of all its lanes in
// the order of execution; then the notes are applied lane by lane.
// Invariants: a lane that does not run notes index −1, which is outside every accumulator and is dropped. Where the notes may run out of
// room (scatter-adds in loops), the group is abandoned before it changed anything and run again one sample at a time; of a single
// sample, notes may be applied at any time.
import type { PlaneEffect } from '../../ir/graph.ts'
import { walk, type Graph } from '../../ir/graph.ts'
import { componentBase, entryBytes, inScratch, storeLanes } from './access.ts'
import { BLOCK, read, type Emitter, type Mask } from './emitter.ts'
import { LENGTH, planeSlot } from './frame.ts'
import { laneBytes, narrowMask, scalar } from './lanes.ts'
import { reportOutside } from './report.ts'

/** Address of the next note. */
export const NEXT_NOTE = '$note'
/** Lane that runs alone, −1 while all run. */
export const ALONE = '$alone'
/** Whether the notes ran out of room while all lanes ran. */
export const OVERFLOWED = '$overflowed'

export const SCATTER_LOCALS = [NEXT_NOTE, ALONE, OVERFLOWED, '$lane', '$entry', '$index']

interface Target {
  readonly plane: number
  readonly component: number
}

/** What scatter-adds of a graph write to; the place in this list is the tag of a note. */
function targets(graph: Graph): readonly Target[] {
  const found = new Map<string, Target>()
  for (const node of walk(graph.body)) {
    if (node.op !== 'scatterAdd') continue
    const { plane, component } = node
    found.set(`${plane}.${component}`, { plane, component })
  }
  return [...found.values()]
}

const start = (e: Emitter): string => `(i32.add ${BLOCK} (i32.const ${e.frame.log!.offset}))`

export const forgetNotes = (e: Emitter): void => e.set(NEXT_NOTE, start(e))

export function noteScatter(e: Emitter, { plane, component, operands }: PlaneEffect, mask: Mask): void {
  const [index, value] = operands
  const { lanes, vectors, log } = e.frame
  const { valuesOffset, recordBytes, records, offset, mode } = log!
  const { type } = value!
  reportOutside(e, plane, index!, mask)
  if (mode !== 'together') {
    const full = `(i32.ge_u ${read(NEXT_NOTE)} (i32.add ${BLOCK} (i32.const ${offset + records * recordBytes})))`
    e.nest(
      `(if ${full} (then`,
      () => {
        const isTogether = `(i32.lt_s ${read(ALONE)} (i32.const 0))`
        const overflow = `(then (local.set ${OVERFLOWED} (i32.const 1)))`
        e.nest(`(if ${isTogether} ${overflow} (else`, () => applyNotes(e), '))')
        forgetNotes(e)
      },
      '))',
    )
  }
  const tag = targets(e.graph).findIndex((target) => target.plane === plane && target.component === component)
  const base = read(NEXT_NOTE)
  e.line(`(i32.store ${base} (i32.const ${tag}))`)
  for (let vector = 0; vector < vectors; vector++) {
    const given = e.get(index!, vector)
    const noted = mask ? `(v128.or ${given} (v128.not ${narrowMask(read(mask[vector]!), lanes)}))` : given
    e.line(storeLanes('i32', lanes, { base, offset: 16 + vector * lanes * 4 }, noted))
    const valueOffset = valuesOffset + vector * lanes * laneBytes(type, lanes)
    e.line(storeLanes(inScratch(type), lanes, { base, offset: valueOffset }, e.get(value!, vector)))
  }
  e.set(NEXT_NOTE, `(i32.add ${base} (i32.const ${recordBytes}))`)
}

/** Applies the notes of each lane in turn. */
export function applyNotes(e: Emitter): void {
  const { group, log } = e.frame
  const { recordBytes } = log!
  const kinds = targets(e.graph)
  e.set('$lane', '(i32.const 0)')
  e.nest(
    '(loop $eachLane',
    () => {
      e.set('$entry', start(e))
      e.nest(
        '(block $lastNote (loop $eachNote',
        () => {
          e.line(`(br_if $lastNote (i32.ge_u (local.get $entry) ${read(NEXT_NOTE)}))`)
          e.set('$index', '(i32.load offset=16 (i32.add (local.get $entry) (i32.shl (local.get $lane) (i32.const 2))))')
          kinds.forEach((target, tag) => applyNote(e, target, kinds.length > 1 ? tag : undefined))
          e.set('$entry', `(i32.add (local.get $entry) (i32.const ${recordBytes}))`)
          e.line('(br $eachNote)')
        },
        '))',
      )
      e.set('$lane', '(i32.add (local.get $lane) (i32.const 1))')
      e.line(`(br_if $eachLane (i32.lt_u (local.get $lane) (i32.const ${group})))`)
    },
    ')',
  )
}

function applyNote(e: Emitter, { plane, component }: Target, tag: number | undefined): void {
  const { type } = e.graph.planes[plane]!
  const { lanes, log } = e.frame
  const inRange = `(i32.lt_u (local.get $index) (i32.load offset=${planeSlot(plane) + LENGTH} ${BLOCK}))`
  const isThis =
    tag === undefined ? inRange : `(i32.and ${inRange} (i32.eq (i32.load (local.get $entry)) (i32.const ${tag})))`
  const name = scalar(type)
  const noted = `(${name}.load offset=${log!.valuesOffset} (i32.add (local.get $entry) (i32.mul (local.get $lane) (i32.const ${laneBytes(type, lanes)}))))`
  e.nest(
    `(if ${isThis} (then`,
    () => {
      // The index is used no more, so that its local can hold the address.
      e.set(
        '$index',
        `(i32.add ${componentBase(e, plane, component)} (i32.mul (local.get $index) (i32.const ${entryBytes(e, plane)})))`,
      )
      e.line(`(${name}.store (local.get $index) (${name}.add (${name}.load (local.get $index)) ${noted}))`)
    },
    '))',
  )
}
