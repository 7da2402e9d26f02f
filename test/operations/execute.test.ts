// What a call does, in which order it checks, and what callbacks and validators may and may not do.
import { describe, expect, expectTypeOf, test } from 'vitest'
import {
  BackendKind,
  type Bindings,
  type Context,
  ContextBuilder,
  type Invocation,
  OperandAccess,
  OperandKind,
  OperandRole,
  type Validator,
} from '../../src/operations/index.ts'
import { refusal, thrownBy, unary, unaryKernel, untyped } from './support/specs.ts'

/** A context with acme.f, a unary operation on float32 vectors, and one kernel. */
function contextOf(callback: (invocation: Invocation) => unknown, validators: readonly Validator[] = []): Context {
  const builder = new ContextBuilder()
  builder
    .extension('acme')
    .registerOperation({ name: 'acme.f', operands: unary, validators })
    .registerKernel({
      operation: 'acme.f',
      backend: 'cpu-scalar',
      operands: unary,
      callback: untyped(callback),
      label: 'k',
    })
  return builder.build()
}

const call = () => ({ input0: new Float32Array([1, 2, 3]), output0: new Float32Array(3) })

test('the documented example: doubling returns the very object that was passed', () => {
  function double({ bindings }: Invocation<{ readonly input0: Float32Array; readonly output0: Float32Array }>) {
    const { input0, output0 } = bindings
    input0.forEach((value, index) => (output0[index] = 2 * value))
  }
  const builder = new ContextBuilder()
  const source = new Float32Array([1, 2, 3])
  const output = new Float32Array(3)

  const operands = [
    { role: OperandRole.INPUT_0, kind: OperandKind.VECTOR },
    { role: OperandRole.OUTPUT, kind: OperandKind.VECTOR, access: OperandAccess.WRITE },
  ]
  const acme = builder.extension('acme')
  acme.registerOperation({ name: 'acme.double', operands })
  acme.registerKernel({ operation: 'acme.double', backend: BackendKind.CPU_SCALAR, operands, callback: double })
  const context = builder.build()
  expect(
    context.execute('acme.double', { [OperandRole.INPUT_0]: source, [OperandRole.OUTPUT]: output }) === output,
  ).toBe(true)

  expect(output).toEqual(new Float32Array([2, 4, 6]))
})

test('the documented names stand for the texts that messages use', () => {
  expect([OperandRole.INPUT_0, OperandRole.INPUT_255, OperandRole.OUTPUT, OperandRole.OUTPUT_1]).toEqual([
    'input0',
    'input255',
    'output0',
    'output1',
  ])
  expect(Object.keys(OperandRole)).toHaveLength(512)
  expect([...Object.values(OperandKind), ...Object.values(OperandAccess), ...Object.values(BackendKind)]).toEqual(
    'scalar vector matrix tensor read write readwrite cpu-scalar cpu-simd cpu-parallel cuda'.split(' '),
  )
})

test('several outputs come back as a list of the objects passed, typed by what was passed', () => {
  const operands = [
    ...unary,
    { role: OperandRole.OUTPUT_1, kind: OperandKind.SCALAR, access: OperandAccess.READ_WRITE },
  ]
  const builder = new ContextBuilder()
  builder
    .extension('acme')
    .registerOperation({ name: 'acme.sum', operands })
    .registerKernel({ operation: 'acme.sum', backend: 'cpu-scalar', operands, callback: () => {} })
  const context = builder.build()
  const sum = { data: new Float32Array(1), shape: [] }
  const { input0, output0 } = call()
  const outputs = context.execute('acme.sum', { input0, output0, output1: sum })
  expectTypeOf(outputs).toEqualTypeOf<readonly [Float32Array<ArrayBuffer>, typeof sum]>()
  expect(outputs).toHaveLength(2)
  expect(outputs[0]).toBe(output0)
  expect(outputs[1]).toBe(sum)

  const one = contextOf(() => {}).execute('acme.f', call())
  expectTypeOf(one).toEqualTypeOf<Float32Array<ArrayBuffer>>()
})

