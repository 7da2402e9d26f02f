// CUDA callbacks on a device that only records: the order of the device's calls around a kernel, and what follows a failure.
import { describe, expect, test } from 'vitest'
import {
  type BackendOperandSpec,
  ContextBuilder,
  type DeviceArray,
  type DeviceRuntime,
} from '../../src/operations/index.ts'
import { type RecordingDevice, recordingDevice } from './support/recording-device.ts'
import { refusal, thrownBy, unary, unaryKernel, untyped } from './support/specs.ts'

const onDevice = (device: number, ptr = 0x7000n): DeviceArray => ({
  location: 'cuda',
  device,
  ptr,
  dtype: 'float32',
  shape: [4],
})
const arrays = (device = 0) => ({ input0: onDevice(device), output0: onDevice(device, 0x8000n) })

function contextOn(
  device: DeviceRuntime,
  callback: (invocation: { cudaDevice: number | null; stream: bigint | null }) => unknown,
  operands: readonly BackendOperandSpec[] = unaryKernel({ location: 'cuda' }),
) {
  const builder = new ContextBuilder({ device })
  builder
    .extension('acme')
    .registerOperation({ name: 'acme.f', operands: unary })
    .registerKernel({ operation: 'acme.f', backend: 'cuda', operands, callback: untyped(callback), label: 'k' })
  return builder.build()
}

/** A context whose callback writes down what it was given, in the device's own log. */
function recordingContext(device: RecordingDevice) {
  return contextOn(device, ({ cudaDevice, stream }) =>
    device.log.push(`kernel on ${cudaDevice}, stream 0x${stream?.toString(16)}`),
  )
}

describe('the order of calls', () => {
  test('device, stream, kernel, wait, return; the stream is made once for each device and destroyed at close', () => {
    const device = recordingDevice()
    const context = recordingContext(device)
    const bindings = arrays()
    expect(context.execute('acme.f', bindings)).toBe(bindings.output0)
    device.log.push('returned')
    context.execute('acme.f', arrays(0))
    context.execute('acme.f', arrays(1))
    context.close()
    expect(device.log).toEqual([
      'device 0',
      'create stream on 0',
      'kernel on 0, stream 0x1000',
      'wait 0x1000',
      'returned',
      'device 0',
      'kernel on 0, stream 0x1000',
      'wait 0x1000',
      'device 1',
      'create stream on 1',
      'kernel on 1, stream 0x2000',
      'wait 0x2000',
      'device 0',
      'destroy 0x1000',
      'device 1',
      'destroy 0x2000',
    ])
  })

  test("a caller's stream is used, waited for, and not destroyed", () => {
    const device = recordingDevice()
    const context = recordingContext(device)
    context.execute('acme.f', arrays(), { stream: 0xabcn })
    context.close()
    expect(device.log).toEqual(['device 0', 'kernel on 0, stream 0xabc', 'wait 0xabc'])
  })

  test('after a callback that threw, the stream is waited for before the exception reaches the caller', () => {
    const device = recordingDevice()
    const mistake = new Error('mine')
    const context = contextOn(device, () => {
      throw mistake
    })
    expect(thrownBy(() => context.execute('acme.f', arrays()))).toBe(mistake)
    expect(device.log).toEqual(['device 0', 'create stream on 0', 'wait 0x1000'])
  })

  test('also after a callback that returned a promise', () => {
    const device = recordingDevice()
    const context = contextOn(device, async () => {})
    expect(refusal(() => context.execute('acme.f', arrays())).code).toBe('E_ASYNC_CALLBACK')
    expect(device.log.at(-1)).toBe('wait 0x1000')
  })

  test('a kernel whose operands are on the host runs on the first device, and only when it is asked for', () => {
    const device = recordingDevice()
    const context = contextOn(device, () => {}, unaryKernel())
    const bindings = { input0: new Float32Array(1), output0: new Float32Array(1) }
    expect(refusal(() => context.execute('acme.f', bindings)).code).toBe('E_NO_KERNEL')
    context.execute('acme.f', bindings, { backend: 'cuda' })
    expect(device.log).toEqual(['device 0', 'create stream on 0', 'wait 0x1000'])
  })
})

