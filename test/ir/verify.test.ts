// The verifier: sound graphs pass, and each planted fault is reported with the line that it is about.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Graph, Node, Plane, Region, Value } from '../../src/ir/graph.ts'
import { parse } from '../../src/ir/parse.ts'
import { verify, violations } from '../../src/ir/verify.ts'
import { randomGraph } from '../support/randomGraph.ts'

const PLANES = `plane x: sample f64
plane k: sample i32
plane v: sample f64[3]
plane t: table f64
plane a: uniform f64
plane s: reduction sum f64
plane h: accumulator i32
plane done: mask bool
tape #0: f64[4]
`

const graphOf = (body: string): Graph => parse(`${PLANES}\n${body}`)

test('random graphs are sound', () => {
  fc.assert(
    fc.property(randomGraph({ effectsInRegions: true }), ({ graph }) => {
      expect(violations(graph)).toEqual([])
    }),
    { numRuns: 50 },
  )
})

describe('types, operands and accesses', () => {
  test.each<[string, readonly string[]]>([
    ['%0: f64 = neg i32:1', ['%0: f64 = neg i32:1: gives i32, not f64']],
    [
      '%0: f64 = add f64:0x0000000000000000, i32:1',
      ['%0: f64 = add f64:0x0000000000000000, i32:1  ; 0: operand 1 is i32, expected f64'],
    ],
    ['%0: i32 = sqrt i32:1', ['%0: i32 = sqrt i32:1: operand 0 is i32, expected a type of class float']],
    ['%0: i32 = add i32:1', ['%0: i32 = add i32:1: takes 2 operands, not 1']],
    ['%0: i32 = select i32:1, i32:1, i32:2', ['%0: i32 = select i32:1, i32:1, i32:2: operand 0 is i32, expected bool']],
    ['%0: f64 = lt i32:1, i32:2', ['%0: f64 = lt i32:1, i32:2: gives bool, not f64']],
    ['%0: i32 = load x', ['%0: i32 = load x: gives f64, not i32']],
    ['%0: f64 = load t', ["%0: f64 = load t: 't' is a table, expected a sample"]],
    ['%0: f64 = load v[3]', ["%0: f64 = load v[3]: 'v' has 3 components, not 4"]],
    [
      '%0: f64 = gather t, f64:0x0000000000000000',
      ['%0: f64 = gather t, f64:0x0000000000000000  ; 0: operand 0 is f64, expected i32'],
    ],
    ['%0: i64 = sampleIndex', ['%0: i64 = sampleIndex: gives i32, not i64']],
    ['%0: i64 = entryCount t', ['%0: i64 = entryCount t: gives i32, not i64']],
    ['%0: i32 = random i32:1, i32:2, i32:3', ['%0: i32 = random i32:1, i32:2, i32:3: gives a float, not i32']],
    ['%0: i64 = bitcast i32:1', ['%0: i64 = bitcast i32:1: i32 and i64 differ in width']],
    ['%0: i32 = recall #0, i32:1', ['%0: i32 = recall #0, i32:1: gives f64, not i32']],
    [
      '%0: f32 = custom "r" 0, f64:0x0000000000000000',
      ['%0: f32 = custom "r" 0, f64:0x0000000000000000  ; 0: gives f64, not f32'],
    ],
    ['store x, i32:1', ['store x, i32:1: writes i32 where f64 is held']],
    ['store t, f64:0x0000000000000000', ["store t, f64:0x0000000000000000  ; 0: 't' is a table, expected a sample"]],
    ['scatterAdd h, true, i32:1', ['scatterAdd h, true, i32:1: operand 0 is bool, expected i32']],
    ['contribute s, i32:1', ['contribute s, i32:1: writes i32 where f64 is held']],
    [
      'finish done, i32:1',
      ['finish done, i32:1: operand 0 is i32, expected bool', 'finish done, i32:1: writes i32 where bool is held'],
    ],
    ['record #0, i32:0, i32:1', ['record #0, i32:0, i32:1: writes i32 where f64 is held']],
  ])('%s', (body, expected) => {
    expect(violations(graphOf(body))).toEqual(expected)
  })
})

