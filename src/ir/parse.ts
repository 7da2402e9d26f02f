// Reads the text form that print.ts writes and documents; beside it only comments, blank lines and spaces between words are free.
// Invariants: the graph is built as it stands, neither folded nor simplified nor checked (verify.ts does that), so that
// print(parse(text)) is the text with its values numbered anew; a value is defined above its uses.
import { HarrierError } from '../errors.ts'
import { fromBits } from './exact.ts'
import {
  type Construct,
  type Graph,
  type Node,
  type Plane,
  type PlaneRole,
  type ReduceOp,
  type Region,
  type Tape,
  type Value,
} from './graph.ts'
import { OPS, type ConstructOp, type EffectOp, type OpName, type ValueOp } from './ops.ts'
import { regionName } from './print.ts'
import { isLiteral, TYPES, type Literal, type Type } from './types.ts'

const ROLES: Record<PlaneRole, true> = {
  sample: true,
  uniform: true,
  table: true,
  accumulator: true,
  reduction: true,
  mask: true,
}
const FOLDS: Record<ReduceOp, true> = { sum: true, prod: true, max: true, min: true, all: true, any: true }

interface Token {
  readonly kind: 'name' | 'value' | 'tape' | 'number' | 'string' | 'mark' | 'end of line' | 'end of text'
  readonly text: string
  readonly line: number
  readonly column: number
}

const TOKEN =
  /(?<space>[ \t\r]+)|(?<comment>;[^\n]*)|(?<name>[A-Za-z_][A-Za-z0-9_]*)|(?<value>%\d+)|(?<tape>#\d+)|(?<number>0x[0-9a-f]+|-?\d+)|(?<string>"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-f]{4}))*")|(?<mark>[:=,(){}[\]])/uy

const fail = ({ line, column }: Pick<Token, 'line' | 'column'>, expected: string, found: string): HarrierError =>
  new HarrierError('E_PARSE', `graph text, line ${line}, column ${column}: expected ${expected}, found ${found}`)

function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = []
  text.split('\n').forEach((content, k) => {
    const line = k + 1
    TOKEN.lastIndex = 0
    while (TOKEN.lastIndex < content.length) {
      const column = TOKEN.lastIndex + 1
      const groups = TOKEN.exec(content)?.groups
      if (!groups) throw fail({ line, column }, 'a word of the text form', `'${content[column - 1]}'`)
      for (const kind of ['name', 'value', 'tape', 'number', 'string', 'mark'] as const) {
        const found = groups[kind]
        if (found !== undefined) tokens.push({ kind, text: found, line, column })
      }
    }
    // Blank lines and lines of comment alone end nothing.
    const last = tokens.at(-1)
    if (last && last.kind !== 'end of line') {
      tokens.push({ kind: 'end of line', text: '', line, column: content.length + 1 })
    }
  })
  const last = tokens.at(-1)
  tokens.push({ kind: 'end of text', text: '', line: last?.line ?? 1, column: last?.column ?? 1 })
  return tokens
}

