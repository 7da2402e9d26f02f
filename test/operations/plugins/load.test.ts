// Loading a plug-in: the sequence of checks, what each refuses, and that a plug-in that fails leaves nothing behind.
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { ContextBuilder } from '../../../src/operations/index.ts'
import { compileLibrary, compilePlugin } from '../support/compiler.ts'
import { compilePlugins, takeLog } from '../support/plugins.ts'
import { recordingDevice } from '../support/recording-device.ts'
import { refusal, thrownBy, unary, untyped } from '../support/specs.ts'

const folder = mkdtempSync(join(tmpdir(), 'harrier-load-'))
afterAll(() => rmSync(folder, { recursive: true }))

const plugins = compilePlugins({
  good: 'return register_double(host, registrar, info, error);',

  'fails with a message': 'return hr_fail(error, HR_OUT_OF_MEMORY, "no room for the tables");',
  'fails without a message': 'return HR_INTERNAL;',
  'fails with its own status': 'return hr_fail(error, HR_FIRST_PLUGIN_STATUS + 7, "sensor 7 is missing");',
  'fails with a status nobody knows': 'return -5;',
  'does not know the host': 'return hr_fail(error, HR_ABI_MISMATCH, "the host speaks another version");',

  'fills nothing': 'return HR_OK;',
  'fills too little': 'introduce(info); info->struct_size = sizeof *info - 8; return HR_OK;',
  'fills more than there is, with zeros':
    'register_double(host, registrar, info, error); info->struct_size = sizeof *info + 16; return HR_OK;',
  'fills more than there is':
    'introduce(info); info->struct_size = sizeof *info + 16; ((char *)(info + 1))[3] = 1; return HR_OK;',
  'claims an absurd size': 'introduce(info); info->struct_size = 0x7fffffff; return HR_OK;',
  'is of another major version': 'introduce(info); info->abi_major = 2; return HR_OK;',
  'needs a newer minor version': 'introduce(info); info->min_host_minor = 3; return HR_OK;',
  'needs a device':
    'introduce(info); info->required_capabilities = HR_CAPABILITY_CPU | HR_CAPABILITY_CUDA_USABLE; return HR_OK;',
  'needs something unknown': 'introduce(info); info->required_capabilities = UINT64_C(1) << 40; return HR_OK;',
  'has a name that is not UTF-8': 'introduce(info); info->name.ptr = "\\xff"; info->name.len = 1; return HR_OK;',

  'fails at the end': `
    hr_operation_desc operation = unary_operation("plug.other");
    hr_kernel_desc kernel = unary_kernel("plug.other");
    operation.user_data = "operation"; operation.release = log_release;
    kernel.user_data = "kernel"; kernel.release = log_release;
    host->register_operation(registrar, &operation, error);
    host->register_kernel(registrar, &kernel, error);
    introduce(info);
    info->shutdown = log_shutdown; info->plugin_state = "state";
    return hr_fail(error, HR_INTERNAL, "changed its mind");`,

  'tells what the host is': `
    log_line("struct %u, version %u.%u, capabilities %x, next %d", host->struct_size, host->abi_major, host->abi_minor,
             (unsigned)host->capabilities, host->next != NULL);
    log_line("%.*s %.*s, %d devices, driver %d", (int)host->host_name.len, host->host_name.ptr, (int)host->host_version.len,
             host->host_version.ptr, host->cuda_device_count, host->cuda_driver_version);
    log_line("error: struct %u, capacity %u, code %d, length %u", error->struct_size, error->capacity, error->code, error->length);
    log_line("info: struct %u, major %u, shutdown %d", info->struct_size, info->abi_major, info->shutdown != NULL);
    log_line("has error.message: %d", HR_HAS(error, hr_error, message));
    static const hr_host_api *first;
    log_line("same table: %d", first == NULL || first == host);
    first = host;
    return introduce(info);`,
})

const load = (name: string) => refusal(() => new ContextBuilder().loadPlugin(plugins.select(name)))
const { file } = plugins

describe('the path', () => {
  test.each<[unknown, string]>([
    ['', "''"],
    [3, '3'],
    [undefined, 'undefined'],
    [new URL('https://example.org/plugin.so'), 'an object of class URL'],
    ['file://elsewhere/plugin.so', "'file://elsewhere/plugin.so'"],
  ])('E_SPEC: %s', (path, shown) => {
    expect(refusal(() => new ContextBuilder().loadPlugin(untyped(path)))).toEqual({
      type: 'RegistrationError',
      code: 'E_SPEC',
      message: `loadPlugin(${shown}): expected the path of a shared library, or a file URL`,
    })
  })

  test.each([
    ['absolute', file],
    ['relative', relative(process.cwd(), file)],
    ['a file URL', pathToFileURL(file)],
    ['a file URL as text', pathToFileURL(file).href],
  ])('%s', (_, path) => {
    plugins.select('good')
    const context = new ContextBuilder().loadPlugin(path).build()
    expect(context.describe('plug.double').implementations).toMatchObject([
      { label: 'double_f32', available: true, origin: { kind: 'plugin', file, name: 'fixture', version: '1.2.3' } },
    ])
    const output = new Float32Array(2)
    expect(context.execute('plug.double', { input0: new Float32Array([1, 2]), output0: output })).toBe(output)
    expect(output).toEqual(new Float32Array([2, 4]))
    context.close()
  })
})

