// For each of 42,049 ZIP codes the nearest of 3,376 airports: 142 million pairs, two sines a pair. The C arm has the sines vectorised
// through libmvec; Numba and plain JS call a scalar sine.
import { asin, cos, kernel, loop, Scalar, sin, sqrt, Table, toInt, where } from '../src/index.ts'
import { numbers, readCsv } from '../examples/support/csv.ts'
import { kernelArms } from './support/arms.ts'
import { ratio, type Benchmark } from './support/harness.ts'
import { runBenchmark } from './support/main.ts'
import { compileC } from './support/native.ts'
import { absentModules, pythonArm } from './support/python.ts'

const RADIAN = Math.PI / 180
const DIAMETER = 2 * 6371.0088

const radians = (degrees: Float64Array) => degrees.map((angle) => angle * RADIAN)
const airports = readCsv('airports.csv')
const zipCodes = readCsv('zipcodes.csv')
const [lat, lon] = [radians(numbers(zipCodes, 'latitude')), radians(numbers(zipCodes, 'longitude'))]
const [airportLat, airportLon] = [radians(numbers(airports, 'latitude')), radians(numbers(airports, 'longitude'))]
const airportCos = airportLat.map(Math.cos)
const [n, count] = [lat.length, airportLat.length]

const nearest = kernel(
  'nearest',
  { lat: Scalar, lon: Scalar, airportLat: Table(Scalar), airportLon: Table(Scalar), airportCos: Table(Scalar) },
  (zip) => {
    const cosLat = cos(zip.lat)
    const best = loop(count, { chord: Number.POSITIVE_INFINITY, airport: toInt(0) }, (i, { chord, airport }) => {
      const up = sin(zip.airportLat.at(i).sub(zip.lat).mul(0.5))
      const across = sin(zip.airportLon.at(i).sub(zip.lon).mul(0.5))
      const here = up.mul(up).add(cosLat.mul(zip.airportCos.at(i)).mul(across.mul(across)))
      const isNearer = here.lt(chord)
      return { chord: where(isNearer, here, chord), airport: where(isNearer, i, airport) }
    })
    return { km: asin(sqrt(best.chord)).mul(DIAMETER), airport: best.airport }
  },
)

const c = compileC(
  `
#include <math.h>
#include <stdint.h>
void nearest(const double *lat, const double *lon, const double *alat, const double *alon, const double *acos_, double *km, int64_t n) {
  for (int64_t z = 0; z < n; z++) {
    const double la = lat[z], lo = lon[z], c = cos(la);
    double chord = INFINITY; int32_t airport = 0;
    double h[${count}];
    for (int32_t i = 0; i < ${count}; i++) {
      const double up = sin((alat[i] - la) * 0.5), across = sin((alon[i] - lo) * 0.5);
      h[i] = up * up + c * acos_[i] * (across * across);
    }
    for (int32_t i = 0; i < ${count}; i++) if (h[i] < chord) { chord = h[i]; airport = i; }
    km[z] = asin(sqrt(chord)) * ${DIAMETER};
  }
}`,
  ['-fveclib=libmvec', '-mprefer-vector-width=512', '-lmvec', '-lm'],
)
const cNearest = c.function('nearest', 'address', 'address', 'address', 'address', 'address', 'address', 'i64')

const NUMBA = `
import numba, math
lat, lon, alat, alon, acos = (inputs[name] for name in ('lat', 'lon', 'airportLat', 'airportLon', 'airportCos'))
km = np.empty_like(lat)
@numba.njit
def nearest(lat, lon, alat, alon, acos, km):
    for z in range(lat.size):
        c = math.cos(lat[z]); chord = math.inf; airport = 0
        for i in range(alat.size):
            up = math.sin((alat[i] - lat[z]) * 0.5); across = math.sin((alon[i] - lon[z]) * 0.5)
            here = up * up + c * acos[i] * (across * across)
            if here < chord:
                chord = here; airport = i
        km[z] = math.asin(math.sqrt(chord)) * ${DIAMETER}
run = lambda: nearest(lat, lon, alat, alon, acos, km)
answer = lambda: km`

function plainJs(km: Float64Array, airports: Int32Array): void {
  for (let z = 0; z < n; z++) {
    const cosLat = Math.cos(lat[z]!)
    let [chord, airport] = [Number.POSITIVE_INFINITY, 0]
    for (let i = 0; i < count; i++) {
      const up = Math.sin((airportLat[i]! - lat[z]!) * 0.5)
      const across = Math.sin((airportLon[i]! - lon[z]!) * 0.5)
      const here = up * up + cosLat * airportCos[i]! * (across * across)
      if (here < chord) [chord, airport] = [here, i]
    }
    km[z] = Math.asin(Math.sqrt(chord)) * DIAMETER
    airports[z] = airport
  }
}

const benchmark: Benchmark = {
  name: 'nearest',
  claim:
    'nearest of 3,376 airports for 42,049 ZIP codes: within 1.2 times of C with vector math, and 8 times plain JS a thread',
  absent: absentModules('numba', 'numpy'),

  *cells() {
    const planes = { lat, lon, airportLat, airportLon, airportCos }
    const [js, jsAirport, native] = [new Float64Array(n), new Int32Array(n), new Float64Array(n)]
    const arms = kernelArms((options) => {
      const [km, airport] = [new Float64Array(n), new Int32Array(n)]
      return { bound: nearest.with(options).bound({ ...planes, km, airport }), answer: () => km }
    })
    const numba = pythonArm('Numba', ['numba', 'numpy'], planes, NUMBA)
    yield {
      label: `${n} × ${count} pairs`,
      tolerance: 1e-8,
      work: { amount: n * count, unit: 'pair' },
      arms: [
        { name: 'plain JS', run: () => plainJs(js, jsAirport), answer: () => js },
        ...arms,
        {
          name: 'C, libmvec',
          run: () => cNearest(lat, lon, airportLat, airportLon, airportCos, native, n),
          answer: () => native,
        },
        ...(numba ? [numba] : []),
      ],
    }
  },

  judge: (cells) =>
    cells.map((cell) => {
      const overC = ratio(cell, 'harrier', 'C, libmvec')
      const overJs = ratio(cell, 'plain JS', 'harrier')
      return `${overC.toFixed(2)} times the time of C with vector math (aim 1.2: ${overC <= 1.2 ? 'met' : 'missed'}), ${overJs.toFixed(1)} times plain JS (aim 8: ${overJs >= 8 ? 'met' : 'missed'})`
    }),
}

await runBenchmark(benchmark)
