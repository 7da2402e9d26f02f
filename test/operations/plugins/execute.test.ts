// Compiled kernels and validators at work: what they are told of each array, how they fail, and what keeps the arrays alive.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { type Binding, ContextBuilder } from '../../../src/operations/index.ts'
import { addressOf } from '../../../src/runtime/ffi.ts'
import { compilePlugins } from '../support/plugins.ts'
import { recordingDevice } from '../support/recording-device.ts'
import { refusal, thrownBy, unary } from '../support/specs.ts'

const SHARED = `
#include <pthread.h>

/* Tells all that a call holds. */
static hr_status tell(const hr_invocation *call, void *user_data) {
  log_line("%s: struct %u, backend %u, operands %u, device %d, stream %p, next %d", (const char *)user_data, call->struct_size,
           call->backend, call->operand_count, call->cuda_device, call->stream, call->next != NULL);
  for (uint32_t i = 0; i < call->operand_count; i++) {
    const hr_tensor *t = hr_operand(call, i);
    char shape[128] = "";
    for (uint32_t axis = 0; axis < t->rank; axis++)
      snprintf(shape + strlen(shape), sizeof shape - strlen(shape), " %lld by %lld", (long long)t->shape[axis], (long long)t->strides[axis]);
    log_line("struct %u, role %x, kind %u, access %u, dtype %x in %x, location %u, layout %u, device %d, flags %u, rank %u,%s; "
             "%llu bytes at %llx; %lld elements", t->struct_size, t->role, t->kind, t->access, t->dtype, t->compute_dtype, t->location,
             t->layout, t->device, t->flags, t->rank, shape, (unsigned long long)t->byte_length, (unsigned long long)(uintptr_t)t->data,
             (long long)hr_element_count(t));
  }
  return HR_OK;
}

/* An operation plug.tell with one operand of each given kind and a last output vector, and a kernel for the given operands. */
static hr_status register_telling(const hr_host_api *host, hr_registrar *registrar, hr_plugin_info *info, hr_error *error, uint32_t count,
                                  const hr_backend_operand_spec *operands, uint32_t backend) {
  hr_operand_spec specs[4];
  hr_operation_desc operation = unary_operation("plug.tell");
  hr_kernel_desc kernel = unary_kernel("plug.tell");
  for (uint32_t i = 0; i < count; i++) {
    hr_operand_spec spec = {sizeof spec, operands[i].role, operands[i].kind, operands[i].access};
    specs[i] = spec;
  }
  operation.operands = specs; operation.operand_count = count; operation.validate = tell; operation.user_data = "validate";
  kernel.operands = operands; kernel.operand_count = count; kernel.backend = backend; kernel.execute = tell; kernel.user_data = "execute";
  kernel.label = hr_text("tell");
  hr_status status = host->register_operation(registrar, &operation, error);
  if (status == HR_OK) status = host->register_kernel(registrar, &kernel, error);
  return status == HR_OK ? introduce(info) : status;
}
#define OPERAND(role, kind, access, dtype, compute, location, layout, contiguity) \\
  {sizeof(hr_backend_operand_spec), role, kind, access, dtype, compute, location, layout, contiguity, 0}

static hr_status register_with(const hr_host_api *host, hr_registrar *registrar, hr_plugin_info *info, hr_error *error, hr_call validate,
                               hr_call execute) {
  hr_operation_desc operation = unary_operation("plug.f");
  hr_kernel_desc kernel = unary_kernel("plug.f");
  operation.validate = validate;
  kernel.execute = execute;
  kernel.label = hr_text("k");
  host->register_operation(registrar, &operation, error);
  host->register_kernel(registrar, &kernel, error);
  return introduce(info);
}

KERNEL(own_status) { (void)user_data; return hr_fail(call->error, 1042, "sensor 42 does not answer"); }
KERNEL(no_text) { (void)call; (void)user_data; return HR_CUDA; }
KERNEL(negative) { (void)call; (void)user_data; return -1; }
KERNEL(success_with_text) { (void)user_data; hr_fail(call->error, 5, "ignored"); return HR_OK; }

/* More text than there is room for, with a character of two bytes across the end. */
KERNEL(long_text) {
  (void)user_data;
  char text[3000];
  text[0] = 'x';
  for (int i = 1; i + 1 < (int)sizeof text; i += 2) memcpy(text + i, "\\xc3\\xa4", 2);
  text[sizeof text - 1] = '\\0';
  return hr_fail(call->error, HR_INTERNAL, text);
}

/* Claims more text than it wrote. */
KERNEL(absurd_length) { (void)user_data; hr_fail(call->error, 1, "short"); call->error->length = 0xffffffff; return 1; }

static void *fail_elsewhere(void *error) { hr_fail((hr_error *)error, 1007, "the worker ran dry"); return NULL; }
KERNEL(joined_thread) {
  pthread_t thread;
  (void)user_data;
  if (pthread_create(&thread, NULL, fail_elsewhere, call->error) != 0) return HR_INTERNAL;
  pthread_join(thread, NULL);
  return call->error->code;
}

/* Half of the work on another thread. */
struct half { const float *x; float *y; int64_t count; };
static void *double_half(void *work) {
  struct half *half = (struct half *)work;
  for (int64_t i = 0; i < half->count; i++) half->y[i] = 2 * half->x[i];
  return NULL;
}
KERNEL(two_threads) {
  const hr_tensor *x = hr_operand(call, 0), *y = hr_operand(call, 1);
  int64_t count = hr_element_count(x), middle = count / 2;
  struct half first = {(const float *)x->data, (float *)y->data, middle};
  struct half second = {(const float *)x->data + middle, (float *)y->data + middle, count - middle};
  pthread_t thread;
  (void)user_data;
  if (pthread_create(&thread, NULL, double_half, &second) != 0) return HR_INTERNAL;
  double_half(&first);
  pthread_join(thread, NULL);
  return HR_OK;
}

static hr_status same_lengths(const hr_invocation *call, void *user_data) {
  (void)user_data;
  if (hr_element_count(hr_operand(call, 0)) == hr_element_count(hr_operand(call, 1))) return HR_OK;
  return hr_fail(call->error, HR_INVALID_ARGUMENT, "the lengths differ");
}
static hr_status log_kernel(const hr_invocation *call, void *user_data) { log_line("kernel"); return double_f32(call, user_data); }

static const hr_host_api *kept_host;
static hr_registrar *kept_registrar;
KERNEL(register_late) {
  hr_operation_desc operation = unary_operation("plug.late");
  (void)user_data;
  return kept_host->register_operation(kept_registrar, &operation, call->error);
}
`

