// Decides from measured runs whether a call is worth several threads.
// Invariant: no clock is read once the cost of a sample is known at the size at hand, as reading it twice costs as much as a small call.

export interface ThreadRule {
  /** Threads for a call over `samples` samples, of the `available` ones: all, or 1. */
  choose(samples: number, available: number): number
  /** Whether a sequential run of this size should be timed. */
  wantsTiming(samples: number): boolean
  /** Takes the time of a sequential run. */
  record(samples: number, milliseconds: number): void
}

/** Waking the threads takes some 25 µs; below this sequential time it may not pay. */
const WORTH_THREADS = 0.2

/** The first run of a kernel also pays for cold caches and fresh pages, so the least of several counts. */
const RUNS = 3

/** A run as long as this says enough alone: no warm run would be below the threshold. */
const CERTAIN = 4

/** How many times more samples than were ever timed a call may have to be judged by those timings. */
const REACH = 8

export function createThreadRule(): ThreadRule {
  let millisecondsPerSample = Infinity
  let runs = 0
  let largest = 0
  const isKnown = (samples: number) =>
    samples <= REACH * largest && (runs >= RUNS || millisecondsPerSample * largest > CERTAIN)
  return {
    choose: (samples, available) =>
      available > 1 && isKnown(samples) && millisecondsPerSample * samples > WORTH_THREADS ? available : 1,
    wantsTiming: (samples) => samples > 0 && !isKnown(samples),
    record(samples, milliseconds) {
      if (samples > REACH * largest) {
        runs = 0
        millisecondsPerSample = Infinity
      }
      runs++
      largest = Math.max(largest, samples)
      millisecondsPerSample = Math.min(millisecondsPerSample, milliseconds / samples)
    },
  }
}
