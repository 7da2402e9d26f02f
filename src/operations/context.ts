// A context runs operations: it binds the caller's objects, checks them in a fixed order, finds the kernel and calls it. What is
// registered never changes once the context exists. It belongs to the JavaScript thread that built it, and stays open until
// `close()`, which gives plug-ins back what they registered.
import type { Binding, Bindings } from './bindings.ts'
import { bindAll, checkAliases, checkKinds, commonDevice, selectComputeDTypes } from './checks.ts'
import { type OperationDescription, describeOperation } from './description.ts'
import { backendOrder, findKernel } from './dispatch.ts'
import type { DType } from './dtypes.ts'
import { ContextError, DispatchError } from './errors.ts'
import type { Kernel, Operation, Registry, ValidatorCall } from './registry.ts'
import { type RoleMap, roleMap } from './roles.ts'
import { show } from './show.ts'
import type { DeviceStreams } from './streams.ts'
import type { BackendKind } from './vocabulary.ts'

export interface ExecuteOptions {
  /** The dtype to compute in, by role: picks among the registered kernels, and never converts an array. */
  readonly computeDtypes?: RoleMap<DType> | undefined
  /** The only backend to search. */
  readonly backend?: BackendKind | undefined
  /** The stream for a CUDA kernel, as `cudaStream_t` or `CUstream`; the context's own when absent. */
  readonly stream?: bigint | undefined
}

/** The bindings of an operation with one output. */
export type OneOutput<Output extends Binding> = Bindings & { readonly output0: Output; readonly output1?: never }

/** The bindings of an operation with several outputs. */
export type SeveralOutputs = Bindings & { readonly output0: Binding; readonly output1: Binding }

/** The types of the objects bound to the outputs, in order; of unknown number when the bindings have the type any. */
export type Outputs<Bound, Found extends readonly unknown[] = readonly []> = 0 extends 1 & Bound
  ? readonly Binding[]
  : Bound extends { readonly [Role in `output${Found['length']}`]: infer Output }
    ? Outputs<Bound, readonly [...Found, Output]>
    : Found

export class Context {
  readonly #operations: ReadonlyMap<string, Operation>
  readonly #kernels: ReadonlyMap<string, readonly Kernel[]>
  readonly #streams: DeviceStreams
  readonly #closePlugins: () => void
  /** The calls under way; they also hold the arrays whose addresses native code has. */
  readonly #running = new Set<ValidatorCall>()
  #closed = false

  /** Contexts are made by `ContextBuilder.build()`. */
  constructor({ operations, kernels }: Registry, streams: DeviceStreams, closePlugins: () => void) {
    const byOperation = new Map<string, Kernel[]>([...operations.keys()].map((name) => [name, []]))
    for (const kernel of kernels.values()) byOperation.get(kernel.operation)?.push(kernel)
    this.#operations = operations
    this.#kernels = byOperation
    this.#streams = streams
    this.#closePlugins = closePlugins
  }

  /**
   * Runs an operation on the caller's own objects and returns when everything is written. Nothing is copied or converted.
   * @param bindings an object for every role of the operation
   * @returns the object bound to the output; with several outputs, those objects in order
   * @throws ContextError, DispatchError or BindingError before anything ran; CallbackError for a kernel that failed; and whatever a
   * callback or validator throws, as it is
   */
  execute<Output extends Binding>(name: string, bindings: OneOutput<Output>, options?: ExecuteOptions): Output
  execute<const Bound extends SeveralOutputs>(name: string, bindings: Bound, options?: ExecuteOptions): Outputs<Bound>
  execute(name: string, bindings: Bindings, options: ExecuteOptions = {}): unknown {
    const operation = this.#operation('execute', name)
    const operands = bindAll(operation, bindings)
    checkKinds(operation, operands)
    const device = commonDevice(operation, operands)
    const computeDtypes = selectComputeDTypes(operation, operands, options.computeDtypes)
    checkAliases(operation, operands)
    const objects = operands.map(({ role, object }) => [role, object] as const)
    const call: ValidatorCall = { operation, bindings: roleMap(objects), operands, computeDtypes }

    this.#running.add(call)
    try {
      for (const validate of operation.validators) validate(call)
      const kernel = findKernel(
        operation,
        this.#kernelsOf(operation),
        operands,
        computeDtypes,
        backendOrder(operands, options.backend),
      )
      this.#run(kernel, call, device, options.stream)
    } finally {
      this.#running.delete(call)
    }
    const outputs = objects.filter(([role]) => role.startsWith('output')).map(([, object]) => object)
    return outputs.length === 1 ? outputs[0] : outputs
  }

