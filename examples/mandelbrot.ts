// The Mandelbrot set as one kernel over 1.5 million pixels: a loop that each pixel leaves at its own iteration. Writes mandelbrot.png.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PNG } from 'pngjs'
import { kernel, log, loop, Scalar, where } from '../src/index.ts'
import { milliseconds } from './support/time.ts'

const WIDTH = 1500
const HEIGHT = 1000
const MOST = 1000

const mandelbrot = kernel('mandelbrot', { cx: Scalar, cy: Scalar }, ({ cx, cy }) => {
  const end = loop(
    MOST,
    { x: 0, y: 0, n: 0 },
    (_, { x, y, n }) => ({ x: x.mul(x).sub(y.mul(y)).add(cx), y: x.mul(y).mul(2).add(cy), n: n.add(1) }),
    { while: ({ x, y }) => x.mul(x).add(y.mul(y)).le(256) },
  )
  // A smooth count: how far beyond the circle the point was when it left.
  const radius2 = end.x.mul(end.x).add(end.y.mul(end.y))
  const smooth = end.n.sub(log(log(radius2).mul(0.5)).div(Math.LN2))
  return { n: end.n, shade: where(radius2.gt(256), smooth, 0) }
})

const cx = new Float64Array(WIDTH * HEIGHT)
const cy = new Float64Array(WIDTH * HEIGHT)
for (let row = 0; row < HEIGHT; row++) {
  for (let column = 0; column < WIDTH; column++) {
    cx[row * WIDTH + column] = -2.25 + (3 * column) / WIDTH
    cy[row * WIDTH + column] = -1 + (2 * row) / HEIGHT
  }
}

function plainCounts(pixels: number, stride: number): Float64Array {
  const counts = new Float64Array(pixels)
  for (let p = 0; p < pixels; p++) {
    let [x, y, n] = [0, 0, 0]
    while (n < MOST && x * x + y * y <= 256) {
      ;[x, y] = [x * x - y * y + cx[p * stride]!, x * y * 2 + cy[p * stride]!]
      n++
    }
    counts[p] = n
  }
  return counts
}

const { n, shade } = mandelbrot(cx, cy)

const STRIDE = 97
const plain = plainCounts(Math.floor(n.length / STRIDE), STRIDE)
plain.forEach((count, p) => {
  if (n[p * STRIDE] !== count)
    throw new Error(`pixel ${p * STRIDE}: ${n[p * STRIDE]} iterations, plain JS says ${count}`)
})

const image = new PNG({ width: WIDTH, height: HEIGHT })
shade.forEach((value, p) => {
  const turn = Math.log1p(Math.max(0, value)) * 1.2
  const isInside = n[p] === MOST
  ;[0, 2.1, 4.2].forEach((phase, channel) => {
    image.data[4 * p + channel] = isInside ? 0 : Math.round(127.5 * (1 - Math.cos(turn + phase * 0.5)))
  })
  image.data[4 * p + 3] = 255
})
const file = join(process.env['OUT'] ?? '.', 'mandelbrot.png')
writeFileSync(file, PNG.sync.write(image))

const kernelTime = milliseconds(() => mandelbrot(cx, cy), 3)
const plainTime = milliseconds(() => plainCounts(plain.length, STRIDE), 1) * STRIDE
console.log(
  `wrote ${file}: ${n.length} pixels, ${n.reduce((sum, count) => sum + count, 0).toExponential(2)} iterations, every ${STRIDE}th checked against plain JS`,
)
console.log(
  `kernel ${kernelTime.toFixed(0)} ms, plain JS ${plainTime.toFixed(0)} ms, from the checked part (${(plainTime / kernelTime).toFixed(1)} times)`,
)