describe('a callback', () => {
  test("sees the caller's own objects in a map that it cannot change, and what was chosen", () => {
    let seen: Invocation | undefined
    const bindings = call()
    const context = contextOf((invocation) => (seen = invocation))
    context.execute('acme.f', bindings, { stream: 7n })
    expect(seen).toMatchObject({
      operation: 'acme.f',
      backend: 'cpu-scalar',
      computeDtypes: { input0: 'float32', output0: 'float32' },
      cudaDevice: null,
      stream: null,
    })
    expect(seen?.bindings.input0).toBe(bindings.input0)
    expect(seen?.bindings.output0).toBe(bindings.output0)
    expect(Object.keys(seen?.bindings ?? {})).toEqual(['input0', 'output0'])
    expect([Object.isFrozen(seen), Object.isFrozen(seen?.bindings), Object.isFrozen(seen?.computeDtypes)]).toEqual([
      true,
      true,
      true,
    ])
  })

  test('that throws reaches the caller with the same object', () => {
    const mistakes = [new RangeError('too small'), 'a string', undefined]
    for (const mistake of mistakes) {
      const context = contextOf(() => {
        throw mistake
      })
      const thrown = { value: 'nothing' as unknown }
      try {
        context.execute('acme.f', call())
      } catch (error) {
        thrown.value = error
      }
      expect(thrown.value).toBe(mistake)
      // The context is usable afterwards, and not busy.
      expect(thrownBy(() => context.execute('acme.f', untyped({})))).toMatchObject({ code: 'E_BINDING_MISSING' })
      context.close()
    }
  })

  test('that returns a promise is refused, and a rejection of it does no further harm', async () => {
    const context = contextOf(async () => {
      throw new Error('later')
    })
    const expected = {
      type: 'CallbackError',
      code: 'E_ASYNC_CALLBACK',
      message:
        "acme.f: the callback of kernel 'k' returned a promise; callbacks and validators finish all their work before they return",
    }
    expect(refusal(() => context.execute('acme.f', call()))).toEqual(expected)
    // oxlint-disable-next-line unicorn/no-thenable -- a promise of another library
    expect(refusal(() => contextOf(() => ({ then: () => {} })).execute('acme.f', call()))).toEqual(expected)
    await new Promise((resolve) => setTimeout(resolve, 5))
  })

  test('may return anything else', () => {
    for (const value of [1, 'text', null, {}, []]) {
      const bindings = call()
      expect(contextOf(() => value).execute('acme.f', bindings)).toBe(bindings.output0)
    }
  })

  test('may run another operation of its context, but not close it', () => {
    const inner = call()
    const context: Context = contextOf(({ bindings }) => {
      if (bindings.input0 !== inner.input0) context.execute('acme.f', inner)
      context.close()
    })
    expect(refusal(() => context.execute('acme.f', call()))).toEqual({
      type: 'ContextError',
      code: 'E_CONTEXT_BUSY',
      message: "close: 'acme.f' is running; close the context after it has returned",
    })
    context.close()
  })
})

describe('a validator', () => {
  test('runs before a kernel is looked for, in order, with the objects in a map that it cannot change', () => {
    const order: string[] = []
    let seen: Bindings | undefined
    const first: Validator = (bindings) => {
      order.push('first')
      seen = bindings
    }
    const context = contextOf(() => order.push('kernel'), [first, () => void order.push('second')])
    const bindings = call()
    context.execute('acme.f', bindings)
    expect(order).toEqual(['first', 'second', 'kernel'])
    expect(seen?.input0).toBe(bindings.input0)
    expect(Object.isFrozen(seen)).toBe(true)

    // No kernel takes float64, yet the validators run first.
    order.length = 0
    expect(
      refusal(() => context.execute('acme.f', { input0: new Float64Array(1), output0: new Float32Array(1) })).code,
    ).toBe('E_NO_KERNEL')
    expect(order).toEqual(['first', 'second'])
  })

  test('that throws stops the call before any later validator or callback', () => {
    const order: string[] = []
    const mistake = new TypeError('the lengths differ')
    const refuse: Validator = () => {
      throw mistake
    }
    const context = contextOf(() => order.push('kernel'), [refuse, () => void order.push('second')])
    expect(thrownBy(() => context.execute('acme.f', call()))).toBe(mistake)
    expect(order).toEqual([])
  })

  test('that returns something is refused', () => {
    function positive() {
      return true
    }
    expect(refusal(() => contextOf(() => {}, [untyped(positive)]).execute('acme.f', call()))).toEqual({
      type: 'CallbackError',
      code: 'E_VALIDATOR_RESULT',
      message:
        "acme.f: the validator 'positive' returned true; a validator throws to reject a call and returns nothing",
    })
    expect(refusal(() => contextOf(() => {}, [untyped(async () => {})]).execute('acme.f', call()))).toEqual({
      type: 'CallbackError',
      code: 'E_ASYNC_CALLBACK',
      message:
        "acme.f: the validator 'anonymous' returned a promise; callbacks and validators finish all their work before they return",
    })
  })
})

