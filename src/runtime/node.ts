// The backends of a Node.js process, in order of preference. Importing this registers them; none is started or searched for before a
// call needs it.
import { createHostBackend } from '../backends/host/index.ts'
import { generate } from '../backends/llvm/generate.ts'
import { referenceBackend } from '../backends/reference/index.ts'
import { createWasmBackend } from '../backends/wasm/index.ts'
import { createThreadAssembler } from './assemblerThread.ts'
import { createMachine } from './machine.ts'
import { registerBackend } from './registry.ts'

const machine = createMachine()
const host = createHostBackend(machine, generate)

/** The backend of a machine without a compiler; its `alloc` gives planes that it uses without copying. */
export const wasm = createWasmBackend({ assemble: createThreadAssembler(), cache: machine.cache })

registerBackend(host)
registerBackend(wasm)
registerBackend(referenceBackend)
