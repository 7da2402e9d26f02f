// Random numbers: every draw follows from (seed, sample number, counter) alone, so that it is the same in any partition, on any thread and
// backend. One pair (seed, counter) is one draw of a sample, whichever function takes it; use another counter for the next.
import type { Value } from '../ir/graph.ts'
import { registerCondition } from './conditions.ts'
import { refusal, type Trace } from './context.ts'
import { operation, type OperationInput } from './operation.ts'
import { componentAs, nameItem, type Item } from './promote.ts'
import { makeFromComponents, makeScalar } from './value.ts'
import { headOf } from './kinds.ts'
import { requireOneNumber } from './vector.ts'
import type { Condition, Index, IndexOperand, NumberOperand, Scalar } from './values.ts'

/** An integer key: an int32 value, or a whole number of at most 32 bits. */
function key(input: OperationInput, item: Item, what: string): Value {
  const { trace, name } = input
  const { literal, state } = requireOneNumber(input, item, `one int32 value as ${what}`)
  if (state && state.head.type === 'i32') return state.component(0)
  if (typeof literal === 'number' && Number.isInteger(literal) && literal >= -(2 ** 31) && literal < 2 ** 32) {
    return trace.builder.const('i32', literal | 0)
  }
  throw refusal(
    trace,
    'E_TYPE',
    `${name}: the ${what} is ${nameItem(item)}, expected a whole number of 32 bits or an int32 value; toInt() converts`,
  )
}

const draw = (input: OperationInput, seed: Value): Value => {
  const b = input.trace.builder
  input.trace.usesSampleNumbers = true
  return b.random('f64', seed, b.sampleIndex(), key(input, input.items[1]!, 'counter'))
}

const seedOf = (input: OperationInput): Value => key(input, input.items[0]!, 'seed')

const number = (input: OperationInput, k: number, what: string): Value =>
  componentAs(input.trace, requireOneNumber(input, input.items[k]!, `one number as ${what}`), 0, 'f64')

type Draw = (seed: IndexOperand, counter: IndexOperand) => Scalar

/** Uniform in [0, 1), never 1. */
export const uniform = operation<Draw>('uniform', 2, (input) =>
  makeScalar(input.trace, draw(input, seedOf(input)), input.label),
).free

// Any constant works: it leads to a second stream of the same generator, independent of the first.
const SECOND_STREAM = 0x5851f42d

/**
 * Standard normal, by the transform of G. Box and M. Muller, "A note on the generation of random normal deviates" (1958): the radius from
 * the draw (seed, counter), the angle from the same draw of a second stream.
 */
export const normal = operation<Draw>('normal', 2, (input) => {
  const b = input.trace.builder
  const seed = seedOf(input)
  const u = draw(input, seed)
  const v = draw(input, b.xor(seed, b.const('i32', SECOND_STREAM)))
  const angle = b.mul(b.const('f64', 2 * Math.PI), v)
  return makeScalar(input.trace, b.mul(radius(input.trace, u), b.cos(angle)), input.label)
}).free

/** √(−2·log(1 − u)), finite as u is below 1. */
function radius({ builder: b }: Trace, u: Value): Value {
  return b.sqrt(b.mul(b.const('f64', -2), b.log1p(b.neg(u))))
}

/** Exponential with rate 1: −log(1 − u). */
export const exponential = operation<Draw>('exponential', 2, (input) => {
  const b = input.trace.builder
  return makeScalar(input.trace, b.neg(b.log1p(b.neg(draw(input, seedOf(input))))), input.label)
}).free

const bernoulliOperation = operation<
  (seed: IndexOperand, counter: IndexOperand, probability: NumberOperand) => Condition
>('bernoulli', 3, (input) => {
  const { trace, label } = input
  const below = trace.builder.lt(draw(input, seedOf(input)), number(input, 2, 'probability'))
  const record = registerCondition(trace, label, bernoulliOperation.free)
  return makeFromComponents(trace, headOf('bool', []), [below], label, record)
})

/** True with the given probability. */
export const bernoulli = bernoulliOperation.free

/** A whole number from low up to, not including, high, each equally likely up to the resolution of the float type. */
export const uniformInt = operation<
  (seed: IndexOperand, counter: IndexOperand, low: IndexOperand, high: IndexOperand) => Index
>('uniformInt', 4, (input) => {
  const b = input.trace.builder
  const low = key(input, input.items[2]!, 'lower bound')
  const high = key(input, input.items[3]!, 'upper bound')
  if (low.op === 'const' && high.op === 'const' && Number(low.literal) >= Number(high.literal)) {
    throw refusal(
      input.trace,
      'E_TYPE',
      `uniformInt: the bounds ${Number(low.literal)} and ${Number(high.literal)} hold no whole number; the upper one is not included`,
    )
  }
  const count = b.sub(high, low)
  const offset = b.convert(b.mul(draw(input, seedOf(input)), b.convert(count, 'f64')), 'i32')
  // In f32 the product may round up to the count itself.
  const last = b.sub(count, b.const('i32', 1))
  return makeScalar(input.trace, b.add(low, b.min(offset, last)), input.label)
}).free
