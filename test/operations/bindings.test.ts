// Which objects a role takes, and the whole message of every object that it refuses.
import { MessageChannel } from 'node:worker_threads'
import { describe, expect, test } from 'vitest'
import {
  type BackendOperandSpec,
  type Binding,
  ContextBuilder,
  type DType,
  type OperandKind,
} from '../../src/operations/index.ts'
import { refusal, unary, untyped } from './support/specs.ts'

/** A context with acme.f: one input of a kind, one output vector, and a kernel for the arrays described. */
function contextOf(kind: OperandKind, fields: Partial<BackendOperandSpec> = {}) {
  const operands = [{ ...unary[0]!, kind }, unary[1]!]
  const builder = new ContextBuilder()
  builder
    .extension('acme')
    .registerOperation({ name: 'acme.f', operands })
    .registerKernel({
      operation: 'acme.f',
      backend: 'cpu-scalar',
      operands: [{ ...operands[0]!, ...fields }, operands[1]!],
      callback: () => {},
    })
  return builder.build()
}

const vectors = contextOf('vector')
const matrices = contextOf('matrix')
const out = () => new Float32Array(1)

const refuse = (object: unknown, context = vectors) =>
  refusal(() => context.execute('acme.f', { input0: untyped(object), output0: out() }))

describe('roles', () => {
  test('E_BINDING_MISSING comes before E_BINDING_UNKNOWN, and both before what an object is', () => {
    expect(refusal(() => vectors.execute('acme.f', untyped({ output0: out(), input7: 1 })))).toEqual({
      type: 'BindingError',
      code: 'E_BINDING_MISSING',
      message: 'acme.f: nothing is bound to input0; the roles are input0, output0',
    })
    expect(refusal(() => vectors.execute('acme.f', untyped({ input0: 'text', output0: out(), x: 1 })))).toEqual({
      type: 'BindingError',
      code: 'E_BINDING_UNKNOWN',
      message: "acme.f: 'x' is no role of the operation; the roles are input0, output0",
    })
    expect(refusal(() => vectors.execute('acme.f', untyped(null)))).toEqual({
      type: 'BindingError',
      code: 'E_BINDING_TYPE',
      message: 'acme.f: the bindings are null; expected an object from role to array',
    })
  })
})

describe('E_BINDING_TYPE', () => {
  const forms =
    'expected a typed array, a view { data, shape, strides?, dtype?, offset? } or a device array ' +
    '{ location, device, ptr, dtype, shape, strides? }'
  const floats = new Float32Array(4)

  test.each<[string, unknown, string]>([
    ['a number', 3, `is 3; ${forms}`],
    ['null', null, `is null; ${forms}`],
    ['a plain array', [1, 2], `is [1, 2]; ${forms}`],
    ['an ArrayBuffer', new ArrayBuffer(8), `is an object of class ArrayBuffer; ${forms}`],
    ['a DataView', new DataView(new ArrayBuffer(8)), `is an object of class DataView; ${forms}`],
    ['a view of no array', { data: [1, 2], shape: [2] }, 'is a view whose data is [1, 2]; expected a typed array'],
    [
      'an unknown dtype',
      { data: floats, shape: [4], dtype: 'float' },
      "is a view of the dtype 'float', which does not exist",
    ],
    [
      'the wrong storage',
      { data: floats, shape: [4], dtype: 'float64' },
      'is a view of float64 on a Float32Array; expected a Float64Array',
    ],
    [
      'the wrong storage of a 16-bit float',
      { data: floats, shape: [4], dtype: 'float16' },
      'is a view of float16 on a Float32Array; expected a Float16Array or a Uint16Array',
    ],
    ['no shape', { data: floats }, 'has the shape undefined; expected an array of whole numbers from 0 on'],
    [
      'a negative extent',
      { data: floats, shape: [-1] },
      'has the shape [-1]; expected an array of whole numbers from 0 on',
    ],
    [
      'a broken extent',
      { data: floats, shape: [1.5] },
      'has the shape [1.5]; expected an array of whole numbers from 0 on',
    ],
    [
      'too few strides',
      { data: floats, shape: [2, 2], strides: [1] },
      'has the strides [1]; expected 2 whole numbers, one for each axis',
    ],
    [
      'a broken stride',
      { data: floats, shape: [2], strides: [0.5] },
      'has the strides [0.5]; expected 1 whole numbers, one for each axis',
    ],
    [
      'a negative offset',
      { data: floats, shape: [2], offset: -1 },
      'has the offset -1; expected a whole number from 0 on',
    ],
    [
      'a device array on the host',
      { location: 'host', device: 0, ptr: 16n, dtype: 'float32', shape: [1] },
      "is a device array at the location 'host'; expected one of cuda, cuda-pinned, cuda-managed",
    ],
    [
      'a device array without a device',
      { location: 'cuda', ptr: 16n, dtype: 'float32', shape: [1] },
      'is on the device undefined; expected a whole number from 0 on',
    ],
    [
      'a device array at a number',
      { location: 'cuda', device: 0, ptr: 16, dtype: 'float32', shape: [1] },
      'has the ptr 16; expected an address as a bigint',
    ],
    [
      'a device array of no dtype',
      { location: 'cuda', device: 0, ptr: 16n, shape: [1] },
      'is a device array of the dtype undefined, which does not exist',
    ],
  ])('%s', (_, object, problem) => {
    expect(refuse(object)).toEqual({
      type: 'BindingError',
      code: 'E_BINDING_TYPE',
      message: `acme.f: input0 ${problem}`,
    })
  })
})

