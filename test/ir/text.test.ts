// The text form: what it looks like, that reading it back is exact, and what the reader refuses.
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createBuilder } from '../../src/ir/build.ts'
import type { Graph, Plane, Value } from '../../src/ir/graph.ts'
import { definition, OP_NAMES } from '../../src/ir/ops.ts'
import { isPlain } from '../../src/ir/ops.ts'
import { parse } from '../../src/ir/parse.ts'
import { print } from '../../src/ir/print.ts'
import { TYPES, type Literal, type Type } from '../../src/ir/types.ts'
import { expectGolden } from '../support/golden.ts'
import { randomGraph, typesOf } from '../support/randomGraph.ts'
import { GRID, sameBits } from '../support/values.ts'

const sample = (name: string, type: Type = 'f64', components = 1): Plane => ({ name, role: 'sample', type, components })

/** Every kind of node, plane and region. */
function everything(): Graph {
  const b = createBuilder([
    sample('x'),
    sample('v', 'f64', 3),
    { name: 'a', role: 'uniform', type: 'f64', components: 1 },
    { name: 'terrain', role: 'table', type: 'f64', components: 2 },
    { name: 'histogram', role: 'accumulator', type: 'i32', components: 1 },
    { name: 'total', role: 'reduction', type: 'f64', components: 2, reduce: 'sum' },
    { name: 'done', role: 'mask', type: 'bool', components: 1 },
    sample('y'),
  ])
  const tape = b.tape({ type: 'f64', capacity: 8 })
  const x = b.load(0, 0)
  const count = b.min(b.entryCount(3), b.const('i32', 8))
  const [sum] = b.loop({
    count,
    initial: [b.mul(x, b.const('f64', 0.5)), b.const('i32', 0)],
    body(i, [value, steps]) {
      b.record(tape, i, value!)
      return [b.fma(value!, b.uniform(2), b.gather(3, 1, i)), b.add(steps!, b.const('i32', 1))]
    },
    condition: (_, [value, steps]) => b.and(b.lt(value!, b.const('f64', 100)), b.ne(steps!, b.sampleIndex())),
  })
  const [chosen] = b.branch(
    b.lt(sum!, x),
    () => [b.recall(tape, b.const('i32', 0))],
    () =>
      b.dispatch(b.bitcast(b.const('u32', 1), 'i32'), [() => [b.sin(sum!)], () => [b.custom('norm', 1, sum!, [x])]]),
  )
  const [picked] = b.dispatch(b.sampleCount(), [() => [b.load(1, 2)], () => [b.cos(x)], () => [chosen!]])
  b.scatterAdd(4, 0, b.convert(b.random('f64', b.sampleIndex(), count, count), 'i32'), b.const('i32', 1))
  b.contribute(5, 1, picked!)
  b.finish(6, b.const('bool', true))
  const [same] = b.shortcut(
    b.lt(x, chosen!),
    () => [x],
    () => [b.min(x, chosen!)],
  )
  b.store(7, 0, same!)
  return b.finishGraph()
}

describe('print', () => {
  test('every kind of node, plane and region', () => {
    expectGolden(join(import.meta.dirname, 'golden', 'everything.ir'), print(everything()))
  })

  test.each<[Type, Literal, string]>([
    ['f64', 1, 'f64:0x3ff0000000000000  ; 1'],
    ['f64', -0, 'f64:0x8000000000000000  ; -0'],
    ['f64', NaN, 'f64:0x7ff8000000000000  ; NaN'],
    ['f64', 0.1, 'f64:0x3fb999999999999a  ; 0.1'],
    ['f32', 1, 'f32:0x3f800000  ; 1'],
    ['f32', -Infinity, 'f32:0xff800000  ; -Infinity'],
    ['f32', 2 ** -149, 'f32:0x00000001  ; 1.401298464324817e-45'],
    ['i32', -(2 ** 31), 'i32:-2147483648'],
    ['bool', true, 'true'],
  ])('the %s %s', (type, literal, text) => {
    const b = createBuilder([sample('y', type)])
    b.store(0, 0, b.const(type, literal))
    expect(print(b.finishGraph())).toBe(`plane y: sample ${type}\n\nstore y, ${text}\n`)
  })

  test('the order of building does not show', () => {
    const graphOf = (isSwapped: boolean) => {
      const b = createBuilder([sample('x'), sample('y')])
      const constants = [2, 3].map((x) => () => b.const('f64', x))
      if (isSwapped) constants.toReversed().forEach((make) => make())
      b.store(1, 0, b.add(b.mul(b.load(0, 0), constants[0]!()), constants[1]!()))
      return b.finishGraph()
    }
    expect(print(graphOf(true))).toBe(print(graphOf(false)))
  })
})

