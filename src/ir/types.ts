// The scalar types of the graph. Aggregates do not exist here: a vector of the tracer is several scalar values.
// Invariant: a literal of type i64 is a bigint, of bool a boolean, of every other type a number that the type represents exactly.

export type Type = 'f64' | 'f32' | 'i32' | 'u32' | 'i64' | 'bool'
export type FloatType = 'f64' | 'f32'
export type IntegerType = 'i32' | 'u32' | 'i64'
export type Literal = number | bigint | boolean

/** Sets of types that op signatures name. */
export const TYPE_CLASSES = {
  float: ['f64', 'f32'],
  integer: ['i32', 'u32', 'i64'],
  number: ['f64', 'f32', 'i32', 'u32', 'i64'],
  bits: ['i32', 'u32', 'i64', 'bool'],
  any: ['f64', 'f32', 'i32', 'u32', 'i64', 'bool'],
} as const satisfies Record<string, readonly Type[]>

export type TypeClass = keyof typeof TYPE_CLASSES

export const TYPES = TYPE_CLASSES.any

/** Types that planes have; the others exist inside kernels only. */
export type PlaneType = Exclude<Type, 'u32' | 'i64'>

/** Arrays that hold a plane: f64, f32, i32, and one byte a condition. */
export type PlaneArray = Float64Array | Float32Array | Int32Array | Uint8Array

/** Bytes that one value of a type takes in a plane; a condition is stored as one byte, 0 or 1. */
export const BYTES: Record<Type, number> = { f64: 8, f32: 4, i32: 4, u32: 4, i64: 8, bool: 1 }

export const isFloat = (type: Type): type is FloatType => type === 'f64' || type === 'f32'
export const isInteger = (type: Type): type is IntegerType => type === 'i32' || type === 'u32' || type === 'i64'
export const isInClass = (type: Type, typeClass: TypeClass): boolean =>
  (TYPE_CLASSES[typeClass] as readonly Type[]).includes(type)

/** Types between which `bitcast` reinterprets: equal width, neither a condition. */
export const canBitcast = (from: Type, to: Type): boolean =>
  from !== 'bool' && to !== 'bool' && BYTES[from] === BYTES[to]

/** Whether a JavaScript value is a literal of a type: right kind, and exactly representable. */
export function isLiteral(value: Literal, type: Type): boolean {
  switch (type) {
    case 'bool':
      return typeof value === 'boolean'
    case 'i64':
      return typeof value === 'bigint' && BigInt.asIntN(64, value) === value
    case 'i32':
      return typeof value === 'number' && (value | 0) === value && !Object.is(value, -0)
    case 'u32':
      return typeof value === 'number' && value >>> 0 === value && !Object.is(value, -0)
    case 'f32':
      return typeof value === 'number' && Object.is(Math.fround(value), value)
    case 'f64':
      return typeof value === 'number'
  }
}
