// Which kernel a call gets: exact matches only, and the order of preference when several match.
import { describe, expect, test } from 'vitest'
import {
  type BackendOperandSpec,
  BackendKind,
  type Binding,
  ContextBuilder,
  type OperandSpec,
} from '../../src/operations/index.ts'
import { refusal, unary, untyped } from './support/specs.ts'

/** A context with one kernel for each label, that tells its label when it runs. */
function tellingContext(
  operands: readonly OperandSpec[],
  kernels: Record<string, { backend?: BackendKind; fields: readonly Partial<BackendOperandSpec>[] }>,
) {
  let chosen = ''
  const builder = new ContextBuilder()
  const extension = builder.extension('acme').registerOperation({ name: 'acme.f', operands })
  for (const [label, { backend = 'cpu-scalar', fields }] of Object.entries(kernels)) {
    extension.registerKernel({
      operation: 'acme.f',
      backend,
      operands: operands.map((operand, place) => ({ ...operand, ...fields[place] })),
      label,
      callback: () => {
        chosen = label
      },
    })
  }
  const context = builder.build()
  return {
    context,
    choice(bindings: Record<string, Binding>, options = {}) {
      chosen = ''
      context.execute('acme.f', untyped(bindings), options)
      return chosen
    },
  }
}

const f32 = { dtype: 'float32' } as const
const f64 = { dtype: 'float64' } as const

