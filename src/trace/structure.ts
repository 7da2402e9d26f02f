// Nested arrays and objects of values, as bodies return them and loops carry them: taken apart into leaves, and put together again.
import { isHandle, isTraced, type Handle, type Traced } from './value.ts'

export type Leaf = Traced | Handle | number | boolean

/** The nesting without its values; `leaf` numbers them in order. */
export type Template =
  | { readonly form: 'leaf'; readonly leaf: number }
  | { readonly form: 'array'; readonly items: readonly Template[] }
  | { readonly form: 'object'; readonly entries: readonly (readonly [key: string, item: Template])[] }

/** Keys and indices that lead to a place in a structure. */
export type Path = readonly (string | number)[]

/** As it would be written after the name of the structure: `.rest[1]`. */
export const pathText = (path: Path): string =>
  path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('')

export interface Structure {
  readonly template: Template
  readonly leaves: readonly Leaf[]
  readonly paths: readonly Path[]
}

export const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

/** Takes a structure apart; `refuse` gives the error for anything in it that is no value, array or plain object. */
export function takeApart(structure: unknown, refuse: (found: unknown, path: Path) => Error): Structure {
  const leaves: Leaf[] = []
  const paths: Path[] = []
  const visit = (value: unknown, path: Path, around: readonly unknown[]): Template => {
    if (isTraced(value) || isHandle(value) || typeof value === 'number' || typeof value === 'boolean') {
      paths.push(path)
      return { form: 'leaf', leaf: leaves.push(value) - 1 }
    }
    if (around.includes(value)) throw refuse(value, path)
    const inside = [...around, value]
    if (Array.isArray(value)) {
      return { form: 'array', items: Array.from(value, (item: unknown, k) => visit(item, [...path, k], inside)) }
    }
    if (!isPlainObject(value)) throw refuse(value, path)
    const entries = Object.entries(value).map(([key, item]) => [key, visit(item, [...path, key], inside)] as const)
    return { form: 'object', entries }
  }
  return { template: visit(structure, [], []), leaves, paths }
}

/** Puts a structure together from new leaves. */
export function putTogether<T>(template: Template, leaf: (index: number) => T): unknown {
  switch (template.form) {
    case 'leaf':
      return leaf(template.leaf)
    case 'array':
      return template.items.map((item) => putTogether(item, leaf))
    case 'object':
      return Object.fromEntries(template.entries.map(([key, item]) => [key, putTogether(item, leaf)]))
  }
}

/** `[a, b]`, `{ x, y }`: the outermost nesting, for messages. */
export function outline(template: Template): string {
  switch (template.form) {
    case 'leaf':
      return 'one value'
    case 'array':
      return `an array of ${template.items.length}`
    case 'object':
      return `an object { ${template.entries.map(([key]) => key).join(', ')} }`
  }
}

/** The first place where two nestings differ; the order of keys does not matter. */
export function difference(a: Template, b: Template, path: Path = []): Path | undefined {
  if (a.form === 'leaf' && b.form === 'leaf') return undefined
  if (a.form === 'array' && b.form === 'array' && a.items.length === b.items.length) {
    return firstOf(a.items.map((item, k) => () => difference(item, b.items[k]!, [...path, k])))
  }
  if (a.form === 'object' && b.form === 'object' && a.entries.length === b.entries.length) {
    const others = new Map(b.entries)
    if (a.entries.every(([key]) => others.has(key))) {
      return firstOf(
        a.entries.map(
          ([key, item]) =>
            () =>
              difference(item, others.get(key)!, [...path, key]),
        ),
      )
    }
  }
  return path
}

const firstOf = (searches: readonly (() => Path | undefined)[]): Path | undefined => {
  for (const search of searches) {
    const found = search()
    if (found) return found
  }
  return undefined
}

/** Leaves of `b`, whose nesting equals that of `a`, in the order of the leaves of `a`. */
export function leafOrder(a: Template, b: Template): readonly number[] {
  if (a.form === 'leaf') return b.form === 'leaf' ? [b.leaf] : []
  if (a.form === 'array') return b.form === 'array' ? a.items.flatMap((item, k) => leafOrder(item, b.items[k]!)) : []
  const others = b.form === 'object' ? new Map(b.entries) : new Map<string, Template>()
  return a.entries.flatMap(([key, item]) => leafOrder(item, others.get(key)!))
}
