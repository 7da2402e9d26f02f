// The public names of harrier in Node.js. Nothing lives here.
import './runtime/node.ts'

export { HarrierError, type ErrorCode } from './errors.ts'
export * from './trace/index.ts'
export { kernel } from './runtime/kernel.ts'
export * from './runtime/index.ts'
export * from './runtime/derivatives/index.ts'
