// The CUDA driver as a device: which of its functions are called, in which order, and how its errors are told. The driver is a
// stand-in compiled here; without any driver, the reason says so.
import { afterEach, expect, test } from 'vitest'
import { nativeFunction, openLibrary, readCString } from '../../src/runtime/ffi.ts'
import { ContextBuilder } from '../../src/operations/index.ts'
import { compileLibrary } from './support/compiler.ts'
import { refusal, unary, unaryKernel } from './support/specs.ts'

const STAND_IN = `
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define API __attribute__((visibility("default"))) int
static char log_text[4096];
static int failing_wait;
#define LOG(...) snprintf(log_text + strlen(log_text), sizeof log_text - strlen(log_text), __VA_ARGS__)
API cuInit(unsigned flags) { LOG("init %u;", flags); return getenv("STAND_IN_BROKEN") ? 100 : 0; }
API cuDriverGetVersion(int *version) { *version = 13000; return 0; }
API cuDeviceGetCount(int *count) { *count = 2; return 0; }
API cuDeviceGet(int *device, int ordinal) { *device = 40 + ordinal; return 0; }
API cuDevicePrimaryCtxRetain(void **context, int device) { LOG("retain %d;", device); *context = (void *)(uintptr_t)(0x900 + device); return 0; }
API cuCtxSetCurrent(void *context) { LOG("current %x;", (unsigned)(uintptr_t)context); return 0; }
API cuStreamCreate(void **stream, unsigned flags) { LOG("create %u;", flags); *stream = (void *)0xabc000; return 0; }
API cuStreamSynchronize(void *stream) { LOG("wait %x;", (unsigned)(uintptr_t)stream); return failing_wait ? 700 : 0; }
API cuStreamDestroy_v2(void *stream) { LOG("destroy %x;", (unsigned)(uintptr_t)stream); return 0; }
API cuGetErrorName(int error, const char **name) { *name = error == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_NO_DEVICE"; return 0; }
API cuGetErrorString(int error, const char **text) { *text = error == 700 ? "an illegal memory access was encountered" : "no CUDA-capable device is detected"; return 0; }
__attribute__((visibility("default"))) char *stand_in_log(void) { return log_text; }
API stand_in_break(void) { failing_wait = 1; return 0; }
`

const before = process.env.HARRIER_CUDA_LIB
afterEach(() => {
  delete process.env.STAND_IN_BROKEN
  if (before === undefined) delete process.env.HARRIER_CUDA_LIB
  else process.env.HARRIER_CUDA_LIB = before
})

function cudaContext() {
  const builder = new ContextBuilder()
  const streams: (bigint | null)[] = []
  builder
    .extension('acme')
    .registerOperation({ name: 'acme.f', operands: unary })
    .registerKernel({
      operation: 'acme.f',
      backend: 'cuda',
      operands: unaryKernel({ location: 'cuda' }),
      callback: ({ stream }) => void streams.push(stream),
      label: 'k',
    })
  return { context: builder.build(), streams }
}

const array = (ptr: bigint) => ({ location: 'cuda', device: 1, ptr, dtype: 'float32', shape: [4] }) as const
const bindings = { input0: array(0x7000n), output0: array(0x8000n) }

test('contexts, streams and waits go through the driver, and its errors keep their name and text', () => {
  const library = compileLibrary(STAND_IN)
  process.env.HARRIER_CUDA_LIB = library
  const standIn = openLibrary(library)
  const log = () => readCString(nativeFunction(standIn.symbol('stand_in_log')!, 'address', [])())

  const { context, streams } = cudaContext()
  expect(log()).toBe('')
  expect(context.describe('acme.f').implementations).toMatchObject([{ available: true, reason: null }])
  expect(context.execute('acme.f', bindings)).toBe(bindings.output0)
  context.execute('acme.f', bindings)
  context.close()
  expect(log()).toBe(
    'init 0;retain 41;current 929;create 0;wait abc000;current 929;wait abc000;current 929;destroy abc000;',
  )
  expect(streams).toEqual([0xabc000n, 0xabc000n])

  nativeFunction(standIn.symbol('stand_in_break')!, 'i32', [])()
  expect(refusal(() => cudaContext().context.execute('acme.f', bindings))).toEqual({
    type: 'CallbackError',
    code: 'E_CUDA',
    message:
      "acme.f: waiting for device 1 for kernel 'k' failed: cuStreamSynchronize returned CUDA_ERROR_ILLEGAL_ADDRESS " +
      '(an illegal memory access was encountered)',
  })
})

test('a driver that finds no device, one that lacks a function, and none at all are reasons, not exceptions', () => {
  const reason = (library: string) => {
    process.env.HARRIER_CUDA_LIB = library
    const [implementation] = cudaContext().context.describe('acme.f').implementations
    expect(implementation?.available).toBe(false)
    return implementation?.reason
  }
  const library = compileLibrary(STAND_IN)
  process.env.STAND_IN_BROKEN = '1'
  expect(reason(library)).toBe(
    `the CUDA driver (${library}) cannot be used: cuInit returned CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected)`,
  )
  const partial = compileLibrary('__attribute__((visibility("default"))) int cuInit(unsigned f) { return (int)f; }\n')
  expect(reason(partial)).toBe(`the CUDA driver (${partial}) cannot be used: it has no function cuDriverGetVersion`)
  expect(reason('/nonexistent/libcuda.so.1')).toBe(
    'the CUDA driver (/nonexistent/libcuda.so.1) cannot be used: Failed to load shared library: ' +
      'cannot open shared object file: No such file or directory',
  )
})
