// What a plug-in is answered when it registers: the status and text that it sees, and the error that the load ends with. Refusals 6
// and 7 leave the load alive; any other fails it, even when the plug-in looks away, as all of these do.
import { describe, expect, test } from 'vitest'
import { ContextBuilder } from '../../../src/operations/index.ts'
import { compilePlugins } from '../support/plugins.ts'
import { refusal } from '../support/specs.ts'

interface Case {
  /** Statements between a good descriptor and its registration. */
  readonly code: string
  /** What the plug-in is told. */
  readonly status: number
  readonly text: string
  /** The code that the load fails with; null when it does not fail. */
  readonly error: string | null
}

const operations: Record<string, Case> = {
  'a null descriptor': {
    code: 'descriptor = NULL;',
    status: 1,
    text: 'hr_operation_desc is a null pointer',
    error: 'E_SPEC',
  },
  'a struct that is too small': {
    code: 'desc.value.struct_size = 64;',
    status: 4,
    text: 'hr_operation_desc has struct_size 64; version 1.0 needs at least 72',
    error: 'E_PLUGIN_ABI',
  },
  'a struct that asks for something new': {
    code: 'desc.value.struct_size = 88; desc.tail[9] = 1;',
    status: 5,
    text: 'hr_operation_desc has struct_size 88, of which this host knows 72 bytes, and asks for something in byte 81',
    error: 'E_PLUGIN_ABI',
  },
  'a struct of an absurd size': {
    code: 'desc.value.struct_size = 0xffffffff;',
    status: 5,
    text: 'hr_operation_desc has struct_size 4294967295; this host reads at most 1024',
    error: 'E_PLUGIN_ABI',
  },
  'an operand that is too small': {
    code: 'operands[1].struct_size = 12;',
    status: 4,
    text: "operation 'plug.f': operand 1 has struct_size 12; version 1.0 needs at least 16",
    error: 'E_PLUGIN_ABI',
  },
  'operands of two sizes': {
    code: 'static struct { hr_operand_spec first, zero, second; } list; list.first = list.second = operands[0]; list.first.struct_size = 32; desc.value.operands = &list.first;',
    status: 1,
    text: "operation 'plug.f': operand 1 has struct_size 16 and operation 'plug.f': operand 0 has 32; all elements of a list have one size",
    error: 'E_SPEC',
  },
  'no operands': {
    code: 'desc.value.operands = NULL;',
    status: 1,
    text: "operation 'plug.f': operand 0 is a null pointer",
    error: 'E_SPEC',
  },
  'more operands than there are roles': {
    code: 'desc.value.operand_count = 513;',
    status: 1,
    text: "operation 'plug.f' has 513 operands; there are 512 roles",
    error: 'E_SPEC',
  },
  'a name that is a null pointer': {
    code: 'desc.value.name.ptr = NULL;',
    status: 1,
    text: 'the name of an operation has the length 6 and a null pointer',
    error: 'E_SPEC',
  },
  'a name that is too long': {
    code: 'desc.value.name.len = 65537;',
    status: 1,
    text: 'the name of an operation has the length 65537; the limit is 65536 bytes',
    error: 'E_SPEC',
  },
  'a name that is not UTF-8': {
    code: 'desc.value.name = hr_text("plug.\\xc3");',
    status: 1,
    text: 'the name of an operation is not UTF-8',
    error: 'E_SPEC',
  },
  'a name without a dot': {
    code: 'desc.value.name = hr_text("plug");',
    status: 1,
    text: "operation 'plug': the name must be lower-case words joined by dots, such as 'acme.double'",
    error: 'E_NAME',
  },
  'a reserved name': {
    code: 'desc.value.name = hr_text("core.f");',
    status: 1,
    text: "operation 'core.f': the first word 'core' is reserved for harrier itself",
    error: 'E_NAME',
  },
  'a name that is taken': {
    code: 'host->register_operation(registrar, &desc.value, NULL);',
    status: 8,
    text: "operation 'plug.f' is registered already",
    error: 'E_DUPLICATE_OPERATION',
  },
  'no role': {
    code: 'operands[0].role = 0;',
    status: 1,
    text: "operation 'plug.f': operand 0 has no role; expected 'input0' to 'input255' or 'output0' to 'output255'",
    error: 'E_SPEC',
  },
  'an unknown role': {
    code: 'operands[0].role = 0x300;',
    status: 6,
    text: "operation 'plug.f': operand 0 has the role '0x300'; expected 'input0' to 'input255' or 'output0' to 'output255'",
    error: null,
  },
  'an unknown kind': {
    code: 'operands[0].kind = 9;',
    status: 6,
    text: "operation 'plug.f': operand 0 has the kind '0x9'; expected one of scalar, vector, matrix, tensor",
    error: null,
  },
  'an unknown access': {
    code: 'operands[1].access = 4;',
    status: 6,
    text: "operation 'plug.f': operand 1 has the access '0x4'; expected one of read, write, readwrite",
    error: null,
  },
  'an unknown word of an operation that is there already: the name comes first': {
    code: 'host->register_operation(registrar, &desc.value, NULL); operands[0].kind = 9;',
    status: 8,
    text: "operation 'plug.f' is registered already",
    error: 'E_DUPLICATE_OPERATION',
  },
  'the same role twice': {
    code: 'operands[1].role = HR_ROLE_INPUT(0);',
    status: 1,
    text: "operation 'plug.f': two operands have the role input0",
    error: 'E_ROLE_DUPLICATE',
  },
  'roles out of order': {
    code: 'operands[0] = UNARY[1]; operands[1] = UNARY[0];',
    status: 1,
    text: "operation 'plug.f': input0 comes after output0; inputs come first, then outputs, each ascending",
    error: 'E_ROLE_ORDER',
  },
  'a gap': {
    code: 'operands[0].role = HR_ROLE_INPUT(1);',
    status: 1,
    text: "operation 'plug.f': input1 is there but input0 is not",
    error: 'E_ROLE_GAP',
  },
  'no output': {
    code: 'desc.value.operand_count = 1;',
    status: 1,
    text: "operation 'plug.f': no operand is an output",
    error: 'E_NO_OUTPUT',
  },
  'an access that does not fit': {
    code: 'operands[0].access = HR_ACCESS_READ_WRITE;',
    status: 1,
    text: "operation 'plug.f': input0 has the access 'readwrite'; inputs have 'read'",
    error: 'E_ACCESS',
  },
  'another registrar': {
    code: 'registrar = (hr_registrar *)(void *)desc.tail;',
    status: 1,
    text: 'a registration was made with a registrar that is not that of the entry that is running',
    error: 'E_SPEC',
  },
}