const simple = (validate: string, execute: string) =>
  `return register_with(host, registrar, info, error, ${validate}, ${execute});`

const plugins = compilePlugins(
  {
    'tells of host arrays': `
      static const hr_backend_operand_spec operands[] = {
        OPERAND(HR_ROLE_INPUT(0), HR_KIND_MATRIX, HR_ACCESS_READ, HR_DTYPE_FLOAT64, HR_DTYPE_FLOAT64, HR_LOCATION_HOST, HR_LAYOUT_STRIDED, HR_CONTIGUITY_ANY),
        OPERAND(HR_ROLE_INPUT(1), HR_KIND_SCALAR, HR_ACCESS_READ, HR_DTYPE_BFLOAT16, HR_DTYPE_FLOAT32, HR_LOCATION_HOST, HR_LAYOUT_ROW_MAJOR, HR_CONTIGUITY_CONTIGUOUS),
        OPERAND(HR_ROLE_OUTPUT(0), HR_KIND_TENSOR, HR_ACCESS_READ_WRITE, HR_DTYPE_COMPLEX64, HR_DTYPE_COMPLEX64, HR_LOCATION_HOST, HR_LAYOUT_COLUMN_MAJOR, HR_CONTIGUITY_ANY),
        OPERAND(HR_ROLE_OUTPUT(1), HR_KIND_VECTOR, HR_ACCESS_WRITE, HR_DTYPE_INT8, HR_DTYPE_INT8, HR_LOCATION_HOST, HR_LAYOUT_ROW_MAJOR, HR_CONTIGUITY_CONTIGUOUS)};
      return register_telling(host, registrar, info, error, 4, operands, HR_BACKEND_CPU_PARALLEL);`,
    'tells of device arrays': `
      static const hr_backend_operand_spec operands[] = {
        OPERAND(HR_ROLE_INPUT(0), HR_KIND_VECTOR, HR_ACCESS_READ, HR_DTYPE_FLOAT32, HR_DTYPE_FLOAT32, HR_LOCATION_CUDA_PINNED, HR_LAYOUT_ROW_MAJOR, HR_CONTIGUITY_CONTIGUOUS),
        OPERAND(HR_ROLE_OUTPUT(0), HR_KIND_VECTOR, HR_ACCESS_WRITE, HR_DTYPE_FLOAT32, HR_DTYPE_FLOAT32, HR_LOCATION_CUDA, HR_LAYOUT_ROW_MAJOR, HR_CONTIGUITY_CONTIGUOUS)};
      return register_telling(host, registrar, info, error, 2, operands, HR_BACKEND_CUDA);`,
    'fails with its own status': simple('NULL', 'own_status'),
    'fails on a device': `
      hr_operation_desc operation = unary_operation("plug.f");
      hr_kernel_desc kernel = unary_kernel("plug.f");
      hr_backend_operand_spec operands[2] = {UNARY_F32[0], UNARY_F32[1]};
      operands[0].location = operands[1].location = HR_LOCATION_CUDA;
      kernel.backend = HR_BACKEND_CUDA; kernel.operands = operands; kernel.execute = own_status;
      host->register_operation(registrar, &operation, error);
      host->register_kernel(registrar, &kernel, error);
      return introduce(info);`,
    'has a kernel for an operation of others': `
      hr_kernel_desc kernel = unary_kernel("test.f");
      host->register_kernel(registrar, &kernel, error);
      return introduce(info);`,
    'fails without a text': simple('NULL', 'no_text'),
    'fails with a negative status': simple('NULL', 'negative'),
    'succeeds and leaves a text': simple('NULL', 'success_with_text'),
    'fails with a long text': simple('NULL', 'long_text'),
    'claims an absurd length': simple('NULL', 'absurd_length'),
    'fails on a joined thread': simple('NULL', 'joined_thread'),
    'works on two threads': simple('NULL', 'two_threads'),
    validates: simple('same_lengths', 'log_kernel'),
    'registers too late': `kept_host = host; kept_registrar = registrar; ${simple('NULL', 'register_late')}`,
  },
  SHARED,
)

