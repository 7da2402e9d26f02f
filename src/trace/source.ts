// Reads from the text of a body which variables it returns. What a bundler or minifier left of that text decides how much can be read:
// nothing here ever refuses a body.
import type { AnyNode, Expression, Function as FunctionNode, Program, SpreadElement } from 'acorn'

/** The expression that a body returns, or why it is not known. */
export type ReturnedExpression =
  | { readonly expression: Expression; readonly reason?: undefined }
  | { readonly expression?: undefined; readonly reason: string }

/**
 * The parser is loaded when a name is looked for: kernels that name their outputs by keys never need it. Only Node.js can load it in
 * passing; in browsers, where bundlers rename variables anyhow, names come from keys and positions.
 */
function loadParser(): typeof import('acorn') | undefined {
  try {
    const { createRequire } = process.getBuiltinModule('node:module')
    return createRequire(import.meta.url)('acorn') as typeof import('acorn')
  } catch {
    return undefined
  }
}
let parser: typeof import('acorn') | undefined

/** The text as an expression, then as a method of an object. */
function parseFunction(text: string): FunctionNode | undefined {
  parser ??= loadParser()
  const parse = (source: string): Program | undefined => {
    try {
      return parser?.parse(source, { ecmaVersion: 'latest', sourceType: 'module' })
    } catch {
      return undefined
    }
  }
  const expressionOf = (program: Program | undefined): Expression | undefined => {
    const [statement] = program?.body ?? []
    return statement?.type === 'ExpressionStatement' ? statement.expression : undefined
  }
  const isFunction = (node: Expression | undefined): node is Expression & FunctionNode =>
    node?.type === 'ArrowFunctionExpression' || node?.type === 'FunctionExpression'
  const expression = expressionOf(parse(`(${text}\n)`))
  if (isFunction(expression)) return expression
  const object = expressionOf(parse(`({${text}\n})`))
  const [property] = object?.type === 'ObjectExpression' ? object.properties : []
  return property?.type === 'Property' && isFunction(property.value) ? property.value : undefined
}

const isNode = (value: unknown): value is AnyNode =>
  typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'

/** Nodes whose `return` statements are their own. */
const OWN_RETURNS =
  /^(ArrowFunctionExpression|FunctionExpression|FunctionDeclaration|ClassExpression|ClassDeclaration)$/

/** The arguments of the return statements of a function, without those of functions inside it. */
function returnsOf(node: AnyNode): readonly (Expression | null | undefined)[] {
  if (OWN_RETURNS.test(node.type)) return []
  if (node.type === 'ReturnStatement') return [node.argument]
  return Object.values(node).flatMap((child: unknown) =>
    Array.isArray(child) ? child.filter(isNode).flatMap(returnsOf) : isNode(child) ? returnsOf(child) : [],
  )
}

const textOf = (body: (...parameters: never[]) => unknown): string => Function.prototype.toString.call(body)

/**
 * Whether a body may return a variable of its own: one that is a single expression has none; of one without a text nobody knows. Answered without the parser, whose
 * loading takes longer than tracing a small kernel.
 */
export const mayReturnVariable = (body: (...parameters: never[]) => unknown): boolean =>
  /\breturn\b|\[native code\]/.test(textOf(body))

/** The one expression that a function returns. */
export function returnedExpression(body: (...parameters: never[]) => unknown): ReturnedExpression {
  const parsed = parseFunction(textOf(body))
  if (!parsed) return { reason: 'the text of the body cannot be read' }
  if (parsed.body.type !== 'BlockStatement') return { expression: parsed.body }
  const returns = returnsOf(parsed.body)
  if (returns.length !== 1) return { reason: `the body has ${returns.length} return statements` }
  const [expression] = returns
  return expression ? { expression } : { reason: 'the body returns no expression' }
}

/**
 * The variable that stands at a place of a returned nesting: an Identifier there, bare or as an array element, and nothing else.
 * @param path keys and indices from the returned expression to the place
 */
export function variableAt(
  expression: Expression | SpreadElement,
  path: readonly (string | number)[],
): string | undefined {
  const [step, ...rest] = path
  if (step === undefined) return expression.type === 'Identifier' ? expression.name : undefined
  if (typeof step === 'number') {
    if (expression.type !== 'ArrayExpression') return undefined
    // What a spread contributes is not known, and so neither is what stands after it.
    const element = expression.elements[step]
    const isKnown = expression.elements.slice(0, step + 1).every((item) => item?.type !== 'SpreadElement')
    return element && isKnown ? variableAt(element, rest) : undefined
  }
  if (expression.type !== 'ObjectExpression') return undefined
  const named = expression.properties.filter(
    (property) =>
      property.type === 'Property' &&
      !property.computed &&
      (property.key.type === 'Identifier'
        ? property.key.name
        : property.key.type === 'Literal' && property.key.value) === step,
  )
  const property = named.at(-1)
  return property?.type === 'Property' ? variableAt(property.value, rest) : undefined
}
