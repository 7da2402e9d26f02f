// Which arrays an asynchronous call takes: native code reaches them by address while the caller's JavaScript runs on.
import type { PlaneArray } from '../backends/backend.ts'
import { refuseCall, type BoundCall } from './bind.ts'

/** The memory of a buffer that shrinks goes away at once, also under native code. Shared buffers only grow. */
const isResizable = ({ buffer }: PlaneArray): boolean => 'resizable' in buffer && buffer.resizable === true

/** Refuses arrays whose memory the caller could take back, by their buffer's resize(), while another thread works on it. */
export function refuseResizable(kernel: string, { planes }: BoundCall): void {
  const problems = planes.flatMap(({ slot: { name }, array }) =>
    isResizable(array)
      ? [
          `${name} lies in a resizable ArrayBuffer, which may shrink while an asynchronous call works on it; pass an array over a buffer of fixed length, such as its slice(), or call without async`,
        ]
      : [],
  )
  if (problems.length > 0) refuseCall(kernel, problems)
}
