// Elementary functions over 4,096 numbers in L1, one thread: ours against SLEEF's u10 functions and glibc's libmvec, called by their vector
// symbols from C built by the same clang, scalar libm and JavaScript's Math; beside each time the worst error found against MPFR.
// `npx tsx bench/math.ts sin exp` measures some functions only.
import '../src/runtime/node.ts'
import { existsSync } from 'node:fs'
import type { BackendName } from '../src/backends/backend.ts'
import type { PlainOp } from '../src/ir/ops.ts'
import type { FloatType } from '../src/ir/types.ts'
import { createBuilder } from '../src/ir/build.ts'
import { processor } from '../src/runtime/cpu.ts'
import { chooseBackend } from '../src/runtime/registry.ts'
import { precise } from '../test/support/precise.ts'
import { type Arm, type Benchmark, type Cell, type Measurement, ratio } from './support/harness.ts'
import { runBenchmark } from './support/main.ts'
import { compileC } from './support/native.ts'

const COUNT = 4096

/** Interval of the timed arguments. */
const FUNCTIONS: Partial<Record<PlainOp, readonly [number, number]>> = {
  exp: [-30, 30],
  exp2: [-30, 30],
  exp10: [-30, 30],
  expm1: [-3, 3],
  log: [0.01, 100],
  log2: [0.01, 100],
  log10: [0.01, 100],
  log1p: [-0.9, 10],
  pow: [0.1, 10],
  cbrt: [-100, 100],
  hypot: [-5, 5],
  sin: [-10, 10],
  cos: [-10, 10],
  tan: [-10, 10],
  asin: [-1, 1],
  acos: [-1, 1],
  atan: [-5, 5],
  atan2: [-5, 5],
  sinh: [-5, 5],
  cosh: [-5, 5],
  tanh: [-3, 3],
  asinh: [-10, 10],
  acosh: [1, 20],
  atanh: [-0.9, 0.9],
  erf: [-3, 3],
  erfc: [-2, 5],
}
/** Those with an aim: 1.25 times the faster of SLEEF and libmvec. */
const AIMED: readonly PlainOp[] = ['exp', 'log', 'sin', 'cos', 'tan', 'tanh', 'pow', 'atan', 'cbrt', 'erf']
const BINARY: readonly PlainOp[] = ['pow', 'atan2', 'hypot']

const asked = process.argv.slice(2).filter((word) => !word.startsWith('--')) as PlainOp[]
const ops = (Object.keys(FUNCTIONS) as PlainOp[]).filter((op) => asked.length === 0 || asked.includes(op))

const { avx512 } = processor().target
const isX86 = process.arch === 'x64'
const hasSleef =
  isX86 && ['/usr/include/sleef.h', '/usr/include/x86_64-linux-gnu/sleef.h'].some((path) => existsSync(path))
const hasLibmvec =
  isX86 && ['/lib/x86_64-linux-gnu/libmvec.so.1', '/lib64/libmvec.so.1'].some((path) => existsSync(path))

interface Shape {
  readonly lanes: number
  readonly vector: string
  readonly load: string
  readonly store: string
  readonly mangled: string
  readonly sleef: string
  readonly scalar: string
  readonly suffix: string
}

const SHAPES: Record<FloatType, Shape> = {
  f64: avx512
    ? {
        lanes: 8,
        vector: '__m512d',
        load: '_mm512_loadu_pd',
        store: '_mm512_storeu_pd',
        mangled: 'eN8',
        sleef: 'd8',
        scalar: 'double',
        suffix: '',
      }
    : {
        lanes: 4,
        vector: '__m256d',
        load: '_mm256_loadu_pd',
        store: '_mm256_storeu_pd',
        mangled: 'dN4',
        sleef: 'd4',
        scalar: 'double',
        suffix: '',
      },
  f32: avx512
    ? {
        lanes: 16,
        vector: '__m512',
        load: '_mm512_loadu_ps',
        store: '_mm512_storeu_ps',
        mangled: 'eN16',
        sleef: 'f16',
        scalar: 'float',
        suffix: 'f',
      }
    : {
        lanes: 8,
        vector: '__m256',
        load: '_mm256_loadu_ps',
        store: '_mm256_storeu_ps',
        mangled: 'dN8',
        sleef: 'f8',
        scalar: 'float',
        suffix: 'f',
      },
}