describe('E_BINDING_DETACHED and E_BINDING_BOUNDS', () => {
  const detached = {
    type: 'BindingError',
    code: 'E_BINDING_DETACHED',
    message:
      'acme.f: input0 has a detached buffer: it was transferred to another thread or owner; pass the array that it became',
  }

  test('a transferred buffer, bare or in a view', () => {
    const array = new Float32Array(4)
    structuredClone(array, { transfer: [array.buffer] })
    expect(refuse(array)).toEqual(detached)
    expect(refuse({ data: array, shape: [4] })).toEqual(detached)
  })

  test('an empty array is not a detached one', () => {
    const empty = new Float32Array(0)
    expect(vectors.execute('acme.f', { input0: new Float32Array(0), output0: empty })).toBe(empty)
  })

  test('an array that its buffer no longer covers', () => {
    // ES2024 typed arrays on a resizable buffer; the types of this target do not know them.
    const buffer: ArrayBuffer & { resize(length: number): void } = Reflect.construct(ArrayBuffer, [
      32,
      { maxByteLength: 64 },
    ])
    const array = new Float32Array(buffer, 16, 2)
    buffer.resize(8)
    expect(refuse(array)).toEqual({
      type: 'BindingError',
      code: 'E_BINDING_BOUNDS',
      message: 'acme.f: input0 lies outside its buffer, which was made smaller; make a new array on it',
    })
  })

  test.each<[string, Binding, string]>([
    [
      'past the end',
      { data: new Float32Array(5), shape: [2, 3] },
      'reaches from element 0 to element 5 of 5 of dtype float32 (shape [2, 3], strides [3, 1], offset 0)',
    ],
    [
      'past the end by its offset',
      { data: new Float32Array(6), shape: [2, 3], offset: 1 },
      'reaches from element 1 to element 6 of 6 of dtype float32 (shape [2, 3], strides [3, 1], offset 1)',
    ],
    [
      'before the start',
      { data: new Float32Array(6), shape: [2, 3], strides: [-3, 1], offset: 2 },
      'reaches from element -1 to element 4 of 6 of dtype float32 (shape [2, 3], strides [-3, 1], offset 2)',
    ],
    [
      'complex numbers in half of the storage',
      { data: new Float32Array(6), shape: [2, 2], dtype: 'complex64' },
      'reaches from element 0 to element 3 of 3 of dtype complex64 (shape [2, 2], strides [2, 1], offset 0)',
    ],
    [
      'a device array at no address',
      { location: 'cuda', device: 0, ptr: 0n, dtype: 'float32', shape: [2, 2] },
      'is a device array of shape [2, 2] at the address 0',
    ],
  ])('%s', (_, object, problem) => {
    expect(refuse(object, matrices)).toEqual({
      type: 'BindingError',
      code: 'E_BINDING_BOUNDS',
      message: `acme.f: input0 ${problem}`,
    })
  })
})

test.each<[OperandKind, Binding, string]>([
  ['scalar', new Float32Array(1), 'input0 is a scalar, of rank 0; found rank 1, shape [1]'],
  ['vector', { data: new Float32Array(1), shape: [] }, 'input0 is a vector, of rank 1; found rank 0, shape []'],
  ['vector', { data: new Float32Array(4), shape: [2, 2] }, 'input0 is a vector, of rank 1; found rank 2, shape [2, 2]'],
  ['matrix', new Float32Array(4), 'input0 is a matrix, of rank 2; found rank 1, shape [4]'],
])('E_BINDING_KIND: a %s', (kind, object, problem) => {
  expect(refuse(object, contextOf(kind))).toEqual({
    type: 'BindingError',
    code: 'E_BINDING_KIND',
    message: `acme.f: ${problem}`,
  })
})

