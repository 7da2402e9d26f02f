// The text form of a graph: for people, for golden tests, and as what the build cache hashes.
// Invariants: equal graphs print equally, whatever the order in which they were built gave as ids; the text holds everything that
// the meaning depends on and no name of a kernel; parse.ts reads it back exactly.
//
//   plane x: sample f64                      name, role, fold of a reduction, type, components if not 1
//   plane v: sample f64[3]
//   plane total: reduction sum f64
//   tape #0: f64[100]                        number, type, slots
//
//   %0: f64 = load x                         values are numbered in print order
//   %1: f64 = load v[2]
//   %2: f64 = mul %0, f64:0x3fe0000000000000  ; 0.5
//   %3: f64 = loop i32:8, %2 body(%4: i32, %5: f64) {
//     %6: f64 = mul %5, %1
//     yield %6
//   } condition(%7: i32, %8: f64) {
//     %9: bool = lt %8, f64:0x4059000000000000  ; 100
//     yield %9
//   }
//   contribute total, %3
import { bitsOf } from './exact.ts'
import {
  isConstruct,
  isValue,
  type Construct,
  type Graph,
  type Node,
  type Plane,
  type Region,
  type Value,
} from './graph.ts'
import type { ConstructOp } from './ops.ts'
import type { Literal, Type } from './types.ts'

/** What the regions of a construct are called; the last name repeats. */
export const REGION_NAMES: Record<ConstructOp, readonly string[]> = {
  loop: ['body', 'condition'],
  branch: ['then', 'else'],
  shortcut: ['quick', 'general'],
  dispatch: ['case'],
}

export const regionName = (op: ConstructOp, index: number): string =>
  REGION_NAMES[op][Math.min(index, REGION_NAMES[op].length - 1)]!

/** The parts of a graph as text, with one numbering. */
export interface GraphText {
  /** All of it, ending in a line end. */
  whole(): string
  /** One node on one line; of a construct, its first line without the regions. */
  node(node: Node): string
  value(value: Value): string
}

const word = new DataView(new ArrayBuffer(4))

/** All NaN print as the one that JavaScript makes: no two are told apart. */
function floatBits(x: number, type: 'f64' | 'f32'): string {
  if (type === 'f64') return Number.isNaN(x) ? '0x7ff8000000000000' : `0x${bitsOf(x).toString(16).padStart(16, '0')}`
  word.setFloat32(0, x)
  return Number.isNaN(x) ? '0x7fc00000' : `0x${word.getUint32(0).toString(16).padStart(8, '0')}`
}

function literalText(literal: Literal, type: Type): string {
  if (type === 'bool') return String(literal)
  return `${type}:${type === 'f64' || type === 'f32' ? floatBits(literal as number, type) : literal}`
}

const decimal = (x: Literal): string => (Object.is(x, -0) ? '-0' : String(x))

const array = (type: Type, count: number): string => (count === 1 ? type : `${type}[${count}]`)

const planeText = ({ name, role, type, components, reduce }: Plane): string =>
  `plane ${name}: ${role}${reduce ? ` ${reduce}` : ''} ${array(type, components)}`

export function textOf(graph: Graph): GraphText {
  const numbers = new Map<Value, number>()
  /** Number of the first result of each construct; results are numbered in a row. */
  const firstResult = new Map<Construct, number>()
  let next = 0

  function number(region: Region): void {
    for (const parameter of region.parameters) numbers.set(parameter, next++)
    for (const node of region.nodes) {
      if (isConstruct(node)) {
        firstResult.set(node, next)
        next += node.types.length
        node.regions.forEach(number)
      } else if (isValue(node)) numbers.set(node, next++)
    }
  }
  number(graph.body)

  function name(value: Value): string {
    const known = value.op === 'result' ? firstResult.get(value.source) : numbers.get(value)
    if (known === undefined) return `%?${value.id}`
    return `%${value.op === 'result' ? known + value.index : known}`
  }

  const text = (value: Value): string => (value.op === 'const' ? literalText(value.literal, value.type) : name(value))

  /** Decimal values of the float literals among operands. */
  function comment(values: readonly Value[]): string {
    const decimals = values.flatMap((value) =>
      value.op === 'const' && (value.type === 'f64' || value.type === 'f32') ? [decimal(value.literal)] : [],
    )
    return decimals.length > 0 ? `  ; ${decimals.join(', ')}` : ''
  }

  /** A plane, with the component where there are several to choose from. */
  function access(plane: number, component: number | undefined): string {
    const found = graph.planes[plane]
    const isOnly = component === undefined || (component === 0 && found?.components === 1)
    return `${found?.name ?? `?${plane}`}${isOnly ? '' : `[${component}]`}`
  }

  /** What an op has beside operands, region and type. */
  function attributes(node: Node): readonly string[] {
    if ('plane' in node) return [access(node.plane, 'component' in node ? node.component : undefined)]
    if ('tape' in node) return [`#${node.tape}`]
    if (node.op === 'custom') return [`${JSON.stringify(node.rule)} ${node.output}`]
    return node.op === 'const' ? [literalText(node.literal, node.type)] : []
  }

  const typed = (names: readonly string[], types: readonly Type[]): string =>
    names.map((part, k) => `${part}: ${types[k]}`).join(', ')

  function head(node: Node): string {
    const parts = [...attributes(node), ...node.operands.map(text)].join(', ')
    const action = parts === '' ? node.op : `${node.op} ${parts}`
    if (isValue(node)) return `${typed([name(node)], [node.type])} = ${action}`
    if (!isConstruct(node) || node.types.length === 0) return action
    const first = firstResult.get(node)
    const names = node.types.map((_, k) => (first === undefined ? `%?${node.id}.${k}` : `%${first + k}`))
    return `${typed(names, node.types)} = ${action}`
  }

  const lines: string[] = []

  function writeRegion(region: Region, indent: string): void {
    for (const node of region.nodes) {
      if (isConstruct(node)) writeConstruct(node, indent)
      else lines.push(`${indent}${head(node)}${comment(node.operands)}`)
    }
    if (region.results.length > 0) {
      lines.push(`${indent}yield ${region.results.map(text).join(', ')}${comment(region.results)}`)
    }
  }

  function writeConstruct(node: Construct, indent: string): void {
    node.regions.forEach((region, k) => {
      const { parameters } = region
      const types = parameters.map(({ type }) => type)
      const list = parameters.length > 0 ? `(${typed(parameters.map(name), types)})` : ''
      const opening = `${regionName(node.op, k)}${list} {`
      lines.push(k === 0 ? `${indent}${head(node)} ${opening}${comment(node.operands)}` : `${indent}} ${opening}`)
      writeRegion(region, `${indent}  `)
    })
    lines.push(`${indent}}`)
  }

  return {
    whole() {
      lines.length = 0
      lines.push(...graph.planes.map(planeText))
      lines.push(...graph.tapes.map(({ type, capacity }, k) => `tape #${k}: ${type}[${capacity}]`))
      lines.push('')
      writeRegion(graph.body, '')
      return `${lines.join('\n')}\n`
    },
    node: (node) => `${head(node)}${comment(node.operands)}`,
    value: text,
  }
}

/** The text form of a graph. */
export const print = (graph: Graph): string => textOf(graph).whole()
