// A page that draws the Mandelbrot set with a kernel, and says how long that took beside the same loop in plain JavaScript.
// `npx vite examples/browser` serves it, `npx vite build examples/browser` makes files for any web server.
import { kernel, loop, Scalar } from '../../src/wasm.ts'

const MOST = 500

const escape = kernel('escape', { cx: Scalar, cy: Scalar }, ({ cx, cy }) => {
  const end = loop(
    MOST,
    { x: 0, y: 0, n: 0 },
    (_, { x, y, n }) => ({ x: x.mul(x).sub(y.mul(y)).add(cx), y: x.mul(y).mul(2).add(cy), n: n.add(1) }),
    { while: ({ x, y }) => x.mul(x).add(y.mul(y)).le(4) },
  )
  return { n: end.n }
})

function escapePlain(cx: Float64Array, cy: Float64Array): Float64Array {
  const n = new Float64Array(cx.length)
  for (let p = 0; p < n.length; p++) {
    let [x, y, count] = [0, 0, 0]
    while (count < MOST && x * x + y * y <= 4) {
      const next = x * x - y * y + cx[p]!
      y = x * y * 2 + cy[p]!
      x = next
      count++
    }
    n[p] = count
  }
  return n
}

/** The points of the complex plane under the pixels of an image. */
function pointsOf(width: number, height: number) {
  const [cx, cy] = [new Float64Array(width * height), new Float64Array(width * height)]
  for (let p = 0; p < cx.length; p++) {
    cx[p] = -2.25 + (3 * (p % width)) / width
    cy[p] = -1 + (2 * Math.floor(p / width)) / height
  }
  return { cx, cy }
}

function paint(canvas: HTMLCanvasElement, n: Float64Array): void {
  const image = new ImageData(canvas.width, canvas.height)
  n.forEach((count, p) => {
    const turn = 1.2 * Math.log1p(count)
    const shade = (phase: number) => (count === MOST ? 0 : 127.5 * (1 - Math.cos(turn + phase)))
    image.data.set([shade(0), shade(1), shade(2), 255], 4 * p)
  })
  canvas.getContext('2d')!.putImageData(image, 0, 0)
}

/** The shortest of a few runs, in milliseconds. */
function timeOf(run: () => void): number {
  const times = Array.from({ length: 3 }, () => {
    const start = performance.now()
    run()
    return performance.now() - start
  })
  return Math.min(...times)
}

const canvas = document.querySelector('canvas')!
const { cx, cy } = pointsOf(canvas.width, canvas.height)

const start = performance.now()
const { n } = escape(cx, cy)
const first = performance.now() - start
paint(canvas, n)

const differing = escapePlain(cx, cy).filter((count, p) => count !== n[p]).length
const kernelTime = timeOf(() => escape(cx, cy))
const plainTime = timeOf(() => escapePlain(cx, cy))
document.querySelector('#timing')!.textContent =
  `kernel ${kernelTime.toFixed(0)} ms (the first call, with its compilation, ${first.toFixed(0)} ms), ` +
  `plain JavaScript ${plainTime.toFixed(0)} ms, ${differing} of ${n.length} pixels differ`
