// The device side of a context: one stream for each device, made at first use, and the order of calls around a kernel: device,
// stream, kernel, wait. The wait happens also after a kernel that threw, because what it enqueued still uses the caller's arrays.
// A device on which a wait failed is not used again: such faults stay with the process.
import type { DeviceRuntime } from './device.ts'
import { CallbackError } from './errors.ts'

export interface DeviceCall {
  readonly operation: string
  readonly label: string
  readonly device: number
  /** The caller's stream; the context's own when absent. */
  readonly stream: bigint | undefined
}

export interface DeviceStreams {
  /** Why no kernel can run on this device, or on any when null; null when one can. */
  unavailable(device: number | null): string | null
  /** Runs a kernel on a stream and returns when the stream has finished. E_CUDA when the device fails; a kernel's own exception passes. */
  run(call: DeviceCall, kernel: (stream: bigint) => void): void
  /** Destroys the context's own streams. */
  close(): void
}

export function openDeviceStreams(runtime: DeviceRuntime): DeviceStreams {
  const streams = new Map<number, bigint>()
  const lost = new Map<number, string>()

  const ownStream = (device: number): bigint => {
    const stream = streams.get(device) ?? runtime.createStream(device)
    streams.set(device, stream)
    return stream
  }

  return {
    unavailable(device) {
      if (runtime.unavailable !== null) return runtime.unavailable
      if (device === null) return null
      if (device >= runtime.deviceCount)
        return `there is no device ${device}; the driver has ${runtime.deviceCount}, counted from 0`
      return lost.get(device) ?? null
    },

    run({ operation, label, device, stream: given }, kernel) {
      const failure = (step: string, cause: unknown): CallbackError => {
        const reason = cause instanceof Error ? cause.message : String(cause)
        return new CallbackError(
          'E_CUDA',
          `${operation}: ${step} device ${device} for kernel '${label}' failed: ${reason}`,
          {
            operation,
            label,
            cause,
          },
        )
      }
      const prepare = (): bigint => {
        try {
          runtime.makeCurrent(device)
          return given ?? ownStream(device)
        } catch (cause) {
          throw failure('preparing', cause)
        }
      }
      const wait = (stream: bigint): CallbackError | null => {
        try {
          runtime.synchronize(stream)
          return null
        } catch (cause) {
          const error = failure('waiting for', cause)
          lost.set(device, `device ${device} cannot be used any more in this process (${error.message})`)
          return error
        }
      }

      const stream = prepare()
      try {
        kernel(stream)
      } catch (thrown) {
        // What the kernel threw is what the caller needs to see; a device lost on top of it is reported at its next use.
        wait(stream)
        throw thrown
      }
      const fault = wait(stream)
      if (fault !== null) throw fault
    },

    close() {
      for (const [device, stream] of streams) {
        if (lost.has(device)) continue
        runtime.makeCurrent(device)
        runtime.destroyStream(stream)
      }
      streams.clear()
    },
  }
}
