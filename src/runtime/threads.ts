// How many threads a parallel call uses when the caller does not say.
import { availableParallelism } from 'node:os'
import { HarrierError } from '../errors.ts'

/**
 * HARRIER_THREADS, else the first number of OMP_NUM_THREADS (it may list one a nesting level), else the processors that this
 * process may use. A HARRIER_THREADS that is no whole number of at least 1 is refused with E_OPTION; such an OMP_NUM_THREADS is
 * ignored, as the OpenMP runtime itself does.
 */
export function defaultThreadCount(environment: NodeJS.ProcessEnv = process.env): number {
  const { HARRIER_THREADS: ours, OMP_NUM_THREADS: openmp } = environment
  if (ours !== undefined && ours !== '') {
    if (isThreadCount(ours)) return Number(ours)
    throw new HarrierError('E_OPTION', `HARRIER_THREADS is '${ours}'; it takes a whole number of at least 1`)
  }
  const first = openmp?.split(',', 1)[0]?.trim()
  return first !== undefined && isThreadCount(first) ? Number(first) : availableParallelism()
}

const isThreadCount = (text: string) => /^[1-9]\d{0,5}$/.test(text)
