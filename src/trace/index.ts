// The public names of the tracer: kinds, functions over symbolic values, control flow, and the types that go with them.
export {
  Accum,
  Condition,
  Index,
  Matrix,
  Mutable,
  Param,
  Quat,
  Reduce,
  Scalar,
  Table,
  Terminated,
  Vector,
  type Kind,
  type Role,
} from './kinds.ts'
export * from './functions.ts'
export { cross, dot, norm, outer, vec } from './vector.ts'
export { det, inverse, mat, matmul, solve, trace, transpose } from './matrix.ts'
export { asPure, asVec3, quat, quatConj, quatMul, quatRecip, quatRotate } from './quaternion.ts'
export { branch, dispatch, loop, whileLoop, type LoopOptions } from './controlFlow.ts'
export { bernoulli, exponential, normal, uniform, uniformInt } from './random.ts'
export { discard } from './conditions.ts'
export { named, type Named } from './named.ts'
export { sampleCount, sampleIndex } from './samples.ts'
