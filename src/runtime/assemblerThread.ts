// Assembles WebAssembly in a thread of its own, and waits for it: a build is synchronous, but binaryen can only be imported
// asynchronously. The thread is started by the first text that the cache does not have, and ended when it was idle for a while, with the
// 150 MB that binaryen takes.
// Invariant: one text at a time is under way; a thread that did not answer in time is ended and not asked again.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads'
import { invalidModule, type Assemble } from '../backends/wasm/assemble.ts'
import { HarrierError } from '../errors.ts'
import { compileLimit } from './compile.ts'

/** Milliseconds after which an idle thread is ended. */
const PATIENCE = 5000

/**
 * What the thread runs; text, as a thread cannot load TypeScript. It does what src/backends/wasm/assemble.ts does in one thread: binaryen
 * looks up console.error once, when it is imported, and writes there what validation finds.
 */
const THREAD = `
const { workerData: { port, answered, url } } = require('node:worker_threads')
const complaints = []
console.error = (...parts) => complaints.push(parts.join(' '))
const imported = import(url)
port.on('message', async (text) => {
  complaints.length = 0
  let answer
  try {
    const { default: binaryen } = await imported
    const module = binaryen.parseText(text)
    module.setFeatures(binaryen.Features.SIMD128 | binaryen.Features.NontrappingFPToInt)
    answer = module.validate() ? { bytes: module.emitBinary() } : { complaint: complaints.join('\\n') }
    module.dispose()
  } catch (error) {
    answer = { complaint: [...complaints, error.message ?? String(error)].join('\\n') }
  }
  port.postMessage(answer)
  Atomics.store(answered, 0, 1)
  Atomics.notify(answered, 0)
})
`

interface Answer {
  readonly bytes?: Uint8Array
  readonly complaint?: string
}

interface Thread {
  readonly worker: Worker
  readonly port: MessagePort
  /** 1 once the text under way is answered. */
  readonly answered: Int32Array
}

function start(): Thread {
  const url = pathToFileURL(createRequire(import.meta.url).resolve('binaryen')).href
  const { port1, port2 } = new MessageChannel()
  const answered = new Int32Array(new SharedArrayBuffer(4))
  const workerData = { port: port2, answered, url }
  // Without the flags of this process, which may load a compiler for TypeScript into every thread.
  const worker = new Worker(THREAD, { eval: true, execArgv: [], workerData, transferList: [port2] })
  worker.unref()
  port1.unref()
  return { worker, port: port1, answered }
}

/** Assembles in another thread. Nothing is started before the first call. */
export function createThreadAssembler(environment: NodeJS.ProcessEnv = process.env): Assemble {
  let thread: Thread | undefined
  let idle: NodeJS.Timeout | undefined

  function end(): void {
    void thread?.worker.terminate()
    thread?.port.close()
    thread = undefined
  }

  return (text, kernel) => {
    clearTimeout(idle)
    thread ??= start()
    const { port, answered } = thread
    Atomics.store(answered, 0, 0)
    port.postMessage(text)
    const limit = compileLimit(environment)
    if (Atomics.wait(answered, 0, 0, limit) === 'timed-out') {
      end()
      throw new HarrierError(
        'E_COMPILE',
        `kernel '${kernel}': its WebAssembly was not assembled within ${limit / 1000} s; ` +
          'a loop() instead of an unrolled for makes a kernel smaller, and HARRIER_COMPILE_TIMEOUT (seconds) allows more time',
      )
    }
    const { bytes, complaint = '' } = receiveMessageOnPort(port)!.message as Answer
    idle = setTimeout(end, PATIENCE).unref()
    if (bytes) return bytes
    throw invalidModule(kernel, complaint)
  }
}
