// Builds the hand-written kernel, runs it, and prints what came out and where the code lies, as JSON.
// With a folder as argument it first says there that it is ready and waits for a file `go`, so that several processes start at once.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { handwrittenBackend, PLANES, scaleGraph } from '../support/handwritten.ts'

const backend = handwrittenBackend()
const [barrier] = process.argv.slice(2)
if (barrier !== undefined) {
  writeFileSync(join(barrier, String(process.pid)), '')
  while (!existsSync(join(barrier, 'go'))) await setTimeout(2)
}
const executable = backend.build(scaleGraph(), { name: 'scale' })
const launch = executable.launch()
const out = new Float64Array(4)
launch.bind(PLANES.x, Float64Array.of(0, 1, 2, 3), 4, 4)
launch.bind(PLANES.out, out, 4, 4)
launch.set(PLANES.a, 2)
launch.set(PLANES.b, 1)
launch.run({ sampleCount: 4, begin: 0, end: 4 })
console.log(JSON.stringify({ out: [...out], path: executable.path }))