const contextOf = (name: string) => new ContextBuilder().loadPlugin(plugins.select(name)).build()
const f = () => ({ input0: new Float32Array([1, 2, 3]), output0: new Float32Array(3) })
const call = (name: string) => () => contextOf(name).execute('plug.f', f())
const hex = (array: Float32Array | Float64Array | Uint16Array | Int8Array) => addressOf(array).toString(16)

describe('what a compiled function is told', () => {
  test('of host arrays: addresses, shapes, strides and what was chosen, the validator before a kernel is chosen', () => {
    plugins.takeLog()
    const matrix = new Float64Array(64)
    const scalar = new Uint16Array(100)
    const tensor = new Float32Array(200)
    const bytes = new Int8Array(7)
    const context = contextOf('tells of host arrays')
    const outputs = context.execute(
      'plug.tell',
      {
        input0: { data: matrix, shape: [3, 4], strides: [-16, 2], offset: 33 },
        input1: { data: scalar, shape: [], dtype: 'bfloat16', offset: 99 },
        output0: { data: tensor, shape: [2, 3, 4], strides: [1, 2, 8], dtype: 'complex64' as const, offset: 5 },
        output1: bytes,
      },
      { computeDtypes: { input1: 'float32' } },
    )
    expect(outputs[1]).toBe(bytes)
    const first = hex(matrix.subarray(33))
    const arrays = [
      `struct 80, role 100, kind 3, access 1, dtype 4002 in 4002, location 1, layout 3, device -1, flags 0, rank 2, 3 by -16 4 by 2; 56 bytes at ${first}; 12 elements`,
      `struct 80, role 101, kind 1, access 1, dtype 1004 in 2002, location 1, layout 1, device -1, flags 1, rank 0,; 2 bytes at ${hex(scalar.subarray(99))}; 1 elements`,
      `struct 80, role 200, kind 4, access 3, dtype 4005 in 4005, location 1, layout 2, device -1, flags 0, rank 3, 2 by 1 3 by 2 4 by 8; 240 bytes at ${hex(tensor.subarray(10))}; 24 elements`,
      `struct 80, role 201, kind 2, access 2, dtype 800 in 800, location 1, layout 1, device -1, flags 1, rank 1, 7 by 1; 7 bytes at ${hex(bytes)}; 7 elements`,
    ]
    expect(plugins.takeLog()).toEqual([
      'validate: struct 48, backend 0, operands 4, device -1, stream (nil), next 0',
      ...arrays,
      'execute: struct 48, backend 3, operands 4, device -1, stream (nil), next 0',
      ...arrays,
    ])
  })

  test('of an array without elements', () => {
    plugins.takeLog()
    const context = contextOf('tells of host arrays')
    context.execute(
      'plug.tell',
      {
        input0: { data: new Float64Array(64), shape: [3, 4], strides: [-16, 2], offset: 33 },
        input1: { data: new Uint16Array(1), shape: [], dtype: 'bfloat16' },
        output0: { data: new Float32Array(0), shape: [0, 5], dtype: 'complex64' },
        output1: new Int8Array(0),
      },
      { computeDtypes: { input1: 'float32' } },
    )
    const log = plugins.takeLog()
    expect(log[8]).toMatch(/layout 2, device -1, flags 1, rank 2, 0 by 5 5 by 1; 0 bytes at 0; 0 elements$/)
    expect(log[9]).toMatch(/rank 1, 0 by 1; 0 bytes at 0; 0 elements$/)
  })

  test('of device arrays, on a device that records: device, stream, kernel, wait', () => {
    plugins.takeLog()
    const device = recordingDevice()
    const context = new ContextBuilder({ device }).loadPlugin(plugins.select('tells of device arrays')).build()
    const array = { device: 1, dtype: 'float32', shape: [6] } as const
    const output: Binding = { ...array, location: 'cuda', ptr: 0x8000n }
    expect(
      context.execute('plug.tell', { input0: { ...array, location: 'cuda-pinned', ptr: 0x7000n }, output0: output }),
    ).toBe(output)
    const arrays = [
      'struct 80, role 100, kind 2, access 1, dtype 2002 in 2002, location 3, layout 1, device 1, flags 1, rank 1, 6 by 1; 24 bytes at 7000; 6 elements',
      'struct 80, role 200, kind 2, access 2, dtype 2002 in 2002, location 2, layout 1, device 1, flags 1, rank 1, 6 by 1; 24 bytes at 8000; 6 elements',
    ]
    expect(plugins.takeLog()).toEqual([
      'validate: struct 48, backend 0, operands 2, device 1, stream (nil), next 0',
      ...arrays,
      'execute: struct 48, backend 16, operands 2, device 1, stream 0x1000, next 0',
      ...arrays,
    ])
    expect(device.log).toEqual(['device 1', 'create stream on 1', 'wait 0x1000'])
  })

  test('a CUDA kernel without a driver is registered, described with the reason, and refused when it is called', () => {
    const device = { ...recordingDevice(0), unavailable: 'there is no driver' }
    const context = new ContextBuilder({ device }).loadPlugin(plugins.select('tells of device arrays')).build()
    expect(context.describe('plug.tell').implementations).toMatchObject([
      {
        label: 'tell',
        backend: 'cuda',
        available: false,
        reason: 'there is no driver',
        origin: { kind: 'plugin', name: 'fixture' },
      },
    ])
    const array = { device: 0, dtype: 'float32', shape: [6] } as const
    const bindings: Record<'input0' | 'output0', Binding> = {
      input0: { ...array, location: 'cuda-pinned', ptr: 0x7000n },
      output0: { ...array, location: 'cuda', ptr: 0x8000n },
    }
    expect(refusal(() => context.execute('plug.tell', bindings))).toEqual({
      type: 'DispatchError',
      code: 'E_BACKEND_UNAVAILABLE',
      message: "plug.tell: kernel 'tell' needs the backend cuda: there is no driver",
    })
  })
})