const SIGNATURE = '(input0: float32 host row-major contiguous; output0: float32 host row-major contiguous)'
const DTYPES =
  'int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, float32, float64, bfloat16, complex64, complex128, bool, ' +
  'float8_e4m3fn, float8_e5m2'

const kernels: Record<string, Case> = {
  'a null descriptor': {
    code: 'descriptor = NULL;',
    status: 1,
    text: 'hr_kernel_desc is a null pointer',
    error: 'E_SPEC',
  },
  'a struct that is too small': {
    code: 'desc.value.struct_size = 79;',
    status: 4,
    text: 'hr_kernel_desc has struct_size 79; version 1.0 needs at least 80',
    error: 'E_PLUGIN_ABI',
  },
  'a struct that asks for something new': {
    code: 'desc.value.struct_size = 81; desc.tail[0] = 1;',
    status: 5,
    text: 'hr_kernel_desc has struct_size 81, of which this host knows 80 bytes, and asks for something in byte 80',
    error: 'E_PLUGIN_ABI',
  },
  'a reserved field that is used': {
    code: 'operands[1].reserved0 = 1;',
    status: 5,
    text: "kernel 'double_f32' of 'plug.f': operand 1 has reserved0 1; expected 0",
    error: 'E_PLUGIN_ABI',
  },
  'no function': {
    code: 'desc.value.execute = NULL;',
    status: 1,
    text: "kernel 'double_f32' of 'plug.f': execute is a null pointer",
    error: 'E_SPEC',
  },
  'unknown flags': {
    code: 'desc.value.flags = 6;',
    status: 6,
    text: "kernel 'double_f32' of 'plug.f' has the flags 0x6; known is 0x1",
    error: null,
  },
  'no backend': {
    code: 'desc.value.backend = 0;',
    status: 1,
    text: "kernel 'double_f32' of 'plug.f' has no backend; expected one of cpu-scalar, cpu-simd, cpu-parallel, cuda",
    error: 'E_SPEC',
  },
  'an unknown backend': {
    code: 'desc.value.backend = 99;',
    status: 6,
    text: "kernel 'double_f32' of 'plug.f' has the backend '0x63'; expected one of cpu-scalar, cpu-simd, cpu-parallel, cuda",
    error: null,
  },
  'an unknown dtype': {
    code: 'operands[0].dtype = HR_DTYPE(9, 8);',
    status: 6,
    text: `kernel 'double_f32' of 'plug.f': operand 0 has the dtype '0x809'; expected one of ${DTYPES}`,
    error: null,
  },
  'no dtype': {
    code: 'operands[0].dtype = 0;',
    status: 1,
    text: `kernel 'double_f32' of 'plug.f': operand 0 has no dtype; expected one of ${DTYPES}`,
    error: 'E_SPEC',
  },
  'an unknown compute dtype': {
    code: 'operands[0].compute_dtype = HR_DTYPE(2, 128);',
    status: 6,
    text: `kernel 'double_f32' of 'plug.f': operand 0 has the computeDtype '0x8002'; expected one of ${DTYPES}`,
    error: null,
  },
  'an unknown location': {
    code: 'operands[0].location = 10;',
    status: 6,
    text: "kernel 'double_f32' of 'plug.f': operand 0 has the location '0xa'; expected one of host, cuda, cuda-pinned, cuda-managed",
    error: null,
  },
  'an unknown layout': {
    code: 'operands[0].layout = 4;',
    status: 6,
    text: "kernel 'double_f32' of 'plug.f': operand 0 has the layout '0x4'; expected one of row-major, column-major, strided",
    error: null,
  },
  'an unknown contiguity': {
    code: 'operands[0].contiguity = 3;',
    status: 6,
    text: "kernel 'double_f32' of 'plug.f': operand 0 has the contiguity '0x3'; expected one of contiguous, any",
    error: null,
  },
  'a layout that no contiguous array has': {
    code: 'operands[0].layout = HR_LAYOUT_STRIDED;',
    status: 1,
    text: "kernel 'double_f32' of 'plug.f': operand 0 is strided and contiguous, which no array is; expected the contiguity 'any'",
    error: 'E_SPEC',
  },
  "operands that are not the operation's": {
    code: 'operands[0].kind = HR_KIND_MATRIX;',
    status: 1,
    text:
      "kernel 'double_f32' of 'plug.f' has the operands (input0 matrix read, output0 vector write); the operation has " +
      '(input0 vector read, output0 vector write)',
    error: 'E_OPERANDS_MISMATCH',
  },
  'a signature that is taken': {
    code: 'host->register_kernel(registrar, &desc.value, NULL); desc.value.label.len = 0;',
    status: 8,
    text: `kernel 'unnamed' of 'plug.f': kernel 'double_f32' has the same signature: cpu-scalar ${SIGNATURE}`,
    error: 'E_DUPLICATE_KERNEL',
  },
}

