// Makes parallel calls, checks their results, and ends as the argument says:
// `normal`; `exit`: by process.exit; `pending`: by process.exit while native code runs on other threads; `worker`: the calls are made
// in a worker that ends by itself before the process does; `both`: in such a worker, then here.
import { isMainThread, Worker } from 'node:worker_threads'
import { handwrittenBackend, PLANES, scaleCode, scaleGraph } from '../support/handwritten.ts'

const SAMPLES = 50_000
const range = { sampleCount: SAMPLES, begin: 0, end: SAMPLES, threads: 3 }

function bind(delay: number) {
  const backend = handwrittenBackend({ code: (symbol) => scaleCode(symbol, delay) })
  const launch = backend.build(scaleGraph(), { name: 'scale', width: delay + 1 }).launch()
  const out = new Float64Array(SAMPLES)
  launch.bind(
    PLANES.x,
    Float64Array.from({ length: SAMPLES }, (_, i) => i),
    SAMPLES,
    SAMPLES,
  )
  launch.bind(PLANES.out, out, SAMPLES, SAMPLES)
  launch.set(PLANES.a, 2)
  launch.set(PLANES.b, 1)
  return { launch, out }
}

function call(): void {
  const { launch, out } = bind(0)
  for (let repeat = 0; repeat < 20; repeat++) {
    out.fill(0)
    launch.run(range)
    if (!out.every((value, i) => value === 2 * i + 1)) throw new Error('a parallel call gave a wrong result')
  }
}

const callInWorker = () =>
  new Promise<void>((resolve, reject) => {
    new Worker(new URL(import.meta.url)).on('error', reject).on('exit', () => resolve())
  })

if (!isMainThread) call()
else {
  const [end] = process.argv.slice(2)
  if (end === 'worker' || end === 'both') await callInWorker()
  if (end !== 'worker') call()
  if (end === 'pending') {
    // Some tenths of a second of work; Node.js waits for its thread pool, not for the promise.
    void bind(1000).launch.runAsync(range)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  console.log('called')
  if (end === 'exit' || end === 'pending') process.exit(0)
}
