// `customRule`: a function for kernel bodies that brings its own derivative. Its forward part is traced where it is called, so that the
// kernel computes what it would without the rule; each output is marked, and derivatives follow the rule from the mark.
// Invariant: a rule is written with the same functions as a kernel body, so that it runs on every backend and differentiates again.
import { registerCustomDerivative, type CustomDerivative } from '../../diff/custom.ts'
import type { Flow } from '../../diff/product.ts'
import { HarrierError } from '../../errors.ts'
import type { Builder } from '../../ir/build.ts'
import type { Value } from '../../ir/graph.ts'
import { STATE } from '../../trace/brands.ts'
import { createTrace, currentTrace, refusal, withTrace, type Trace } from '../../trace/context.ts'
import { headOf, type Head } from '../../trace/kinds.ts'
import { constantOf } from '../../trace/promote.ts'
import {
  outline,
  pathText,
  putTogether,
  takeApart,
  type Path,
  type Structure,
  type Template,
} from '../../trace/structure.ts'
import {
  componentsOf,
  headText,
  isHandle,
  isTraced,
  makeFromComponents,
  show,
  use,
  type Traced,
} from '../../trace/value.ts'
import type { SymbolicValue } from '../../trace/values.ts'

/** What a rule gives back: traced values or numbers, alone or nested. */
export type RuleValue = SymbolicValue | number | readonly RuleValue[] | { readonly [key: string]: RuleValue }

export interface CustomRules<I extends readonly unknown[], O> {
  /**
   * Reverse: the adjoints of the inputs, one each in order (undefined for an input without derivative), from the inputs and the adjoint
   * of the output, which is nested as the output is.
   */
  readonly vjp?: (inputs: I, bar: O) => readonly (RuleValue | undefined)[]
  /** Forward: the tangent of the output, nested as the output is, from the inputs and their tangents in order. */
  readonly jvp?: (inputs: I, dots: I) => RuleValue
}

/** The rules as they are run: what they take and give is checked then. */
interface Rules {
  readonly vjp?: (inputs: readonly Traced[], bar: unknown) => unknown
  readonly jvp?: (inputs: readonly Traced[], dots: readonly Traced[]) => unknown
}

/** Where a rule was called: the shapes of its inputs, and its output. */
interface Site {
  readonly inputs: readonly Head[]
  readonly output: Template
  readonly heads: readonly Head[]
}

const names = new Set<string>()

/** Splits a list of values by heads. */
function split(heads: readonly Head[], values: readonly Value[]): readonly (readonly Value[])[] {
  let next = 0
  return heads.map(({ components }) => values.slice(next, (next += components)))
}

const handles = (trace: Trace, heads: readonly Head[], values: readonly Value[], label: string): readonly Traced[] =>
  split(heads, values).map((components, k) => makeFromComponents(trace, heads[k]!, components, `${label}[${k}]`))

/** A tangent is a float, whatever its input is. */
const asFloat = ({ shape, quaternion }: Head): Head => headOf('f64', shape, quaternion)

function read(trace: Trace, call: string, found: unknown): Structure {
  return takeApart(found, (value, path: Path) =>
    refusal(trace, 'E_DERIVATIVE', `${call} gives ${show(value)}${pathText(path)}, expected traced values or numbers`),
  )
}

/** Components of what a rule gave where a value of a head is expected. */
function componentsLike(trace: Trace, call: string, leaf: unknown, head: Head): readonly Value[] {
  if (typeof leaf === 'number') return Array.from({ length: head.components }, () => constantOf(trace, leaf, 'f64'))
  if (isTraced(leaf)) {
    const state = use(leaf, call)
    const { components, type } = state.head
    if (components === head.components && type !== 'bool') {
      return componentsOf(state).map((value) => trace.builder.convert(value, 'f64'))
    }
  }
  throw refusal(trace, 'E_DERIVATIVE', `${call} gives ${show(leaf)} where a ${headText(asFloat(head))} was owed`)
}

