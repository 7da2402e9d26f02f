// What registerOperation, registerKernel and build refuse, each with its whole message, and in which order the rules apply.
import { describe, expect, test } from 'vitest'
import {
  type BackendOperandSpec,
  BackendKind,
  ContextBuilder,
  KERNEL_ERROR_CODES,
  KernelError,
  type OperandSpec,
  RegistrationError,
} from '../../src/operations/index.ts'
import { refusal, thrownBy, unary, unaryKernel, untyped } from './support/specs.ts'

const callback = () => {}

function acme() {
  return new ContextBuilder().extension('acme')
}

function operation(operands: readonly OperandSpec[], name = 'acme.f') {
  return refusal(() => acme().registerOperation({ name, operands }))
}

const input = (number: number): OperandSpec => ({ role: untyped(`input${number}`), kind: 'vector' })
const output = (number: number): OperandSpec => ({ role: untyped(`output${number}`), kind: 'vector', access: 'write' })

describe('registerOperation', () => {
  test.each<[string, unknown, string]>([
    ['no object', null, 'registerOperation is null; expected an object { name, operands, validators, doc }'],
    ['a list', [], 'registerOperation is []; expected an object { name, operands, validators, doc }'],
    ['no name', { operands: unary }, 'registerOperation: name is undefined; expected a string'],
    ['no operands', { name: 'acme.f' }, 'registerOperation: operands is undefined; expected an array'],
    [
      'an unknown field',
      { name: 'acme.f', operands: unary, kernel: 1 },
      "registerOperation has a field 'kernel'; the fields are name, operands, validators, doc",
    ],
    [
      'a validator that is no function',
      { name: 'acme.f', operands: unary, validators: ['check'] },
      "registerOperation: validator 0 is 'check'; expected a function of the bindings",
    ],
    [
      'a doc that is no text',
      { name: 'acme.f', operands: unary, doc: 1 },
      'registerOperation: doc is 1; expected a string, or absent',
    ],
    [
      'an operand without a role',
      { name: 'acme.f', operands: [{ kind: 'vector' }] },
      'registerOperation: operand 0: role is undefined; expected a string',
    ],
    [
      "a kernel's operand",
      { name: 'acme.f', operands: [{ role: 'input0', kind: 'vector', dtype: 'float32' }] },
      "registerOperation: operand 0 has a field 'dtype'; the fields are role, kind, access",
    ],
    [
      'an unknown role',
      { name: 'acme.f', operands: [{ role: 'input256', kind: 'vector' }] },
      "operation 'acme.f': operand 0 has the role 'input256'; expected 'input0' to 'input255' or 'output0' to 'output255'",
    ],
    [
      'an unknown kind',
      { name: 'acme.f', operands: [{ role: 'input0', kind: 'cube' }] },
      "operation 'acme.f': operand 0 has the kind 'cube'; expected one of scalar, vector, matrix, tensor",
    ],
    [
      'an unknown access',
      { name: 'acme.f', operands: [{ role: 'input0', kind: 'vector', access: 'peek' }] },
      "operation 'acme.f': operand 0 has the access 'peek'; expected one of read, write, readwrite",
    ],
  ])('E_SPEC: %s', (_, spec, message) => {
    expect(refusal(() => acme().registerOperation(untyped(spec)))).toEqual({
      type: 'RegistrationError',
      code: 'E_SPEC',
      message,
    })
  })

  test.each([
    ['double', "operation 'double': the name must be lower-case words joined by dots, such as 'acme.double'"],
    ['acme.Double', "operation 'acme.Double': the name must be lower-case words joined by dots, such as 'acme.double'"],
    ['acme..f', "operation 'acme..f': the name must be lower-case words joined by dots, such as 'acme.double'"],
    ['acme.f\n', "operation 'acme.f\n': the name must be lower-case words joined by dots, such as 'acme.double'"],
    ['core.f', "operation 'core.f': the first word 'core' is reserved for harrier itself"],
    ['other.f', "operation 'other.f': the name must start with that of its extension, 'acme.'"],
  ])('E_NAME: %j', (name, message) => {
    expect(operation(unary, name)).toEqual({ type: 'RegistrationError', code: 'E_NAME', message })
  })

  test('names of more than two words are taken', () => {
    const builder = new ContextBuilder()
    builder.extension('acme').registerOperation({ name: 'acme.linear_2.solve', operands: unary })
    expect(builder.build().operations()).toEqual(['acme.linear_2.solve'])
  })

  test.each([
    ['core', "extension('core'): the name is reserved for harrier itself"],
    ['acme.x', "extension('acme.x'): expected a lower-case name such as 'acme'"],
    ['', "extension(''): expected a lower-case name such as 'acme'"],
    [untyped(3), "extension(3): expected a lower-case name such as 'acme'"],
  ])('E_NAME for an extension: %j', (name, message) => {
    expect(refusal(() => new ContextBuilder().extension(name))).toEqual({
      type: 'RegistrationError',
      code: 'E_NAME',
      message,
    })
  })

  test('E_DUPLICATE_OPERATION, also from another extension object', () => {
    const builder = new ContextBuilder()
    builder.extension('acme').registerOperation({ name: 'acme.f', operands: unary })
    expect(refusal(() => builder.extension('acme').registerOperation({ name: 'acme.f', operands: unary }))).toEqual({
      type: 'RegistrationError',
      code: 'E_DUPLICATE_OPERATION',
      message: "operation 'acme.f' is registered already",
    })
  })

  test.each<[string, readonly OperandSpec[], string]>([
    ['E_ROLE_DUPLICATE', [input(0), input(0), output(0)], 'two operands have the role input0'],
    [
      'E_ROLE_ORDER',
      [output(0), input(0)],
      'input0 comes after output0; inputs come first, then outputs, each ascending',
    ],
    [
      'E_ROLE_ORDER',
      [input(1), input(0), output(0)],
      'input0 comes after input1; inputs come first, then outputs, each ascending',
    ],
    [
      'E_ROLE_ORDER',
      [output(1), output(0)],
      'output0 comes after output1; inputs come first, then outputs, each ascending',
    ],
    ['E_ROLE_GAP', [input(1), output(0)], 'input1 is there but input0 is not'],
    ['E_ROLE_GAP', [input(0), input(2), output(0)], 'input2 is there but input1 is not'],
    ['E_ROLE_GAP', [input(0), output(1)], 'output1 is there but output0 is not'],
    ['E_NO_OUTPUT', [input(0)], 'no operand is an output'],
    ['E_NO_OUTPUT', [], 'no operand is an output'],
    ['E_ACCESS', [{ ...input(0), access: 'write' }, output(0)], "input0 has the access 'write'; inputs have 'read'"],
    [
      'E_ACCESS',
      [{ ...input(0), access: 'readwrite' }, output(0)],
      "input0 has the access 'readwrite'; inputs have 'read'",
    ],
    [
      'E_ACCESS',
      [input(0), { ...output(0), access: 'read' }],
      "output0 has the access 'read'; outputs have 'write' or 'readwrite'",
    ],
  ])('%s: %j', (code, operands, problem) => {
    expect(operation(operands)).toEqual({ type: 'RegistrationError', code, message: `operation 'acme.f': ${problem}` })
  })

  test('the first rule that fails decides', () => {
    const builder = new ContextBuilder()
    const extension = builder.extension('acme').registerOperation({ name: 'acme.f', operands: unary })
    const code = (name: string, operands: unknown, doc?: unknown) =>
      refusal(() => extension.registerOperation(untyped({ name, operands, ...(doc === undefined ? {} : { doc }) })))
        .code

    const badAccess = [{ ...input(0), access: 'write' }]
    expect(code('F', badAccess, 1)).toBe('E_SPEC')
    expect(code('F', badAccess)).toBe('E_NAME')
    expect(code('acme.f', [{ role: 'x', kind: 'cube' }])).toBe('E_DUPLICATE_OPERATION')
    expect(code('acme.g', [{ role: 'input0', kind: 'cube' }, input(0)])).toBe('E_SPEC')
    expect(code('acme.g', [input(1), input(1), input(0)])).toBe('E_ROLE_DUPLICATE')
    expect(code('acme.g', [input(2), input(1)])).toBe('E_ROLE_ORDER')
    expect(code('acme.g', [input(1)])).toBe('E_ROLE_GAP')
    expect(code('acme.g', badAccess)).toBe('E_NO_OUTPUT')
    expect(code('acme.g', [...badAccess, output(0)])).toBe('E_ACCESS')
    expect(builder.build().operations()).toEqual(['acme.f'])
  })

  test('a specification is copied: changing it afterwards changes nothing', () => {
    const operands = [...unary]
    const builder = new ContextBuilder()
    builder.extension('acme').registerOperation({ name: 'acme.f', operands })
    operands.length = 0
    expect(builder.build().describe('acme.f').operands).toEqual([{ ...unary[0], access: 'read' }, unary[1]])
  })
})

