// Kernels made by `kernel()` as implementations of operations: what their operands are, that they compute what plain JavaScript
// does, and that they live beside callbacks and plug-ins.
import { describe, expect, test } from 'vitest'
import {
  Accum,
  HarrierError,
  Index,
  Matrix,
  Mutable,
  Param,
  Reduce,
  Scalar,
  Table,
  Terminated,
  Vector,
  kernel,
  matmul,
} from '../../src/index.ts'
import {
  type BackendOperandSpec,
  ContextBuilder,
  type OperandSpec,
  OperandRole,
  type Role,
} from '../../src/operations/index.ts'
import { compilePlugin } from './support/compiler.ts'
import { refusal, thrownBy, unaryKernel, untyped } from './support/specs.ts'

const scale = kernel('scale', { x: Scalar, a: Param }, ({ x, a }) => x.mul(a))

const input = (number: 0 | 1 | 2 | 3, kind: OperandSpec['kind']): OperandSpec => ({ role: `input${number}`, kind })
const output = (
  number: 0 | 1 | 2 | 3,
  kind: OperandSpec['kind'],
  access: OperandSpec['access'] = 'write',
): OperandSpec => ({
  role: `output${number}`,
  kind,
  access,
})

const scaling: readonly OperandSpec[] = [input(0, 'vector'), input(1, 'scalar'), output(0, 'vector')]
const roles = { x: OperandRole.INPUT_0, a: OperandRole.INPUT_1, out: OperandRole.OUTPUT }

/** A context with acme.f, implemented by one traced kernel. */
function contextOf(
  operands: readonly OperandSpec[],
  traced: Parameters<typeof register>[1],
  roles: Record<string, Role>,
) {
  const builder = new ContextBuilder()
  builder.extension('acme').registerOperation({ name: 'acme.f', operands })
  register(builder, traced, roles)
  return builder.build()
}

function register(builder: ContextBuilder, traced: typeof scale | object, roles: Record<string, Role>) {
  return builder.extension('acme').registerKernel({ operation: 'acme.f', kernel: untyped(traced), roles })
}

const scalar = <T>(data: T) => ({ data, shape: [] })

test('a traced kernel serves float32 and float64, with the numbers of each type, in the arrays that were passed', () => {
  const context = contextOf(scaling, scale, roles)
  const x = Array.from({ length: 1000 }, (_, index) => index / 7 - 50)

  const single = new Float32Array(1000)
  const x32 = Float32Array.from(x)
  expect(context.execute('acme.f', { input0: x32, input1: scalar(Float32Array.of(0.1)), output0: single })).toBe(single)
  expect(single).toEqual(x32.map((value) => Math.fround(value * Math.fround(0.1))))

  const double = new Float64Array(1000)
  const x64 = Float64Array.from(x)
  context.execute('acme.f', { input0: x64, input1: scalar(Float64Array.of(0.1)), output0: double })
  expect(double).toEqual(x64.map((value) => value * 0.1))
})

test('it is described as what it is', () => {
  const { implementations } = contextOf(scaling, scale, roles).describe('acme.f')
  const array = (dtype: string) => ({
    dtype,
    computeDtype: dtype,
    location: 'host',
    layout: 'row-major',
    contiguity: 'contiguous',
  })
  expect(implementations).toEqual(
    ['float32', 'float64'].map((dtype, build) => ({
      label: ['scale (f32)', 'scale (f64)'][build],
      backend: 'cpu-parallel',
      operands: [
        { role: 'input0', kind: 'vector', access: 'read', ...array(dtype) },
        { role: 'input1', kind: 'scalar', access: 'read', ...array(dtype) },
        { role: 'output0', kind: 'vector', access: 'write', ...array(dtype) },
      ],
      origin: { kind: 'traced', name: 'scale' },
      serialised: false,
      available: true,
      reason: null,
    })),
  )
})

test('numbers and planes may be views with an offset, but not with holes', () => {
  const context = contextOf(scaling, scale, roles)
  const storage = Float64Array.of(9, 9, 1, 2, 3, 9)
  const numbers = Float64Array.of(9, 10)
  const view = { data: new Float64Array(5), shape: [3], offset: 1 }
  context.execute('acme.f', {
    input0: { data: storage, shape: [3], offset: 2 },
    input1: { data: numbers, shape: [], offset: 1 },
    output0: view,
  })
  expect(view.data).toEqual(Float64Array.of(0, 10, 20, 30, 0))
  const holes = { data: storage, shape: [3], strides: [2] }
  expect(
    refusal(() => context.execute('acme.f', { input0: holes, input1: scalar(numbers), output0: new Float64Array(3) }))
      .code,
  ).toBe('E_NO_KERNEL')
})

