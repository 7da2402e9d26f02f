// Element-wise operations: one rule each, applied to single numbers, vectors and matrices alike. Operands have equal shapes or are one
// number; nothing else broadcasts.
import type { Builder } from '../ir/build.ts'
import type { Value } from '../ir/graph.ts'
import type { PlainOp } from '../ir/ops.ts'
import { registerCondition } from './conditions.ts'
import { refusal, type Trace } from './context.ts'
import { headOf, sameShape, type ElementType, type Head } from './kinds.ts'
import { requireArity } from './operation.ts'
import { commonType, componentAs, readOperands, type Domain, type Item } from './promote.ts'
import { callLabel, headText, makeFromComponents, type Traced } from './value.ts'

export interface Rule {
  readonly arity: 1 | 2 | 3
  readonly domain: Domain
  /** Operands, from the first, that are conditions whatever the domain. */
  readonly conditions: 0 | 1
  /** componentwise: of two quaternions; scaled: of a quaternion and one number; refused: not of quaternions. */
  readonly quaternion: 'componentwise' | 'scaled' | 'refused'
  /** What to use instead where quaternions are refused. */
  readonly insteadOfQuaternion?: string
  /** Builds one component; operands are of the type that the domain gives, which is passed too. */
  build(b: Builder, operands: readonly Value[], type: ElementType): Value
}

const row = (arity: Rule['arity'], domain: Domain, build: PlainOp | Rule['build'], rest: Partial<Rule> = {}): Rule => ({
  arity,
  domain,
  conditions: 0,
  quaternion: 'refused',
  build: typeof build === 'string' ? (b, operands) => b.apply(build, operands) : build,
  ...rest,
})

const ofFloat = (op: PlainOp): Rule => row(1, 'float', op)
const ofFloats = (op: PlainOp): Rule => row(2, 'float', op)

/** The rule of each element-wise function, by its public name. */
export const RULES = {
  add: row(2, 'number', 'add', { quaternion: 'componentwise' }),
  sub: row(2, 'number', 'sub', { quaternion: 'componentwise' }),
  mul: row(2, 'number', 'mul', { quaternion: 'scaled', insteadOfQuaternion: 'quatMul(p, q)' }),
  div: row(2, 'float', 'div', { quaternion: 'scaled', insteadOfQuaternion: 'quatMul(p, quatRecip(q))' }),
  neg: row(1, 'number', 'neg', { quaternion: 'componentwise' }),
  abs: row(1, 'number', 'abs', { insteadOfQuaternion: 'norm(q)' }),
  pow: ofFloats('pow'),
  min: row(2, 'number', 'min'),
  max: row(2, 'number', 'max'),
  clip: row(3, 'number', (b, [x, low, high]) => b.min(b.max(x!, low!), high!)),
  fdim: ofFloats('fdim'),
  sign: ofFloat('sign'),
  copysign: ofFloats('copysign'),
  fma: row(3, 'float', 'fma'),

  lt: row(2, 'number', 'lt'),
  le: row(2, 'number', 'le'),
  gt: row(2, 'number', (b, [x, y]) => b.gt(x!, y!)),
  ge: row(2, 'number', (b, [x, y]) => b.ge(x!, y!)),
  eq: row(2, 'any', 'eq'),
  ne: row(2, 'any', 'ne'),
  and: row(2, 'condition', 'and'),
  or: row(2, 'condition', 'or'),
  not: row(1, 'condition', 'not'),
  where: row(3, 'any', 'select', { conditions: 1, quaternion: 'componentwise' }),
  isnan: ofFloat('isnan'),
  isinf: ofFloat('isinf'),
  isfinite: ofFloat('isfinite'),

  exp: ofFloat('exp'),
  exp2: ofFloat('exp2'),
  exp10: ofFloat('exp10'),
  expm1: ofFloat('expm1'),
  log: ofFloat('log'),
  log2: ofFloat('log2'),
  log10: ofFloat('log10'),
  log1p: ofFloat('log1p'),
  sqrt: ofFloat('sqrt'),
  rsqrt: ofFloat('rsqrt'),
  cbrt: ofFloat('cbrt'),
  hypot: ofFloats('hypot'),
  sin: ofFloat('sin'),
  cos: ofFloat('cos'),
  tan: ofFloat('tan'),
  asin: ofFloat('asin'),
  acos: ofFloat('acos'),
  atan: ofFloat('atan'),
  atan2: ofFloats('atan2'),
  sinh: ofFloat('sinh'),
  cosh: ofFloat('cosh'),
  tanh: ofFloat('tanh'),
  asinh: ofFloat('asinh'),
  acosh: ofFloat('acosh'),
  atanh: ofFloat('atanh'),
  erf: ofFloat('erf'),
  erfc: ofFloat('erfc'),
  lgamma: ofFloat('lgamma'),
  gamma: ofFloat('gamma'),
  floor: ofFloat('floor'),
  ceil: ofFloat('ceil'),
  trunc: ofFloat('trunc'),
  rint: ofFloat('rint'),
  round: ofFloat('round'),
  fmod: ofFloats('fmod'),
  remainder: ofFloats('remainder'),
  mod: row(2, 'number', (b, [x, y], type) => (type === 'i32' ? b.floorMod(x!, y!) : b.mod(x!, y!))),
  idiv: row(2, 'integer', 'idiv'),
  floorDiv: row(2, 'integer', 'floorDiv'),
  toInt: row(1, 'any', (b, [x]) => b.convert(x!, 'i32')),
  toFloat: row(1, 'any', (b, [x]) => b.convert(x!, 'f64')),
  stopGradient: row(1, 'float', 'stopGradient', { quaternion: 'componentwise' }),
} satisfies Record<string, Rule>

