// The values at which numeric code goes wrong, by type, and plane contents made of them.
// Invariant: what a seed gives never changes within a run of the suite, so that a failure can be repeated.
import { BYTES, type FloatType, type Literal, type PlaneArray, type PlaneType, type Type } from '../../src/ir/types.ts'

const FLOAT_LIMITS: Record<FloatType, readonly number[]> = {
  f64: [Number.MAX_VALUE, 2 ** -1022, 2 ** -1022 - 2 ** -1074, 2 ** -1074, 1 + 2 ** -52, 1 - 2 ** -53, 2 ** 52 + 0.5],
  f32: [
    (2 - 2 ** -23) * 2 ** 127,
    2 ** -126,
    2 ** -126 - 2 ** -149,
    2 ** -149,
    1 + 2 ** -23,
    1 - 2 ** -24,
    2 ** 23 + 0.5,
  ],
}

/** Whole numbers around the widths of the types, and halves, where rounding decides. */
const TURNS = [
  1,
  2,
  3,
  31,
  32,
  33,
  63,
  64,
  65,
  2 ** 24 + 1,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32,
  2 ** 53 + 1,
  2 ** 63,
  0.5,
  1.5,
  2.5,
  0.1,
  2 / 3,
  1e10 / 3,
]

function floats(type: FloatType): readonly number[] {
  const rounded = [...FLOAT_LIMITS[type], ...TURNS].map((x) => (type === 'f32' ? Math.fround(x) : x))
  return [0, -0, Infinity, -Infinity, NaN, ...rounded.flatMap((x) => [x, -x])]
}

const WORDS = [0, 1, 2, 3, 5, 31, 32, 33, 63, 64, 65, 255, 2 ** 16 + 1, 2 ** 24 + 1]

/** For each type: zeros, ones, limits and their neighbours, infinities, NaN, subnormals, and where rounding or a shift count turns. */
export const GRID: Record<Type, readonly Literal[]> = {
  f64: floats('f64'),
  f32: floats('f32'),
  i32: [...WORDS, -1, -2, -3, -31, -32, -33, 2 ** 31 - 1, 2 ** 31 - 2, -(2 ** 31), -(2 ** 31) + 1],
  u32: [...WORDS, 2 ** 31 - 1, 2 ** 31, 2 ** 31 + 1, 2 ** 32 - 1, 2 ** 32 - 2],
  i64: [
    ...[...WORDS, -1, -2, -31, -33, -63, -64, -65, 2 ** 32, 2 ** 53, -(2 ** 53)].map(BigInt),
    2n ** 24n + 1n,
    2n ** 53n + 1n,
    -(2n ** 53n) - 1n,
    2n ** 54n + 2n,
    2n ** 63n - 1n,
    2n ** 63n - 2n,
    -(2n ** 63n),
    -(2n ** 63n) + 1n,
    0x4024_0000_0000_0001n,
  ],
  bool: [false, true],
}

export type Random = () => number

/** Numbers in [0, 1) from a seed (mulberry32). */
export function random(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const pick = <T>(from: readonly T[], next: Random): T => from[Math.floor(next() * from.length)]!

/** An element of a plane: as often from the grid as of ordinary size; small whole numbers may serve as indices. */
const ELEMENTS: Record<PlaneType, (next: Random) => number> = {
  f64: (next) => (next() < 0.5 ? Number(pick(GRID.f64, next)) : (next() - 0.5) * 10 ** (next() * 6 - 3)),
  f32: (next) => Math.fround(next() < 0.5 ? Number(pick(GRID.f32, next)) : (next() - 0.5) * 10 ** (next() * 6 - 3)),
  i32: (next) => (next() < 0.3 ? Number(pick(GRID.i32, next)) : Math.floor(next() * 12) - 2),
  bool: (next) => (next() < 0.5 ? 1 : 0),
}

/** A number such as planes and uniforms of a type hold. */
export const element = (type: PlaneType, next: Random): number => ELEMENTS[type](next)

const ARRAYS: Record<PlaneType, new (buffer: ArrayBuffer, offset: number, length: number) => PlaneArray> = {
  f64: Float64Array,
  f32: Float32Array,
  i32: Int32Array,
  bool: Uint8Array,
}

/**
 * Plane contents, in memory of their own.
 * @param offset elements by which the array is moved from an aligned start
 */
export function planeArray(type: PlaneType, length: number, next: Random, offset = 0): PlaneArray {
  const array = new ARRAYS[type](new ArrayBuffer((length + offset) * BYTES[type]), offset * BYTES[type], length)
  for (let k = 0; k < length; k++) array[k] = element(type, next)
  return array
}

/** Equal bit for bit, but any NaN equals any NaN. */
export const sameBits = (a: Literal, b: Literal): boolean => Object.is(a, b)

/** A number so that equal texts mean equal bits. */
export const showNumber = (x: Literal): string => (Object.is(x, -0) ? '-0' : String(x))