describe('opening', () => {
  test('E_PLUGIN_OPEN with the words of the loader', () => {
    const missing = join(folder, 'missing.so')
    const text = join(folder, 'text.so')
    writeFileSync(text, 'no library')
    expect(refusal(() => new ContextBuilder().loadPlugin(missing))).toEqual({
      type: 'PluginError',
      code: 'E_PLUGIN_OPEN',
      message: `plug-in ${missing} cannot be opened: Failed to load shared library: cannot open shared object file: No such file or directory`,
    })
    expect(refusal(() => new ContextBuilder().loadPlugin(text))).toEqual({
      type: 'PluginError',
      code: 'E_PLUGIN_OPEN',
      message: `plug-in ${text} cannot be opened: Failed to load shared library: file too short`,
    })
  })

  test('a library that needs a symbol nobody has is refused at once, not at its first call', () => {
    const library = compileLibrary(
      'int nobody_has_this(void);\n__attribute__((visibility("default"))) int f(void) { return nobody_has_this(); }\n',
    )
    expect(refusal(() => new ContextBuilder().loadPlugin(library))).toEqual({
      type: 'PluginError',
      code: 'E_PLUGIN_OPEN',
      message: `plug-in ${library} cannot be opened: Failed to load shared library: undefined symbol: nobody_has_this`,
    })
  })
})

describe('version and entry', () => {
  test('another major version is refused before the entry runs', () => {
    const library = compilePlugin(
      'uint32_t hr_plugin_abi_version(void) { return 2u << 16 | 5; }\nENTRY { (void)host; (void)registrar; (void)info; (void)error; abort(); }',
    )
    expect(refusal(() => new ContextBuilder().loadPlugin(library))).toEqual({
      type: 'PluginError',
      code: 'E_PLUGIN_ABI',
      message: `plug-in ${library} speaks version 2.5 of the plug-in interface; this host speaks 1.0`,
    })
  })

  test('another minor version is not', () => {
    const library = compilePlugin(
      'uint32_t hr_plugin_abi_version(void) { return 1u << 16 | 5; }\nENTRY { return register_double(host, registrar, info, error); }',
    )
    expect(new ContextBuilder().loadPlugin(library).build().operations()).toEqual(['plug.double'])
  })

  test('E_PLUGIN_SYMBOL', () => {
    const library = compilePlugin('uint32_t hr_plugin_abi_version(void) { return HR_ABI_VERSION; }')
    expect(refusal(() => new ContextBuilder().loadPlugin(library))).toEqual({
      type: 'PluginError',
      code: 'E_PLUGIN_SYMBOL',
      message: `plug-in ${library} does not export 'hr_plugin_entry_v1'`,
    })
  })

  test.each([
    ['fails with a message', 'E_PLUGIN_ENTRY', '2 (out of memory): no room for the tables'],
    ['fails without a message', 'E_PLUGIN_ENTRY', '10 (internal)'],
    ['fails with its own status', 'E_PLUGIN_ENTRY', "1007 (the plug-in's own): sensor 7 is missing"],
    ['fails with a status nobody knows', 'E_PLUGIN_ENTRY', '-5'],
    ['does not know the host', 'E_PLUGIN_ABI', '3 (abi mismatch): the host speaks another version'],
  ])('an entry that %s: %s', (name, code, text) => {
    expect(load(name)).toEqual({
      type: 'PluginError',
      code,
      message: `plug-in ${file}: the entry returned the status ${text}`,
    })
  })

  test('the status and file of a failed entry are on the error', () => {
    const error = thrownBy(() => new ContextBuilder().loadPlugin(plugins.select('fails with its own status')))
    expect(error).toMatchObject({ name: 'PluginError', file, status: 1007 })
  })
})

