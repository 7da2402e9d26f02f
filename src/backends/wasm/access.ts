// Vectors in memory: consecutive lanes, lanes at addresses of their own, and planes by component. A condition takes one byte a sample
// in a plane and a whole lane in scratch memory.
import type { Type } from '../../ir/types.ts'
import { BYTES } from '../../ir/types.ts'
import { BLOCK, read, SAMPLE, type Emitter } from './emitter.ts'
import { LENGTH, PITCH, planeSlot } from './frame.ts'
import { laneBytes, maskFor, narrowMask, splat, type Lanes } from './lanes.ts'

/** What lies in memory: a type of the graph, or a byte that stands for a condition. */
type Stored = Exclude<Type, 'bool'> | 'byte' | 'mask'

const storedBytes = (stored: Stored, lanes: Lanes): 1 | 4 | 8 =>
  stored === 'byte' ? 1 : laneBytes(stored === 'mask' ? 'bool' : stored, lanes)

/** How values of a type lie in planes. */
export const inPlane = (type: Type): Stored => (type === 'bool' ? 'byte' : type)
/** How values of a type lie in scratch memory. */
export const inScratch = (type: Type): Stored => (type === 'bool' ? 'mask' : type)

/** An address as an expression, and a constant distance from it. */
export interface Address {
  readonly base: string
  readonly offset: number
}

const at = ({ base, offset }: Address, distance = 0): { offset: string; base: string } => ({
  offset: offset + distance === 0 ? '' : ` offset=${offset + distance}`,
  base,
})

/** Bytes 0 … lanes − 1 of a vector as conditions. */
function unpackBytes(bytes: string, lanes: Lanes): string {
  const words = `(i32x4.extend_low_i16x8_u (i16x8.extend_low_i8x16_u ${bytes}))`
  return lanes === 4
    ? `(i32x4.ne ${words} ${splat(0, 'i32', lanes)})`
    : `(i64x2.ne (i64x2.extend_low_i32x4_u ${words}) ${splat(0n, 'i64', lanes)})`
}

/** Conditions as bytes 0 … lanes − 1 of a vector. */
function packBytes(mask: string, lanes: Lanes): string {
  const first = Array.from({ length: lanes }, (_, lane) => (lane * 16) / lanes)
  const order = [...first, ...Array(16 - lanes).fill(0)].join(' ')
  return `(v128.and (i8x16.shuffle ${order} ${mask} ${mask}) (v128.const i32x4 0x01010101 0 0 0))`
}

/** `lanes` consecutive values. */
export function loadLanes(stored: Stored, lanes: Lanes, address: Address): string {
  const { offset, base } = at(address)
  const bytes = storedBytes(stored, lanes) * lanes
  // A load of four bytes for two conditions: what lies behind them is not looked at.
  if (stored === 'byte') return unpackBytes(`(v128.load32_zero${offset} ${base})`, lanes)
  return bytes === 16 ? `(v128.load${offset} ${base})` : `(v128.load64_zero${offset} ${base})`
}

export function storeLanes(stored: Stored, lanes: Lanes, address: Address, value: string): string {
  const { offset, base } = at(address)
  if (stored === 'byte') {
    return `(v128.store${lanes * 8}_lane${offset} 0 ${base} ${packBytes(value, lanes)})`
  }
  return storedBytes(stored, lanes) * lanes === 16
    ? `(v128.store${offset} ${base} ${value})`
    : `(v128.store64_lane${offset} 0 ${base} ${value})`
}

/** Values at an address for each lane. */
export function loadApart(stored: Stored, lanes: Lanes, address: (lane: number) => Address): string {
  const width = storedBytes(stored, lanes) * 8
  let vector = ''
  for (let lane = 0; lane < lanes; lane++) {
    const { offset, base } = at(address(lane))
    vector =
      lane > 0
        ? `(v128.load${width}_lane${offset} ${lane} ${base} ${vector})`
        : width === 8
          ? `(v128.load8_lane${offset} 0 ${base} (v128.const i64x2 0 0))`
          : `(v128.load${width}_zero${offset} ${base})`
  }
  return stored === 'byte' ? unpackBytes(vector, lanes) : vector
}

