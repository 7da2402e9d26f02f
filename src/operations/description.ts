// What `describe()` tells of an operation and its implementations.
import type { KernelOrigin } from './origin.ts'
import type { BackendOperand, Kernel, Operand, Operation } from './registry.ts'
import type { BackendKind } from './vocabulary.ts'

export interface ImplementationDescription {
  readonly label: string
  readonly backend: BackendKind
  readonly operands: readonly BackendOperand[]
  /** A callback, a traced kernel, or a plug-in with its file, name and version. */
  readonly origin: KernelOrigin
  /** Whether calls are kept apart by a lock. */
  readonly serialised: boolean
  readonly available: boolean
  /** Why it is not available; null when it is. */
  readonly reason: string | null
}

export interface OperationDescription {
  readonly name: string
  readonly doc: string
  readonly operands: readonly Operand[]
  /** How many validators run before each call. */
  readonly validators: number
  /** In the order of registration. */
  readonly implementations: readonly ImplementationDescription[]
}

/**
 * A frozen description.
 * @param unavailable why a backend cannot run here, or null when it can
 */
export function describeOperation(
  { name, doc, operands, validators }: Operation,
  kernels: readonly Kernel[],
  unavailable: (backend: BackendKind) => string | null,
): OperationDescription {
  return Object.freeze({
    name,
    doc,
    operands: freezeEach(operands),
    validators: validators.length,
    implementations: freezeEach(
      kernels.map(({ label, backend, operands, origin, lock }) => {
        const reason = unavailable(backend)
        return {
          label,
          backend,
          operands: freezeEach(operands),
          origin: Object.freeze({ ...origin }),
          serialised: lock !== null,
          available: reason === null,
          reason,
        }
      }),
    ),
  })
}

function freezeEach<T extends object>(items: readonly T[]): readonly Readonly<T>[] {
  return Object.freeze(items.map((item) => Object.freeze({ ...item })))
}