test('the first check that fails decides, from the context to the kernel', () => {
  const device = { location: 'cuda', ptr: 4096n, dtype: 'float32', shape: [4] } as const
  const shared = new Float32Array(8)
  const steps: [code: string, name: string, bindings: unknown, options?: unknown][] = [
    ['E_UNKNOWN_OPERATION', 'acme.none', null],
    ['E_BINDING_MISSING', 'acme.f', { input0: 'text', x: 1 }],
    ['E_BINDING_UNKNOWN', 'acme.f', { input0: 'text', output0: shared, x: 1 }],
    ['E_BINDING_TYPE', 'acme.f', { input0: { data: shared, shape: [99], offset: 'x' }, output0: 3 }],
    ['E_BINDING_BOUNDS', 'acme.f', { input0: { data: shared, shape: [3, 3] }, output0: 3 }],
    // What an object is comes before the kind of any.
    ['E_BINDING_TYPE', 'acme.f', { input0: { data: shared, shape: [2, 2] }, output0: 3 }],
    [
      'E_BINDING_KIND',
      'acme.f',
      { input0: { ...device, device: 0, shape: [2, 2] }, output0: { ...device, device: 1 } },
    ],
    [
      'E_DEVICE_MIXED',
      'acme.f',
      { input0: { ...device, device: 0 }, output0: { ...device, device: 1 } },
      { computeDtypes: { x: 1 } },
    ],
    ['E_COMPUTE_ROLE', 'acme.f', { input0: shared, output0: shared }, { computeDtypes: { x: 1 } }],
    ['E_COMPUTE_DTYPE', 'acme.f', { input0: shared, output0: shared }, { computeDtypes: { input0: 1 } }],
    ['E_ALIAS', 'acme.f', { input0: shared, output0: shared }],
    ['E_VALIDATOR_RESULT', 'acme.f', { input0: new Int8Array(8), output0: shared }],
  ]
  const context = contextOf(() => {}, [untyped(() => 1)])
  for (const [code, name, bindings, options] of steps) {
    expect([code, refusal(() => context.execute(name, untyped(bindings), untyped(options))).code]).toEqual([code, code])
  }
  context.close()
  expect(refusal(() => context.execute('acme.none', untyped(null)))).toEqual({
    type: 'ContextError',
    code: 'E_CONTEXT_CLOSED',
    message: 'execute: the context is closed; build another one',
  })
})

test('E_DEVICE_MIXED names one array of each device', () => {
  const device = { location: 'cuda', ptr: 4096n, dtype: 'float32', shape: [4] } as const
  expect(
    refusal(() =>
      contextOf(() => {}).execute('acme.f', { input0: { ...device, device: 0 }, output0: { ...device, device: 2 } }),
    ),
  ).toEqual({
    type: 'BindingError',
    code: 'E_DEVICE_MIXED',
    message:
      'acme.f: input0 is on device 0 and output0 on device 2; expected all device arrays of a call on one device',
  })
})

describe('a context', () => {
  test('tells its operations, sorted, and describes each', () => {
    const builder = new ContextBuilder()
    const precise = unaryKernel({ dtype: 'float64', contiguity: 'any' })
    builder
      .extension('zeta')
      .registerOperation({ name: 'zeta.f', operands: unary, doc: 'Does nothing.', validators: [() => {}] })
      .registerKernel({ operation: 'zeta.f', backend: 'cpu-simd', operands: precise, callback: () => {}, label: 'k' })
    builder.extension('acme').registerOperation({ name: 'acme.f', operands: unary })
    const context = builder.build()
    expect(context.operations()).toEqual(['acme.f', 'zeta.f'])
    const description = context.describe('zeta.f')
    const common = {
      dtype: 'float64',
      computeDtype: 'float64',
      location: 'host',
      layout: 'row-major',
      contiguity: 'any',
    }
    expect(description).toEqual({
      name: 'zeta.f',
      doc: 'Does nothing.',
      operands: [
        { role: 'input0', kind: 'vector', access: 'read' },
        { role: 'output0', kind: 'vector', access: 'write' },
      ],
      validators: 1,
      implementations: [
        {
          label: 'k',
          backend: 'cpu-simd',
          operands: [
            { role: 'input0', kind: 'vector', access: 'read', ...common },
            { role: 'output0', kind: 'vector', access: 'write', ...common },
          ],
          origin: { kind: 'callback' },
          serialised: false,
          available: true,
          reason: null,
        },
      ],
    })
    expect(Object.isFrozen(description.implementations[0]?.operands[0])).toBe(true)
  })

  test('does not know an operation that is not registered', () => {
    const message = "no operation is called 'acme.g'; registered: acme.f"
    const context = contextOf(() => {})
    const expected = { type: 'DispatchError', code: 'E_UNKNOWN_OPERATION' }
    expect(refusal(() => context.describe('acme.g'))).toEqual({ ...expected, message: `describe: ${message}` })
    expect(refusal(() => context.execute('acme.g', call()))).toEqual({ ...expected, message: `execute: ${message}` })
  })

  test('is closed for everything after close(), which may be called again', () => {
    const context = contextOf(() => {})
    context.close()
    context.close()
    context[Symbol.dispose]()
    for (const [caller, use] of [
      ['execute', () => context.execute('acme.f', call())],
      ['operations', () => context.operations()],
      ['describe', () => context.describe('acme.f')],
    ] as const) {
      expect(refusal(use)).toEqual({
        type: 'ContextError',
        code: 'E_CONTEXT_CLOSED',
        message: `${caller}: the context is closed; build another one`,
      })
    }
  })
})