describe('dtypes', () => {
  const { context, choice } = tellingContext(unary, {
    single: { fields: [f32, f32] },
    double: { fields: [f64, f64] },
    mixed: { fields: [f32, f64] },
    precise: { fields: [f32, { ...f32, computeDtype: 'float64' }] },
  })
  const single = new Float32Array(2)
  const double = new Float64Array(2)

  test('the dtype of each array decides', () => {
    expect(choice({ input0: single, output0: new Float32Array(2) })).toBe('single')
    expect(choice({ input0: double, output0: new Float64Array(2) })).toBe('double')
    expect(choice({ input0: single, output0: double })).toBe('mixed')
  })

  test('compute dtypes pick among kernels of the same storage', () => {
    const bindings = { input0: single, output0: new Float32Array(2) }
    expect(choice(bindings, { computeDtypes: { output0: 'float64' } })).toBe('precise')
    expect(choice(bindings, { computeDtypes: { output0: 'float32' } })).toBe('single')
  })

  test('E_NO_KERNEL tells what was looked for and what there is', () => {
    expect(refusal(() => context.execute('acme.f', { input0: new Int32Array(2), output0: single }))).toEqual({
      type: 'DispatchError',
      code: 'E_NO_KERNEL',
      message: [
        'acme.f: no kernel for cpu-parallel or cpu-simd or cpu-scalar (input0: int32 host row-major/column-major contiguous; ' +
          'output0: float32 host row-major/column-major contiguous); registered:',
        '  single: cpu-scalar (input0: float32 host row-major contiguous; output0: float32 host row-major contiguous)',
        '  double: cpu-scalar (input0: float64 host row-major contiguous; output0: float64 host row-major contiguous)',
        '  mixed: cpu-scalar (input0: float32 host row-major contiguous; output0: float64 host row-major contiguous)',
        '  precise: cpu-scalar (input0: float32 host row-major contiguous; output0: float32 computed in float64 host row-major contiguous)',
      ].join('\n'),
    })
  })

  test('a compute dtype that no kernel has is not replaced by another', () => {
    const call = () =>
      context.execute(
        'acme.f',
        { input0: single, output0: new Float32Array(2) },
        { computeDtypes: { input0: 'float64' } },
      )
    expect(refusal(call).message).toMatch(
      /^acme\.f: no kernel for .* \(input0: float32 computed in float64 host row-major\/column-major contiguous; output0: float32 host/,
    )
  })

  test('E_COMPUTE_ROLE and E_COMPUTE_DTYPE', () => {
    const call = (computeDtypes: unknown) =>
      refusal(() =>
        context.execute('acme.f', { input0: single, output0: double }, { computeDtypes: untyped(computeDtypes) }),
      )
    expect(call({ input1: 'float32' })).toEqual({
      type: 'DispatchError',
      code: 'E_COMPUTE_ROLE',
      message: "acme.f: computeDtypes names 'input1', which is no role of the operation; the roles are input0, output0",
    })
    expect(call({ input0: 'double' })).toEqual({
      type: 'DispatchError',
      code: 'E_COMPUTE_DTYPE',
      message:
        "acme.f: computeDtypes gives input0 the dtype 'double'; expected one of int8, int16, int32, int64, uint8, uint16, uint32, " +
        'uint64, float16, float32, float64, bfloat16, complex64, complex128, bool, float8_e4m3fn, float8_e5m2',
    })
  })

  test('an operation without kernels says so', () => {
    const builder = new ContextBuilder()
    builder.extension('acme').registerOperation({ name: 'acme.f', operands: unary })
    expect(refusal(() => builder.build().execute('acme.f', { input0: single, output0: double })).message).toBe(
      'acme.f: no kernel for cpu-parallel or cpu-simd or cpu-scalar (input0: float32 host row-major/column-major contiguous; ' +
        'output0: float64 host row-major/column-major contiguous); none is registered',
    )
  })
})

describe('layout and contiguity', () => {
  const operands: OperandSpec[] = [{ role: 'input0', kind: 'matrix' }, unary[1]!]
  const matrix = (shape: number[], strides: number[], offset = 0) => ({
    data: new Float32Array(64),
    shape,
    strides,
    offset,
  })
  const output = { output0: new Float32Array(1) }

  const every = tellingContext(operands, {
    row: { fields: [{ layout: 'row-major' }] },
    'row-any': { fields: [{ layout: 'row-major', contiguity: 'any' }] },
    column: { fields: [{ layout: 'column-major' }] },
    'column-any': { fields: [{ layout: 'column-major', contiguity: 'any' }] },
    strided: { fields: [{ layout: 'strided', contiguity: 'any' }] },
  })

  test.each<[string, number[], number[], string]>([
    ['row-major', [3, 4], [4, 1], 'row'],
    ['row-major with room between rows', [3, 4], [7, 1], 'row-any'],
    ['column-major', [3, 4], [1, 3], 'column'],
    ['column-major with room between columns', [3, 4], [1, 5], 'column-any'],
    ['every second column', [3, 2], [4, 2], 'strided'],
    ['rows that overlap', [3, 4], [2, 1], 'strided'],
    ['one row for all', [3, 4], [0, 1], 'strided'],
    ['one row: both layouts, row-major first', [1, 4], [99, 1], 'row'],
    ['one column: both layouts, row-major first', [4, 1], [1, 99], 'row'],
    ['one column inside a wider matrix', [4, 1], [8, 1], 'row-any'],
    ['one row inside a taller matrix', [1, 4], [1, 8], 'column-any'],
    ['one element', [1, 1], [5, 5], 'row'],
    ['no element', [0, 4], [4, 1], 'row'],
  ])('%s', (_, shape, strides, label) => {
    expect(every.choice({ input0: matrix(shape, strides), ...output })).toBe(label)
  })

  test('rows in reverse are strided', () => {
    expect(every.choice({ input0: matrix([3, 4], [-4, 1], 8), ...output })).toBe('strided')
  })

  test('contiguity any takes both, after an exact match', () => {
    const { choice } = tellingContext(operands, { 'row-any': { fields: [{ contiguity: 'any' }] } })
    expect(choice({ input0: matrix([3, 4], [4, 1]), ...output })).toBe('row-any')
    expect(choice({ input0: matrix([3, 4], [7, 1]), ...output })).toBe('row-any')
  })

  test('one row finds a column-major kernel when there is no row-major one, and an exact one before any', () => {
    const { choice } = tellingContext(operands, {
      'row-any': { fields: [{ contiguity: 'any' }] },
      column: { fields: [{ layout: 'column-major' }] },
    })
    expect(choice({ input0: matrix([1, 4], [4, 1]), ...output })).toBe('column')
  })

  test('with several operands fewer of any come first, then exact ones in front, then row-major in front', () => {
    const two: OperandSpec[] = [
      { role: 'input0', kind: 'matrix' },
      { role: 'input1', kind: 'matrix' },
      { role: 'output0', kind: 'vector', access: 'write' },
    ]
    const any = { contiguity: 'any' } as const
    const column = { layout: 'column-major' } as const
    const kernels = {
      'any any': { fields: [any, any] },
      'any exact': { fields: [any, {}] },
      'exact any': { fields: [{}, any] },
      'column column': { fields: [column, column] },
      'row column': { fields: [{}, column] },
    }
    const order: string[] = []
    const left: Record<string, { fields: readonly Partial<BackendOperandSpec>[] }> = { ...kernels }
    const row = () => matrix([1, 4], [4, 1])
    while (Object.keys(left).length > 0) {
      const label = tellingContext(two, left).choice({ input0: row(), input1: row(), output0: new Float32Array(1) })
      order.push(label)
      delete left[label]
    }
    expect(order).toEqual(['row column', 'column column', 'exact any', 'any exact', 'any any'])
  })
})

describe('backends', () => {
  const bindings = { input0: new Float32Array(2), output0: new Float32Array(2) }

  test('host arrays try cpu-parallel, cpu-simd, cpu-scalar', () => {
    const left = Object.fromEntries(
      (['cpu-scalar', 'cpu-simd', 'cpu-parallel', 'cuda'] as const).map((backend) => [
        backend,
        { backend, fields: [] },
      ]),
    )
    const order: string[] = []
    while (Object.keys(left).length > 1) {
      const label = tellingContext(unary, left).choice(bindings)
      order.push(label)
      delete left[label]
    }
    expect(order).toEqual(['cpu-parallel', 'cpu-simd', 'cpu-scalar'])
    expect(refusal(() => tellingContext(unary, left).choice(bindings)).code).toBe('E_NO_KERNEL')
  })

  test('the backend option is the only one tried', () => {
    const { context, choice } = tellingContext(unary, {
      slow: { backend: 'cpu-scalar', fields: [] },
      fast: { backend: 'cpu-parallel', fields: [] },
    })
    expect(choice(bindings, { backend: 'cpu-scalar' })).toBe('slow')
    expect(refusal(() => context.execute('acme.f', bindings, { backend: 'cpu-simd' })).message).toMatch(
      /^acme\.f: no kernel for cpu-simd \(/,
    )
  })
})
