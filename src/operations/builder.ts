// Collects extensions and plug-ins, and builds a context of them. A builder builds once; after that, or after `close()`, it takes
// nothing more. Until then it owns what its plug-ins registered.
import type { Bindings } from './bindings.ts'
import { implementCallback, runValidator } from './callbacks.ts'
import { Context } from './context.ts'
import { cudaRuntime } from './cuda.ts'
import type { DeviceRuntime } from './device.ts'
import { RegistrationError } from './errors.ts'
import { type LoadedPlugin, loadPlugin } from './plugins/load.ts'
import {
  type Registry,
  addKernel,
  addOperation,
  checkComplete,
  checkExtensionName,
  copyRegistry,
  emptyRegistry,
} from './registry.ts'
import { type CallbackKernelSpec, type OperationSpec, draftOperation } from './specs.ts'
import { openDeviceStreams } from './streams.ts'
import { type TracedKernelSpec, implementTraced, isTracedSpec } from './traced.ts'

export interface ContextBuilderOptions {
  /** The device calls for CUDA kernels; those of this machine's CUDA driver when absent. */
  readonly device?: DeviceRuntime | undefined
}

/** Registers operations under one name, and kernels for operations of any name. */
export interface Extension {
  /** Adds an operation; its name starts with the extension's. RegistrationError with the first rule that it breaks. */
  registerOperation(spec: OperationSpec): Extension
  /** Adds a callback, or the builds of a traced kernel; the operation may be registered later. RegistrationError with the first rule that it breaks. */
  registerKernel<Bound extends Bindings>(spec: CallbackKernelSpec<Bound> | TracedKernelSpec): Extension
}

export class ContextBuilder {
  readonly #device: DeviceRuntime
  readonly #plugins: LoadedPlugin[] = []
  #registry: Registry = emptyRegistry()
  #closed = false

  constructor({ device = cudaRuntime() }: ContextBuilderOptions = {}) {
    this.#device = device
  }

  /** An extension of this name, a lower-case word; E_NAME for another. The same name may be asked for again. */
  extension(name: string): Extension {
    this.#checkOpen('extension')
    checkExtensionName(name)
    const extension: Extension = {
      registerOperation: (spec) => {
        this.#checkOpen('registerOperation')
        const draft = draftOperation(spec)
        addOperation(this.#registry, draft, (spec.validators ?? []).map(runValidator), name)
        return extension
      },
      registerKernel: (spec) => {
        this.#checkOpen('registerKernel')
        const implementations = isTracedSpec(spec) ? implementTraced(spec) : [implementCallback(spec)]
        // The builds of a traced kernel are registered together or not at all.
        const registry = copyRegistry(this.#registry)
        for (const { draft, implementation } of implementations) addKernel(registry, draft, implementation)
        this.#registry = registry
        return extension
      },
    }
    return extension
  }

  /**
   * Loads a compiled plug-in and registers what it offers, all of it or nothing. The code runs with the rights of this process, so
   * the path is a matter of trust.
   * @param path a path, relative to the working directory if it is not absolute, or a file URL; there is no search path
   * @throws PluginError, or the RegistrationError of the first registration that was refused
   */
  loadPlugin(path: string | URL): this {
    this.#checkOpen('loadPlugin')
    const { registry, plugin } = loadPlugin(path, this.#registry, this.#device)
    this.#registry = registry
    this.#plugins.push(plugin)
    return this
  }

  /**
   * The context of everything registered. When a kernel's operation is missing (E_UNKNOWN_OPERATION) or has other operands
   * (E_OPERANDS_MISMATCH), the builder stays open.
   */
  build(): Context {
    this.#checkOpen('build')
    checkComplete(this.#registry)
    this.#closed = true
    return new Context(this.#registry, openDeviceStreams(this.#device), () => this.#closePlugins())
  }

  /** Gives plug-ins back what they registered when no context is to be built. Idempotent, and without effect after `build()`. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#closePlugins()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  /** The last plug-in loaded is the first to be closed. */
  #closePlugins(): void {
    for (const plugin of this.#plugins.toReversed()) plugin.close()
  }

  #checkOpen(caller: string): void {
    if (this.#closed) {
      throw new RegistrationError(
        'E_BUILDER_CLOSED',
        `${caller}: the builder was built or closed; make another ContextBuilder`,
      )
    }
  }
}