  /** The names of all operations, sorted. */
  operations(): string[] {
    this.#checkOpen('operations')
    return [...this.#operations.keys()].sort()
  }

  /** What an operation takes and which kernels implement it; DispatchError E_UNKNOWN_OPERATION when there is none of the name. */
  describe(name: string): OperationDescription {
    const operation = this.#operation('describe', name)
    return describeOperation(operation, this.#kernelsOf(operation), (backend) => this.#unavailable(backend, null))
  }

  /**
   * Releases what plug-ins registered and the streams that the context made. Idempotent; afterwards every other call raises
   * E_CONTEXT_CLOSED. While a call is running, as when a callback closes its own context, it raises E_CONTEXT_BUSY.
   */
  close(): void {
    const [running] = this.#running
    if (running !== undefined) {
      throw new ContextError(
        'E_CONTEXT_BUSY',
        `close: '${running.operation.name}' is running; close the context after it has returned`,
        {
          operation: running.operation.name,
        },
      )
    }
    if (this.#closed) return
    this.#closed = true
    try {
      this.#streams.close()
    } finally {
      // A device that fails at the end keeps nothing from the plug-ins.
      this.#closePlugins()
    }
  }

  [Symbol.dispose](): void {
    this.close()
  }

  #run(kernel: Kernel, call: ValidatorCall, device: number | null, stream: bigint | undefined): void {
    const { operation, label, backend } = kernel
    // A CUDA kernel whose operands are all on the host runs on the first device.
    const cudaDevice = backend === 'cuda' ? (device ?? 0) : null
    const reason = this.#unavailable(backend, cudaDevice)
    if (reason !== null) {
      throw new DispatchError(
        'E_BACKEND_UNAVAILABLE',
        `${operation}: kernel '${label}' needs the backend ${backend}: ${reason}`,
        {
          operation,
        },
      )
    }
    const { bindings, operands, computeDtypes } = call
    const runOn = (stream: bigint | null) =>
      kernel.run({ operation: call.operation, bindings, operands, computeDtypes, kernel, cudaDevice, stream })
    kernel.lock?.acquire()
    try {
      if (cudaDevice === null) runOn(null)
      else this.#streams.run({ operation, label, device: cudaDevice, stream }, runOn)
    } finally {
      kernel.lock?.release()
    }
  }

  #unavailable(backend: BackendKind, device: number | null): string | null {
    return backend === 'cuda' ? this.#streams.unavailable(device) : null
  }

  #operation(caller: string, name: string): Operation {
    this.#checkOpen(caller)
    const operation = this.#operations.get(name)
    if (operation === undefined) {
      const known = [...this.#operations.keys()].sort().join(', ') || 'none'
      throw new DispatchError(
        'E_UNKNOWN_OPERATION',
        `${caller}: no operation is called ${show(name)}; registered: ${known}`,
        {
          operation: name,
        },
      )
    }
    return operation
  }

  #kernelsOf(operation: Operation): readonly Kernel[] {
    return this.#kernels.get(operation.name) ?? []
  }

  #checkOpen(caller: string): void {
    if (this.#closed) throw new ContextError('E_CONTEXT_CLOSED', `${caller}: the context is closed; build another one`)
  }
}
