// The arms that every benchmark of a kernel has: harrier on the host with one thread and with all, and the embedded backend.
import { availableParallelism } from 'node:os'
import type { BackendName } from '../../src/backends/backend.ts'
import { timed, type Arm } from './harness.ts'

/** A bound call of a kernel: what the kernel arms time is the launch, over arrays that stay. */
interface Launchable {
  launch(): unknown
}

/** What a benchmark does under one set of options: binds its kernel and names the array that holds the answer. */
export type Prepare = (options: { readonly backend: BackendName; readonly threads?: number }) => {
  readonly bound: Launchable
  readonly answer: () => ArrayLike<number>
}

const arm = (name: string, prepare: Prepare, options: Parameters<Prepare>[0]): Arm => {
  const { seconds, result } = timed(() => {
    const prepared = prepare(options)
    prepared.bound.launch()
    return prepared
  })
  return { name, firstCall: seconds, run: () => void result.bound.launch(), answer: result.answer }
}

/** The kernel arms of a cell. */
export function kernelArms(prepare: Prepare): readonly Arm[] {
  const threads = availableParallelism()
  return [
    arm('harrier', prepare, { backend: 'host', threads: 1 }),
    ...(threads > 1 ? [arm(`harrier, ${threads} threads`, prepare, { backend: 'host', threads })] : []),
    arm('harrier wasm', prepare, { backend: 'wasm' }),
  ]
}
