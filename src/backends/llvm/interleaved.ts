// Planes in which the n numbers of a sample lie together (xyzxyz…): whole vectors are read and written as n adjoining vectors and
// shuffled apart or together, where the kernel uses enough of them.
// Invariant: a wide access covers exactly the samples of its vector, so it touches nothing that a lane does not own.
import { walk, type Graph } from '../../ir/graph.ts'
import { BYTES, type Type } from '../../ir/types.ts'
import type { Context } from './context.ts'
import { laneType, MEMORY_TYPE, shuffleMask } from './lanes.ts'
import { firstOf } from './memory.ts'
import type { PlaneAddress } from './planes.ts'

/** Beyond this many numbers a sample, shuffling costs more than one access a lane. */
const MOST_TOGETHER = 8

/** Components of a plane that an op accesses in the body of the graph, each counted as often as it occurs. */
const accessed = (graph: Graph, op: 'load' | 'store', plane: number): readonly number[] =>
  [...walk(graph.body)].flatMap((node) => (node.op === op && node.plane === plane ? [node.component] : []))

/** Whether a plane is read in whole vectors: at least half of the numbers are used. */
export function readsWide({ graph, planes, width, group }: Context, plane: number): boolean {
  const { stride } = planes[plane]!
  const { components } = graph.planes[plane]!
  if (width === 1 || group.numbers !== undefined || stride !== components || stride > MOST_TOGETHER) return false
  return 2 * new Set(accessed(graph, 'load', plane)).size >= stride
}

/** Whether a plane is written in whole vectors: each number once, at the top level. */
export function writesWide({ graph, planes, width, group }: Context, plane: number): boolean {
  const { stride } = planes[plane]!
  const { components } = graph.planes[plane]!
  if (width === 1 || group.numbers !== undefined || stride !== components || stride > MOST_TOGETHER) return false
  const stored = accessed(graph, 'store', plane)
  const atTop = graph.body.nodes.filter((node) => node.op === 'store' && node.plane === plane)
  return stored.length === stride && atTop.length === stride && new Set(stored).size === stride
}

/** Address of the first number of the first sample of a vector. */
function vectorAddress(context: Context, type: Type, { components, stride }: PlaneAddress, part: number): string {
  const { code } = context
  const first = code.value(`mul i64 ${firstOf(context, context.group, part)}, ${stride}`)
  return code.value(`getelementptr ${laneType(MEMORY_TYPE[type], 1)}, ptr ${components[0]}, i64 ${first}`)
}

/** One component of a vector of samples, in memory form. */
export function loadTogether(context: Context, type: Type, plane: number, component: number, part: number): string {
  const { code, width, planes, together } = context
  const address = planes[plane]!
  const { stride } = address
  const memory = MEMORY_TYPE[type]
  const wide = laneType(memory, width * stride)
  const key = `${plane}:${part}`
  let loaded = together.loaded.get(key)
  if (loaded === undefined) {
    loaded = code.value(`load ${wide}, ptr ${vectorAddress(context, type, address, part)}, align ${BYTES[type]}`)
    together.loaded.set(key, loaded)
  }
  const lanes = Array.from({ length: width }, (_, lane) => lane * stride + component)
  return code.value(`shufflevector ${wide} ${loaded}, ${wide} poison, ${shuffleMask(lanes)}`)
}

/** Takes one component in memory form; the last one to come writes them all. */
export function storeTogether(
  context: Context,
  type: Type,
  plane: number,
  component: number,
  parts: readonly string[],
): void {
  const { code, width, planes, together } = context
  const address = planes[plane]!
  const { stride } = address
  const held = together.stored.get(plane) ?? new Map<number, readonly string[]>()
  together.stored.set(plane, held.set(component, parts))
  if (held.size < stride) return
  const memory = MEMORY_TYPE[type]
  const wide = laneType(memory, width * stride)
  parts.forEach((_, part) => {
    const vectors = Array.from({ length: stride }, (_number, number) => held.get(number)![part]!)
    const { value, lanes } = concatenate(context, type, vectors)
    const order = Array.from(
      { length: width * stride },
      (_lane, lane) => (lane % stride) * width + Math.floor(lane / stride),
    )
    const joined = laneType(memory, lanes)
    const mixed = code.value(`shufflevector ${joined} ${value}, ${joined} poison, ${shuffleMask(order)}`)
    code.line(`store ${wide} ${mixed}, ptr ${vectorAddress(context, type, address, part)}, align ${BYTES[type]}`)
  })
}

/** Vectors one after the other in one, filled up to a power of two of them. */
function concatenate(
  { code, width }: Context,
  type: Type,
  vectors: readonly string[],
): { value: string; lanes: number } {
  let lanes = width
  let level = [...vectors]
  while (level.length > 1) {
    const half = laneType(MEMORY_TYPE[type], lanes)
    const all = shuffleMask(Array.from({ length: 2 * lanes }, (_, lane) => lane))
    const pairs = Array.from({ length: Math.ceil(level.length / 2) }, (_, k) => [
      level[2 * k]!,
      level[2 * k + 1] ?? 'poison',
    ])
    level = pairs.map(([low, high]) => code.value(`shufflevector ${half} ${low}, ${half} ${high}, ${all}`))
    lanes *= 2
  }
  return { value: level[0]!, lanes }
}