const TYPES: readonly FloatType[] = ['f64', 'f32']
const peers = [...(hasSleef ? ['sleef'] : []), ...(hasLibmvec ? ['libmvec'] : []), 'libm']

/** C source of the loop over one function of one library. */
function loopOf(peer: string, op: PlainOp, type: FloatType): string {
  const { lanes, vector, load, store, mangled, sleef, scalar, suffix } = SHAPES[type]
  const isBinary = BINARY.includes(op)
  const head = `void ${peer}_${op}_${type}(const ${scalar} *x, const ${scalar} *y, ${scalar} *z, int64_t n)`
  if (peer === 'libm')
    return `${head} { for (int64_t i = 0; i < n; i++) z[i] = ${op}${suffix}(x[i]${isBinary ? ', y[i]' : ''}); }`
  const bound = op === 'hypot' ? 'u05' : op === 'erfc' ? 'u15' : 'u10'
  const symbol =
    peer === 'sleef'
      ? `Sleef_${op}${sleef}_${bound}${avx512 ? 'avx512f' : 'avx2'}`
      : `_ZGV${mangled}v${isBinary ? 'v' : ''}_${op}${suffix}`
  const declaration = peer === 'sleef' ? '' : `${vector} ${symbol}(${vector}${isBinary ? `, ${vector}` : ''});`
  const operands = `${load}(x + i)${isBinary ? `, ${load}(y + i)` : ''}`
  return `${declaration}\n${head} { for (int64_t i = 0; i < n; i += ${lanes}) ${store}(z + i, ${symbol}(${operands})); }`
}

const source = [
  '#define _GNU_SOURCE',
  '#include <math.h>',
  '#include <stdint.h>',
  isX86 ? '#include <immintrin.h>' : '',
  hasSleef ? '#include <sleef.h>' : '',
  ...ops.flatMap((op) => TYPES.flatMap((type) => peers.map((peer) => loopOf(peer, op, type)))),
].join('\n')
const library = compileC(source, [
  '-fno-builtin',
  ...(hasSleef ? ['-lsleef'] : []),
  ...(hasLibmvec ? ['-lmvec'] : []),
  '-lm',
])

const evaluator = precise()

function worstError(
  op: PlainOp,
  type: FloatType,
  x: ArrayLike<number>,
  y: ArrayLike<number>,
  got: ArrayLike<number>,
): number {
  if ('missing' in evaluator) return NaN
  return evaluator.measure(op, type, x, BINARY.includes(op) ? y : undefined, got).worst
}

type Floats = Float64Array | Float32Array

function ourArm(name: string, backend: BackendName, op: PlainOp, type: FloatType, x: Floats, y: Floats): Arm {
  const b = createBuilder()
  const operands = BINARY.includes(op) ? [x, y] : [x]
  const planes = operands.map((_, k) => b.plane({ name: `x${k}`, role: 'sample', type, components: 1 }))
  const output = b.plane({ name: 'z', role: 'sample', type, components: 1 })
  b.store(
    output,
    0,
    b.apply(
      op,
      planes.map((plane) => b.load(plane, 0)),
    ),
  )
  const z = x.slice()
  const launch = chooseBackend(backend).backend.build(b.finishGraph(), { name: op }).launch()
  operands.forEach((array, k) => launch.bind(planes[k]!, array, COUNT, COUNT))
  launch.bind(output, z, COUNT, COUNT)
  const range = { sampleCount: COUNT, begin: 0, end: COUNT, threads: 1 }
  launch.run(range)
  return { name, run: () => launch.run(range), answer: () => z, ulp: worstError(op, type, x, y, z) }
}

