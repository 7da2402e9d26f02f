// Giving a value to something of a declared type: a mutable, an accumulator, a reduction. Types go up (bool < i32 < float), never down.
import type { Value } from '../ir/graph.ts'
import { refusal, type Trace } from './context.ts'
import { sameShape, type ElementType, type Head } from './kinds.ts'
import { componentAs, constantOf, readOperands } from './promote.ts'
import { headText, show, withArticle } from './value.ts'

const RANK: Record<ElementType, number> = { bool: 0, i32: 1, f64: 2 }

const CONVERSION: Record<ElementType, string> = {
  f64: '',
  i32: '; convert it with toInt()',
  bool: '; compare it, as in x.gt(0)',
}

const holds = (literal: number | boolean, type: ElementType): boolean =>
  typeof literal === 'boolean' || type === 'f64' || (type === 'i32' && (literal | 0) === literal)

/** The components of a value as a declared head takes them. */
export function assign(call: string, value: unknown, head: Head): { trace: Trace; components: readonly Value[] } {
  const { trace, items } = readOperands(call, [value])
  const item = items[0]!
  const { literal, state } = item
  const refuse = (hint: string) =>
    refusal(trace, 'E_TYPE', `${call}: found ${show(value)}, expected ${withArticle(headText(head))}${hint}`)
  if (!state) {
    if (head.shape.length > 0) throw refuse('')
    if (!holds(literal, head.type)) throw refuse(CONVERSION[head.type])
    return { trace, components: [constantOf(trace, literal, head.type)] }
  }
  const found = state.head
  if (!sameShape(found, head))
    throw refuse(head.quaternion && found.components === 4 ? '; quat(w, x, y, z) makes one' : '')
  if (RANK[found.type] > RANK[head.type]) throw refuse(CONVERSION[head.type])
  const components = Array.from({ length: head.components }, (_, k) => componentAs(trace, item, k, head.type))
  return { trace, components }
}
