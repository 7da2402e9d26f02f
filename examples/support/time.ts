// Times for what an example prints: how long one call takes once everything is built.

/** Shortest of several runs, in milliseconds. */
export function milliseconds(work: () => unknown, runs = 5): number {
  let best = Number.POSITIVE_INFINITY
  for (let repeat = 0; repeat < runs; repeat++) {
    const begin = performance.now()
    work()
    best = Math.min(best, performance.now() - begin)
  }
  return best
}
