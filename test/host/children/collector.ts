// Forces the collector between binding and launching, when only the launch can hold the arrays, and counts wrong results.
// Prints them as JSON: { sync, async }.
import { handwrittenBackend, PLANES, scaleGraph } from '../support/handwritten.ts'

const { gc } = globalThis
if (gc === undefined) throw new Error('run with --expose-gc')

const SAMPLES = 20_000
const range = { sampleCount: SAMPLES, begin: 0, end: SAMPLES }
const executable = handwrittenBackend().build(scaleGraph(), { name: 'scale' })

/** Binds arrays that nothing else refers to; the result is looked at through the buffer that a FinalizationRegistry may not clear. */
function bindFresh(round: number) {
  const launch = executable.launch()
  const out = new SharedArrayBuffer(SAMPLES * 8)
  launch.bind(PLANES.x, new Float64Array(SAMPLES).fill(round), SAMPLES, SAMPLES)
  launch.bind(PLANES.out, new Float64Array(out), SAMPLES, SAMPLES)
  launch.set(PLANES.a, 2)
  launch.set(PLANES.b, 1)
  return { launch, out }
}

/** Puts other numbers where collected arrays lay. */
function litter(): void {
  gc!()
  for (let k = 0; k < 8; k++) new Float64Array(SAMPLES).fill(-1)
  gc!()
}

const isRight = (out: SharedArrayBuffer, round: number) =>
  new Float64Array(out).every((value) => value === 2 * round + 1)

const wrong = { sync: 0, async: 0 }
for (let round = 0; round < 50; round++) {
  const { launch, out } = bindFresh(round)
  litter()
  launch.run(range)
  if (!isRight(out, round)) wrong.sync++
}
for (let round = 0; round < 50; round++) {
  let { launch, out }: Partial<ReturnType<typeof bindFresh>> = bindFresh(round)
  const finished = launch.runAsync(range)
  // From here on only the call under way holds the arrays.
  launch.release()
  launch = undefined
  litter()
  await finished
  if (!isRight(out, round)) wrong.async++
}
console.log(JSON.stringify(wrong))
