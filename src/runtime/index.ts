// `harrier/runtime`: binding and running kernels that exist already.
export { run, planeLayout } from './run.ts'
export { runUntilDone, runUntilDoneAsync, type RunReport, type UntilDoneOptions } from './untilDone.ts'
export { NdArray, ndarray, type Nested } from './ndarray.ts'
export { interleaved, samplesFirst, samplesLast, type Interleaved, type Layout, type SamplesMark } from './markers.ts'
export { LayoutWarning } from './copy.ts'
export type { CallOptions } from './options.ts'
export type { Bound } from './session.ts'
