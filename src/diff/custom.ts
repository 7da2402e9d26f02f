// The derivative rules that users supply, by name: what `custom` ops of a graph refer to. A graph holds the name only, so that it
// prints, parses and caches like any other.
// Invariant: a name means one rule for the life of the process.
import { HarrierError } from '../errors.ts'
import type { Builder } from '../ir/build.ts'
import type { CustomValue, Value } from '../ir/graph.ts'
import type { Flow } from './product.ts'

export interface CustomDerivative {
  /** What the user calls the function; for messages. */
  readonly label: string
  /** Tangents of the outputs, by number, from the inputs and their tangents. Absent: there is no forward rule. */
  readonly jvp?: (b: Builder, inputs: readonly Value[], tangents: readonly Value[]) => readonly Flow[]
  /** Adjoints of the inputs from the inputs and the adjoints of those outputs that have one. Absent: there is no reverse rule. */
  readonly vjp?: (b: Builder, inputs: readonly Value[], adjoints: ReadonlyMap<number, Value>) => readonly Flow[]
}

const registry = new Map<string, CustomDerivative>()

/** Makes a rule known. Registering a name again with another rule is a defect of the caller. */
export function registerCustomDerivative(name: string, derivative: CustomDerivative): void {
  const known = registry.get(name)
  if (known && known !== derivative) throw new HarrierError('E_INTERNAL', `custom rule '${name}' is registered twice`)
  registry.set(name, derivative)
}

/** The rule of a `custom` op in one direction; throws E_DERIVATIVE where there is none. */
export function customDerivative<Direction extends 'jvp' | 'vjp'>(
  { rule }: CustomValue,
  direction: Direction,
  kernel: string,
): NonNullable<CustomDerivative[Direction]> {
  const derivative = registry.get(rule)
  if (!derivative) {
    throw new HarrierError(
      'E_DERIVATIVE',
      `${direction} of kernel '${kernel}': the rule '${rule}' is not known in this process; define it with customRule before taking derivatives of a graph that uses it`,
    )
  }
  const found = derivative[direction]
  if (!found) {
    const [mode, other] = direction === 'jvp' ? ['forward', 'vjp'] : ['reverse', 'jvp']
    throw new HarrierError(
      'E_DERIVATIVE',
      `${direction} of kernel '${kernel}': customRule '${derivative.label}' has no ${mode} rule; give it { ${direction}: … }, or use ${other}, for which it has one`,
    )
  }
  return found as NonNullable<CustomDerivative[Direction]>
}
