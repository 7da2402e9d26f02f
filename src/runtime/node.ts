// The backends of a Node.js process, in order of preference. Importing this registers them; none is started or searched for before a
// call needs it.
import { createHostBackend } from '../backends/host/index.ts'
import { emit } from '../backends/llvm/emit.ts'
import { referenceBackend } from '../backends/reference/index.ts'
import { lower } from '../ir/lower/lower.ts'
import { createMachine } from './machine.ts'
import { registerBackend } from './registry.ts'

const host = createHostBackend(createMachine(), (graph, options) => emit(lower(graph, options.target), options))

registerBackend(host)
registerBackend(referenceBackend)
