// A worker that loads a plug-in of its own context and runs its kernel until it is told how often, or is terminated. TypeScript
// sources are read through tsx, as workers do not inherit the test runner's loader.
import { parentPort, workerData } from 'node:worker_threads'
import { register } from 'tsx/esm/api'

register()
const { ContextBuilder } = await import('../../../src/operations/index.ts')

const { file, operation, calls, length } = workerData
const context = new ContextBuilder().loadPlugin(file).build()
const input0 = new Float32Array(length).fill(1)
const output0 = new Float32Array(length)
parentPort.postMessage('ready')

parentPort.once('message', () => {
  let wrong = 0
  for (let call = 0; call < calls; call++) {
    input0[0] = call
    context.execute(operation, { input0, output0 })
    if (output0[0] !== 2 * call || output0[length - 1] !== 2) wrong += 1
  }
  context.close()
  parentPort.postMessage(wrong)
  parentPort.close()
})