describe('a kernel that fails', () => {
  test.each([
    ['fails with its own status', "1042 (the plug-in's own): sensor 42 does not answer"],
    ['fails without a text', '20 (cuda)'],
    ['fails with a negative status', '-1'],
    ['fails with a long text', `10 (internal): x${'ä'.repeat(511)}`],
    ['fails on a joined thread', "1007 (the plug-in's own): the worker ran dry"],
  ])('%s', (name, text) => {
    expect(refusal(call(name))).toEqual({
      type: 'CallbackError',
      code: 'E_KERNEL',
      message: `plug.f: kernel 'k' returned the status ${text}`,
    })
  })

  test('keeps its status and label on the error', () => {
    expect(thrownBy(call('fails with its own status'))).toMatchObject({ status: 1042, label: 'k', operation: 'plug.f' })
  })

  test('with an absurd length of text is read up to the end of the room', () => {
    const { message } = refusal(call('claims an absurd length'))
    expect(message.startsWith("plug.f: kernel 'k' returned the status 1 (invalid argument): short\0")).toBe(true)
    expect(message).toHaveLength("plug.f: kernel 'k' returned the status 1 (invalid argument): ".length + 1024)
  })

  test('does not spoil the next call, and a text beside success is ignored', () => {
    const bindings = f()
    expect(contextOf('succeeds and leaves a text').execute('plug.f', bindings)).toBe(bindings.output0)
  })

  test('on a device is waited for all the same', () => {
    const device = recordingDevice()
    const context = new ContextBuilder({ device }).loadPlugin(plugins.select('fails on a device')).build()
    const array = { location: 'cuda', device: 0, dtype: 'float32', shape: [6] } as const
    const bindings = { input0: { ...array, ptr: 0x7000n }, output0: { ...array, ptr: 0x8000n } }
    expect(refusal(() => context.execute('plug.f', bindings)).code).toBe('E_KERNEL')
    expect(device.log).toEqual(['device 0', 'create stream on 0', 'wait 0x1000'])
  })
})