/** The graph that a text describes; E_PARSE with line, column and what was expected where it describes none. */
export function parse(text: string): Graph {
  const tokens = tokenize(text)
  let position = 0
  let nextId = 0
  const planes: Plane[] = []
  const planeNumbers = new Map<string, number>()
  const tapes: Tape[] = []
  const values = new Map<string, Value>()
  const constants = new Map<string, Value>()

  const peek = (): Token => tokens[position]!
  const refuse = (expected: string, token = peek()): HarrierError =>
    fail(token, expected, token.text === '' ? token.kind : `'${token.text}'`)

  function take(kind: Token['kind'], expected: string): Token {
    const token = peek()
    if (token.kind !== kind) throw refuse(expected)
    position++
    return token
  }
  const isNext = (text: string): boolean => peek().text === text
  function takeIf(mark: string): boolean {
    const found = isNext(mark)
    if (found) position++
    return found
  }
  function expect(mark: string): void {
    if (!takeIf(mark)) throw refuse(`'${mark}'`)
  }
  function endLine(): void {
    if (peek().kind !== 'end of text') take('end of line', 'the end of the line')
  }
  function oneOf<K extends string>(table: Record<K, unknown>, what: string): K {
    const token = peek()
    if (token.kind !== 'name' || !Object.hasOwn(table, token.text)) {
      throw refuse(`${what} (${Object.keys(table).join(', ')})`)
    }
    position++
    return token.text as K
  }
  function type(): Type {
    const found = TYPES.find(isNext)
    if (!found) throw refuse(`a type (${TYPES.join(', ')})`)
    position++
    return found
  }
  function count(what: string): number {
    const token = take('number', what)
    if (!/^\d+$/.test(token.text)) throw refuse(what, token)
    return Number(token.text)
  }
  function bracketed(what: string): number | undefined {
    if (!takeIf('[')) return undefined
    const found = count(what)
    expect(']')
    return found
  }
  /** An item, and those after further commas. */
  function list<T>(item: () => T): readonly T[] {
    const items = [item()]
    while (takeIf(',')) items.push(item())
    return items
  }

  function literalOf(token: Token, of: Type): Literal {
    const digits = token.text
    const isHex = digits.startsWith('0x')
    if (of === 'f64' && isHex && digits.length === 18) return fromBits(BigInt(digits))
    if (of === 'f32' && isHex && digits.length === 10) {
      return new Float32Array(new Uint32Array([Number(digits)]).buffer)[0]!
    }
    const whole = of === 'i64' ? BigInt(digits) : Number(digits)
    if (of === 'f64' || of === 'f32' || isHex || !isLiteral(whole, of)) {
      throw refuse(
        of === 'f64' ? '0x and 16 hex digits' : of === 'f32' ? '0x and 8 hex digits' : `an ${of} in decimals`,
        token,
      )
    }
    return whole
  }

  function constant(of: Type, literal: Literal): Value {
    const key = `${of}:${Object.is(literal, -0) ? '-0' : literal}`
    const known = constants.get(key)
    if (known) return known
    const value: Value = { id: nextId++, op: 'const', type: of, operands: [], literal }
    constants.set(key, value)
    return value
  }

  function operand(): Value {
    const token = peek()
    if (token.kind === 'value') {
      const found = values.get(token.text)
      if (!found) throw refuse('a value that is defined above')
      position++
      return found
    }
    if (takeIf('true')) return constant('bool', true)
    if (takeIf('false')) return constant('bool', false)
    if (token.kind !== 'name' || !TYPES.some(isNext))
      throw refuse('a value (%0, %1, …) or a literal (f64:0x…, i32:1, true)')
    const of = type()
    expect(':')
    return constant(of, literalOf(take('number', `a literal of type ${of}`), of))
  }

  function operands(): readonly Value[] {
    const isAtEnd = peek().kind !== 'value' && peek().kind !== 'name'
    return isAtEnd ? [] : list(operand)
  }

  /** Operands after an attribute. */
  const moreOperands = (): readonly Value[] => (takeIf(',') ? list(operand) : [])

  function plane(): number {
    const token = take('name', 'the name of a plane')
    const found = planeNumbers.get(token.text)
    if (found === undefined) throw refuse('the name of a plane that is declared above', token)
    return found
  }
  const access = (): { plane: number; component: number } => ({
    plane: plane(),
    component: bracketed('the number of a component') ?? 0,
  })

  function tape(): number {
    const token = take('tape', 'the number of a tape (#0, #1, …)')
    const number = Number(token.text.slice(1))
    if (!tapes[number]) throw refuse('the number of a tape that is declared above', token)
    return number
  }

  function define(name: Token, value: Value): void {
    if (values.has(name.text)) throw refuse('a value that is not defined yet', name)
    values.set(name.text, value)
  }

  interface Target {
    readonly name: Token
    readonly type: Type
  }
  function target(): Target {
    const name = take('value', 'a value (%0, %1, …)')
    expect(':')
    return { name, type: type() }
  }

  function valueNode(op: Exclude<ValueOp, 'const' | 'parameter' | 'result'>, of: Type): Value {
    const id = nextId++
    switch (op) {
      case 'load':
        return { id, op, type: of, operands: [], ...access() }
      case 'uniform':
      case 'entryCount':
        return { id, op, type: of, operands: [], plane: plane() }
      case 'gather':
        return { id, op, type: of, ...access(), operands: moreOperands() }
      case 'recall':
        return { id, op, type: of, tape: tape(), operands: moreOperands() }
      case 'custom': {
        const rule = JSON.parse(take('string', 'the name of a rule in double quotes').text) as string
        return { id, op, type: of, rule, output: count('the number of an output'), operands: moreOperands() }
      }
      case 'sampleIndex':
      case 'sampleCount':
      case 'random':
        return { id, op, type: of, operands: operands() }
      default:
        return { id, op, type: of, operands: operands() }
    }
  }

  function effectNode(op: EffectOp): Node {
    return op === 'record'
      ? { op, tape: tape(), operands: moreOperands() }
      : { op, ...access(), operands: moreOperands() }
  }

  function constructNode(op: ConstructOp, targets: readonly Target[]): Construct {
    const inputs = list(operand)
    const regions: Region[] = []
    const node: Construct = { id: nextId++, op, operands: inputs, regions, types: targets.map(({ type: of }) => of) }
    targets.forEach(({ name, type: of }, index) => {
      define(name, { id: nextId++, op: 'result', type: of, operands: [], source: node, index })
    })
    do {
      if (!takeIf(regionName(op, regions.length))) throw refuse(`'${regionName(op, regions.length)}'`)
      regions.push(region())
    } while (peek().kind === 'name')
    endLine()
    return node
  }

  function region(): Region {
    const parameters = takeIf('(')
      ? list(target).map(({ name, type: of }): Value => {
          const value: Value = { id: nextId++, op: 'parameter', type: of, operands: [] }
          define(name, value)
          return value
        })
      : []
    if (parameters.length > 0) expect(')')
    expect('{')
    endLine()
    const nodes: Node[] = []
    while (!isNext('}') && !isNext('yield')) nodes.push(statement())
    const results = takeIf('yield') ? list(operand) : []
    if (results.length > 0) endLine()
    expect('}')
    return { parameters, nodes, results }
  }

  function statement(): Node {
    const targets = peek().kind === 'value' ? list(target) : []
    if (targets.length > 0) expect('=')
    const token = take('name', targets.length > 0 ? 'an op' : 'an effect, a construct, a value or the end')
    const op = Object.hasOwn(OPS, token.text) ? (token.text as OpName) : undefined
    const kind = op && OPS[op].kind
    if (kind === 'construct') return constructNode(op as ConstructOp, targets)
    if (op === undefined || op === 'const' || op === 'parameter' || op === 'result') {
      throw refuse(targets.length > 0 ? 'an op that gives a value' : 'an effect or a construct', token)
    }
    if (kind === 'value' && targets.length === 1) {
      const { name, type: of } = targets[0]!
      const node = valueNode(op as Parameters<typeof valueNode>[0], of)
      define(name, node)
      endLine()
      return node
    }
    if (kind === 'effect' && targets.length === 0) {
      const node = effectNode(op as EffectOp)
      endLine()
      return node
    }
    throw refuse(targets.length > 0 ? 'an op that gives as many values' : 'an effect or a construct', token)
  }

  function declarations(): void {
    while (isNext('plane') || isNext('tape')) {
      if (takeIf('plane')) {
        const name = take('name', 'the name of the plane')
        if (planeNumbers.has(name.text)) throw refuse('a name that no other plane has', name)
        expect(':')
        const role = oneOf(ROLES, 'a role')
        const reduce = role === 'reduction' ? oneOf(FOLDS, 'a fold') : undefined
        const of = type()
        const components = bracketed('the number of components') ?? 1
        planeNumbers.set(name.text, planes.length)
        planes.push({ name: name.text, role, type: of, components, ...(reduce && { reduce }) })
      } else {
        position++
        const number = take('tape', 'the number of the tape')
        if (number.text !== `#${tapes.length}`) throw refuse(`#${tapes.length}, as tapes are numbered in order`, number)
        expect(':')
        const of = type()
        tapes.push({ type: of, capacity: bracketed('the number of slots') ?? 1 })
      }
      endLine()
    }
  }

  declarations()
  const nodes: Node[] = []
  while (peek().kind !== 'end of text') nodes.push(statement())
  return { planes, tapes, body: { parameters: [], nodes, results: [] } }
}
