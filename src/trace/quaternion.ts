// Quaternions: four components w, x, y, z. The tag survives add, sub, neg, scaling and `where`; everything else goes through the
// functions here.
import type { Builder } from '../ir/build.ts'
import type { Value } from '../ir/graph.ts'
import { headOf } from './kinds.ts'
import { dotProduct } from './linearAlgebra.ts'
import { componentsAs, operation, requireValue, type OperationInput } from './operation.ts'
import { componentAs, type Item } from './promote.ts'
import { makeFromComponents, setPrototype, type Traced, type ValueState } from './value.ts'
import { componentMembers, requireOneNumber } from './vector.ts'
import type { Element, Quat, ScalarOperand, SymbolicValue, Vector } from './values.ts'

type Components = readonly Value[]

const HEAD = headOf('f64', [4], true)
const isQuaternion = ({ head }: ValueState): boolean => head.quaternion
const isThreeVector = ({ head }: ValueState): boolean => head.shape.length === 1 && head.components === 3

const read = (input: OperationInput, k: number): Components =>
  componentsAs(input.trace, requireValue(input, input.items[k]!, isQuaternion, 'a Quat'), 'f64')

const readVector = (input: OperationInput, k: number): Components =>
  componentsAs(input.trace, requireValue(input, input.items[k]!, isThreeVector, 'a Vector(3)'), 'f64')

const make = ({ trace, label }: OperationInput, components: Components): Traced =>
  makeFromComponents(trace, HEAD, components, label)

/** Hamilton product. */
function multiply(b: Builder, p: Components, q: Components): Components {
  /** Σ sign·p[i]·q[j], from left to right. */
  const sum = (...terms: readonly (readonly [sign: 1 | -1, i: number, j: number])[]): Value => {
    const [[, i, j], ...rest] = terms as [(typeof terms)[number], ...typeof terms]
    return rest.reduce(
      (total, [sign, k, l]) => (sign === 1 ? b.add : b.sub)(total, b.mul(p[k]!, q[l]!)),
      b.mul(p[i]!, q[j]!),
    )
  }
  return [
    sum([1, 0, 0], [-1, 1, 1], [-1, 2, 2], [-1, 3, 3]),
    sum([1, 0, 1], [1, 1, 0], [1, 2, 3], [-1, 3, 2]),
    sum([1, 0, 2], [-1, 1, 3], [1, 2, 0], [1, 3, 1]),
    sum([1, 0, 3], [1, 1, 2], [-1, 2, 1], [1, 3, 0]),
  ]
}

const conjugate = (b: Builder, [w, ...rest]: Components): Components => [w!, ...rest.map((value) => b.neg(value))]

/** A quaternion of its components. */
export const quat = operation<(w: ScalarOperand, x: ScalarOperand, y: ScalarOperand, z: ScalarOperand) => Quat>(
  'quat',
  4,
  (input) =>
    make(
      input,
      input.items.map((item: Item) => componentAs(input.trace, requireOneNumber(input, item, 'one number'), 0, 'f64')),
    ),
).free

type AnyQuat = SymbolicValue<Element, 'quat'>
type AnyVector3 = SymbolicValue<Element, readonly [3]>

/** Hamilton product p·q: the rotation q followed by the rotation p. */
export const quatMul = operation<(p: AnyQuat, q: AnyQuat) => Quat>('quatMul', 2, (input) =>
  make(input, multiply(input.trace.builder, read(input, 0), read(input, 1))),
).free

/** Conjugate: the inverse rotation of a unit quaternion. */
export const quatConj = operation<(q: AnyQuat) => Quat>('quatConj', 1, (input) =>
  make(input, conjugate(input.trace.builder, read(input, 0))),
).free as unknown as (q: AnyQuat) => Quat

/** Reciprocal: conjugate over squared norm; NaN for the zero quaternion. */
export const quatRecip = operation<(q: AnyQuat) => Quat>('quatRecip', 1, (input) => {
  const b = input.trace.builder
  const q = read(input, 0)
  const square = dotProduct(b, q, q)
  return make(
    input,
    conjugate(b, q).map((value) => b.div(value, square)),
  )
}).free

/**
 * The 3-vector v rotated by the unit quaternion q, as v + 2w(u×v) + 2u×(u×v) with u the vector part of q: 15 products instead of the 28
 * of q·v·q*. For a q that is not of unit length the result is no rotation.
 */
export const quatRotate = operation<(q: AnyQuat, v: AnyVector3) => Vector<3>>('quatRotate', 2, (input) => {
  const { trace, label } = input
  const b = trace.builder
  const [w, ...u] = read(input, 0)
  const v = readVector(input, 1)
  const cross = (x: Components, y: Components): Components =>
    [0, 1, 2].map((k) => {
      const [i, j] = [(k + 1) % 3, (k + 2) % 3]
      return b.sub(b.mul(x[i]!, y[j]!), b.mul(x[j]!, y[i]!))
    })
  const twice = cross(u, v).map((value) => b.add(value, value))
  const again = cross(u, twice)
  const rotated = v.map((value, k) => b.add(b.add(value, b.mul(w!, twice[k]!)), again[k]!))
  return makeFromComponents(trace, headOf('f64', [3]), rotated, label)
}).free

/** A 3-vector as the quaternion (0, v). */
export const asPure = operation<(v: AnyVector3) => Quat>('asPure', 1, (input) =>
  make(input, [input.trace.builder.zero('f64'), ...readVector(input, 0)]),
).free

/** The vector part (x, y, z) of a quaternion. */
export const asVec3 = operation<(q: AnyQuat) => Vector<3>>('asVec3', 1, (input) =>
  makeFromComponents(input.trace, headOf('f64', [3]), read(input, 0).slice(1), input.label),
).free

const prototype = componentMembers(4, ['w', 'x', 'y', 'z'])

setPrototype('quaternion', () => prototype)
