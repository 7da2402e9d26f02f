// Fixed-point arithmetic on BigInt, 512 bits after the point: the precision in which targets are evaluated and fits are solved.
// A value is the bigint v with meaning v / 2^512. Absolute error of every function below is far under 2^-400.

export const FRACTION = 512n
export const ONE = 1n << FRACTION

export type Fixed = bigint

export const mul = (a: Fixed, b: Fixed): Fixed => (a * b) >> FRACTION
export const div = (a: Fixed, b: Fixed): Fixed => (a << FRACTION) / b
export const abs = (a: Fixed): Fixed => (a < 0n ? -a : a)
export const whole = (n: number): Fixed => BigInt(n) << FRACTION
export const ratio = (a: number, b: number): Fixed => whole(a) / BigInt(b)

const words = new DataView(new ArrayBuffer(8))

/** A finite double, exactly (its last bit must be above 2^-512). */
export function fromNumber(x: number): Fixed {
  words.setFloat64(0, x)
  const bits = words.getBigUint64(0)
  const biased = (bits >> 52n) & 0x7ffn
  const magnitude = (bits & 0xfffffffffffffn) | (biased === 0n ? 0n : 1n << 52n)
  const shift = (biased === 0n ? 1n : biased) - 1075n + FRACTION
  const value = shift >= 0n ? magnitude << shift : magnitude >> -shift
  return bits >> 63n ? -value : value
}

export const bitLength = (a: bigint): number => (a < 0n ? -a : a).toString(2).length

/** Rounded to nearest with `bits` significant bits, still as a fixed-point value. */
export function roundBits(a: Fixed, bits: number): Fixed {
  const excess = bitLength(a) - bits
  if (excess <= 0) return a
  const shift = BigInt(excess)
  const magnitude = a < 0n ? -a : a
  const rounded = ((magnitude + (1n << (shift - 1n))) >> shift) << shift
  return a < 0n ? -rounded : rounded
}

/** Nearest double. */
export function toNumber(a: Fixed): number {
  if (a === 0n) return 0
  const rounded = roundBits(a, 53)
  const excess = Math.max(bitLength(rounded) - 53, 0)
  return Number(rounded >> BigInt(excess)) * 2 ** (excess - 500) * 2 ** (500 - Number(FRACTION))
}

/** Binary logarithm of a magnitude, to a few digits: for reports. */
export const log2Of = (a: Fixed): number => {
  if (a === 0n) return -Infinity
  const length = bitLength(a)
  const top = Number(length > 60 ? abs(a) >> BigInt(length - 60) : abs(a))
  return Math.log2(top) + Math.max(length - 60, 0) - Number(FRACTION)
}

export function sqrt(a: Fixed): Fixed {
  if (a <= 0n) return 0n
  const target = a << FRACTION
  let guess = 1n << BigInt((bitLength(target) + 1) >> 1)
  for (;;) {
    const next = (guess + target / guess) >> 1n
    if (next >= guess) return guess
    guess = next
  }
}

/** Inverse hyperbolic tangent of 1/n. */
function atanhInverse(n: number): Fixed {
  const square = BigInt(n * n)
  let power = ONE / BigInt(n)
  let sum = 0n
  for (let k = 1n; power !== 0n; k += 2n) {
    sum += power / k
    power /= square
  }
  return sum
}

function atanInverse(n: number): Fixed {
  const square = BigInt(n * n)
  let power = ONE / BigInt(n)
  let sum = 0n
  for (let k = 1n; power !== 0n; k += 2n) {
    sum += k & 2n ? -(power / k) : power / k
    power /= square
  }
  return sum
}

/** Machin: π/4 = 4 atan(1/5) − atan(1/239). */
export const PI: Fixed = 4n * (4n * atanInverse(5) - atanInverse(239))
/** log 2 = 18 atanh(1/26) − 2 atanh(1/4801) + 8 atanh(1/8749). */
export const LN2: Fixed = 18n * atanhInverse(26) - 2n * atanhInverse(4801) + 8n * atanhInverse(8749)

export function exp(x: Fixed): Fixed {
  // e^x = 2^n · (e^(r/2^40))^(2^40); the guard bits of the squarings come from a wider fraction.
  const n = x / LN2
  const guard = 64n
  const one = ONE << guard
  let r = ((x - n * LN2) << guard) >> 8n
  let term = one
  let sum = one
  for (let k = 1n; term !== 0n; k++) {
    term = (term * r) / (one * k)
    sum += term
    if (term === -1n) break
  }
  for (let i = 0; i < 8; i++) sum = (sum * sum) / one
  const value = n >= 0n ? sum << n : sum >> -n
  r = value >> guard
  return r
}