/** A loop over the function of `Math`, where it has one. */
function mathArm(op: PlainOp, type: FloatType, x: Floats, y: Floats): Arm | undefined {
  const plain: unknown = Reflect.get(Math, op)
  if (typeof plain !== 'function') return undefined
  const z = x.slice()
  // Made anew for each function, so that the engine finds one callee in it.
  const loop = new Function('f', 'x', 'y', 'z', `for (let i = 0; i < ${COUNT}; i++) z[i] = f(x[i], y[i])`)
  loop(plain, x, y, z)
  return { name: 'plain JS', run: () => loop(plain, x, y, z), answer: () => z, ulp: worstError(op, type, x, y, z) }
}

const ROUNDS = 300
const CALLS = 8

/**
 * Times the arms in turn in samples of a few microseconds, so short that on a busy machine most of them run undisturbed: the median of
 * many such samples stands still where that of long ones would not. Low and high are quartiles.
 */
function interleaved(arms: readonly Arm[]): readonly Measurement[] {
  const times = arms.map(() => new Float64Array(ROUNDS))
  for (let round = 0; round < ROUNDS; round++) {
    arms.forEach(({ run }, k) => {
      run()
      const begin = process.hrtime.bigint()
      for (let call = 0; call < CALLS; call++) run()
      times[k]![round] = Number(process.hrtime.bigint() - begin) / 1e9 / CALLS
    })
  }
  return times.map((samples) => {
    samples.sort()
    const quantile = (q: number) => samples[Math.floor(q * (ROUNDS - 1))]!
    return { median: quantile(0.5), low: quantile(0.25), high: quantile(0.75) }
  })
}

function cellOf(op: PlainOp, type: FloatType): Cell {
  const [from, to] = FUNCTIONS[op]!
  const make = (phase: number) => {
    // Evenly spread, in an order that no branch predictor learns.
    const numbers = Array.from({ length: COUNT }, (_, i) => from + ((to - from) * ((i * 1597 + phase) % COUNT)) / COUNT)
    return type === 'f64' ? Float64Array.from(numbers) : Float32Array.from(numbers)
  }
  const x = make(0.37)
  const y = make(1000.81)
  const others = peers.map((peer): Arm => {
    const z = x.slice()
    const call = library.function(`${peer}_${op}_${type}`, 'address', 'address', 'address', 'i64')
    call(x, y, z, COUNT)
    return { name: peer, run: () => call(x, y, z, COUNT), answer: () => z, ulp: worstError(op, type, x, y, z) }
  })
  // What the answers are worth says the error of each beside it; nothing else is compared.
  const plain = mathArm(op, type, x, y)
  const arms = [
    ourArm('harrier', 'host', op, type, x, y),
    ourArm('harrier wasm', 'wasm', op, type, x, y),
    ...(plain ? [plain] : []),
    ...others,
  ]
  const measurements = interleaved(arms)
  return {
    label: `${op} ${type}`,
    tolerance: 0,
    work: { amount: COUNT, unit: 'numbers' },
    arms: arms.map((arm, k) => ({ ...arm, measured: measurements[k]! })),
  }
}

const benchmark: Benchmark = {
  name: 'math',
  claim: 'elementary functions below 1 ULP within 1.25 times of the faster of SLEEF u10 and libmvec',
  absent: [
    ...(hasSleef ? [] : ['SLEEF (Debian: libsleef-dev)']),
    ...(hasLibmvec ? [] : ['libmvec (glibc on x86-64)']),
    ...('missing' in evaluator ? [`errors: ${evaluator.missing}`] : []),
  ],
  *cells() {
    for (const op of ops) for (const type of TYPES) yield cellOf(op, type)
  },
  judge: (cells) =>
    cells
      .filter(({ label }) => AIMED.includes(label.split(' ')[0] as PlainOp))
      .flatMap((cell) => {
        const vector = peers.filter((peer) => peer !== 'libm')
        if (vector.length === 0) return []
        const slower = Math.max(...vector.map((peer) => ratio(cell, 'harrier', peer)))
        const ulp = cell.arms[0]!.ulp ?? NaN
        return [
          `${cell.label}: ${slower.toFixed(2)} of the faster peer, aim 1.25: ${slower <= 1.25 ? 'met' : 'missed'}; ${ulp.toFixed(2)} ULP`,
        ]
      }),
}

await runBenchmark(benchmark)