describe('registerKernel', () => {
  const spec = { operation: 'acme.f', backend: BackendKind.CPU_SCALAR, operands: unaryKernel(), callback, label: 'k' }

  test.each<[string, object, string]>([
    ['no callback', { callback: undefined }, 'registerKernel: callback is undefined; expected a function'],
    ['a label that is no text', { label: 1 }, 'registerKernel: label is 1; expected a string, or absent'],
    [
      'an unknown field',
      { role: 1 },
      "registerKernel has a field 'role'; the fields are operation, backend, operands, callback, label",
    ],
    [
      'an unknown backend',
      { backend: 'tpu' },
      "kernel 'k' of 'acme.f' has the backend 'tpu'; expected one of cpu-scalar, cpu-simd, cpu-parallel, cuda",
    ],
    [
      'an unknown dtype',
      { operands: unaryKernel({ dtype: untyped('float') }) },
      "kernel 'k' of 'acme.f': operand 0 has the dtype 'float'; expected one of int8, int16, int32, int64, uint8, uint16, uint32, uint64, " +
        'float16, float32, float64, bfloat16, complex64, complex128, bool, float8_e4m3fn, float8_e5m2',
    ],
    [
      'an unknown compute dtype',
      { operands: unaryKernel({ computeDtype: untyped('double') }) },
      "kernel 'k' of 'acme.f': operand 0 has the computeDtype 'double'; expected one of int8, int16, int32, int64, uint8, uint16, uint32, " +
        'uint64, float16, float32, float64, bfloat16, complex64, complex128, bool, float8_e4m3fn, float8_e5m2',
    ],
    [
      'an unknown location',
      { operands: unaryKernel({ location: untyped('disk') }) },
      "kernel 'k' of 'acme.f': operand 0 has the location 'disk'; expected one of host, cuda, cuda-pinned, cuda-managed",
    ],
    [
      'an unknown layout',
      { operands: unaryKernel({ layout: untyped('C') }) },
      "kernel 'k' of 'acme.f': operand 0 has the layout 'C'; expected one of row-major, column-major, strided",
    ],
    [
      'an unknown contiguity',
      { operands: unaryKernel({ contiguity: untyped('yes') }) },
      "kernel 'k' of 'acme.f': operand 0 has the contiguity 'yes'; expected one of contiguous, any",
    ],
    [
      'a layout that no contiguous array has',
      { operands: unaryKernel({ layout: 'strided' }) },
      "kernel 'k' of 'acme.f': operand 0 is strided and contiguous, which no array is; expected the contiguity 'any'",
    ],
  ])('E_SPEC: %s', (_, fields, message) => {
    const extension = acme().registerOperation({ name: 'acme.f', operands: unary })
    expect(refusal(() => extension.registerKernel(untyped({ ...spec, ...fields })))).toEqual({
      type: 'RegistrationError',
      code: 'E_SPEC',
      message,
    })
  })

  const operation = '(input0 vector read, output0 vector write)'
  const mismatches: [string, readonly BackendOperandSpec[], string][] = [
    ['kind', unaryKernel({ kind: 'matrix' }), '(input0 matrix read, output0 matrix write)'],
    ['order', unaryKernel().reverse(), '(output0 vector write, input0 vector read)'],
    ['number', unaryKernel().slice(1), '(output0 vector write)'],
    [
      'access',
      [unaryKernel()[0]!, { ...unaryKernel()[1]!, access: 'readwrite' }],
      '(input0 vector read, output0 vector readwrite)',
    ],
  ]

  test.each(mismatches)('E_OPERANDS_MISMATCH in %s, at once when the operation is known', (_, operands, found) => {
    const extension = acme().registerOperation({ name: 'acme.f', operands: unary })
    expect(refusal(() => extension.registerKernel({ ...spec, operands }))).toEqual({
      type: 'RegistrationError',
      code: 'E_OPERANDS_MISMATCH',
      message: `kernel 'k' of 'acme.f' has the operands ${found}; the operation has ${operation}`,
    })
  })

  test.each(mismatches)('E_OPERANDS_MISMATCH in %s, at build() when the operation came later', (_, operands, found) => {
    const builder = new ContextBuilder()
    builder
      .extension('acme')
      .registerKernel({ ...spec, operands })
      .registerOperation({ name: 'acme.f', operands: unary })
    expect(refusal(() => builder.build())).toEqual({
      type: 'RegistrationError',
      code: 'E_OPERANDS_MISMATCH',
      message: `kernel 'k' of 'acme.f' has the operands ${found}; the operation has ${operation}`,
    })
  })

  test('E_DUPLICATE_KERNEL for the same signature, whatever the label; any other field makes another kernel', () => {
    const builder = new ContextBuilder()
    const extension = builder
      .extension('acme')
      .registerOperation({ name: 'acme.f', operands: unary })
      .registerKernel(spec)
    expect(refusal(() => builder.extension('other').registerKernel({ ...spec, label: 'again' }))).toEqual({
      type: 'RegistrationError',
      code: 'E_DUPLICATE_KERNEL',
      message:
        "kernel 'again' of 'acme.f': kernel 'k' has the same signature: cpu-scalar " +
        '(input0: float32 host row-major contiguous; output0: float32 host row-major contiguous)',
    })
    extension
      .registerKernel({ ...spec, backend: 'cpu-simd' })
      .registerKernel({ ...spec, operands: unaryKernel({ dtype: 'float64' }) })
      .registerKernel({ ...spec, operands: unaryKernel({ computeDtype: 'float64' }) })
      .registerKernel({ ...spec, operands: unaryKernel({ location: 'cuda' }) })
      .registerKernel({ ...spec, operands: unaryKernel({ layout: 'column-major' }) })
      .registerKernel({ ...spec, operands: unaryKernel({ contiguity: 'any' }) })
    expect(builder.build().describe('acme.f').implementations).toHaveLength(7)
  })

  test('E_UNKNOWN_OPERATION waits for build(), which may be tried again', () => {
    const builder = new ContextBuilder()
    const other = builder.extension('other').registerOperation({ name: 'other.g', operands: unary })
    other.registerKernel(spec)
    expect(refusal(() => builder.build())).toEqual({
      type: 'RegistrationError',
      code: 'E_UNKNOWN_OPERATION',
      message: "kernel 'k' implements 'acme.f', which is not registered; registered operations: other.g",
    })
    builder.extension('acme').registerOperation({ name: 'acme.f', operands: unary })
    expect(builder.build().operations()).toEqual(['acme.f', 'other.g'])
  })

  test('the first rule that fails decides', () => {
    const extension = acme().registerOperation({ name: 'acme.f', operands: unary }).registerKernel(spec)
    const operands = unaryKernel().slice(1)
    expect(refusal(() => extension.registerKernel({ ...spec, operands, backend: untyped('tpu') })).code).toBe('E_SPEC')
    expect(refusal(() => extension.registerKernel({ ...spec, operands })).code).toBe('E_OPERANDS_MISMATCH')
    expect(refusal(() => extension.registerKernel(spec)).code).toBe('E_DUPLICATE_KERNEL')
  })

  test("without a label a kernel is called by its callback's name", () => {
    const builder = new ContextBuilder()
    function halve() {}
    builder
      .extension('acme')
      .registerOperation({ name: 'acme.f', operands: unary })
      .registerKernel({ operation: 'acme.f', backend: 'cpu-scalar', operands: unary, callback: halve })
      .registerKernel({ operation: 'acme.f', backend: 'cpu-simd', operands: unary, callback: (() => () => {})() })
    expect(
      builder
        .build()
        .describe('acme.f')
        .implementations.map(({ label }) => label),
    ).toEqual(['halve', 'callback'])
  })
})

