// The number of a sample and the number of samples, as the body sees them.
import { currentTrace } from './context.ts'
import { makeScalar } from './value.ts'
import type { Index } from './values.ts'

/** The number of this sample in the whole problem, whatever the partition or thread. */
export function sampleIndex(): Index {
  const trace = currentTrace('sampleIndex()')
  trace.usesSampleNumbers = true
  return makeScalar(trace, trace.builder.sampleIndex(), 'sampleIndex()') as unknown as Index
}

/** The number of samples in the whole problem, whatever the partition or thread. */
export function sampleCount(): Index {
  const trace = currentTrace('sampleCount()')
  trace.usesSampleNumbers = true
  return makeScalar(trace, trace.builder.sampleCount(), 'sampleCount()') as unknown as Index
}