test('integers and conditions keep their types in both builds; a kernel without floats has one build', () => {
  const both = kernel('both', { x: Scalar, i: Index }, ({ x, i }) => ({ above: x.gt(i), next: i.add(1) }))
  const context = contextOf([input(0, 'vector'), input(1, 'vector'), output(0, 'vector'), output(1, 'vector')], both, {
    x: 'input0',
    i: 'input1',
    above: 'output0',
    next: 'output1',
  })
  expect(
    context.describe('acme.f').implementations.map(({ operands }) => operands.map(({ dtype }) => dtype).join()),
  ).toEqual(['float32,int32,uint8,int32', 'float64,int32,uint8,int32'])
  const [above, next] = context.execute('acme.f', {
    input0: Float32Array.of(0.5, 2.5),
    input1: Int32Array.of(1, 2),
    output0: new Uint8Array(2),
    output1: new Int32Array(2),
  })
  expect([above, next]).toEqual([Uint8Array.of(0, 1), Int32Array.of(2, 3)])

  const count = kernel('count', { i: Index }, ({ i }) => i.add(1))
  const { implementations } = contextOf([input(0, 'vector'), output(0, 'vector')], count, {
    i: 'input0',
    out: 'output0',
  }).describe('acme.f')
  expect(implementations).toMatchObject([{ label: 'count', operands: [{ dtype: 'int32' }, { dtype: 'int32' }] }])
})

test('vectors and matrices have the samples as their last axis, also where the plane is square', () => {
  const turn = kernel('turn', { m: Matrix(3, 3), v: Vector(3) }, ({ m, v }) => matmul(m, v))
  const context = contextOf([input(0, 'tensor'), input(1, 'matrix'), output(0, 'matrix')], turn, {
    m: 'input0',
    v: 'input1',
    out: 'output0',
  })
  const samples = 3
  const m = Float64Array.from({ length: 9 * samples }, (_, index) => index + 1)
  const v = Float64Array.from({ length: 3 * samples }, (_, index) => index - 4)
  const out = { data: new Float64Array(3 * samples), shape: [3, samples] }
  context.execute('acme.f', {
    input0: { data: m, shape: [3, 3, samples] },
    input1: { data: v, shape: [3, samples] },
    output0: out,
  })
  for (let sample = 0; sample < samples; sample++) {
    for (let row = 0; row < 3; row++) {
      const expected = [0, 1, 2].reduce(
        (sum, column) => sum + m[(3 * row + column) * samples + sample]! * v[column * samples + sample]!,
        0,
      )
      expect(out.data[row * samples + sample]).toBe(expected)
    }
  }
})

test('mutables, accumulators and masks are read and written, reductions written, tables read', () => {
  const step = kernel(
    'step',
    {
      x: Scalar,
      i: Index,
      table: Table(Scalar),
      state: Mutable(Scalar),
      bins: Accum(Scalar),
      total: Reduce('sum'),
      done: Terminated,
    },
    ({ x, i, table, state, bins, total, done }) => {
      const next = state.add(x.mul(table.at(i)))
      state.set(next)
      bins.add(x, i)
      total.contribute(x)
      done.when(next.gt(10))
    },
  )
  const operands = [
    input(0, 'vector'),
    input(1, 'vector'),
    input(2, 'vector'),
    output(0, 'vector', 'readwrite'),
    output(1, 'vector', 'readwrite'),
    output(2, 'scalar', 'write'),
    output(3, 'vector', 'readwrite'),
  ]
  const context = contextOf(operands, step, {
    x: 'input0',
    i: 'input1',
    table: 'input2',
    state: 'output0',
    bins: 'output1',
    total: 'output2',
    done: 'output3',
  })
  const x = Float64Array.of(1, 2, 3, 4)
  const state = Float64Array.of(0, 0, 9, 9)
  const bins = Float64Array.of(100, 200)
  const total = scalar(new Float64Array(1))
  const done = new Uint8Array(4)
  context.execute('acme.f', {
    input0: x,
    input1: Int32Array.of(0, 1, 0, 1),
    input2: Float64Array.of(10, 0.5),
    output0: state,
    output1: bins,
    output2: total,
    output3: done,
  })
  expect(state).toEqual(Float64Array.of(10, 1, 39, 11))
  expect(bins).toEqual(Float64Array.of(104, 206))
  expect(total.data).toEqual(Float64Array.of(10))
  expect(done).toEqual(Uint8Array.of(0, 0, 1, 1))
})

test('an output answers to its positional name as well, and options of the kernel hold', () => {
  const named = kernel('named', { x: Scalar }, ({ x }) => ({ twice: x.add(x) }))
  const context = contextOf([input(0, 'vector'), output(0, 'vector')], named.with({ n: 2 }), {
    x: 'input0',
    out: 'output0',
  })
  const out = new Float32Array(3)
  context.execute('acme.f', { input0: Float32Array.of(1, 2, 3), output0: out })
  expect(out).toEqual(Float32Array.of(2, 4, 0))
})

test('what the kernel refuses reaches the caller as its own error', () => {
  const context = contextOf(scaling, scale, roles)
  const call = () =>
    context.execute('acme.f', {
      input0: new Float64Array(3),
      input1: scalar(new Float64Array(1)),
      output0: new Float64Array(2),
    })
  const error = thrownBy(call)
  expect(error).toBeInstanceOf(HarrierError)
  expect(error).toMatchObject({ code: 'E_BINDING' })
})

