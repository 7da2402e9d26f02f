// What a body returned: taken apart, checked for things that are no values, and compared with `options.returns`.
import { refusal, type Trace } from './context.ts'
import { STATE } from './brands.ts'
import { headOf, isKind, sameHead, type Head, type Kind } from './kinds.ts'
import { isPlainObject, pathText, takeApart, type Leaf, type Path, type Structure, type Template } from './structure.ts'
import { headText, isHandle, show, use, withArticle } from './value.ts'

// Things that are no values ----------------------------------------------------------------------------------------------------------

const isIterator = (value: object): boolean =>
  'next' in value && typeof value.next === 'function' && Symbol.iterator in value

/** A short text of a class instance: `P()`, `Point(x: 1, y: 2)`. */
function instanceText(value: object, name: string): string {
  const fields = Object.entries(value)
    .slice(0, 3)
    .map(([key, field]) => `${key}: ${typeof field === 'object' && field !== null ? '…' : String(field)}`)
  const more = Object.keys(value).length > 3 ? [...fields, '…'] : fields
  return `${name}(${more.join(', ')})`
}

/** Refuses what an async function, a generator or nothing at all gives. */
export function refuseSpecialResult(trace: Trace, result: unknown): void {
  if (typeof result !== 'object' || result === null || STATE in result) return
  if ('then' in result && typeof result.then === 'function') {
    // The promise of an async body that failed must not end the process beside the error thrown here.
    const ignore = () => undefined
    result.then(ignore, ignore)
    throw refusal(
      trace,
      'E_DEFINITION',
      'the body returned a Promise; it runs once, while the kernel is defined, and cannot be async — make it a plain function',
    )
  }
  if (!Array.isArray(result) && isIterator(result)) {
    throw refusal(
      trace,
      'E_DEFINITION',
      'the body returned an iterator; it runs once, while the kernel is defined, and cannot be a generator — make it a plain function',
    )
  }
}

function notTraced(trace: Trace, value: unknown, path: Path): Error {
  const place = path.length === 0 ? '' : ` at ${pathText(path)}`
  const instead = 'return a value, an array or an object of them'
  const isInstance = typeof value === 'object' && value !== null && !Array.isArray(value) && !isPlainObject(value)
  if (isInstance) {
    const name = value.constructor?.name || 'Object'
    return refusal(
      trace,
      'E_RETURN',
      `the body returned ${name} ${instanceText(value, name)}${place}, not a traced value; a class instance is not supported — ${instead}`,
    )
  }
  if (typeof value === 'object' && value !== null) {
    return refusal(trace, 'E_RETURN', `the body returned ${show(value)} that contains itself${place} — ${instead}`)
  }
  return refusal(trace, 'E_RETURN', `the body returned ${show(value)}${place}, not a traced value — ${instead}`)
}

/** Takes apart what a body returned; undefined where it returned nothing. */
export function readReturned(trace: Trace, result: unknown): Structure | undefined {
  if (result === undefined) return undefined
  refuseSpecialResult(trace, result)
  const structure = takeApart(result, (value, path) => notTraced(trace, value, path))
  structure.leaves.forEach((leaf, k) => {
    if (typeof leaf === 'number' || typeof leaf === 'boolean') return
    if (!isHandle(leaf)) {
      use(leaf, 'return')
      return
    }
    if (leaf[STATE].reduction) return
    const path = structure.paths[k]!
    const place = path.length === 0 ? '' : ` at ${pathText(path)}`
    throw refusal(
      trace,
      'E_RETURN',
      `the body returned ${show(leaf)}${place}, not a traced value; use it as ${leaf[STATE].usage}`,
    )
  })
  return structure
}

/** What a slot holds. */
export function leafHead(leaf: Leaf): Head {
  if (typeof leaf === 'number') return headOf('f64', [])
  if (typeof leaf === 'boolean') return headOf('bool', [])
  return isHandle(leaf) ? leaf[STATE].reduction!.head : leaf[STATE].head
}

// options.returns --------------------------------------------------------------------------------------------------------------------

/** A declared shape: a kind, or arrays and objects of kinds. */
export type Returns = Kind | readonly Returns[] | { readonly [key: string]: Returns }

function declaredText(returns: unknown): string {
  if (isKind(returns)) return returns.text
  if (Array.isArray(returns)) return `[${returns.map(declaredText).join(', ')}]`
  if (!isPlainObject(returns)) return show(returns)
  return `{ ${Object.entries(returns)
    .map(([key, item]) => `${key}: ${declaredText(item)}`)
    .join(', ')} }`
}

const isReturnable = (kind: Kind): boolean =>
  kind.role === 'per_sample' || kind.role === 'vec_in' || kind.role === 'mat_in' || kind.role === 'reduce'

/** Refuses the body's return where it is not what `returns` declares. */
export function checkReturns(trace: Trace, returns: unknown, structure: Structure | undefined): void {
  const text = declaredText(returns)

  const mismatch = (declared: string, found: string, path: Path): Error => {
    const [at, there] = path.length === 0 ? ['', ''] : [` at ${pathText(path)}`, ' there']
    return refusal(
      trace,
      'E_RETURN',
      `returns ${text} declares ${declared}${at}, but the body returned ${found}${there}`,
    )
  }

  const noShape = (found: unknown): Error =>
    refusal(
      trace,
      'E_OPTION',
      `returns ${text} holds ${isKind(found) ? found.text : show(found)}, expected Scalar, Index, Condition, Vector(W), Quat, Matrix(R, C) or Reduce(op), or arrays and objects of them`,
    )

  const foundText = (template: Template | undefined): string => {
    if (!template) return 'nothing'
    if (template.form === 'array') return 'a tuple'
    if (template.form === 'object') return 'an object'
    const leaf = structure!.leaves[template.leaf]!
    return isHandle(leaf) ? withArticle(leaf[STATE].text) : withArticle(headText(leafHead(leaf)))
  }

  const fits = (kind: Kind, leaf: Leaf): boolean => {
    if (isHandle(leaf) !== (kind.role === 'reduce')) return false
    if (isHandle(leaf)) return leaf[STATE].text === kind.text
    return sameHead(kind.head, leafHead(leaf))
  }

  const compare = (declared: unknown, template: Template | undefined, path: Path): void => {
    if (isKind(declared)) {
      if (!isReturnable(declared)) throw noShape(declared)
      const noun = withArticle(declared.role === 'reduce' ? declared.text : headText(declared.head))
      if (template?.form !== 'leaf' || !fits(declared, structure!.leaves[template.leaf]!)) {
        throw mismatch(noun, foundText(template), path)
      }
      return
    }
    if (Array.isArray(declared)) {
      if (template?.form !== 'array') throw mismatch('a tuple', foundText(template), path)
      if (template.items.length !== declared.length) {
        throw mismatch(`a tuple of ${declared.length}`, `a tuple of ${template.items.length}`, path)
      }
      declared.forEach((item: unknown, k) => compare(item, template.items[k], [...path, k]))
      return
    }
    if (!isPlainObject(declared)) throw noShape(declared)
    if (template?.form !== 'object') throw mismatch('an object', foundText(template), path)
    const found = new Map(template.entries)
    for (const [key, item] of Object.entries(declared)) {
      if (!found.has(key)) throw mismatch(`a key '${key}'`, `an object without it`, path)
      compare(item, found.get(key), [...path, key])
    }
    for (const key of found.keys()) {
      if (!(key in declared)) throw mismatch(`no key '${key}'`, `an object with it`, path)
    }
  }

  compare(returns, structure?.template, [])
}
