// What JavaScript lets us see of a symbolic value being treated as a plain one: `x * 2`, `x > 0`, `Math.sin(x)`, `` `${x}` ``, iterating over
// a number. Each throws, naming the value and the call to use, where it would otherwise turn into NaN or text.
import { STATE } from './brands.ts'
import { refusal } from './context.ts'
import { headText, isHandle, labelOf, type HandleState, type ValueState } from './value.ts'

type State = ValueState | HandleState
export interface Holder {
  readonly [STATE]: State
}

const described = (state: State): string =>
  `${state.label} (${state.sort === 'value' ? headText(state.head) : state.text})`

const receiver = (holder: Holder): string => {
  const label = labelOf(holder)
  return label === '…' ? 'x' : label
}

/** Ways in which JavaScript asks for a plain value: what the user may have written, and what to write instead. */
const USES = {
  number: {
    found: 'used as a plain number, as x * 2, x > 0 or Math.sin(x) would',
    instead: (x: string) => `${x}.mul(2), ${x}.gt(0), sin(${x})`,
  },
  default: {
    found: 'used as a plain value, as x + 1 or x == 1 would',
    instead: (x: string) => `${x}.add(1), ${x}.eq(1)`,
  },
  string: {
    found: 'used as text, as a template string or a property key would',
    instead: (x: string) => `named('name', ${x}) to name an output, t.at(${x}) to look up by an int32 value`,
  },
  json: {
    found: 'passed to JSON.stringify',
    instead: (x: string) => `return ${x} from the body, and take the number from the array that the call gives back`,
  },
  iteration: {
    found: 'iterated over or destructured like a vector',
    instead: (x: string) => `vec(${x}, ${x}) to make a vector, Vector(W) as kind to receive one`,
  },
} as const

function coercion(holder: Holder, use: keyof typeof USES): Error {
  const state = holder[STATE]
  const { found, instead } = USES[use]
  const way = isHandle(holder) ? `use it as ${holder[STATE].usage}` : `use calls instead: ${instead(receiver(holder))}`
  return refusal(
    state.trace,
    'E_COERCION',
    `${described(state)} was ${found}; it stands for one number a sample and has no plain value here — ${way}`,
  )
}

/** Members that every symbolic value and handle has. */
export const coercionMembers = {
  [Symbol.toPrimitive](this: Holder, hint: 'number' | 'string' | 'default'): never {
    throw coercion(this, hint)
  },
  valueOf(this: Holder): never {
    throw coercion(this, 'number')
  },
  toString(this: Holder): never {
    throw coercion(this, 'string')
  },
  toLocaleString(this: Holder): never {
    throw coercion(this, 'string')
  },
  toJSON(this: Holder): never {
    throw coercion(this, 'json')
  },
  /** What console.log prints: looking at a value is no mistake. */
  [Symbol.for('nodejs.util.inspect.custom')](this: Holder): string {
    return `<${described(this[STATE])}>`
  },
}

/** Members of values that are one number. */
export const scalarCoercionMembers = {
  [Symbol.iterator](this: Holder): never {
    throw coercion(this, 'iteration')
  },
}
