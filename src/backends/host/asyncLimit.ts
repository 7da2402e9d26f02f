// Keeps the number of native calls on other threads low: Node.js runs them on its pool of four, which files and name look-ups share,
// and the native-call library refuses the 257th.

const LIMIT = 3

let running = 0
const waiting: (() => void)[] = []

/** Runs a call as soon as fewer than the limit are under way; first come, first served. */
export async function whenFree(call: () => Promise<void>): Promise<void> {
  if (running === LIMIT) await new Promise<void>((proceed) => waiting.push(proceed))
  else running++
  try {
    await call()
  } finally {
    // The place passes on without being given up in between, so that no later call slips in.
    const next = waiting.shift()
    if (next === undefined) running--
    else next()
  }
}
