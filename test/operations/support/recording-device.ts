// A device that does nothing but write down what it is asked to do.
import type { DeviceRuntime } from '../../../src/operations/index.ts'

export interface RecordingDevice extends DeviceRuntime {
  /** What was asked, in order. */
  readonly log: string[]
  /** The call that fails from now on, with the text that it fails with. */
  fails: { readonly call: string; readonly text: string } | null
}

export function recordingDevice(deviceCount = 2): RecordingDevice {
  const log: string[] = []
  let streams = 0n
  const device: RecordingDevice = {
    log,
    fails: null,
    unavailable: null,
    deviceCount,
    driverVersion: 13000,
    makeCurrent: (number) => record(`device ${number}`),
    createStream(number) {
      record(`create stream on ${number}`)
      streams += 1n
      return 0x1000n * streams
    },
    synchronize: (stream) => record(`wait 0x${stream.toString(16)}`),
    destroyStream: (stream) => record(`destroy 0x${stream.toString(16)}`),
  }
  function record(call: string): void {
    log.push(call)
    if (device.fails !== null && call.startsWith(device.fails.call)) throw new Error(device.fails.text)
  }
  return device
}