/** An entry that registers what a case spoils, tells what it was answered, and carries on as if nothing had happened. */
function entryOf(struct: 'operation' | 'kernel', { code }: Case): string {
  const spec = struct === 'operation' ? 'hr_operand_spec' : 'hr_backend_operand_spec'
  const good = struct === 'operation' ? 'UNARY' : 'UNARY_F32'
  const before =
    struct === 'kernel'
      ? 'hr_operation_desc known = unary_operation("plug.f"); host->register_operation(registrar, &known, NULL);'
      : ''
  return `
    ${before}
    struct { hr_${struct}_desc value; char tail[32]; } desc = {unary_${struct}("plug.f"), {0}};
    const hr_${struct}_desc *descriptor = &desc.value;
    ${spec} operands[2] = {${good}[0], ${good}[1]};
    desc.value.operands = operands;
    ${code}
    hr_status status = host->register_${struct}(registrar, descriptor, error);
    log_line("%d %d %.*s", status, error->code, (int)error->length, error->message);
    return introduce(info);`
}

const tables = { operation: operations, kernel: kernels }
const plugins = compilePlugins(
  Object.fromEntries(
    (['operation', 'kernel'] as const).flatMap((struct) =>
      Object.entries(tables[struct]).map(([name, spoiled]) => [`${struct}: ${name}`, entryOf(struct, spoiled)]),
    ),
  ),
)

