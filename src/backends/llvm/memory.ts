// Vector accesses to memory: consecutive and scattered elements, and gathers from tables.
// Invariants: whole vectors use plain accesses aligned to the element only; nothing outside the lanes of a mask is touched; a gather
// reads inside its table only.
import { BYTES, isFloat, type Type } from '../../ir/types.ts'
import { internal, lanesOf, select, type Context, type Group } from './context.ts'
import { countingVector, laneType, mangled, MEMORY_TYPE } from './lanes.ts'
import type { PlaneAddress } from './planes.ts'

export function addressOfPlane({ planes }: Pick<Context, 'planes'>, plane: number): PlaneAddress {
  const found = planes[plane]
  if (!found) throw internal(`plane ${plane} has no address`)
  return found
}

/** Number of the first sample of a vector. */
export const firstOf = ({ code, width }: Context, { first }: Group, part: number): string =>
  part === 0 ? first : code.value(`add i64 ${first}, ${part * width}`)

/** Elements from the start of a component to sample or entry `index`, whatever type of lanes `index` has. */
function elementOffset(
  { code, width }: Pick<Context, 'code' | 'width'>,
  { stride }: PlaneAddress,
  type: 'i32' | 'i64',
  index: string,
  lanes: number,
) {
  if (stride === 1) return index
  const wide =
    type === 'i64' ? index : code.value(`sext ${laneType('i32', lanes)} ${index} to ${laneType('i64', lanes)}`)
  return code.value(
    `mul ${laneType('i64', lanes)} ${wide}, ${code.constant('i64', BigInt(stride), lanes === 1 ? 1 : width)}`,
  )
}

/** Addresses of one element for each lane. */
export function laneAddresses(
  context: Context,
  type: Type,
  plane: PlaneAddress,
  component: number,
  indexType: 'i32' | 'i64',
  index: string,
): string {
  const { code, width } = context
  const offset = elementOffset(context, plane, indexType, index, width)
  const offsetType = plane.stride === 1 ? indexType : 'i64'
  return code.value(
    `getelementptr ${laneType(MEMORY_TYPE[type], 1)}, ptr ${plane.components[component]}, ${laneType(offsetType, width)} ${offset}`,
  )
}

export function scalarAddress(
  context: Pick<Context, 'code' | 'width'>,
  type: Type,
  plane: PlaneAddress,
  component: number,
  indexType: 'i32' | 'i64',
  index: string,
): string {
  const offset = elementOffset(context, plane, indexType, index, 1)
  const offsetType = plane.stride === 1 ? indexType : 'i64'
  return context.code.value(
    `getelementptr ${laneType(MEMORY_TYPE[type], 1)}, ptr ${plane.components[component]}, ${offsetType} ${offset}`,
  )
}

/** Memory form to value form: bytes to conditions. */
export const fromMemory = (context: Context, type: Type, loaded: string, width = context.width): string =>
  type === 'bool'
    ? context.code.value(`icmp ne ${laneType('i8', width)} ${loaded}, ${context.code.constant('i32', 0, width)}`)
    : loaded

/** Value form to memory form. */
export const toMemory = (context: Context, type: Type, value: string): string =>
  type === 'bool' ? context.code.value(`zext ${lanesOf(context, 'bool')} ${value} to ${lanesOf(context, 'i8')}`) : value

/** Samples of the lanes of one vector, as i64 lanes. */
export function sampleNumbers(context: Context, group: Group, part: number): string {
  const { code, width } = context
  const known = group.numbers?.[part]
  if (known !== undefined) return known
  const first = firstOf(context, group, part)
  if (width === 1) return first
  return code.value(
    `add ${laneType('i64', width)} ${code.splat('i64', first, width)}, ${countingVector('i64', width, 0)}`,
  )
}

/** Loads a vector from consecutive elements. */
export function loadConsecutive(context: Context, type: Type, address: string, mask: string | undefined): string {
  const { code, width } = context
  const memory = MEMORY_TYPE[type]
  const lanes = laneType(memory, width)
  if (mask === undefined || width === 1) return code.value(`load ${lanes}, ptr ${address}, align ${BYTES[type]}`)
  return code.call(lanes, `llvm.masked.load.${mangled(memory, width)}.p0`, [
    `ptr ${address}`,
    `i32 ${BYTES[type]}`,
    `${laneType('bool', width)} ${mask}`,
    `${lanes} zeroinitializer`,
  ])
}