describe('accepted', () => {
  const taken = (object: Binding, kind: OperandKind, fields: Partial<BackendOperandSpec>) => {
    const output = out()
    return contextOf(kind, fields).execute('acme.f', { input0: object, output0: output }) === output
  }

  test.each<[DType, Binding]>([
    ['int8', new Int8Array(2)],
    ['int16', new Int16Array(2)],
    ['int32', new Int32Array(2)],
    ['int64', new BigInt64Array(2)],
    ['uint8', new Uint8Array(2)],
    ['uint8', new Uint8ClampedArray(2)],
    ['uint8', Buffer.alloc(2)],
    ['uint16', new Uint16Array(2)],
    ['uint32', new Uint32Array(2)],
    ['uint64', new BigUint64Array(2)],
    ['float32', new Float32Array(2)],
    ['float32', new Float32Array(new SharedArrayBuffer(8))],
    ['float64', new Float64Array(2)],
    ['float16', { data: new Uint16Array(2), shape: [2], dtype: 'float16' }],
    ['bfloat16', { data: new Uint16Array(2), shape: [2], dtype: 'bfloat16' }],
    ['complex64', { data: new Float32Array(4), shape: [2], dtype: 'complex64' }],
    ['complex128', { data: new Float64Array(4), shape: [2], dtype: 'complex128' }],
    ['bool', { data: new Uint8Array(2), shape: [2], dtype: 'bool' }],
    ['float8_e4m3fn', { data: new Uint8Array(2), shape: [2], dtype: 'float8_e4m3fn' }],
    ['float8_e5m2', { data: new Uint8Array(2), shape: [2], dtype: 'float8_e5m2' }],
  ])('%s as a vector', (dtype, object) => {
    expect(taken(object, 'vector', { dtype })).toBe(true)
  })

  test('a scalar, a matrix and a tensor as views', () => {
    expect(taken({ data: new Float32Array(1), shape: [] }, 'scalar', {})).toBe(true)
    expect(taken({ data: new Float32Array(6), shape: [2, 3] }, 'matrix', {})).toBe(true)
    expect(taken({ data: new Float32Array(24), shape: [2, 3, 4] }, 'tensor', {})).toBe(true)
    expect(taken(new Float32Array(3), 'tensor', {})).toBe(true)
  })

  test('a view whose fields are on its prototype', () => {
    class Grid {
      get data() {
        return new Float32Array(6)
      }
      get shape() {
        return [2, 3]
      }
    }
    expect(taken(new Grid(), 'matrix', {})).toBe(true)
  })
})

describe('E_ALIAS', () => {
  const data = new Float32Array(8)
  const refused = {
    type: 'BindingError',
    code: 'E_ALIAS',
    message: 'acme.f: output0 is written and shares memory with input0; pass an array of its own for one of them',
  }
  const both = (input0: Binding, output0: Binding) => () => vectors.execute('acme.f', { input0, output0 })

  test('the same array, an overlap of one element, and two objects on one piece of memory', async () => {
    expect(refusal(both(data, data))).toEqual(refused)
    expect(refusal(both(data.subarray(0, 5), data.subarray(4)))).toEqual(refused)
    expect(refusal(both(new Float32Array(data.buffer), data))).toEqual(refused)

    // The same shared memory under another buffer object, as one that comes back from a worker is.
    const shared = new Float32Array(new SharedArrayBuffer(32))
    const copy: Float32Array = await new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel()
      port2.on('message', (message: Float32Array) => {
        port1.close()
        resolve(message)
      })
      port1.postMessage(shared)
    })
    expect(copy.buffer).not.toBe(shared.buffer)
    expect(refusal(both(copy, shared))).toEqual(refused)
  })

  test('neighbours in one buffer, and inputs that share memory, are no overlap', () => {
    const output = data.subarray(4)
    expect(vectors.execute('acme.f', { input0: data.subarray(0, 4), output0: output })).toBe(output)

    const builder = new ContextBuilder()
    const operands = [unary[0]!, { role: 'input1' as const, kind: 'vector' as const }, unary[1]!]
    builder
      .extension('acme')
      .registerOperation({ name: 'acme.g', operands })
      .registerKernel({ operation: 'acme.g', backend: 'cpu-scalar', operands, callback: () => {} })
    expect(
      builder.build().execute('acme.g', { input0: data.subarray(0, 4), input1: data.subarray(1, 3), output0: output }),
    ).toBe(output)
  })
})