export type RuleName = keyof typeof RULES

/** The shape of the result; refuses operands whose shapes differ. */
function joinHeads(trace: Trace, call: string, items: readonly Item[]): Head {
  let joined = headOf('f64', [])
  for (const { state } of items) {
    if (!state || state.head.shape.length === 0) continue
    if (joined.shape.length > 0 && !sameShape(joined, state.head)) {
      throw refusal(
        trace,
        'E_TYPE',
        `${call}: ${headText(joined)} and ${headText(state.head)} do not fit; operands have equal shapes, or are one number`,
      )
    }
    joined = state.head
  }
  return joined
}

function checkQuaternion(trace: Trace, name: string, rule: Rule, items: readonly Item[]): void {
  const operands = items.slice(rule.conditions)
  const quaternions = operands.filter(({ state }) => state?.head.quaternion).length
  const [first] = operands
  const fits = {
    componentwise: quaternions === operands.length,
    scaled: quaternions === 1 && (name !== 'div' || first!.state?.head.quaternion === true),
    refused: false,
  }[rule.quaternion]
  if (fits) return
  const { insteadOfQuaternion } = rule
  const instead =
    rule.quaternion === 'componentwise'
      ? 'both operands must be quaternions; asPure(v) makes one of a vector'
      : insteadOfQuaternion !== undefined
        ? `use ${insteadOfQuaternion}`
        : 'use its components q.w, q.x, q.y, q.z'
  throw refusal(trace, 'E_TYPE', `${name}: a Quat is not a list of numbers here; ${instead}`)
}

/** Applies a rule to operands that the user passed to `entry`, as method of the first or as function. */
export function applyRule(
  name: RuleName,
  operands: readonly unknown[],
  entry: (...operands: never[]) => unknown,
  asMethod: boolean,
): Traced {
  const rule: Rule = RULES[name]
  const { trace, items } = readOperands(name, operands)
  requireArity(trace, name, operands.length, rule.arity, asMethod)
  const selectors = items.slice(0, rule.conditions)
  const values = items.slice(rule.conditions)
  commonType(trace, name, selectors, 'condition')
  const type = commonType(trace, name, values, rule.domain)
  const joined = joinHeads(trace, name, values)
  // One condition selects whole quaternions too; a vector of conditions selects component by component.
  const head = selectors.some(({ state }) => state && state.head.shape.length > 0)
    ? joinHeads(trace, name, items)
    : joined
  if (head.quaternion) checkQuaternion(trace, name, rule, items)
  const components = Array.from({ length: head.components }, (_, k) =>
    rule.build(
      trace.builder,
      [
        ...selectors.map((item) => componentAs(trace, item, k, 'bool')),
        ...values.map((item) => componentAs(trace, item, k, type)),
      ],
      type,
    ),
  )
  const label = callLabel(name, operands, asMethod)
  const resultType = components[0]!.type as ElementType
  const condition = resultType === 'bool' ? registerCondition(trace, label, entry) : undefined
  return makeFromComponents(trace, headOf(resultType, head.shape, head.quaternion), components, label, condition)
}

/** A method of a value: the rule with the value as first operand. */
export function ruleMethod(name: RuleName) {
  return function method(this: unknown, ...operands: unknown[]): Traced {
    return applyRule(name, [this, ...operands], method, true)
  }
}