describe('regions', () => {
  test.each<[string, readonly string[]]>([
    [
      '%0: f64 = load x\nbranch true then {\n  %1: f64 = neg %0\n} else {\n}\n%2: f64 = abs %1',
      ['%2: f64 = abs %1: %1 is used outside the region that holds it'],
    ],
    [
      '%0: f64 = branch true then {\n  %1: f64 = load x\n  yield %1\n} else {\n  yield %1\n}',
      ['%0: f64 = branch true: %1 is used outside the region that holds it'],
    ],
    [
      '%0: f64 = branch true then {\n  %1: f64 = neg %0\n  yield %1\n} else {\n  yield %0\n}',
      ['%1: f64 = neg %0: %0 is not defined above', '%0: f64 = branch true: %0 is not defined above'],
    ],
    ['branch i32:1 then {\n} else {\n}', ['branch i32:1: operands are (i32), expected (bool)']],
    ['branch true then {\n}', ['branch true: has 1 regions']],
    ['shortcut i32:1 quick {\n} general {\n}', ['shortcut i32:1: operands are (i32), expected (bool)']],
    [
      '%0: f64 = load x\nshortcut true quick {\n} general {\n  contribute s, %0\n}',
      ['shortcut true: it holds effects'],
    ],
    ['branch true then (%0: i32) {\n} else {\n}', ['branch true: parameters of its then are (i32), expected ()']],
    [
      '%0: f64 = dispatch i32:0 case {\n  yield i32:1\n}',
      ['%0: f64 = dispatch i32:0: results of its case are (i32), expected (f64)'],
    ],
    [
      'loop i32:1, i32:2 body(%0: i32) {\n} condition(%1: i32) {\n  yield true\n}',
      ['loop i32:1, i32:2: operands are (i32, i32), expected (i32)'],
    ],
    [
      '%0: i32 = loop i32:1, i32:2 body(%1: i32, %2: i32) {\n  yield true\n} condition(%3: f64, %4: i32) {\n  yield %4\n}',
      [
        '%0: i32 = loop i32:1, i32:2: results of its body are (bool), expected (i32)',
        '%0: i32 = loop i32:1, i32:2: parameters of its condition are (f64, i32), expected (i32, i32)',
        '%0: i32 = loop i32:1, i32:2: results of its condition are (i32), expected (bool)',
      ],
    ],
    [
      '%0: f64 = load x\n%1: f64 = neg %0\n%2: f64 = neg %0',
      ['%2: f64 = neg %0: an equal value stands in the same region'],
    ],
  ])('%s', (body, expected) => {
    expect(violations(graphOf(body))).toEqual(expected)
  })

  test('two reads of a tape are never equal', () => {
    expect(violations(graphOf('%0: f64 = recall #0, i32:1\n%1: f64 = recall #0, i32:1'))).toEqual([])
  })
})

describe('planes and tapes', () => {
  const withPlane = (plane: Partial<Plane>): Graph => ({
    planes: [{ name: 'x', role: 'sample', type: 'f64', components: 1, ...plane }],
    tapes: [],
    body: { parameters: [], nodes: [], results: [] },
  })

  test.each<[Partial<Plane>, string]>([
    [{ name: '1x' }, "plane 0 '1x': its name is no identifier"],
    [{ components: 0 }, "plane 0 'x': it has 0 components, expected at least 1"],
    [{ components: 1.5 }, "plane 0 'x': it has 1.5 components, expected at least 1"],
    [{ role: 'uniform', components: 2 }, "plane 0 'x': a uniform has one component"],
    [{ type: 'i64' }, "plane 0 'x': no plane holds i64"],
    [{ role: 'mask' }, "plane 0 'x': a mask is bool, not f64"],
    [{ role: 'accumulator', type: 'bool' }, "plane 0 'x': an accumulator holds numbers, not bool"],
    [{ role: 'reduction' }, "plane 0 'x': a reduction, and nothing else, has a fold"],
    [{ reduce: 'sum' }, "plane 0 'x': a reduction, and nothing else, has a fold"],
    [{ role: 'reduction', reduce: 'all' }, "plane 0 'x': the fold all does not take f64"],
    [{ role: 'reduction', reduce: 'max', type: 'bool' }, "plane 0 'x': the fold max does not take bool"],
  ])('%j', (plane, expected) => {
    expect(violations(withPlane(plane))).toEqual([expected])
  })

  test('names repeat', () => {
    const { planes, ...rest } = withPlane({})
    expect(violations({ ...rest, planes: [...planes, ...planes] })).toEqual([
      "plane 1 'x': another plane has the same name",
    ])
  })

  test('a tape of half a slot', () => {
    expect(violations({ ...withPlane({}), tapes: [{ type: 'f64', capacity: 0.5 }] })).toEqual([
      'tape #0: it has 0.5 slots',
    ])
  })
})