test('a kernel may use threads of its own', () => {
  const count = 100_001
  const input0 = Float32Array.from({ length: count }, (_, index) => index)
  const output = contextOf('works on two threads').execute('plug.f', { input0, output0: new Float32Array(count) })
  expect(output.every((value, index) => value === 2 * index)).toBe(true)
})

test('a compiled validator stops the call before the kernel, and after validators nothing else is different', () => {
  plugins.takeLog()
  const context = contextOf('validates')
  expect(context.describe('plug.f').validators).toBe(1)
  expect(refusal(() => context.execute('plug.f', { ...f(), output0: new Float32Array(2) }))).toEqual({
    type: 'CallbackError',
    code: 'E_KERNEL',
    message: 'plug.f: the validator returned the status 1 (invalid argument): the lengths differ',
  })
  expect(plugins.takeLog()).toEqual([])
  expect(context.execute('plug.f', f())).toEqual(new Float32Array([2, 4, 6]))
  expect(plugins.takeLog()).toEqual(['kernel'])
})

test('a registration after the entry has returned is answered with a status', () => {
  expect(refusal(call('registers too late')).message).toBe(
    "plug.f: kernel 'k' returned the status 1 (invalid argument): a registration was made with a registrar that is not that of the " +
      'entry that is running',
  )
})

test('arrays that nobody else holds are alive until the kernel has returned', () => {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const builder = new ContextBuilder().loadPlugin(plugins.select('has a kernel for an operation of others'))
  // Validators run between taking the addresses and calling the kernel: what is not held by then is gone, and its memory used anew.
  const collectAndReuse = () => {
    collect()
    for (let count = 0; count < 20; count++) new Float32Array(1000).fill(-1)
  }
  builder.extension('test').registerOperation({ name: 'test.f', operands: unary, validators: [collectAndReuse] })
  const context = builder.build()
  let wrong = 0
  for (let round = 0; round < 50; round++) {
    const output = context.execute('test.f', {
      // Made when it is asked for, so that not even the bindings hold it.
      get input0() {
        return Float32Array.from({ length: 1000 }, (_, index) => index + round)
      },
      output0: new Float32Array(1000),
    })
    if (!output.every((value, index) => value === 2 * (index + round))) wrong += 1
  }
  expect(wrong).toBe(0)
})