describe('failures of the device', () => {
  test('a failing wait is E_CUDA, and the device is not used again, but others are', () => {
    const device = recordingDevice()
    const context = recordingContext(device)
    device.fails = { call: 'wait', text: 'an illegal memory access was encountered' }
    const fault = "acme.f: waiting for device 0 for kernel 'k' failed: an illegal memory access was encountered"
    expect(refusal(() => context.execute('acme.f', arrays()))).toEqual({
      type: 'CallbackError',
      code: 'E_CUDA',
      message: fault,
    })

    device.fails = null
    device.log.length = 0
    expect(refusal(() => context.execute('acme.f', arrays()))).toEqual({
      type: 'DispatchError',
      code: 'E_BACKEND_UNAVAILABLE',
      message: `acme.f: kernel 'k' needs the backend cuda: device 0 cannot be used any more in this process (${fault})`,
    })
    context.execute('acme.f', arrays(1))
    context.close()
    // Nothing was asked of the lost device, not even to destroy its stream.
    expect(device.log).toEqual([
      'device 1',
      'create stream on 1',
      'kernel on 1, stream 0x2000',
      'wait 0x2000',
      'device 1',
      'destroy 0x2000',
    ])
  })

  test('a callback that threw before a failing wait is what the caller sees; the device is lost all the same', () => {
    const device = recordingDevice()
    const mistake = new Error('mine')
    const context = contextOn(device, () => {
      throw mistake
    })
    device.fails = { call: 'wait', text: 'launch failure' }
    expect(thrownBy(() => context.execute('acme.f', arrays()))).toBe(mistake)
    expect(refusal(() => context.execute('acme.f', arrays())).message).toBe(
      "acme.f: kernel 'k' needs the backend cuda: device 0 cannot be used any more in this process " +
        "(acme.f: waiting for device 0 for kernel 'k' failed: launch failure)",
    )
  })

  test.each(['device 0', 'create stream'])(
    'a failing "%s" is E_CUDA before the kernel runs, and may be tried again',
    (call) => {
      const device = recordingDevice()
      const context = recordingContext(device)
      device.fails = { call, text: 'out of memory' }
      expect(refusal(() => context.execute('acme.f', arrays()))).toEqual({
        type: 'CallbackError',
        code: 'E_CUDA',
        message: "acme.f: preparing device 0 for kernel 'k' failed: out of memory",
      })
      device.fails = null
      context.execute('acme.f', arrays())
      expect(device.log.at(-1)).toBe('wait 0x1000')
    },
  )

  test('a device that does not exist', () => {
    const context = recordingContext(recordingDevice(2))
    expect(refusal(() => context.execute('acme.f', arrays(2)))).toEqual({
      type: 'DispatchError',
      code: 'E_BACKEND_UNAVAILABLE',
      message: "acme.f: kernel 'k' needs the backend cuda: there is no device 2; the driver has 2, counted from 0",
    })
  })
})

describe('without a usable device', () => {
  const context = contextOn(
    { ...recordingDevice(), unavailable: 'there is no driver', deviceCount: 0, driverVersion: 0 },
    () => {},
  )

  test('a CUDA kernel is registered and described as unavailable, with the reason', () => {
    expect(context.describe('acme.f').implementations).toMatchObject([
      { label: 'k', backend: 'cuda', available: false, reason: 'there is no driver' },
    ])
  })

  test('E_BACKEND_UNAVAILABLE when it is called, after the kernel was found', () => {
    expect(refusal(() => context.execute('acme.f', arrays()))).toEqual({
      type: 'DispatchError',
      code: 'E_BACKEND_UNAVAILABLE',
      message: "acme.f: kernel 'k' needs the backend cuda: there is no driver",
    })
    const other = { ...arrays(), input0: { ...onDevice(0), dtype: 'int8' as const } }
    expect(refusal(() => context.execute('acme.f', other)).code).toBe('E_NO_KERNEL')
  })
})