describe('parse', () => {
  test('reads back what print writes', () => {
    fc.assert(
      fc.property(randomGraph({ effectsInRegions: true }), ({ graph }) => {
        const text = print(graph)
        expect(print(parse(text))).toBe(text)
      }),
      { numRuns: 100 },
    )
  })

  test('reads back every op of every type', () => {
    const b = createBuilder([sample('x', 'f64', 3)])
    // Other than the one before, so that nothing simplifies.
    const operand = (type: Type, k: number): Value => b.convert(b.load(0, k), type)
    for (const op of OP_NAMES.filter(isPlain)) {
      for (const type of typesOf(op)) {
        b.apply(
          op,
          definition(op).operands.map((wanted, k) => operand(wanted === 'T' ? type : wanted, k)),
        )
      }
    }
    const text = print(b.finishGraph())
    expect(print(parse(text))).toBe(text)
    expect(OP_NAMES.filter((op) => isPlain(op) && !text.includes(` = ${op} `))).toEqual([])
  })

  test('reads back every literal of the grid', () => {
    for (const type of TYPES) {
      for (const literal of GRID[type]) {
        const b = createBuilder([sample('y', 'f64')])
        // custom takes operands of any type and does not fold.
        b.store(0, 0, b.custom('r', 0, b.const('f64', 0), [b.const(type, literal)]))
        const [node] = parse(print(b.finishGraph())).body.nodes
        const read = node && 'operands' in node ? node.operands[1] : undefined
        expect(read?.op === 'const' && sameBits(read.literal, literal), `${type} ${literal}`).toBe(true)
      }
    }
  })

  test('names of rules may hold anything', () => {
    const b = createBuilder([sample('x')])
    b.store(0, 0, b.custom('a "quoted"; back\\slash\n%0 #1 é \u0001', 2, b.load(0, 0), []))
    const text = print(b.finishGraph())
    expect(print(parse(text))).toBe(text)
    expect(parse(text).body.nodes[1]).toMatchObject({ rule: 'a "quoted"; back\\slash\n%0 #1 é \u0001', output: 2 })
  })

  test('comments, blank lines, spaces and the numbers of values are free', () => {
    const text = `
; a kernel
plane x : sample f64   ; per sample

  plane y:sample f64
%7: f64 = load x
; between
  %3:f64=add   %7,%7  ; twice

store y , %3`
    expect(print(parse(text))).toBe(
      'plane x: sample f64\nplane y: sample f64\n\n%0: f64 = load x\n%1: f64 = add %0, %0\nstore y, %1\n',
    )
  })

  const planes = 'plane x: sample f64\nplane t: table f64[2]\n'
  test.each<[string, string]>([
    ['plane 1: sample f64', "line 1, column 7: expected the name of the plane, found '1'"],
    [
      'plane x: sampled f64',
      "line 1, column 10: expected a role (sample, uniform, table, accumulator, reduction, mask), found 'sampled'",
    ],
    ['plane s: reduction f64', "line 1, column 20: expected a fold (sum, prod, max, min, all, any), found 'f64'"],
    ['plane x: sample double', "line 1, column 17: expected a type (f64, f32, i32, u32, i64, bool), found 'double'"],
    ['plane x: sample f64[x]', "line 1, column 21: expected the number of components, found 'x'"],
    ['plane x: sample f64 f64', "line 1, column 21: expected the end of the line, found 'f64'"],
    [`${planes}plane x: sample i32`, "line 3, column 7: expected a name that no other plane has, found 'x'"],
    ['tape #1: f64[3]', "line 1, column 6: expected #0, as tapes are numbered in order, found '#1'"],
    [`${planes}%0: f64 = load z`, "line 3, column 16: expected the name of a plane that is declared above, found 'z'"],
    [`${planes}%0: f64 = loud x`, "line 3, column 11: expected an op that gives a value, found 'loud'"],
    [`${planes}%0: f64 = store x`, "line 3, column 11: expected an op that gives as many values, found 'store'"],
    [`${planes}load x`, "line 3, column 1: expected an effect or a construct, found 'load'"],
    [`${planes}%0: f64 = neg %1`, "line 3, column 15: expected a value that is defined above, found '%1'"],
    [
      `${planes}%0: f64 = load x\n%0: f64 = neg %0`,
      "line 4, column 1: expected a value that is not defined yet, found '%0'",
    ],
    [
      `${planes}%0: f64 = neg x`,
      "line 3, column 15: expected a value (%0, %1, …) or a literal (f64:0x…, i32:1, true), found 'x'",
    ],
    [`${planes}%0: f64 = neg f64:1`, "line 3, column 19: expected 0x and 16 hex digits, found '1'"],
    [`${planes}%0: f32 = neg f32:0x1`, "line 3, column 19: expected 0x and 8 hex digits, found '0x1'"],
    [`${planes}%0: i32 = neg i32:2147483648`, "line 3, column 19: expected an i32 in decimals, found '2147483648'"],
    [`${planes}%0: i32 = neg i32:0x1`, "line 3, column 19: expected an i32 in decimals, found '0x1'"],
    [
      `${planes}%0: f64 = recall #0, i32:1`,
      "line 3, column 18: expected the number of a tape that is declared above, found '#0'",
    ],
    [
      `${planes}%0: f64 = custom norm 0, f64:0x0`,
      "line 3, column 18: expected the name of a rule in double quotes, found 'norm'",
    ],
    [`${planes}%0: f64 = custom "a\\q" 0, %0`, "line 3, column 18: expected a word of the text form, found '\"'"],
    [`${planes}%0: f64 = load x,`, "line 3, column 17: expected the end of the line, found ','"],
    [`${planes}%0: f64 = branch true than {\n}`, "line 3, column 23: expected 'then', found 'than'"],
    [`${planes}branch true then {\n} otherwise {\n}`, "line 4, column 3: expected 'else', found 'otherwise'"],
    [
      `${planes}branch true then {\n`,
      'line 3, column 19: expected an effect, a construct, a value or the end, found end of text',
    ],
    [`${planes}store x, ?`, "line 3, column 10: expected a word of the text form, found '?'"],
  ])('refuses %j', (text, message) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'E_PARSE', message: `graph text, ${message}` }))
  })
})