/** The lines that store values at an address for each lane. `value` is read once for each. */
export function storeApart(
  stored: Stored,
  lanes: Lanes,
  address: (lane: number) => Address,
  value: string,
): readonly string[] {
  const width = storedBytes(stored, lanes) * 8
  const packed = stored === 'byte' ? packBytes(value, lanes) : value
  return Array.from({ length: lanes }, (_, lane) => {
    const { offset, base } = at(address(lane))
    return `(v128.store${width}_lane${offset} ${lane} ${base} ${packed})`
  })
}

/** The address of entry 0 of a component of a plane, modulo 2³². */
export function componentBase(e: Emitter, plane: number, component: number): string {
  const { type } = e.graph.planes[plane]!
  return e.once(`base ${plane} ${component}`, 'i32', () => {
    const start = `(i32.load offset=${planeSlot(plane)} ${BLOCK})`
    if (component === 0) return start
    const pitch =
      e.stride(plane) === 1 ? `(i32.load offset=${planeSlot(plane) + PITCH} ${BLOCK})` : `(i32.const ${BYTES[type]})`
    return `(i32.add ${start} (i32.mul (i32.const ${component}) ${pitch}))`
  })
}

/** Bytes between consecutive samples, or entries, of a plane. */
export const entryBytes = (e: Emitter, plane: number): number => e.stride(plane) * BYTES[e.graph.planes[plane]!.type]

/** Number of entries of a table or accumulator, in every lane. */
export const lengthOf = (e: Emitter, plane: number): string =>
  e.once(`length ${plane}`, 'v128', () => `(i32x4.splat (i32.load offset=${planeSlot(plane) + LENGTH} ${BLOCK}))`)

/** Where neighbouring samples lie: the first of one vector. */
function groupAddress(e: Emitter, plane: number, component: number, vector: number): Address {
  const bytes = entryBytes(e, plane)
  const distance = e.perGroup(`distance ${bytes}`, 'i32', () => `(i32.mul ${SAMPLE} (i32.const ${bytes}))`)
  return {
    base: `(i32.add ${componentBase(e, plane, component)} ${distance})`,
    offset: vector * e.frame.lanes * bytes,
  }
}

/** Where each sample of one vector lies, if not side by side with the one before. */
function apartAddresses(e: Emitter, plane: number, component: number, vector: number) {
  if (e.samples) return entryAddress(e, plane, component, read(e.samples[vector]!))
  if (e.stride(plane) === 1) return undefined
  const first = groupAddress(e, plane, component, vector)
  return (lane: number): Address => ({ ...first, offset: first.offset + lane * entryBytes(e, plane) })
}

export function loadSamples(e: Emitter, plane: number, component: number, vector: number): string {
  const { lanes } = e.frame
  const stored = inPlane(e.graph.planes[plane]!.type)
  const apart = apartAddresses(e, plane, component, vector)
  return apart ? loadApart(stored, lanes, apart) : loadLanes(stored, lanes, groupAddress(e, plane, component, vector))
}

/** Stores one vector of samples; where there is a mask, samples outside it keep what they hold. */
export function storeSamples(
  e: Emitter,
  plane: number,
  component: number,
  vector: number,
  value: string,
  mask: string | undefined,
): void {
  const { lanes } = e.frame
  const { type } = e.graph.planes[plane]!
  const apart = apartAddresses(e, plane, component, vector)
  if (apart && e.samples && mask !== undefined) {
    // Two lanes may hold the same sample, one that runs and one that has none of its own.
    storeApart(inPlane(type), lanes, apart, value).forEach((line, lane) =>
      e.line(`(if (i32x4.extract_lane ${lane} ${narrowMask(mask, lanes)}) (then ${line}))`),
    )
    return
  }
  const kept = () => loadSamples(e, plane, component, vector)
  const written = mask === undefined ? value : `(v128.bitselect ${value} ${kept()} ${maskFor(type, mask, lanes)})`
  if (!apart) {
    e.line(storeLanes(inPlane(type), lanes, groupAddress(e, plane, component, vector), written))
    return
  }
  const local = e.take('v128')
  e.set(local, written)
  storeApart(inPlane(type), lanes, apart, read(local)).forEach(e.line)
  e.give(local)
}

/** Where the entries that an index names lie: an address for each lane. The index is inside the range in every lane. */
export function entryAddress(e: Emitter, plane: number, component: number, index: string): (lane: number) => Address {
  const base = componentBase(e, plane, component)
  const bytes = entryBytes(e, plane)
  return (lane) => ({
    base: `(i32.add ${base} (i32.mul (i32x4.extract_lane ${lane} ${index}) (i32.const ${bytes})))`,
    offset: 0,
  })
}
