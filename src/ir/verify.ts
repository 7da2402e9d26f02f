// Checks a graph against what every pass and backend relies on. All violations are collected, each with the line of the text form
// that it is about, as one defect often shows in several places.
//
// Invariants
//  1. Planes have distinct names that are identifiers, a type of f64, f32, i32 and bool, and a whole number of components, at least 1;
//     a uniform and a mask have one; a mask holds conditions, an accumulator numbers; a reduction, and nothing else, has a fold, all
//     and any over conditions, the others over numbers.
//  2. Tapes have a whole number of slots.
//  3. An access names a plane that exists, of the role that its op needs, and a component of it; a tape access a tape that exists.
//  4. Operands are as many and of the types that the op table says; a value has the type that the op gives; what is written has the
//     type of its plane or tape.
//  5. Literals are representable in their type.
//  6. A value is defined before it is used, in the region of its use or in one around it: nothing leaks from a region but results.
//  7. Every node is listed once, in one region; constants, parameters and results are listed nowhere. No two nodes share an id.
//  8. A loop has a body and a condition, both from (i32, types of the carries), to those types and to one bool; a branch or shortcut
//     has two and a dispatch at least one region without parameters, each giving the types of the results; a shortcut holds no effects.
//     A result exists in its construct. The body of the graph has neither parameters nor results.
//  9. Equal pure values of one region are one node. (What `recall` gives depends on where it stands, so it is never shared.)
// 10. A lowered graph has basic ops only, and no fma where its target has none.
import { HarrierError } from '../errors.ts'
import {
  isConstruct,
  isEffect,
  ROLE_OF,
  walk,
  type Construct,
  type Effect,
  type Graph,
  type Node,
  type Plane,
  type Region,
  type Value,
} from './graph.ts'
import { definition, isDerived, type ConstructOp } from './ops.ts'
import { regionName, textOf } from './print.ts'
import { canBitcast, isFloat, isInClass, isLiteral, type Type } from './types.ts'

export interface VerifyOptions {
  /** The target that the graph was lowered for; absent: derived ops are allowed. */
  readonly lowered?: { readonly fma: boolean }
}

type Report = (complaint: string) => void

/** The operand that picks the iterations or the region of a construct, and how many regions it may have. */
const CONSTRUCT_RULES: Record<ConstructOp, { selector: Type; fewest: number; most: number }> = {
  loop: { selector: 'i32', fewest: 2, most: 2 },
  branch: { selector: 'bool', fewest: 2, most: 2 },
  shortcut: { selector: 'bool', fewest: 2, most: 2 },
  dispatch: { selector: 'i32', fewest: 1, most: Infinity },
}

function checkPlane(plane: Plane, report: Report): void {
  const { name, role, type, components, reduce } = plane
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) report('its name is no identifier')
  if (!Number.isInteger(components) || components < 1) report(`it has ${components} components, expected at least 1`)
  if ((role === 'uniform' || role === 'mask') && components !== 1) report(`a ${role} has one component`)
  if (type === 'u32' || type === 'i64') report(`no plane holds ${type}`)
  if (role === 'accumulator' && type === 'bool') report('an accumulator holds numbers, not bool')
  if (role === 'mask' && type !== 'bool') report(`a mask is bool, not ${type}`)
  if ((reduce !== undefined) !== (role === 'reduction')) report('a reduction, and nothing else, has a fold')
  if (reduce !== undefined && (type === 'bool') !== (reduce === 'all' || reduce === 'any')) {
    report(`the fold ${reduce} does not take ${type}`)
  }
}

