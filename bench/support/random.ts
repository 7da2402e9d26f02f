// Reproducible inputs: a 64-bit linear congruential generator whose upper bits are used (Knuth's MMIX constants).

export interface Random {
  /** Uniform in [low, high). */
  uniform(low: number, high: number): number
}

export function createRandom(seed: number): Random {
  let state = BigInt(seed)
  const next = (): number => {
    state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n)
    return Number(state >> 11n) / 2 ** 53
  }
  return { uniform: (low, high) => low + (high - low) * next() }
}