/** The rules of the user as src/diff calls them, on the values of a derivative. */
function derivativeAt(name: string, { vjp, jvp }: Rules, { inputs, output, heads }: Site): CustomDerivative {
  /** Runs a rule as if it stood in a kernel body. */
  const inBody = <T>(b: Builder, body: (trace: Trace) => T): T => {
    const trace = createTrace(`rule of ${name}`, b)
    return withTrace(trace, () => body(trace))
  }
  return {
    label: name,
    ...(jvp && {
      jvp: (b, values, tangents) =>
        inBody(b, (trace) => {
          const call = `customRule '${name}': jvp`
          const dots = handles(trace, inputs.map(asFloat), tangents, 'dots')
          const found = jvp(handles(trace, inputs, values, 'inputs'), dots)
          const { template, leaves } = read(trace, call, found)
          if (leaves.length !== heads.length) {
            throw refusal(
              trace,
              'E_DERIVATIVE',
              `${call} gives ${outline(template)}, but the function gives ${outline(output)}`,
            )
          }
          return leaves.flatMap((leaf, k) => componentsLike(trace, call, leaf, heads[k]!))
        }),
    }),
    ...(vjp && {
      vjp: (b, values, adjoints) =>
        inBody(b, (trace) => {
          const call = `customRule '${name}': vjp`
          const count = heads.reduce((total, { components }) => total + components, 0)
          const all = Array.from({ length: count }, (_, k) => adjoints.get(k) ?? b.zero('f64'))
          const bars = handles(trace, heads, all, 'bar')
          const bar = putTogether(output, (k) => bars[k]!)
          const found = vjp(handles(trace, inputs, values, 'inputs'), bar)
          if (!Array.isArray(found) || found.length !== inputs.length) {
            const given = Array.isArray(found) ? `${found.length} adjoints` : show(found)
            throw refusal(
              trace,
              'E_DERIVATIVE',
              `${call} gives ${given}, expected an array with one adjoint for each of ${inputs.length} inputs`,
            )
          }
          return found.flatMap((adjoint: unknown, k): readonly Flow[] =>
            adjoint === undefined
              ? Array.from({ length: inputs[k]!.components }, () => undefined)
              : componentsLike(trace, call, adjoint, inputs[k]!),
          )
        }),
    }),
  }
}

/**
 * A function for kernel bodies with its own derivative rules.
 * @param name for messages and graphs; one a process
 * @param forward computes the output from traced values (a plain number becomes one); the kernel computes exactly this
 * @param rules `vjp` for reverse mode, `jvp` for forward mode; a derivative in a direction without a rule is refused when it is asked for
 * @throws E_NAME where the name is empty or taken, E_DERIVATIVE where there is no rule at all
 */
export function customRule<const I extends readonly SymbolicValue[], O>(
  name: string,
  forward: (...inputs: I) => O,
  rules: CustomRules<I, O>,
): (...inputs: I) => O
export function customRule(name: string, forward: (...inputs: readonly Traced[]) => unknown, rules: Rules): unknown {
  if (typeof name !== 'string' || name === '') throw new HarrierError('E_NAME', 'customRule: the name is empty')
  if (names.has(name)) {
    throw new HarrierError(
      'E_NAME',
      `customRule: the name '${name}' is taken; a rule is defined once, outside kernel bodies`,
    )
  }
  if (!rules.vjp && !rules.jvp) {
    throw new HarrierError('E_DERIVATIVE', `customRule '${name}': it has no rule; give it { vjp }, { jvp } or both`)
  }
  names.add(name)
  const known = new Map<string, CustomDerivative>()

  return (...given: readonly unknown[]) => {
    const trace = currentTrace(`${name}()`)
    const inputs = given.map((input): Traced => {
      if (typeof input === 'number')
        return makeFromComponents(trace, headOf('f64', []), [constantOf(trace, input, 'f64')], String(input))
      if (isTraced(input)) return input
      throw refusal(trace, 'E_TYPE', `${name}: found ${show(input)}, expected traced values or numbers`)
    })
    const states = inputs.map((input) => use(input, name))
    const { template, leaves } = read(trace, `customRule '${name}': the function`, forward(...inputs))
    const outputs = leaves.map((leaf) => {
      if (isHandle(leaf) || typeof leaf === 'boolean' || (isTraced(leaf) && leaf[STATE].head.type !== 'f64')) {
        throw refusal(trace, 'E_DERIVATIVE', `customRule '${name}': the function gives ${show(leaf)}, expected floats`)
      }
      const head = isTraced(leaf) ? leaf[STATE].head : headOf('f64', [])
      return { head, components: componentsLike(trace, name, leaf, head) }
    })
    const site: Site = {
      inputs: states.map(({ head }) => head),
      output: template,
      heads: outputs.map(({ head }) => head),
    }
    // The graph names the rule together with the shapes at this place, which the rule needs to be run again.
    const key = `${name}(${site.inputs.map(headText).join(', ')}) → ${JSON.stringify(template)} of (${site.heads.map(headText).join(', ')})`
    if (!known.has(key)) {
      const derivative = derivativeAt(name, rules, site)
      registerCustomDerivative(key, derivative)
      known.set(key, derivative)
    }
    const values = states.flatMap((state) => componentsOf(state))
    let number = 0
    const marked = outputs.map(({ head, components }) =>
      makeFromComponents(
        trace,
        head,
        components.map((component) => trace.builder.custom(key, number++, component, values)),
        `${name}(…)`,
      ),
    )
    return putTogether(template, (k) => marked[k]!)
  }
}
