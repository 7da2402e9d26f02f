// When a plug-in gets back what it handed over, what two contexts of one plug-in share, and how calls are kept apart across threads.
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { describe, expect, test } from 'vitest'
import { ContextBuilder } from '../../../src/operations/index.ts'
import { nativeFunction, openLibrary } from '../../../src/runtime/ffi.ts'
import { SANITIZED } from '../support/compiler.ts'
import { compilePlugins } from '../support/plugins.ts'
import { recordingDevice } from '../support/recording-device.ts'
import { refusal, thrownBy, unary } from '../support/specs.ts'

const SHARED = `
#include <stdatomic.h>
#include <time.h>

/* Registers an operation and a kernel under one name, with data to be released. */
static hr_status register_named(const hr_host_api *host, hr_registrar *registrar, hr_plugin_info *info, hr_error *error, const char *name,
                                char *kernel_data, char *operation_data, char *state) {
  hr_operation_desc operation = unary_operation(name);
  hr_kernel_desc kernel = unary_kernel(name);
  operation.user_data = operation_data; operation.release = log_release;
  kernel.user_data = kernel_data; kernel.release = log_release;
  introduce(info);
  info->shutdown = log_shutdown; info->plugin_state = state;
  hr_status status = host->register_operation(registrar, &operation, error);
  if (status == HR_OK) status = host->register_kernel(registrar, &kernel, error);
  return status;
}

/* Doubles, and watches how many calls are inside at once. */
static atomic_int inside, most;
static hr_status watched(const hr_invocation *call, void *user_data) {
  int now = atomic_fetch_add(&inside, 1) + 1;
  int before = atomic_load(&most);
  while (now > before && !atomic_compare_exchange_weak(&most, &before, now)) {}
  struct timespec wait = {0, 1000000};
  nanosleep(&wait, NULL);
  hr_status status = double_f32(call, user_data);
  atomic_fetch_sub(&inside, 1);
  return status;
}
HR_EXPORT int most_inside(void);
HR_EXPORT int most_inside(void) { return atomic_exchange(&most, 0); }

static hr_status endless(const hr_invocation *call, void *user_data) {
  struct timespec wait = {0, 300000000};
  (void)call; (void)user_data;
  nanosleep(&wait, NULL);
  return HR_OK;
}

static hr_status register_watched(const hr_host_api *host, hr_registrar *registrar, hr_plugin_info *info, hr_error *error, uint32_t flags,
                                  hr_call execute) {
  hr_operation_desc operation = unary_operation("plug.watched");
  hr_kernel_desc kernel = unary_kernel("plug.watched");
  kernel.flags = flags;
  kernel.execute = execute;
  host->register_operation(registrar, &operation, error);
  hr_status status = host->register_kernel(registrar, &kernel, error);
  if (status != HR_OK) log_line("%d %.*s", status, (int)error->length, error->message);
  return introduce(info);
}
`

const named = (name: string, kernel: string, operation: string, state: string) =>
  `return register_named(host, registrar, info, error, "${name}", ${kernel}, ${operation}, ${state});`

const plugins = compilePlugins(
  {
    first: named('plug.first', '"kernel 1"', '"operation 1"', '"state 1"'),
    second: named('plug.second', '"kernel 2"', '"operation 2"', '"state 2"'),
    'with null data': named('plug.null', 'NULL', 'NULL', 'NULL'),
    counted: `
      static int entries; static char names[8][16];
      snprintf(names[entries], sizeof names[0], "entry %d", entries + 1);
      char *name = names[entries++];
      return register_named(host, registrar, info, error, "plug.counted", name, name, name);`,
    'kept apart': 'return register_watched(host, registrar, info, error, HR_KERNEL_SERIALISE, watched);',
    'side by side': 'return register_watched(host, registrar, info, error, 0, watched);',
    'slow and kept apart': 'return register_watched(host, registrar, info, error, HR_KERNEL_SERIALISE, endless);',
  },
  SHARED,
  // For nanosleep.
  { flags: ['-D_POSIX_C_SOURCE=199309L'] },
)

const f = () => ({ input0: new Float32Array([1, 2, 3]), output0: new Float32Array(3) })
describe('closing', () => {
  test('a context gives back kernels, then operations, then shuts down, the last plug-in first, and once', () => {
    plugins.takeLog()
    const builder = new ContextBuilder().loadPlugin(plugins.select('first')).loadPlugin(plugins.select('second'))
    const context = builder.build()
    context.execute('plug.first', f())
    builder.close()
    expect(plugins.takeLog()).toEqual([])
    context.close()
    expect(plugins.takeLog()).toEqual([
      'release kernel 2',
      'release operation 2',
      'shutdown state 2',
      'release kernel 1',
      'release operation 1',
      'shutdown state 1',
    ])
    context.close()
    context[Symbol.dispose]()
    expect(plugins.takeLog()).toEqual([])
  })

  test('a builder that is never built gives back as much', () => {
    plugins.takeLog()
    const builder = new ContextBuilder().loadPlugin(plugins.select('first'))
    builder[Symbol.dispose]()
    builder.close()
    expect(plugins.takeLog()).toEqual(['release kernel 1', 'release operation 1', 'shutdown state 1'])
  })

  test('a release function is called also for a null user_data', () => {
    plugins.takeLog()
    new ContextBuilder().loadPlugin(plugins.select('with null data')).build().close()
    expect(plugins.takeLog()).toEqual(['release nothing', 'release nothing', 'shutdown nothing'])
  })

  test('a device that fails at the end keeps nothing from the plug-ins', () => {
    plugins.takeLog()
    const device = recordingDevice()
    const builder = new ContextBuilder({ device }).loadPlugin(plugins.select('first'))
    builder
      .extension('acme')
      .registerOperation({ name: 'acme.f', operands: unary })
      .registerKernel({ operation: 'acme.f', backend: 'cuda', operands: unary, callback: () => {} })
    const context = builder.build()
    context.execute('acme.f', f(), { backend: 'cuda' })
    device.fails = { call: 'destroy', text: 'the stream is gone' }
    expect(thrownBy(() => context.close())).toMatchObject({ message: 'the stream is gone' })
    expect(plugins.takeLog()).toEqual(['release kernel 1', 'release operation 1', 'shutdown state 1'])
  })

  test('a busy context keeps everything', () => {
    plugins.takeLog()
    const builder = new ContextBuilder().loadPlugin(plugins.select('first'))
    builder
      .extension('acme')
      .registerOperation({ name: 'acme.f', operands: unary })
      .registerKernel({ operation: 'acme.f', backend: 'cpu-scalar', operands: unary, callback: () => context.close() })
    const context = builder.build()
    expect(refusal(() => context.execute('acme.f', f())).code).toBe('E_CONTEXT_BUSY')
    expect(plugins.takeLog()).toEqual([])
    context.close()
    expect(plugins.takeLog()).toHaveLength(3)
  })
})

