// Derivatives of kernels: the public names.
export { checkGrad, type CheckedEntry, type CheckGradOptions, type GradientReport } from './checkGrad.ts'
export { customRule, type CustomRules, type RuleValue } from './customRule.ts'
export { grad, valueAndGrad, type GradientOptions } from './gradients.ts'
export { hvp } from './secondOrder.ts'
export { jacobian, type JacobianOptions } from './jacobian.ts'
export { jvp, vjp, type JvpOptions, type VjpOptions } from './transforms.ts'
export { winners } from './winners.ts'
