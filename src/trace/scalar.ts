// Methods of single numbers and conditions, and those that every form shares.
import { coercionMembers, scalarCoercionMembers } from './coercion.ts'
import { ruleMethod } from './elementwise.ts'
import { setPrototype } from './value.ts'

/** Element-wise methods, of every form. */
export const elementwiseMethods = {
  ...coercionMembers,
  add: ruleMethod('add'),
  sub: ruleMethod('sub'),
  mul: ruleMethod('mul'),
  div: ruleMethod('div'),
  pow: ruleMethod('pow'),
  neg: ruleMethod('neg'),
  abs: ruleMethod('abs'),
  lt: ruleMethod('lt'),
  le: ruleMethod('le'),
  gt: ruleMethod('gt'),
  ge: ruleMethod('ge'),
  eq: ruleMethod('eq'),
  ne: ruleMethod('ne'),
  and: ruleMethod('and'),
  or: ruleMethod('or'),
  not: ruleMethod('not'),
}

const prototype = Object.freeze({ ...elementwiseMethods, ...scalarCoercionMembers })

setPrototype('scalar', () => prototype)
