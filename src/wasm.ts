// `harrier/wasm`, the public names of harrier where there is nothing but JavaScript: browsers, workers, edge runtimes. Kernels run as
// WebAssembly. Nothing that is reachable from here needs Node.js.
// Importing it loads binaryen (2.7 MB compressed), which assembles kernels: a browser has no store of built ones.
import { createAssembler } from './backends/wasm/assemble.ts'
import { createWasmBackend } from './backends/wasm/index.ts'
import { registerBackend } from './runtime/registry.ts'

const backend = createWasmBackend({ assemble: await createAssembler() })
registerBackend(backend)

/** {@link import('./backends/wasm/index.ts').WasmBackend.alloc} */
export const { alloc } = backend

export { HarrierError, type ErrorCode } from './errors.ts'
export * from './trace/index.ts'
export { kernel } from './runtime/kernel.ts'
export * from './runtime/index.ts'
export * from './runtime/derivatives/index.ts'
