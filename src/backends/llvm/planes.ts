// Where planes lie: loads addresses, pitches, lengths and uniforms from the argument block once, before the loop over samples.
// Invariant: the address of a table is readable at entry 0 even if the table is empty, so that a read outside may load that entry
// and throw it away.
import { walk, type Graph, type UniformValue } from '../../ir/graph.ts'
import { BYTES, type Type } from '../../ir/types.ts'
import { argumentLayout, SAMPLE_COUNT_SLOT, SCRATCH_SLOT, SLOT_BYTES } from './arguments.ts'
import type { Code } from './code.ts'
import type { EmitOptions } from './interface.ts'
import { laneType, MEMORY_TYPE } from './lanes.ts'

export interface PlaneAddress {
  /** Address of each component's first element. */
  readonly components: readonly string[]
  /** Elements between consecutive samples or entries. */
  readonly stride: number
  /** Samples or entries (i64). */
  readonly length: string
  /** The same as i32, unsigned, 2^31 at most: what an index is below. */
  readonly indexLimit: string
}

/** Address of an argument slot. */
export const slotAddress = (code: Code, slot: number): string =>
  code.value(`getelementptr i8, ptr %args, i64 ${slot * SLOT_BYTES}`)

const loadSlot = (code: Code, slot: number, type: string): string =>
  code.value(`load ${type}, ptr ${slotAddress(code, slot)}, align 8`)

/** The name of an internal constant of 8 zero bytes. */
export const zeroSymbol = ({ symbol }: EmitOptions): string => `@${symbol}.zero`

export function loadPlanes(code: Code, graph: Graph, options: EmitOptions): readonly (PlaneAddress | undefined)[] {
  const used = new Set<number>()
  for (const node of walk(graph.body)) if ('plane' in node) used.add(node.plane)
  const { slots } = argumentLayout(graph.planes)
  return graph.planes.map(({ role, type, components }, number) => {
    if (role === 'uniform' || (role !== 'mask' && !used.has(number))) return undefined
    const slot = slots[number]!
    const stride = options.sampleStrides?.[number] ?? 1
    const bound = loadSlot(code, slot, 'ptr')
    const length = loadSlot(code, slot + 2, 'i64')
    const element = laneType(MEMORY_TYPE[type], 1)
    const isTable = role === 'table'
    let base = bound
    if (isTable) {
      const isEmpty = code.value(`icmp eq i64 ${length}, 0`)
      base = code.value(`select i1 ${isEmpty}, ptr ${zeroSymbol(options)}, ptr ${bound}`)
    }
    const component = (index: number): string => {
      if (index === 0) return base
      if (stride !== 1) return code.value(`getelementptr ${element}, ptr ${base}, i64 ${index}`)
      const offset = code.value(`mul i64 ${loadSlot(code, slot + 1, 'i64')}, ${index}`)
      return code.value(`getelementptr ${element}, ptr ${base}, i64 ${offset}`)
    }
    const all = Array.from({ length: components }, (_, index) => component(index))
    const isEntries = isTable || role === 'accumulator'
    const indexLimit = isEntries ? limitOfIndex(code, length) : ''
    return { components: all, stride, length, indexLimit }
  })
}

function limitOfIndex(code: Code, length: string): string {
  const isLong = code.value(`icmp ugt i64 ${length}, 2147483648`)
  const limited = code.value(`select i1 ${isLong}, i64 2147483648, i64 ${length}`)
  return code.value(`trunc i64 ${limited} to i32`)
}

export const loadScratch = (code: Code): string => loadSlot(code, SCRATCH_SLOT, 'ptr')

export const loadSampleCount = (code: Code): string =>
  code.value(`trunc i64 ${loadSlot(code, SAMPLE_COUNT_SLOT, 'i64')} to i32`)

/** The number of a uniform. */
export function loadUniform(code: Code, graph: Graph, value: UniformValue): string {
  const type: Type = value.type
  const slot = argumentLayout(graph.planes).slots[value.plane]!
  const address = slotAddress(code, slot)
  const loaded = code.value(`load ${laneType(MEMORY_TYPE[type], 1)}, ptr ${address}, align ${BYTES[type]}`)
  return type === 'bool' ? code.value(`icmp ne i8 ${loaded}, 0`) : loaded
}
