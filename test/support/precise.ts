// Measures results against an evaluation of our own in high precision: a small C program on MPFR (130 bits), built on first use.
// Invariant: the error is in units in the last place of the correctly rounded result, exact also where results are subnormal.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FloatType } from '../../src/ir/types.ts'

const SOURCE = String.raw`
#include <math.h>
#include <mpfr.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef int (*unary)(mpfr_t, const mpfr_t, mpfr_rnd_t);
typedef int (*binary)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);
static int lngamma_size(mpfr_t r, const mpfr_t x, mpfr_rnd_t m) { int sign; return mpfr_lgamma(r, &sign, x, m); }
static int remainder_truncated(mpfr_t r, const mpfr_t x, const mpfr_t y, mpfr_rnd_t m) { return mpfr_fmod(r, x, y, m); }
static const struct { const char *name; unary f; } unaries[] = {
  {"exp", mpfr_exp}, {"exp2", mpfr_exp2}, {"exp10", mpfr_exp10}, {"expm1", mpfr_expm1}, {"log", mpfr_log}, {"log2", mpfr_log2},
  {"log10", mpfr_log10}, {"log1p", mpfr_log1p}, {"rsqrt", mpfr_rec_sqrt}, {"cbrt", mpfr_cbrt}, {"sqrt", mpfr_sqrt},
  {"sin", mpfr_sin}, {"cos", mpfr_cos}, {"tan", mpfr_tan}, {"asin", mpfr_asin}, {"acos", mpfr_acos}, {"atan", mpfr_atan},
  {"sinh", mpfr_sinh}, {"cosh", mpfr_cosh}, {"tanh", mpfr_tanh}, {"asinh", mpfr_asinh}, {"acosh", mpfr_acosh},
  {"atanh", mpfr_atanh}, {"erf", mpfr_erf}, {"erfc", mpfr_erfc}, {"lgamma", lngamma_size}, {"gamma", mpfr_gamma}};
static const struct { const char *name; binary f; } binaries[] = {
  {"pow", mpfr_pow}, {"atan2", mpfr_atan2}, {"hypot", mpfr_hypot}, {"fmod", remainder_truncated}, {"remainder", mpfr_remainder}};
#define COUNT(table) (sizeof(table) / sizeof(table[0]))

/* Exponent of the unit in the last place of the correctly rounded result. */
static int unit(double rounded, int precision, int lowest) {
  int e = lowest;
  if (rounded != 0) { frexp(rounded, &e); e -= precision; }
  return e < lowest ? lowest : e;
}

int main(int count, char **arguments) {
  (void)count;
  int narrow = !strcmp(arguments[2], "f32");
  unary f1 = 0; binary f2 = 0;
  for (size_t i = 0; i < COUNT(unaries); i++) if (!strcmp(unaries[i].name, arguments[1])) f1 = unaries[i].f;
  for (size_t i = 0; i < COUNT(binaries); i++) if (!strcmp(binaries[i].name, arguments[1])) f2 = binaries[i].f;
  if (!f1 && !f2) return 2;
  mpfr_t x, y, r, g; mpfr_inits2(130, x, y, r, g, (mpfr_ptr)0);
  double row[3], worst = 0; long index = 0, at = 0;
  while (fread(row, sizeof row, 1, stdin) == 1) {
    mpfr_set_d(x, row[0], MPFR_RNDN); mpfr_set_d(y, row[1], MPFR_RNDN);
    if (f1) f1(r, x, MPFR_RNDN); else f2(r, x, y, MPFR_RNDN);
    double want = narrow ? (double)mpfr_get_flt(r, MPFR_RNDN) : mpfr_get_d(r, MPFR_RNDN), got = row[2], error;
    if (isnan(want) || isnan(got)) error = isnan(want) && isnan(got) ? 0 : 1e9;
    else if (isinf(want) || isinf(got)) error = want == got ? 0 : 1e9;
    else if (signbit(want) != signbit(got)) error = 1e9;
    else {
      mpfr_set_d(g, got, MPFR_RNDN); mpfr_sub(g, g, r, MPFR_RNDN);
      mpfr_mul_2si(g, g, narrow ? -unit(want, 24, -149) : -unit(want, 53, -1074), MPFR_RNDN);
      error = fabs(mpfr_get_d(g, MPFR_RNDN));
    }
    if (error > worst) { worst = error; at = index; }
    index++;
  }
  printf("%.6f %ld\n", worst, at);
  return 0;
}
`

export interface Measurement {
  /** Largest error in units in the last place; 10⁹ for a wrong NaN, infinity or sign. */
  readonly worst: number
  /** Where it was found. */
  readonly at: number
}

export type Measure = (
  name: string,
  type: FloatType,
  x: ArrayLike<number>,
  y: ArrayLike<number> | undefined,
  got: ArrayLike<number>,
) => Measurement

export type Precise = { readonly measure: Measure } | { readonly missing: string }

let found: Precise | undefined

/** The evaluator, or why there is none on this machine. */
export function precise(): Precise {
  found ??= build()
  return found
}

function build(): Precise {
  const folder = mkdtempSync(join(tmpdir(), 'harrier-precise-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const program = join(folder, 'measure')
  const compilers = ['cc', 'clang', 'clang-19', 'gcc']
  const built = compilers.some(
    (compiler) =>
      spawnSync(compiler, ['-O2', '-x', 'c', '-', '-o', program, '-lmpfr', '-lgmp', '-lm'], { input: SOURCE })
        .status === 0,
  )
  if (!built) return { missing: 'no C compiler with MPFR here (Debian: apt-get install libmpfr-dev)' }
  return {
    measure(name, type, x, y, got) {
      const rows = new Float64Array(3 * got.length)
      for (let i = 0; i < got.length; i++) {
        rows[3 * i] = x[i]!
        rows[3 * i + 1] = y ? y[i]! : 0
        rows[3 * i + 2] = got[i]!
      }
      const { status, stdout, stderr } = spawnSync(program, [name, type], {
        input: new Uint8Array(rows.buffer),
        maxBuffer: 1 << 20,
      })
      if (status !== 0) throw new Error(`the evaluator does not know ${name}: ${String(stderr)}`)
      const [worst, at] = String(stdout).trim().split(' ').map(Number)
      return { worst: worst!, at: at! }
    },
  }
}
