// For each of 42,049 US ZIP codes the nearest of 3,376 airports, by great-circle distance: 142 million pairs in one kernel, with the
// airports in tables and a loop in the body (data: zipcodes.csv and airports.csv of the package vega-datasets).
import { asin, cos, kernel, loop, Scalar, sin, sqrt, Table, where } from '../src/index.ts'
import { numbers, readCsv } from './support/csv.ts'
import { milliseconds } from './support/time.ts'

const EARTH_RADIUS_KM = 6371.0088
const RADIAN = Math.PI / 180

const airports = readCsv('airports.csv')
const zipCodes = readCsv('zipcodes.csv')
const count = airports.length

const nearest = kernel(
  'nearest',
  { lat: Scalar, lon: Scalar, airportLat: Table(Scalar), airportLon: Table(Scalar) },
  ({ lat, lon, airportLat, airportLon }) => {
    const cosLat = cos(lat)
    const best = loop(count, { chord: Number.POSITIVE_INFINITY, airport: 0 }, (i, { chord, airport }) => {
      const up = sin(airportLat.at(i).sub(lat).mul(0.5))
      const across = sin(airportLon.at(i).sub(lon).mul(0.5))
      const here = up.mul(up).add(cosLat.mul(cos(airportLat.at(i))).mul(across.mul(across)))
      const isNearer = here.lt(chord)
      return { chord: where(isNearer, here, chord), airport: where(isNearer, i, airport) }
    })
    return { airport: best.airport, km: asin(sqrt(best.chord)).mul(2 * EARTH_RADIUS_KM) }
  },
)

const radians = (degrees: Float64Array) => degrees.map((angle) => angle * RADIAN)
const lat = radians(numbers(zipCodes, 'latitude'))
const lon = radians(numbers(zipCodes, 'longitude'))
const airportLat = radians(numbers(airports, 'latitude'))
const airportLon = radians(numbers(airports, 'longitude'))

/** The same in plain JS for the first ZIP codes. */
function plainNearest(zips: number): { airport: Int32Array; km: Float64Array } {
  const airport = new Int32Array(zips)
  const km = new Float64Array(zips)
  for (let z = 0; z < zips; z++) {
    const cosLat = Math.cos(lat[z]!)
    let best = Number.POSITIVE_INFINITY
    for (let i = 0; i < count; i++) {
      const up = Math.sin((airportLat[i]! - lat[z]!) * 0.5)
      const across = Math.sin((airportLon[i]! - lon[z]!) * 0.5)
      const here = up * up + cosLat * Math.cos(airportLat[i]!) * across * across
      if (here < best) {
        best = here
        airport[z] = i
      }
    }
    km[z] = Math.asin(Math.sqrt(best)) * 2 * EARTH_RADIUS_KM
  }
  return { airport, km }
}

const found = nearest({ lat, lon, airportLat, airportLon })

const CHECKED = 2000
const plain = plainNearest(CHECKED)
for (let z = 0; z < CHECKED; z++) {
  // Two airports at one place may change places in the last bit; their distance may not.
  if (Math.abs(found.km[z]! - plain.km[z]!) > 1e-6)
    throw new Error(`ZIP code ${zipCodes[z]!['zip_code']}: ${found.km[z]} km, plain JS says ${plain.km[z]} km`)
}

console.log(`${zipCodes.length} ZIP codes × ${count} airports, the first ${CHECKED} checked against plain JS\n`)
console.log('farthest from any airport                                        km')
const byDistance = [...found.km.keys()].sort((a, b) => found.km[b]! - found.km[a]!)
for (const z of byDistance.slice(0, 6)) {
  const { zip_code, city, state } = zipCodes[z]!
  const { name, iata } = airports[found.airport[z]!]!
  console.log(`${`${zip_code} ${city}, ${state} – ${iata} ${name}`.padEnd(60)} ${found.km[z]!.toFixed(1).padStart(7)}`)
}

const kernelTime = milliseconds(() => nearest({ lat, lon, airportLat, airportLon }), 2)
const plainTime = (milliseconds(() => plainNearest(CHECKED), 1) * zipCodes.length) / CHECKED
console.log(
  `\nkernel ${kernelTime.toFixed(0)} ms, plain JS ${plainTime.toFixed(0)} ms, from the checked part (${(plainTime / kernelTime).toFixed(1)} times)`,
)
