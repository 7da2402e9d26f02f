// Derivatives of kernels: the public names.
export { grad, valueAndGrad, type GradientOptions } from './gradients.ts'
export { hvp } from './secondOrder.ts'
export { jacobian, type JacobianOptions } from './jacobian.ts'
export { jvp, vjp, type JvpOptions, type VjpOptions } from './transforms.ts'
export { winners } from './winners.ts'