describe('what the text form cannot say', () => {
  const x: Value = { id: 0, op: 'load', type: 'f64', operands: [], plane: 0, component: 0 }
  const graphWith = (...nodes: readonly Node[]): Graph => ({
    planes: [{ name: 'x', role: 'sample', type: 'f64', components: 1 }],
    tapes: [],
    body: { parameters: [], nodes, results: [] },
  })
  const region = (nodes: readonly Node[]): Region => ({ parameters: [], nodes, results: [] })
  const neg = (operand: Value): Value => ({ id: 1, op: 'neg', type: 'f64', operands: [operand] })

  test.each<[string, Graph, readonly string[]]>([
    ['a use before its definition', graphWith(neg(x), x), ['%0: f64 = neg %1: %1 is not defined above']],
    ['a value that is listed nowhere', graphWith(neg(x)), ['%0: f64 = neg %?0: %?0 is not defined above']],
    ['a node listed twice', graphWith(x, x), ['%1: f64 = load x: it is listed twice']],
    [
      'one node in two regions',
      graphWith(x, {
        id: 2,
        op: 'branch',
        operands: [{ id: 3, op: 'const', type: 'bool', operands: [], literal: true }],
        regions: [region([neg(x)]), region([x])],
        types: [],
      }),
      ['%2: f64 = load x: it is listed twice'],
    ],
    [
      'two nodes of one id',
      graphWith(x, { ...neg(x), id: 0 }),
      ['%1: f64 = neg %0: its id 0 is also that of %0: f64 = load x'],
    ],
    [
      'a constant in a region',
      graphWith({ id: 0, op: 'const', type: 'f64', operands: [], literal: 1 }),
      ['%0: f64 = const f64:0x3ff0000000000000: it is listed in a region'],
    ],
    [
      'a literal of another type',
      graphWith(neg({ id: 0, op: 'const', type: 'f64', operands: [], literal: true })),
      ['%0: f64 = neg f64:0x3ff0000000000000  ; true: true is no literal of type f64'],
    ],
    ['a plane that is not there', graphWith({ ...x, plane: 1 }), ['%0: f64 = load ?1[0]: there is no plane 1']],
    [
      'a body with results',
      { ...graphWith(x), body: { parameters: [], nodes: [x], results: [x] } },
      ['the body of the graph: it has results'],
    ],
  ])('%s', (_, graph, expected) => {
    expect(violations(graph)).toEqual(expected)
  })
})

test('a lowered graph has basic ops only', () => {
  const graph = graphOf('%0: f64 = load x\n%1: f64 = sin %0\n%2: f64 = fma %0, %0, %1')
  expect(violations(graph)).toEqual([])
  expect(violations(graph, { lowered: { fma: true } })).toEqual([
    '%1: f64 = sin %0: it is a derived op in a lowered graph',
  ])
  expect(violations(graph, { lowered: { fma: false } })).toEqual([
    '%1: f64 = sin %0: it is a derived op in a lowered graph',
    '%2: f64 = fma %0, %0, %1: it is an fma in a graph lowered for a target without',
  ])
})

test('verify reports everything in one error', () => {
  expect(() => verify(graphOf('%0: i32 = load x\nstore x, i32:1'))).toThrow(
    expect.objectContaining({
      code: 'E_GRAPH',
      message:
        'the graph breaks 2 invariants:\n  %0: i32 = load x: gives f64, not i32\n  store x, i32:1: writes i32 where f64 is held',
    }),
  )
  expect(() => verify(graphOf('store x, i32:1'))).toThrow(
    expect.objectContaining({
      message: 'the graph breaks an invariant:\n  store x, i32:1: writes i32 where f64 is held',
    }),
  )
})