describe('hr_plugin_info', () => {
  test.each([
    ['fills nothing', 'E_PLUGIN_ABI', 'speaks version 0.0 of the plug-in interface; this host speaks 1.0'],
    [
      'is of another major version',
      'E_PLUGIN_ABI',
      'speaks version 2.0 of the plug-in interface; this host speaks 1.0',
    ],
    [
      'needs a newer minor version',
      'E_PLUGIN_ABI',
      'needs version 1.3 of the plug-in interface or a later minor one; this host speaks 1.0',
    ],
  ])('a plug-in that %s', (name, code, text) => {
    expect(load(name)).toEqual({ type: 'PluginError', code, message: `plug-in ${file} ${text}` })
  })

  test.each([
    ['fills too little', 'has struct_size 56; version 1.0 needs at least 64'],
    [
      'fills more than there is',
      'has struct_size 80, of which this host knows 64 bytes, and asks for something in byte 67',
    ],
    ['claims an absurd size', 'has struct_size 2147483647; this host reads at most 1024'],
  ])('a plug-in that %s', (name, text) => {
    expect(load(name)).toEqual({
      type: 'PluginError',
      code: 'E_PLUGIN_ABI',
      message: `plug-in ${file}: hr_plugin_info ${text}`,
    })
  })

  test('a longer struct whose end is zero is taken', () => {
    const builder = new ContextBuilder().loadPlugin(plugins.select('fills more than there is, with zeros'))
    expect(builder.build().operations()).toEqual(['plug.double'])
  })

  test('E_PLUGIN_CAPABILITY names what is missing', () => {
    const without = { ...recordingDevice(), unavailable: 'there is no driver' }
    const needs = (name: string) => () => new ContextBuilder({ device: without }).loadPlugin(plugins.select(name))
    expect(refusal(needs('needs a device'))).toEqual({
      type: 'PluginError',
      code: 'E_PLUGIN_CAPABILITY',
      message: `plug-in ${file} needs what this host does not have: cuda usable (there is no driver)`,
    })
    expect(refusal(needs('needs something unknown'))).toEqual({
      type: 'PluginError',
      code: 'E_PLUGIN_CAPABILITY',
      message: `plug-in ${file} needs what this host does not have: bit 40 (there is no driver)`,
    })
    new ContextBuilder({ device: recordingDevice() }).loadPlugin(plugins.select('needs a device')).build()
  })

  test('a name that is not UTF-8', () => {
    expect(load('has a name that is not UTF-8')).toEqual({
      type: 'RegistrationError',
      code: 'E_SPEC',
      message: `plug-in ${file}: the name of the plug-in is not UTF-8`,
    })
  })
})

test('the entry is told what the host is, in a table that does not change', () => {
  plugins.takeLog()
  const device = recordingDevice(2)
  new ContextBuilder({ device }).loadPlugin(plugins.select('tells what the host is'))
  new ContextBuilder({ device }).loadPlugin(plugins.file)
  const told = [
    'struct 80, version 1.0, capabilities 7, next 0',
    'harrier 0.1.0, 2 devices, driver 13000',
    'error: struct 24, capacity 1024, code 0, length 0',
    'info: struct 64, major 0, shutdown 0',
    'has error.message: 1',
    'same table: 1',
  ]
  expect(plugins.takeLog()).toEqual([...told, ...told])
})

describe('a load that fails', () => {
  test('leaves the builder as it was, and usable; what was handed over comes back once: kernels, operations, shutdown', () => {
    plugins.takeLog()
    const builder = new ContextBuilder()
    builder.extension('acme').registerOperation({ name: 'acme.f', operands: unary })
    expect(refusal(() => builder.loadPlugin(plugins.select('fails at the end'))).code).toBe('E_PLUGIN_ENTRY')
    expect(plugins.takeLog()).toEqual(['release kernel', 'release operation', 'shutdown state'])
    builder.loadPlugin(plugins.select('good'))
    const context = builder.build()
    expect(context.operations()).toEqual(['acme.f', 'plug.double'])
    context.close()
    expect(plugins.takeLog()).toEqual([])
  })

  test('because its operation is there already names the file, and keeps the first one', () => {
    const builder = new ContextBuilder().loadPlugin(plugins.select('good'))
    expect(refusal(() => builder.loadPlugin(plugins.file))).toEqual({
      type: 'RegistrationError',
      code: 'E_DUPLICATE_OPERATION',
      message: `plug-in ${file}: operation 'plug.double' is registered already`,
    })
    expect(builder.build().describe('plug.double').implementations).toHaveLength(1)
  })

  test('a plug-in loads from a copy as well, with data of its own', () => {
    const copy = join(folder, 'copy.so')
    copyFileSync(file, copy)
    plugins.select('good')
    const context = new ContextBuilder().loadPlugin(copy).build()
    expect(context.describe('plug.double').implementations).toMatchObject([{ origin: { file: copy } }])
    expect(takeLog(copy)).toEqual([])
  })
})
