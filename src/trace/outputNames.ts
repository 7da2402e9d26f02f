// Names of output slots. In this order: `named()`, the keys it is returned under, the variable it was returned from, its place.
// Invariant: whether a body is refused never depends on names of variables, as bundlers change those: every check looks at keys, `named`
// and positional names only, and a variable's name gives way to everything else.
import { STATE } from './brands.ts'
import { refusal, type Trace } from './context.ts'
import { isIdentifier, isIntegerLike } from './names.ts'
import { mayReturnVariable, returnedExpression, variableAt } from './source.ts'
import { pathText, type Leaf, type Path, type Structure } from './structure.ts'
import { isHandle, isTraced } from './value.ts'

export interface SlotName {
  readonly name: string
  readonly positionalName: string
  readonly positionalNameTaken: boolean
}

export interface Naming {
  readonly slots: readonly SlotName[]
  /** Why variables gave no names, where they might have. */
  readonly note: string | undefined
}

const NAME_RULE = 'names are letters, digits and _, not starting with a digit'

/** Refuses a key that cannot be part of a name. */
function checkKey(trace: Trace, key: string, path: Path): void {
  const place = path.length === 0 ? '' : ` at ${pathText(path)}`
  if (isIntegerLike(key)) {
    throw refusal(
      trace,
      'E_NAME',
      `returned key '${key}'${place} is a whole number, which JavaScript would move before the other keys; return an array, or use another name`,
    )
  }
  if (!isIdentifier(key)) throw refusal(trace, 'E_NAME', `returned key '${key}'${place} is no valid name; ${NAME_RULE}`)
}

/** The keys from the innermost array on, joined; undefined directly in an array. */
function keyName(trace: Trace, path: Path): string | undefined {
  path.forEach((step, k) => typeof step === 'string' && checkKey(trace, step, path.slice(0, k)))
  const keys = path.slice(path.findLastIndex((step) => typeof step === 'number') + 1)
  return keys.length === 0 ? undefined : keys.join('_')
}

/** The name that the user gave a slot, in a way that no bundler changes. */
function explicitName(trace: Trace, leaf: Leaf, path: Path): string | undefined {
  const key = keyName(trace, path)
  if (isHandle(leaf)) return leaf[STATE].parameter
  return (isTraced(leaf) ? leaf[STATE].outputName : undefined) ?? key
}

export function nameSlots(
  trace: Trace,
  body: (...parameters: never[]) => unknown,
  { leaves, paths }: Structure,
  parameters: readonly string[],
): Naming {
  const explicit = leaves.map((leaf, k) => explicitName(trace, leaf, paths[k]!))
  const positional = leaves.map((_, k) => (leaves.length === 1 ? 'out' : `out${k}`))
  checkExplicit(trace, leaves, explicit, parameters)
  checkUnnamed(trace, leaves, explicit, positional, parameters)

  const { variables, note } =
    explicit.includes(undefined) && mayReturnVariable(body)
      ? readVariables(body, paths, explicit)
      : { variables: [], note: undefined }
  const taken = (name: string, slot: number): boolean =>
    parameters.includes(name) ||
    explicit.some((other, k) => k !== slot && other === name) ||
    positional.some((other, k) => k !== slot && other === name) ||
    variables.some((other, k) => k !== slot && other === name)
  const names = leaves.map((_, k) => {
    const variable = variables[k]
    const isUsable = variable !== undefined && isIdentifier(variable) && !taken(variable, k)
    return explicit[k] ?? (isUsable ? variable : positional[k]!)
  })
  const slots = names.map((name, k): SlotName => {
    const positionalName = positional[k]!
    const others = [...parameters, ...names.filter((_, other) => other !== k)]
    return { name, positionalName, positionalNameTaken: name !== positionalName && others.includes(positionalName) }
  })
  return { slots, note }
}

/** Names of variables for the slots that have no other name. */
function readVariables(
  body: (...parameters: never[]) => unknown,
  paths: readonly Path[],
  explicit: readonly (string | undefined)[],
): { variables: readonly (string | undefined)[]; note: string | undefined } {
  const { expression, reason } = returnedExpression(body)
  if (!expression) return { variables: [], note: `outputs without a key have positional names: ${reason}` }
  return {
    variables: paths.map((path, k) => (explicit[k] === undefined ? variableAt(expression, path) : undefined)),
    note: undefined,
  }
}

function checkExplicit(
  trace: Trace,
  leaves: readonly Leaf[],
  explicit: readonly (string | undefined)[],
  parameters: readonly string[],
): void {
  explicit.forEach((name, k) => {
    if (name === undefined) return
    const leaf = leaves[k]!
    const isOwn = isHandle(leaf)
    if (parameters.includes(name) && !isOwn) {
      throw refusal(
        trace,
        'E_NAME',
        `a returned value is called '${name}', which is the name of a parameter; use another name (${name}_next)`,
      )
    }
    if (explicit.indexOf(name) < k) {
      throw refusal(trace, 'E_NAME', `two returned values are called '${name}'; give each a name of its own`)
    }
  })
}

/** Slots without key or `named`: what they are, and whether their positional names are free. */
function checkUnnamed(
  trace: Trace,
  leaves: readonly Leaf[],
  explicit: readonly (string | undefined)[],
  positional: readonly string[],
  parameters: readonly string[],
): void {
  leaves.forEach((leaf, k) => {
    if (explicit[k] !== undefined) return
    const name = positional[k]!
    const parameter = isTraced(leaf) ? leaf[STATE].parameter : undefined
    if (parameter !== undefined) {
      throw refusal(
        trace,
        'E_NAME',
        `the body returns parameter '${parameter}' itself; return it under a key, and use another name (${parameter}_next)`,
      )
    }
    const first = isTraced(leaf) ? leaves.findIndex((other, j) => other === leaf && explicit[j] === undefined) : k
    if (first < k) {
      throw refusal(
        trace,
        'E_NAME',
        `returned values ${first} and ${k} are the same value; return each under a key of its own`,
      )
    }
    const isParameter = parameters.includes(name)
    if (isParameter || explicit.includes(name)) {
      const owner = isParameter ? 'a parameter' : 'another returned value'
      throw refusal(
        trace,
        'E_NAME',
        `returned value ${k} has no key, and its positional name '${name}' is the name of ${owner}; return it under a key`,
      )
    }
  })
}