test('E_BUILDER_CLOSED after build() and after close(), for everything', () => {
  for (const end of ['build', 'close'] as const) {
    const builder = new ContextBuilder()
    const extension = builder.extension('acme')
    builder[end]()
    const calls: [string, () => unknown][] = [
      ['extension', () => builder.extension('acme')],
      ['registerOperation', () => extension.registerOperation({ name: 'acme.f', operands: unary })],
      [
        'registerKernel',
        () => extension.registerKernel({ operation: 'acme.f', backend: 'cpu-scalar', operands: unary, callback }),
      ],
      ['loadPlugin', () => builder.loadPlugin('x.so')],
      ['build', () => builder.build()],
    ]
    for (const [caller, call] of calls) {
      expect(refusal(call)).toEqual({
        type: 'RegistrationError',
        code: 'E_BUILDER_CLOSED',
        message: `${caller}: the builder was built or closed; make another ContextBuilder`,
      })
    }
    builder.close()
  }
})

test('errors carry their code, operation and role, and share one base class', () => {
  const error = thrownBy(() => acme().registerOperation({ name: 'acme.f', operands: [input(1), output(0)] }))
  expect(error).toBeInstanceOf(RegistrationError)
  expect(error).toBeInstanceOf(KernelError)
  expect(error).toMatchObject({ name: 'RegistrationError', code: 'E_ROLE_GAP', operation: 'acme.f', role: 'input1' })
})