describe.each(['operation', 'kernel'] as const)('register_%s', (struct) => {
  const failing = Object.entries(tables[struct]).filter(([, { error }]) => error !== null)
  const passing = Object.entries(tables[struct]).filter(([, { error }]) => error === null)

  test.each(failing)('%s fails the load', (name, { status, text, error }) => {
    plugins.takeLog()
    const found = refusal(() => new ContextBuilder().loadPlugin(plugins.select(`${struct}: ${name}`)))
    expect(plugins.takeLog()).toEqual([`${status} ${status} ${text}`])
    expect(found).toEqual({
      type: error === 'E_PLUGIN_ABI' ? 'PluginError' : 'RegistrationError',
      code: error,
      message: `plug-in ${plugins.file}: ${text}`,
    })
  })

  test.each(passing)('%s does not fail the load', (name, { status, text }) => {
    plugins.takeLog()
    const context = new ContextBuilder().loadPlugin(plugins.select(`${struct}: ${name}`)).build()
    expect(plugins.takeLog()).toEqual([`${status} ${status} ${text}`])
    expect(context.operations()).toEqual(struct === 'operation' ? [] : ['plug.f'])
  })
})

describe('a registration', () => {
  const more = compilePlugins({
    'of a longer struct with a zero end': `
      struct { hr_operation_desc value; char tail[32]; } desc = {unary_operation("plug.f"), {0}};
      struct { hr_operand_spec spec; char tail[8]; } operands[2] = {{UNARY[0], {0}}, {UNARY[1], {0}}};
      for (int i = 0; i < 2; i++) operands[i].spec.struct_size = sizeof operands[i];
      desc.value.struct_size = sizeof desc;
      desc.value.operands = &operands[0].spec;
      hr_status status = host->register_operation(registrar, &desc.value, error);
      return status == HR_OK ? introduce(info) : status;`,

    'is copied before the call returns': `
      char name[] = "plug.f", doc[] = "Doubles.", label[] = "first";
      hr_operand_spec operands[2] = {UNARY[0], UNARY[1]};
      hr_backend_operand_spec backend_operands[2] = {UNARY_F32[0], UNARY_F32[1]};
      hr_operation_desc operation = unary_operation(name);
      hr_kernel_desc kernel = unary_kernel(name);
      operation.operands = operands; operation.doc = hr_text(doc);
      kernel.operands = backend_operands; kernel.label = hr_text(label);
      host->register_operation(registrar, &operation, error);
      memset(operands, 0x55, sizeof operands); memset(&operation, 0x55, sizeof operation); memset(doc, 0x55, sizeof doc);
      host->register_kernel(registrar, &kernel, error);
      memset(backend_operands, 0x55, sizeof backend_operands); memset(&kernel, 0x55, sizeof kernel);
      memset(name, 0x55, sizeof name); memset(label, 0x55, sizeof label);
      return introduce(info);`,

    'without an hr_error, or with one that has no room': `
      hr_operation_desc operation = unary_operation("plug");
      hr_error none = {sizeof none, 0, 0, 0, NULL};
      char four[4] = "zzz";
      hr_error little = {sizeof little, 0, 3, 0, four};
      log_line("%d", host->register_operation(registrar, &operation, NULL));
      log_line("%d %d %u", host->register_operation(registrar, &operation, &none), none.code, none.length);
      log_line("%d %d %u %s", host->register_operation(registrar, &operation, &little), little.code, little.length, four);
      return introduce(info);`,

    'that is refused twice': `
      hr_operation_desc first = unary_operation("core.f"), second = unary_operation("plug");
      host->register_operation(registrar, &first, error);
      host->register_operation(registrar, &second, error);
      return hr_fail(error, HR_INTERNAL, "gave up");`,

    'of a kernel for an operation of another plug-in': `
      hr_kernel_desc kernel = unary_kernel("other.f");
      host->register_kernel(registrar, &kernel, error);
      return introduce(info);`,

    'after a refusal that may be passed over': `
      hr_kernel_desc kernel = unary_kernel("plug.double");
      kernel.backend = 77;
      kernel.user_data = "optional"; kernel.release = log_release;
      if (host->register_kernel(registrar, &kernel, error) == HR_UNSUPPORTED) log_line("going on without");
      return register_double(host, registrar, info, error);`,
  })
  const load = (name: string) => new ContextBuilder().loadPlugin(more.select(name))

  test('of a longer struct with a zero end is taken, and its size is the distance between operands', () => {
    expect(load('of a longer struct with a zero end').build().describe('plug.f').operands).toEqual([
      { role: 'input0', kind: 'vector', access: 'read' },
      { role: 'output0', kind: 'vector', access: 'write' },
    ])
  })

  test('is copied before the call returns', () => {
    expect(load('is copied before the call returns').build().describe('plug.f')).toMatchObject({
      doc: 'Doubles.',
      operands: [{ role: 'input0' }, { role: 'output0' }],
      implementations: [{ label: 'first', operands: [{ dtype: 'float32' }, { layout: 'row-major' }] }],
    })
  })

  test('is refused the same way without an hr_error, and with one that has no room', () => {
    more.takeLog()
    expect(refusal(() => load('without an hr_error, or with one that has no room')).code).toBe('E_NAME')
    expect(more.takeLog()).toEqual(['1', '1 1 0', '1 1 3 ope'])
  })

  test('that is refused first decides, whatever follows and whatever the entry returns', () => {
    expect(refusal(() => load('that is refused twice'))).toEqual({
      type: 'RegistrationError',
      code: 'E_NAME',
      message: `plug-in ${more.file}: operation 'core.f': the first word 'core' is reserved for harrier itself`,
    })
  })

  test('of a kernel for an operation of another plug-in waits for build()', () => {
    const builder = load('of a kernel for an operation of another plug-in')
    expect(refusal(() => builder.build())).toEqual({
      type: 'RegistrationError',
      code: 'E_UNKNOWN_OPERATION',
      message: "kernel 'double_f32' implements 'other.f', which is not registered; registered operations: none",
    })
  })

  test('that may be passed over leaves its user_data with the plug-in', () => {
    more.takeLog()
    const context = load('after a refusal that may be passed over').build()
    expect(context.describe('plug.double').implementations).toHaveLength(1)
    context.close()
    expect(more.takeLog()).toEqual(['going on without'])
  })
})