test('one file in two contexts runs its entry twice, in the same code and data, and each context gives back its own', () => {
  plugins.takeLog()
  const first = new ContextBuilder().loadPlugin(plugins.select('counted')).build()
  const second = new ContextBuilder().loadPlugin(plugins.file).build()
  first.close()
  expect(plugins.takeLog()).toEqual(['release entry 1', 'release entry 1', 'shutdown entry 1'])
  expect(second.execute('plug.counted', f())).toEqual(new Float32Array([2, 4, 6]))
  second.close()
  expect(plugins.takeLog()).toEqual(['release entry 2', 'release entry 2', 'shutdown entry 2'])
})

/** Workers that have loaded a plug-in and wait for a word to run its kernel. */
async function startWorkers(
  count: number,
  workerData: { file: string; operation: string; calls: number; length: number },
) {
  const script = fileURLToPath(new URL('../support/worker.mjs', import.meta.url))
  const workers = Array.from({ length: count }, () => new Worker(script, { workerData }))
  await Promise.all(workers.map((worker) => nextMessage(worker)))
  return workers
}

function nextMessage(worker: Worker): Promise<unknown> {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
}

/** Lets workers run, and returns how many of the calls of each gave a wrong result. */
function runAll(workers: readonly Worker[]): Promise<unknown[]> {
  const results = workers.map((worker) => nextMessage(worker))
  for (const worker of workers) worker.postMessage('run')
  return Promise.all(results)
}

const mostInside = () => nativeFunction(openLibrary(plugins.file).symbol('most_inside')!, 'i32', [])()
const lockFiles = () => readdirSync(tmpdir()).filter((name) => name.startsWith(`harrier-kernel-${process.pid}-`))

// Starting workers takes half a minute under a sanitizer, and they run the same code again.
describe.skipIf(SANITIZED)('threads', () => {
  test('two contexts in two workers use one plug-in at once', async () => {
    const workers = await startWorkers(2, {
      file: plugins.select('side by side'),
      operation: 'plug.watched',
      calls: 60,
      length: 1000,
    })
    expect(await runAll(workers)).toEqual([0, 0])
    expect(mostInside()).toBe(2)
  })

  test('calls of a kernel that asks for it never overlap, in three workers and on this thread', async () => {
    const context = new ContextBuilder().loadPlugin(plugins.select('kept apart')).build()
    expect(context.describe('plug.watched').implementations).toMatchObject([{ serialised: true }])
    const workers = await startWorkers(3, { file: plugins.file, operation: 'plug.watched', calls: 60, length: 1000 })
    const results = runAll(workers)
    for (let call = 0; call < 30; call++) {
      const { input0, output0 } = f()
      expect(context.execute('plug.watched', { input0, output0 })).toEqual(new Float32Array([2, 4, 6]))
    }
    expect(await results).toEqual([0, 0, 0])
    expect(mostInside()).toBe(1)

    // The workers have closed their contexts, and this one goes on under a lock that is still one for all.
    expect(lockFiles()).toEqual([])
    context.execute('plug.watched', f())
    expect(lockFiles()).toHaveLength(1)
    context.close()
    expect(lockFiles()).toEqual([])
  })

  test('a worker that is terminated inside a call leaves no lock behind', async () => {
    const context = new ContextBuilder().loadPlugin(plugins.select('slow and kept apart')).build()
    const [worker] = await startWorkers(1, { file: plugins.file, operation: 'plug.watched', calls: 1000, length: 10 })
    worker!.postMessage('run')
    await new Promise((resolve) => setTimeout(resolve, 100))
    await worker!.terminate()
    const { output0 } = f()
    expect(context.execute('plug.watched', { ...f(), output0 })).toBe(output0)
    context.close()
  })

  test('where no lock can be had, the kernel is refused with 7 and the load goes on', () => {
    const { TMPDIR } = process.env
    process.env.TMPDIR = '/nonexistent'
    try {
      plugins.takeLog()
      const context = new ContextBuilder().loadPlugin(plugins.select('kept apart')).build()
      expect(context.describe('plug.watched').implementations).toEqual([])
      expect(plugins.takeLog()[0]).toMatch(
        /^7 kernel 'double_f32': this host cannot keep its calls apart: ENOENT: no such file or directory, open '\/nonexistent\/harrier-kernel-\d+-[0-9a-f]+\.lock'$/,
      )
    } finally {
      if (TMPDIR === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = TMPDIR
    }
  })
})
