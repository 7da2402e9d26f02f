// The public surface of the registry of operations.
export type { Binding, Bindings, DeviceArray, TensorView } from './bindings.ts'
export { ContextBuilder, type ContextBuilderOptions, type Extension } from './builder.ts'
export type { Context, ExecuteOptions } from './context.ts'
export type { ImplementationDescription, OperationDescription } from './description.ts'
export type { DeviceRuntime } from './device.ts'
export type { DType, TypedArray } from './dtypes.ts'
export {
  BindingError,
  CallbackError,
  ContextError,
  DispatchError,
  KERNEL_ERROR_CODES,
  KernelError,
  type KernelErrorCode,
  PluginError,
  RegistrationError,
} from './errors.ts'
export { getInclude } from './include.ts'
export type { KernelOrigin, PluginOrigin } from './origin.ts'
export type { BackendOperand, Operand } from './registry.ts'
export { OperandRole, type Role, type RoleMap } from './roles.ts'
export type {
  BackendOperandSpec,
  CallbackKernelSpec,
  Invocation,
  OperandSpec,
  OperationSpec,
  Validator,
} from './specs.ts'
export type { TracedKernelSpec } from './traced.ts'
export { BackendKind, type Contiguity, type Layout, type Location, OperandAccess, OperandKind } from './vocabulary.ts'