test('each error class has the codes that the specification gives it', () => {
  const codes = Object.fromEntries(
    Object.entries(KERNEL_ERROR_CODES).map(([name, table]) => [name, Object.keys(table).join(' ')]),
  )
  expect(codes).toEqual({
    RegistrationError:
      'E_SPEC E_NAME E_DUPLICATE_OPERATION E_ROLE_DUPLICATE E_ROLE_ORDER E_ROLE_GAP E_NO_OUTPUT E_ACCESS E_OPERANDS_MISMATCH ' +
      'E_DUPLICATE_KERNEL E_UNKNOWN_OPERATION E_BUILDER_CLOSED',
    BindingError:
      'E_BINDING_MISSING E_BINDING_UNKNOWN E_BINDING_TYPE E_BINDING_KIND E_BINDING_DETACHED E_BINDING_BOUNDS E_DEVICE_MIXED E_ALIAS',
    DispatchError: 'E_UNKNOWN_OPERATION E_NO_KERNEL E_COMPUTE_ROLE E_COMPUTE_DTYPE E_BACKEND_UNAVAILABLE',
    CallbackError: 'E_ASYNC_CALLBACK E_VALIDATOR_RESULT E_KERNEL E_CUDA',
    PluginError: 'E_PLUGIN_OPEN E_PLUGIN_SYMBOL E_PLUGIN_ABI E_PLUGIN_CAPABILITY E_PLUGIN_ENTRY',
    ContextError: 'E_CONTEXT_CLOSED E_CONTEXT_BUSY',
  })
})
