// The device calls that a CUDA kernel needs from its host, behind one interface, so that their order can be tested without a device.
// Every call throws an Error that says what the device reported when it fails.

/** A CUDA runtime, or the reason why there is none. */
export interface DeviceRuntime {
  /** Why no CUDA kernel can run here; null when one can. */
  readonly unavailable: string | null
  /** How many devices there are. */
  readonly deviceCount: number
  /** The version of the CUDA interface that the driver speaks, as 1000 × major + 10 × minor; 0 without a driver. */
  readonly driverVersion: number
  /** Makes a device current on the calling thread. */
  makeCurrent(device: number): void
  /** A new stream on the device, usable as `cudaStream_t` and `CUstream`; the device is current. */
  createStream(device: number): bigint
  /** Waits until everything on the stream is finished. */
  synchronize(stream: bigint): void
  destroyStream(stream: bigint): void
}
