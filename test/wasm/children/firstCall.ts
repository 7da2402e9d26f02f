// Defines a kernel, calls it, and prints as JSON what came out, how long that took, and how many threads were started for it: a thread
// is where binaryen is imported.
import { syncBuiltinESMExports } from 'node:module'
import threads from 'node:worker_threads'

let started = 0
const { Worker } = threads
threads.Worker = class extends Worker {
  constructor(...args: ConstructorParameters<typeof Worker>) {
    super(...args)
    started++
  }
}
syncBuiltinESMExports()

const { exp, kernel, Param, Scalar } = await import('../../../src/index.ts')
const begin = performance.now()
const decay = kernel('decay', { x: Scalar, a: Param }, ({ x, a }) => ({ y: exp(x.mul(a)) }))
const { y } = decay(new Float64Array([0, 1, 2]), -1)
const milliseconds = performance.now() - begin
console.log(JSON.stringify({ y: [...y], started, milliseconds, report: decay.explain() }))
