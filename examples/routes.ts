// Great-circle distance and initial bearing of every flight route of 2008 between 305 US airports, as one kernel over 5,366 routes
// (data: airports.csv and flights-airport.csv of the package vega-datasets), checked against a plain JS loop.
import { asin, atan2, cos, kernel, Scalar, sin, sqrt, where } from '../src/index.ts'
import { readCsv } from './support/csv.ts'
import { milliseconds } from './support/time.ts'

const EARTH_RADIUS_KM = 6371.0088
const DEGREE = Math.PI / 180

// The kernel: one route. Haversine distance, and the bearing at take-off clockwise from north.
const route = kernel(
  'route',
  { lat1: Scalar, lon1: Scalar, lat2: Scalar, lon2: Scalar },
  ({ lat1, lon1, lat2, lon2 }) => {
    const [from, to] = [lat1.mul(DEGREE), lat2.mul(DEGREE)]
    const turn = lon2.sub(lon1).mul(DEGREE)
    const [up, across] = [sin(to.sub(from).mul(0.5)), sin(turn.mul(0.5))]
    const chord = up.mul(up).add(cos(from).mul(cos(to)).mul(across).mul(across))
    const bearing = atan2(
      sin(turn).mul(cos(to)),
      cos(from)
        .mul(sin(to))
        .sub(sin(from).mul(cos(to)).mul(cos(turn))),
    ).div(DEGREE)
    return {
      distance: asin(sqrt(chord)).mul(2 * EARTH_RADIUS_KM),
      bearing: where(bearing.lt(0), bearing.add(360), bearing),
    }
  },
)

const airports = new Map(readCsv('airports.csv').map((airport) => [airport['iata']!, airport]))
const routes = readCsv('flights-airport.csv').flatMap(({ origin, destination, count }) => {
  const [from, to] = [airports.get(origin!), airports.get(destination!)]
  return from && to ? [{ from, to, flights: Number(count) }] : []
})
const column = (pick: (entry: (typeof routes)[number]) => number) => Float64Array.from(routes, pick)

const lat1 = column(({ from }) => Number(from['latitude']))
const lon1 = column(({ from }) => Number(from['longitude']))
const lat2 = column(({ to }) => Number(to['latitude']))
const lon2 = column(({ to }) => Number(to['longitude']))

/** The same in plain JS, to compare with. */
function plainRoutes(): { distance: Float64Array; bearing: Float64Array } {
  const distance = new Float64Array(routes.length)
  const bearing = new Float64Array(routes.length)
  for (let i = 0; i < routes.length; i++) {
    const [from, to] = [lat1[i]! * DEGREE, lat2[i]! * DEGREE]
    const turn = (lon2[i]! - lon1[i]!) * DEGREE
    const [up, across] = [Math.sin((to - from) * 0.5), Math.sin(turn * 0.5)]
    const chord = up * up + Math.cos(from) * Math.cos(to) * across * across
    distance[i] = Math.asin(Math.sqrt(chord)) * 2 * EARTH_RADIUS_KM
    const angle =
      Math.atan2(
        Math.sin(turn) * Math.cos(to),
        Math.cos(from) * Math.sin(to) - Math.sin(from) * Math.cos(to) * Math.cos(turn),
      ) / DEGREE
    bearing[i] = angle < 0 ? angle + 360 : angle
  }
  return { distance, bearing }
}

const begin = performance.now()
const { distance, bearing } = route(lat1, lon1, lat2, lon2)
const firstCall = performance.now() - begin
const plain = plainRoutes()

const worst = Math.max(
  ...distance.map((km, i) => Math.abs(km - plain.distance[i]!)),
  ...bearing.map((angle, i) => Math.abs(angle - plain.bearing[i]!)),
)
if (!(worst < 1e-9)) throw new Error(`kernel and plain JS differ by ${worst}`)

console.log(route.explain())
console.log(`\n${routes.length} routes; largest difference from plain JS ${worst.toExponential(1)} (km or degrees)\n`)
console.log('longest routes                                                       km  bearing  flights')
const byDistance = [...distance.keys()].sort((a, b) => distance[b]! - distance[a]!)
for (const i of byDistance.slice(0, 8)) {
  const { from, to, flights } = routes[i]!
  const name = `${from['iata']} ${from['city']} – ${to['iata']} ${to['city']}`
  console.log(
    `${name.padEnd(62)} ${distance[i]!.toFixed(0).padStart(8)} ${bearing[i]!.toFixed(1).padStart(8)} ${String(flights).padStart(8)}`,
  )
}
const flown = distance.reduce((sum, km, i) => sum + km * routes[i]!.flights, 0)
console.log(`\nkilometres flown in all: ${(flown / 1e9).toFixed(3)} thousand million`)

const [kernelTime, plainTime] = [milliseconds(() => route(lat1, lon1, lat2, lon2), 20), milliseconds(plainRoutes, 20)]
console.log(
  `kernel ${kernelTime.toFixed(3)} ms, plain JS ${plainTime.toFixed(3)} ms (${(plainTime / kernelTime).toFixed(1)} times); first call ${firstCall.toFixed(0)} ms`,
)
