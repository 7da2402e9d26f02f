// A process that defines one kernel, calls it once, and prints the seconds from `kernel()` to the result, with the result, as JSON.
// Everything is imported before, as a program does once for all its kernels.
import { add, exp, kernel, mul, neg, Param, Scalar, sqrt } from '../../src/index.ts'

const x = Float64Array.of(0, 0.5, 1, 2)

const FIRST_CALLS = {
  scale: () => kernel('scale', { x: Scalar, a: Param, b: Param }, ({ x, a, b }) => x.mul(a).add(b))(x, 2, 1),
  expsqrt: () => kernel('expsqrt', { x: Scalar }, ({ x }) => add(mul(exp(neg(x)), sqrt(x.add(1))), x))(x),
}

export type FirstCall = keyof typeof FIRST_CALLS

const begin = process.hrtime.bigint()
const result = FIRST_CALLS[process.argv[2] as FirstCall]()
const seconds = Number(process.hrtime.bigint() - begin) / 1e9
console.log(JSON.stringify({ seconds, result: [...result] }))