export function storeConsecutive(
  context: Context,
  type: Type,
  value: string,
  address: string,
  mask: string | undefined,
) {
  const { code, width } = context
  const memory = MEMORY_TYPE[type]
  const lanes = laneType(memory, width)
  if (mask === undefined || width === 1)
    return code.line(`store ${lanes} ${value}, ptr ${address}, align ${BYTES[type]}`)
  code.call('void', `llvm.masked.store.${mangled(memory, width)}.p0`, [
    `${lanes} ${value}`,
    `ptr ${address}`,
    `i32 ${BYTES[type]}`,
    `${laneType('bool', width)} ${mask}`,
  ])
}

/** Loads one element for each lane of a mask; 0 in the others. */
export function loadScattered(context: Context, type: Type, addresses: string, mask: string | undefined): string {
  const { code, width } = context
  const memory = MEMORY_TYPE[type]
  const lanes = laneType(memory, width)
  return code.call(lanes, `llvm.masked.gather.${mangled(memory, width)}.v${width}p0`, [
    `${laneType('ptr', width)} ${addresses}`,
    `i32 ${BYTES[type]}`,
    `${laneType('bool', width)} ${mask ?? code.constant('bool', true, width)}`,
    `${lanes} zeroinitializer`,
  ])
}

export function storeScattered(
  context: Context,
  type: Type,
  value: string,
  addresses: string,
  mask: string | undefined,
) {
  const { code, width } = context
  const memory = MEMORY_TYPE[type]
  code.call('void', `llvm.masked.scatter.${mangled(memory, width)}.v${width}p0`, [
    `${laneType(memory, width)} ${value}`,
    `${laneType('ptr', width)} ${addresses}`,
    `i32 ${BYTES[type]}`,
    `${laneType('bool', width)} ${mask ?? code.constant('bool', true, width)}`,
  ])
}

/** What a read outside a table gives. */
const outside = (context: Context, type: Type, width: number): string =>
  context.code.constant(type, isFloat(type) ? Number.NaN : type === 'i64' ? 0n : type === 'bool' ? false : 0, width)

/** Reads an entry that all lanes share. A branch, as an index outside is rare, and a selection would delay the load. */
export function gatherScalar(context: Context, type: Type, plane: number, component: number, index: string): string {
  const { code } = context
  const address = addressOfPlane(context, plane)
  const inside = code.label('inside')
  const after = code.label('gathered')
  const before = code.current
  code.branch(code.value(`icmp ult i32 ${index}, ${address.indexLimit}`), inside, after)
  code.begin(inside)
  const element = scalarAddress(context, type, address, component, 'i32', index)
  const loaded = code.value(`load ${laneType(MEMORY_TYPE[type], 1)}, ptr ${element}, align ${BYTES[type]}`)
  const value = fromMemory(context, type, loaded, 1)
  code.jump(after)
  code.begin(after)
  const both = [
    { value, block: inside },
    { value: outside(context, type, 1), block: before },
  ]
  return code.phi(laneType(type, 1), both).name
}

/** Reads an entry for each lane of one vector. The bounds check keeps idle lanes inside too. */
export function gatherVector(context: Context, type: Type, plane: number, component: number, index: string): string {
  const { code, width, options } = context
  const address = addressOfPlane(context, plane)
  const limit = code.splat('i32', address.indexLimit, width)
  const isInside = code.value(`icmp ult ${laneType('i32', width)} ${index}, ${limit}`)
  if (options.target.avx512 && type !== 'bool') {
    const lanes = laneType(type, width)
    return code.call(lanes, `llvm.masked.gather.${mangled(type, width)}.v${width}p0`, [
      `${laneType('ptr', width)} ${laneAddresses(context, type, address, component, 'i32', index)}`,
      `i32 ${BYTES[type]}`,
      `${laneType('bool', width)} ${isInside}`,
      `${lanes} ${outside(context, type, width)}`,
    ])
  }
  // Without a fast gather instruction: one load a lane, from entry 0 for the lanes outside.
  const inside = code.value(
    `select ${laneType('bool', width)} ${isInside}, ${laneType('i32', width)} ${index}, ${laneType('i32', width)} zeroinitializer`,
  )
  const memory = MEMORY_TYPE[type]
  let gathered = 'poison'
  for (let lane = 0; lane < width; lane++) {
    const one = code.value(`extractelement ${laneType('i32', width)} ${inside}, i64 ${lane}`)
    const element = scalarAddress(context, type, address, component, 'i32', one)
    const loaded = code.value(`load ${laneType(memory, 1)}, ptr ${element}, align ${BYTES[type]}`)
    gathered = code.value(
      `insertelement ${laneType(memory, width)} ${gathered}, ${laneType(memory, 1)} ${loaded}, i64 ${lane}`,
    )
  }
  return select(context, type, isInside, fromMemory(context, type, gathered), outside(context, type, width))
}
