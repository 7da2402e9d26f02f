// Calls a traced kernel whose build cannot succeed, with an output of the caller's, and prints what became of both as JSON.
import { HarrierError, kernel, Param, Scalar } from '../../../src/index.ts'

const scale = kernel('scale', { x: Scalar, a: Param, b: Param }, ({ x, a, b }) => x.mul(a).add(b))
const mine = new Float64Array(4).fill(7)
try {
  scale({ x: Float64Array.of(0, 1, 2, 3), a: 2, b: 1, out: mine })
} catch (error) {
  if (!(error instanceof HarrierError)) throw error
  console.log(JSON.stringify({ code: error.code, names: error.message.includes("kernel 'scale'"), mine: [...mine] }))
}
