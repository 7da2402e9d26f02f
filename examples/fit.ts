// Fits a seasonal model to four years of daily temperatures in Seattle by L-BFGS on `valueAndGrad`, and once more with a gradient written
// by hand (data: seattle-weather.csv of the package vega-datasets). Writes a plot, fit.svg, to the folder OUT or the present one.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, View } from 'vega'
import { compile } from 'vega-lite'
import { cos, kernel, Param, Reduce, Scalar, sub, valueAndGrad } from '../src/index.ts'
import { numbers, readCsv } from './support/csv.ts'
import { minimise } from './support/lbfgs.ts'
import { milliseconds } from './support/time.ts'

const YEAR = 365.25
const TURN = (2 * Math.PI) / YEAR

const weather = readCsv('seattle-weather.csv')
const temperature = numbers(weather, 'temp_max')
const day = Float64Array.from(weather, (_, index) => index)
const count = day.length

/** A mean with a trend, a year's swing with its warmest day, and a half-year's swing that sharpens the summers. */
interface Model {
  readonly mean: Scalar
  readonly trend: Scalar
  readonly swing: Scalar
  readonly warmest: Scalar
  readonly half: Scalar
  readonly sharpest: Scalar
}
const NAMES = ['mean', 'trend', 'swing', 'warmest', 'half', 'sharpest'] as const

const predict = (at: Scalar, { mean, trend, swing, warmest, half, sharpest }: Model): Scalar =>
  mean
    .add(trend.mul(at.mul(1 / YEAR)))
    .add(swing.mul(cos(sub(at, warmest).mul(TURN))))
    .add(half.mul(cos(sub(at, sharpest).mul(2 * TURN))))

const model = {
  mean: Param,
  trend: Param,
  swing: Param,
  warmest: Param,
  half: Param,
  sharpest: Param,
} as const

const loss = kernel(
  'loss',
  { at: Scalar, measured: Scalar, ...model, total: Reduce('sum') },
  ({ at, measured, total, ...parameters }) => {
    const rest = predict(at, parameters).sub(measured)
    total.contribute(rest.mul(rest).mul(1 / count))
  },
)
const curve = kernel('curve', { at: Scalar, ...model }, ({ at, ...parameters }) => predict(at, parameters))

const lossAndGradient = valueAndGrad(loss, { wrt: NAMES })

const named = (at: readonly number[]) => Object.fromEntries(NAMES.map((name, k) => [name, at[k]!]))

/** By the derivative of the kernel. */
function byKernel(at: readonly number[]) {
  const { value, grad } = lossAndGradient({ at: day, measured: temperature, ...named(at) })
  return { value, gradient: NAMES.map((name) => grad[name]) }
}

/** By hand. */
function byHand([mean, trend, swing, warmest, half, sharpest]: readonly number[]) {
  let value = 0
  const gradient = [0, 0, 0, 0, 0, 0]
  for (let i = 0; i < count; i++) {
    const year = (day[i]! - warmest!) * TURN
    const twice = (day[i]! - sharpest!) * 2 * TURN
    const rest = mean! + trend! * (day[i]! / YEAR) + swing! * Math.cos(year) + half! * Math.cos(twice) - temperature[i]!
    value += (rest * rest) / count
    const bar = (2 * rest) / count
    gradient[0]! += bar
    gradient[1]! += bar * (day[i]! / YEAR)
    gradient[2]! += bar * Math.cos(year)
    gradient[3]! += bar * swing! * Math.sin(year) * TURN
    gradient[4]! += bar * Math.cos(twice)
    gradient[5]! += bar * half! * Math.sin(twice) * 2 * TURN
  }
  return { value, gradient }
}

const start = [15, 0, 8, 200, 1, 200]
const fitted = minimise(byKernel, start)
const reference = minimise(byHand, start)

/** Largest difference, relative to the size of each parameter or 1. */
const difference = Math.max(
  ...fitted.at.map((found, k) => Math.abs(found - reference.at[k]!) / Math.max(1, Math.abs(reference.at[k]!))),
)
if (!(difference < 1e-5)) throw new Error(`the two fits differ by ${difference}`)

console.log(`${count} days, ${NAMES.length} parameters, mean squared residual in °C²`)
console.log(`start   ${byKernel(start).value.toFixed(4)}`)
console.log(`fitted  ${fitted.value.toFixed(4)} after ${fitted.iterations} steps of L-BFGS`)
console.log(`by hand ${reference.value.toFixed(4)}, parameters equal to ${difference.toExponential(0)}`)
NAMES.forEach((name, k) => console.log(`  ${name.padEnd(9)}${fitted.at[k]!.toFixed(3).padStart(9)}`))
const [kernelTime, handTime] = [byKernel, byHand].map((evaluate) => milliseconds(() => evaluate(fitted.at), 50))
console.log(`value and gradient: ${kernelTime!.toFixed(3)} ms by the kernel, ${handTime!.toFixed(3)} ms in plain JS`)

const fit = curve({ at: day, ...(named(fitted.at) as Record<(typeof NAMES)[number], number>) })
const values = Array.from(day, (_, i) => ({ date: weather[i]!['date'], measured: temperature[i], fit: fit[i] }))
const { spec } = compile({
  $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
  title: 'Highest temperature of the day in Seattle, and the fitted season',
  width: 900,
  height: 300,
  data: { values },
  encoding: { x: { field: 'date', type: 'temporal', axis: { title: null } } },
  layer: [
    {
      mark: { type: 'point', size: 8, opacity: 0.5 },
      encoding: { y: { field: 'measured', type: 'quantitative', axis: { title: '°C' } } },
    },
    { mark: { type: 'line', color: 'firebrick' }, encoding: { y: { field: 'fit', type: 'quantitative' } } },
  ],
})
const file = join(process.env['OUT'] ?? '.', 'fit.svg')
writeFileSync(file, await new View(parse(spec), { renderer: 'none' }).toSVG())
console.log(`wrote ${file}`)