/** What keeps a value from being of its type, beyond the types of its operands. */
function checkResultType(value: Value, { planes, tapes }: Graph, report: Report): void {
  const expectType = (expected: Type | undefined) => {
    if (expected !== undefined && value.type !== expected) report(`gives ${expected}, not ${value.type}`)
  }
  const [first, second] = value.operands
  switch (value.op) {
    case 'load':
    case 'gather':
    case 'uniform':
      return expectType(planes[value.plane]?.type)
    case 'recall':
      return expectType(tapes[value.tape]?.type)
    case 'sampleIndex':
    case 'sampleCount':
    case 'entryCount':
      return expectType('i32')
    case 'random':
      if (!isFloat(value.type)) report(`gives a float, not ${value.type}`)
      return
    case 'custom':
      return expectType(first?.type)
    case 'bitcast':
      if (first && !canBitcast(first.type, value.type)) report(`${first.type} and ${value.type} differ in width`)
      return
    case 'const':
    case 'convert':
    case 'parameter':
    case 'result':
      return
    default: {
      const { operands, result } = definition(value.op)
      expectType(result === 'T' ? (operands[0] === 'T' ? first : second)?.type : result)
    }
  }
}

/** Every violation of an invariant, in the order of the text; empty for a graph that is sound. */
export function violations(graph: Graph, { lowered }: VerifyOptions = {}): readonly string[] {
  const { planes, tapes, body } = graph
  const text = textOf(graph)
  const found: string[] = []
  const about =
    (subject: string): Report =>
    (complaint) =>
      void found.push(`${subject}: ${complaint}`)

  const names = new Set<string>()
  planes.forEach((plane, k) => {
    const report = about(`plane ${k} '${plane.name}'`)
    checkPlane(plane, report)
    if (names.has(plane.name)) report('another plane has the same name')
    names.add(plane.name)
  })
  tapes.forEach(({ capacity }, k) => {
    if (!Number.isInteger(capacity) || capacity < 0) about(`tape #${k}`)(`it has ${capacity} slots`)
  })

  /** The region that holds each value and construct met so far, and the regions around the present place. */
  const homes = new Map<Node, Region>()
  const open = new Set<Region>()
  const ids = new Map<number, Node>()
  const constants = new Set<Value>()

  function claimId(node: Value | Construct, report: Report): void {
    const other = ids.get(node.id)
    if (other !== undefined && other !== node) report(`its id ${node.id} is also that of ${text.node(other)}`)
    ids.set(node.id, node)
  }

  function checkUse(value: Value, report: Report): void {
    if (value.op === 'const') {
      if (constants.has(value)) return
      constants.add(value)
      claimId(value, report)
      if (!isLiteral(value.literal, value.type)) report(`${String(value.literal)} is no literal of type ${value.type}`)
      return
    }
    const definer = value.op === 'result' ? value.source : value
    const home = homes.get(definer)
    if (!home) report(`${text.value(value)} is not defined above`)
    else if (!open.has(home)) report(`${text.value(value)} is used outside the region that holds it`)
    if (value.op !== 'result') return
    const type = value.source.types[value.index]
    if (type === undefined) report(`${value.source.op} has no result ${value.index}`)
    else if (type !== value.type)
      report(`result ${value.index} of its ${value.source.op} is ${type}, not ${value.type}`)
  }

  function checkOperands(node: Value | Effect, report: Report): void {
    const { operands: expected, T, variadic } = definition(node.op)
    const given = node.operands
    if (variadic ? given.length < expected.length : given.length !== expected.length) {
      report(`takes ${expected.length} operands, not ${given.length}`)
    }
    let shared: Type | undefined
    for (const [k, wanted] of expected.entries()) {
      const type = given[k]?.type
      if (type === undefined) continue
      if (wanted !== 'T') {
        if (type !== wanted) report(`operand ${k} is ${type}, expected ${wanted}`)
      } else if (shared === undefined) {
        if (!isInClass(type, T!)) report(`operand ${k} is ${type}, expected a type of class ${T}`)
        shared = type
      } else if (type !== shared) report(`operand ${k} is ${type}, expected ${shared}`)
    }
  }

  function checkAccess(node: Value | Effect, report: Report): void {
    if ('tape' in node && !tapes[node.tape]) report(`there is no tape #${node.tape}`)
    if (!('plane' in node)) return
    const plane = planes[node.plane]
    const component = 'component' in node ? node.component : 0
    if (!plane) return report(`there is no plane ${node.plane}`)
    const role = ROLE_OF[node.op]
    if (plane.role !== role) report(`'${plane.name}' is a ${plane.role}, expected a ${role}`)
    if (!Number.isInteger(component) || component < 0 || component >= plane.components) {
      report(`'${plane.name}' has ${plane.components} components, not ${component + 1}`)
    }
  }

  function checkWrite(effect: Effect, report: Report): void {
    const written = effect.operands.at(-1)
    const target = effect.op === 'record' ? tapes[effect.tape] : planes[effect.plane]
    if (written && target && written.type !== target.type) report(`writes ${written.type} where ${target.type} is held`)
  }

  function checkTypes(values: readonly Value[], expected: readonly Type[], what: string, report: Report): void {
    const list = (types: readonly Type[]) => `(${types.join(', ')})`
    const types = values.map(({ type }) => type)
    if (list(types) !== list(expected)) report(`${what} are ${list(types)}, expected ${list(expected)}`)
  }

  function checkConstruct(node: Construct, report: Report): void {
    const { op, operands, regions, types } = node
    const { selector, fewest, most } = CONSTRUCT_RULES[op]
    if (regions.length < fewest || regions.length > most) report(`has ${regions.length} regions`)
    if (op === 'shortcut' && regions.some((region) => [...walk(region)].some(isEffect))) report('it holds effects')
    checkTypes(operands, op === 'loop' ? [selector, ...types] : [selector], 'operands', report)
    regions.forEach((region, k) => {
      const name = regionName(op, k)
      checkTypes(region.parameters, op === 'loop' ? ['i32', ...types] : [], `parameters of its ${name}`, report)
      const expected: readonly Type[] = name === 'condition' ? ['bool'] : types
      checkRegion(region, report)
      checkTypes(region.results, expected, `results of its ${name}`, report)
    })
  }

  function checkNode(node: Node, region: Region, known: Set<string>): void {
    const line = text.node(node)
    const report = about(line)
    node.operands.forEach((operand) => checkUse(operand, report))
    if (homes.has(node)) return report('it is listed twice')
    if (isEffect(node)) {
      homes.set(node, region)
      checkOperands(node, report)
      checkAccess(node, report)
      checkWrite(node, report)
      return
    }
    claimId(node, report)
    if (isConstruct(node)) {
      checkConstruct(node, report)
      homes.set(node, region)
      return
    }
    homes.set(node, region)
    if (node.op === 'const' || node.op === 'parameter' || node.op === 'result')
      return report('it is listed in a region')
    checkOperands(node, report)
    checkAccess(node, report)
    checkResultType(node, graph, report)
    if (lowered && isDerived(node.op)) report('it is a derived op in a lowered graph')
    if (lowered && !lowered.fma && node.op === 'fma') report('it is an fma in a graph lowered for a target without')
    const meaning = line.slice(line.indexOf(':'))
    if (node.op !== 'recall' && known.has(meaning)) report('an equal value stands in the same region')
    known.add(meaning)
  }

  function checkRegion(region: Region, report: Report): void {
    open.add(region)
    for (const parameter of region.parameters) {
      if (parameter.op !== 'parameter') report(`${text.value(parameter)} is no parameter`)
      homes.set(parameter, region)
      claimId(parameter, report)
    }
    const known = new Set<string>()
    for (const node of region.nodes) checkNode(node, region, known)
    for (const result of region.results) checkUse(result, report)
    open.delete(region)
  }

  const reportBody = about('the body of the graph')
  if (body.parameters.length > 0) reportBody('it has parameters')
  checkRegion(body, reportBody)
  if (body.results.length > 0) reportBody('it has results')
  return found
}

/** Throws E_GRAPH with every violation. */
export function verify(graph: Graph, options: VerifyOptions = {}): void {
  const found = violations(graph, options)
  if (found.length === 0) return
  const count = found.length === 1 ? 'an invariant' : `${found.length} invariants`
  throw new HarrierError('E_GRAPH', `the graph breaks ${count}:\n${found.map((line) => `  ${line}`).join('\n')}`)
}