export function log(x: Fixed): Fixed {
  const shift = BigInt(bitLength(x)) - FRACTION - 1n
  const m = shift >= 0n ? x >> shift : x << -shift
  // m in [1, 2): log m = 2 atanh((m − 1)/(m + 1)), after two square roots to speed the series up.
  const root = sqrt(sqrt(m))
  const s = div(root - ONE, root + ONE)
  const square = mul(s, s)
  let power = s
  let sum = 0n
  for (let k = 1n; power !== 0n && power !== -1n; k += 2n) {
    sum += power / k
    power = mul(power, square)
  }
  return 8n * sum + shift * LN2
}

/** Sine and cosine by their series; |x| up to a few units. */
export function sin(x: Fixed): Fixed {
  const square = mul(x, x)
  let term = x
  let sum = x
  for (let k = 2n; term !== 0n && term !== -1n; k += 2n) {
    term = -mul(term, square) / (k * (k + 1n))
    sum += term
  }
  return sum
}

export function cos(x: Fixed): Fixed {
  const square = mul(x, x)
  let term = ONE
  let sum = ONE
  for (let k = 1n; term !== 0n && term !== -1n; k += 2n) {
    term = -mul(term, square) / (k * (k + 1n))
    sum += term
  }
  return sum
}

export function atan(x: Fixed): Fixed {
  if (x < 0n) return -atan(-x)
  if (x > ONE) return PI / 2n - atan(div(ONE, x))
  // Three halvings of the angle: atan x = 2 atan(x/(1 + √(1 + x²))).
  let t = x
  for (let i = 0; i < 3; i++) t = div(t, ONE + sqrt(ONE + mul(t, t)))
  const square = mul(t, t)
  let power = t
  let sum = 0n
  for (let k = 1n; power !== 0n && power !== -1n; k += 2n) {
    sum += k & 2n ? -(power / k) : power / k
    power = mul(power, square)
  }
  return sum * 8n
}

export const asin = (x: Fixed): Fixed => atan(div(x, sqrt(ONE - mul(x, x))))

const TWO_OVER_SQRT_PI: Fixed = div(whole(2), sqrt(PI))

/** Error function by its Taylor series in e^(−x²)·x·Σ (2x²)^k/(1·3·5…): all terms positive. */
export function erf(x: Fixed): Fixed {
  const square2 = 2n * mul(x, x)
  let term = x
  let sum = x
  for (let k = 3n; term !== 0n && term !== -1n; k += 2n) {
    term = mul(term, square2) / k
    sum += term
  }
  return mul(mul(sum, exp(-mul(x, x))), TWO_OVER_SQRT_PI)
}

/** Scaled complement e^(x²)·erfc(x) for x ≥ 1, by the continued fraction of Laplace evaluated from the far end. */
export function erfcx(x: Fixed): Fixed {
  const doubled = 2n * x
  // K_n with partial numerators 2k: error falls like exp(−2x√(2n)).
  const depth = Math.ceil(6000 / Math.max(toNumber(mul(x, x)), 0.25)) + 60
  let tail = doubled
  for (let k = depth; k >= 1; k--) tail = doubled + div(whole(2 * k), tail)
  return div(TWO_OVER_SQRT_PI, tail)
}

/** Bernoulli numbers B_2, B_4, … as numerator and denominator. */
function bernoulli(count: number): [bigint, bigint][] {
  // Akiyama–Tanigawa on exact rationals.
  const gcd = (a: bigint, b: bigint): bigint => (b === 0n ? (a < 0n ? -a : a) : gcd(b, a % b))
  const row: [bigint, bigint][] = []
  const found: [bigint, bigint][] = []
  for (let m = 0; m <= 2 * count; m++) {
    row[m] = [1n, BigInt(m + 1)]
    for (let j = m; j >= 1; j--) {
      const [a, b] = row[j - 1]!
      const [c, d] = row[j]!
      const numerator = (a * d - c * b) * BigInt(j)
      const denominator = b * d
      const common = gcd(numerator, denominator)
      row[j - 1] = [numerator / common, denominator / common]
    }
    if (m > 0 && m % 2 === 0) found.push(row[0]!)
  }
  return found
}

const BERNOULLI = bernoulli(45)

/** log Γ(x) for x > 0 by Stirling's series at x + 60. */
export function logGamma(x: Fixed): Fixed {
  let product = ONE
  let shifted = x
  let shiftLog = 0n
  for (let i = 0; i < 60; i++) {
    product = mul(product, shifted)
    shifted += ONE
    if (i % 10 === 9) {
      shiftLog += log(product)
      product = ONE
    }
  }
  let sum = mul(shifted - ONE / 2n, log(shifted)) - shifted + log(2n * PI) / 2n
  const inverse = div(ONE, shifted)
  const inverseSquare = mul(inverse, inverse)
  let power = inverse
  BERNOULLI.forEach(([numerator, denominator], index) => {
    const n = BigInt(index + 1)
    sum += (power * numerator) / (denominator * 2n * n * (2n * n - 1n))
    power = mul(power, inverseSquare)
  })
  return sum - shiftLog
}
