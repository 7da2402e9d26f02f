// The wasm backend with binaryen in this thread and nothing stored.
import { createAssembler } from '../../../src/backends/wasm/assemble.ts'
import { createWasmBackend } from '../../../src/backends/wasm/index.ts'

export const assemble = await createAssembler()
export const wasm = createWasmBackend({ assemble })