describe('registerKernel refuses', () => {
  const builder = () => {
    const made = new ContextBuilder()
    made.extension('acme').registerOperation({ name: 'acme.f', operands: scaling })
    return made
  }

  test.each<[string, unknown, string]>([
    [
      'something that is no kernel',
      { kernel: () => {}, roles },
      'registerKernel: kernel is a function; expected a kernel made by kernel()',
    ],
    [
      'no roles',
      { kernel: scale },
      'registerKernel: roles is undefined; expected an object from the name of each parameter and output to its role',
    ],
    [
      'a backend',
      { kernel: scale, roles, backend: 'cuda' },
      "registerKernel has a field 'backend'; the fields are operation, kernel, roles, label",
    ],
    [
      'an unknown name',
      { kernel: scale, roles: { ...roles, y: 'input2' } },
      "registerKernel: kernel 'scale' binds nothing called 'y'; it binds x, a, out",
    ],
    [
      'a name without a role',
      { kernel: scale, roles: { x: 'input0', out: 'output0' } },
      "registerKernel: kernel 'scale' binds 'a', which is given no role",
    ],
    [
      'two roles for one output',
      {
        kernel: kernel('named', { x: Scalar }, ({ x }) => ({ twice: x.add(x) })),
        roles: { x: 'input0', twice: 'output0', out: 'output1' },
      },
      "registerKernel: kernel 'named' is given two roles for 'twice': 'output0' and 'output1'",
    ],
    [
      'an unknown role',
      { kernel: scale, roles: { ...roles, a: 'number' } },
      "kernel 'scale (f32)' of 'acme.f': operand 0 has the role 'number'; expected 'input0' to 'input255' or 'output0' to 'output255'",
    ],
  ])('E_SPEC: %s', (_, spec, message) => {
    expect(
      refusal(() =>
        builder()
          .extension('acme')
          .registerKernel(untyped({ operation: 'acme.f', ...untyped(spec) })),
      ),
    ).toEqual({
      type: 'RegistrationError',
      code: 'E_SPEC',
      message,
    })
  })

  test('E_OPERANDS_MISMATCH when the operation has other operands', () => {
    expect(refusal(() => register(builder(), scale, { x: 'input1', a: 'input0', out: 'output0' })).message).toBe(
      "kernel 'scale (f32)' of 'acme.f' has the operands (input0 scalar read, input1 vector read, output0 vector write); the operation " +
        'has (input0 vector read, input1 scalar read, output0 vector write)',
    )
  })

  test('E_DUPLICATE_KERNEL, and then neither build stays', () => {
    const made = builder()
    const operands = scaling.map((operand): BackendOperandSpec => ({ ...operand, dtype: 'float64' }))
    made
      .extension('acme')
      .registerKernel({ operation: 'acme.f', backend: 'cpu-parallel', operands, callback: () => {}, label: 'mine' })
    expect(refusal(() => register(made, scale, roles)).code).toBe('E_DUPLICATE_KERNEL')
    expect(made.build().describe('acme.f').implementations).toMatchObject([{ label: 'mine' }])
  })
})

test('a traced kernel, a callback and a plug-in implement one operation', () => {
  const file = compilePlugin('ENTRY { return register_double(host, registrar, info, error); }')
  const twice = kernel('twice', { x: Scalar }, ({ x }) => x.add(x))
  const builder = new ContextBuilder().loadPlugin(file)
  const extension = builder.extension('acme')
  extension.registerKernel({
    operation: 'plug.double',
    kernel: twice,
    roles: { x: OperandRole.INPUT_0, out: OperandRole.OUTPUT },
  })
  extension.registerKernel({
    operation: 'plug.double',
    backend: 'cpu-scalar',
    operands: unaryKernel({ dtype: 'int8' }),
    callback({ bindings }: { bindings: { readonly input0?: Int8Array; readonly output0?: Int8Array } }) {
      bindings.output0?.set(bindings.input0?.map((value) => 2 * value) ?? [])
    },
  })
  const context = builder.build()
  expect(
    context.describe('plug.double').implementations.map(({ label, backend, origin }) => [label, backend, origin.kind]),
  ).toEqual([
    ['double_f32', 'cpu-scalar', 'plugin'],
    ['twice (f32)', 'cpu-parallel', 'traced'],
    ['twice (f64)', 'cpu-parallel', 'traced'],
    ['callback', 'cpu-scalar', 'callback'],
  ])
  const run = <T extends Float32Array | Float64Array | Int8Array>(input0: T, output0: T, backend?: 'cpu-scalar') =>
    context.execute('plug.double', { input0, output0 }, { backend })
  expect(run(Float64Array.of(1, 2), new Float64Array(2))).toEqual(Float64Array.of(2, 4))
  expect(run(Int8Array.of(1, 2), new Int8Array(2))).toEqual(Int8Array.of(2, 4))
  expect(run(Float32Array.of(1, 2), new Float32Array(2))).toEqual(Float32Array.of(2, 4))
  expect(run(Float32Array.of(1, 2), new Float32Array(2), 'cpu-scalar')).toEqual(Float32Array.of(2, 4))
  context.close()
})
