// Random registrations against a model of the rules that is written on its own: plain lists and counting, no code of the registry.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type BackendOperandSpec,
  BackendKind,
  ContextBuilder,
  KernelError,
  OperandAccess,
  OperandKind,
  type OperandSpec,
  type Role,
} from '../../src/operations/index.ts'

type Step =
  | { readonly does: 'operation'; readonly name: string; readonly operands: readonly OperandSpec[] }
  | {
      readonly does: 'kernel'
      readonly operation: string
      readonly backend: BackendKind
      readonly operands: readonly BackendOperandSpec[]
    }

const ROLES: readonly Role[] = ['input0', 'input1', 'input2', 'output0', 'output1']
const NAMES = ['acme.f', 'acme.g', 'acme.h.i', 'other.f', 'core.f', 'acme', 'acme.F']

const role = fc.constantFrom(...ROLES)
const kind = fc.constantFrom<OperandKind>('vector', 'matrix')
const access = fc.constantFrom(...Object.values(OperandAccess))

/** Mostly lists that are in order and complete, so that the later rules are reached as often as the first ones. */
const operands = fc.oneof(
  { weight: 1, arbitrary: fc.array(fc.record({ role, kind, access }), { maxLength: 4 }) },
  {
    weight: 3,
    arbitrary: fc
      .record({
        roles: fc.subarray([...ROLES]),
        kinds: fc.array(kind, { minLength: 5, maxLength: 5 }),
        odd: fc.nat(12),
      })
      .map(({ roles, kinds, odd }) =>
        roles.map((name, place) => {
          const usual: OperandAccess = name.startsWith('input') ? 'read' : 'write'
          return { role: name, kind: kinds[place]!, access: place === odd ? OperandAccess.READ_WRITE : usual }
        }),
      ),
  },
)

const name = fc.constantFrom(...NAMES)
const dtype = fc.constantFrom('float32' as const, 'float64' as const)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ does: fc.constant('operation' as const), name, operands }),
  fc.record({
    does: fc.constant('kernel' as const),
    operation: name,
    backend: fc.constantFrom<BackendKind>('cpu-scalar', 'cpu-simd'),
    operands: fc.tuple(operands, dtype).map(([list, type]) => list.map((operand) => ({ ...operand, dtype: type }))),
  }),
)

/** Steps among which a kernel often has the operands of an operation that is there, earlier or later. */
const steps = fc
  .tuple(
    fc.array(step, { minLength: 1, maxLength: 6 }),
    fc.array(fc.tuple(fc.nat(), fc.nat(), dtype), { maxLength: 4 }),
  )
  .map(([list, copies]) => {
    const all = [...list]
    for (const [from, to, type] of copies) {
      const model = list[from % list.length]!
      if (model.does === 'kernel') continue
      const copied = model.operands.map((operand) => ({ ...operand, dtype: type }))
      all.splice(to % (all.length + 1), 0, {
        does: 'kernel',
        operation: model.name,
        backend: 'cpu-scalar',
        operands: copied,
      })
    }
    return all
  })

/** What the rules say of each step, and of build() at the end: an error code, or null. */
function model(list: readonly Step[]): (string | null)[] {
  const operations = new Map<string, string>()
  const kernels: { operation: string; shape: string; signature: string }[] = []
  const shapeOf = (operandList: readonly OperandSpec[]) =>
    operandList.map((operand) => `${operand.role}/${operand.kind}/${operand.access}`).join(' ')

  const verdicts = list.map((entry) => {
    if (entry.does === 'kernel') {
      const shape = shapeOf(entry.operands)
      const known = operations.get(entry.operation)
      if (known !== undefined && known !== shape) return 'E_OPERANDS_MISMATCH'
      const places = entry.operands.map((operand) => `${operand.role}:${operand.dtype}`).join(' ')
      const signature = `${entry.operation} ${entry.backend} ${places}`
      if (kernels.some((other) => other.signature === signature)) return 'E_DUPLICATE_KERNEL'
      kernels.push({ operation: entry.operation, shape, signature })
      return null
    }
    const roles = entry.operands.map((operand) => operand.role)
    if (!['acme.f', 'acme.g', 'acme.h.i'].includes(entry.name)) return 'E_NAME'
    if (operations.has(entry.name)) return 'E_DUPLICATE_OPERATION'
    if (new Set(roles).size < roles.length) return 'E_ROLE_DUPLICATE'
    // The names happen to sort as the roles must be ordered.
    if (roles.join() !== [...roles].sort().join()) return 'E_ROLE_ORDER'
    const inputs = roles.filter((found) => found.startsWith('input'))
    const outputs = roles.filter((found) => found.startsWith('output'))
    const complete = [...inputs.map((_, place) => `input${place}`), ...outputs.map((_, place) => `output${place}`)]
    if (roles.join() !== complete.join()) return 'E_ROLE_GAP'
    if (outputs.length === 0) return 'E_NO_OUTPUT'
    const fits = entry.operands.every((operand) => operand.role.startsWith('input') === (operand.access === 'read'))
    if (!fits) return 'E_ACCESS'
    operations.set(entry.name, shapeOf(entry.operands))
    return null
  })

  const unfit = kernels.find((kernel) => operations.get(kernel.operation) !== kernel.shape)
  const missing = unfit !== undefined && !operations.has(unfit.operation)
  return [...verdicts, unfit === undefined ? null : missing ? 'E_UNKNOWN_OPERATION' : 'E_OPERANDS_MISMATCH']
}

function codeOf(action: () => unknown): string | null {
  try {
    action()
    return null
  } catch (error) {
    if (error instanceof KernelError) return error.code
    throw error
  }
}

function registry(list: readonly Step[]): (string | null)[] {
  const builder = new ContextBuilder()
  const acme = builder.extension('acme')
  const verdicts = list.map((entry) =>
    codeOf(() =>
      entry.does === 'operation'
        ? acme.registerOperation({ name: entry.name, operands: entry.operands })
        : acme.registerKernel({
            operation: entry.operation,
            backend: entry.backend,
            operands: entry.operands,
            callback: () => {},
          }),
    ),
  )
  return [...verdicts, codeOf(() => builder.build())]
}

test('1,000 random series of registrations are judged as by the model', () => {
  const seen = new Set<string | null>()
  fc.assert(
    fc.property(steps, (list) => {
      const expected = model(list)
      for (const verdict of expected) seen.add(verdict)
      expect(registry(list)).toEqual(expected)
    }),
    { numRuns: 1000 },
  )
  // The generator is worth something only if it reaches every rule.
  expect([...seen].sort()).toEqual(
    [
      null,
      'E_NAME',
      'E_DUPLICATE_OPERATION',
      'E_ROLE_DUPLICATE',
      'E_ROLE_ORDER',
      'E_ROLE_GAP',
      'E_NO_OUTPUT',
      'E_ACCESS',
      'E_OPERANDS_MISMATCH',
      'E_DUPLICATE_KERNEL',
      'E_UNKNOWN_OPERATION',
    ].sort(),
  )
})
