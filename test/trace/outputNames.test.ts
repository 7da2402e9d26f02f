// Names of outputs: keys, `named`, variables, positions; the canonical order of arguments; and what a name may be.
import { describe, expect, test } from 'vitest'
import {
  Accum,
  Index,
  Matrix,
  Mutable,
  named,
  Param,
  Reduce,
  Scalar,
  Table,
  Terminated,
  Vector,
} from '../../src/trace/index.ts'
import { trace } from '../../src/trace/trace.ts'
import { refusalOfBody, traceBody } from './support/evaluate.ts'

type X = { x: Scalar }
const names = (body: (p: X) => unknown): readonly string[] => traceBody({ x: Scalar }, body).outputNames

describe('rules of naming', () => {
  test('the example of the guide', () => {
    const kernel = traceBody({ x: Scalar }, ({ x }) => {
      const up = x.add(1)
      return { up, rest: [x.mul(3), [x.mul(4), x.mul(5)]] }
    })
    expect(kernel.outputNames).toEqual(['up', 'out1', 'out2', 'out3'])
    expect(kernel.outputs.map(({ positionalName }) => positionalName)).toEqual(['out0', 'out1', 'out2', 'out3'])
    expect(kernel.returned).toEqual({
      form: 'object',
      entries: [
        ['up', { form: 'slot', slot: 0 }],
        [
          'rest',
          {
            form: 'array',
            items: [
              { form: 'slot', slot: 1 },
              {
                form: 'array',
                items: [
                  { form: 'slot', slot: 2 },
                  { form: 'slot', slot: 3 },
                ],
              },
            ],
          },
        ],
      ],
    })
  })

  const CASES: readonly (readonly [string, (p: X) => unknown, readonly string[]])[] = [
    ['a lone expression', ({ x }) => x.add(1), ['out']],
    ['a lone expression in an array', ({ x }) => [x.add(1)], ['out']],
    ['several expressions', ({ x }) => [x.add(1), x.add(2)], ['out0', 'out1']],
    [
      'a variable',
      ({ x }) => {
        const up = x.add(1)
        return up
      },
      ['up'],
    ],
    [
      'variables in an array',
      ({ x }) => {
        const up = x.add(1)
        const thrice = x.mul(3)
        return [up, thrice]
      },
      ['up', 'thrice'],
    ],
    [
      'a variable among expressions',
      ({ x }) => {
        const up = x.add(1)
        return [x.mul(2), up, x.mul(3)]
      },
      ['out0', 'up', 'out2'],
    ],
    [
      'a variable deep inside',
      ({ x }) => {
        const up = x.add(1)
        return { a: [[up]], b: x.mul(2) }
      },
      ['up', 'b'],
    ],
    [
      'a variable that is an array',
      ({ x }) => {
        const all = [x.add(1), x.add(2)]
        return all
      },
      ['out0', 'out1'],
    ],
    [
      'a member expression',
      ({ x }) => {
        const s = { up: x.add(1) }
        return [s.up, x.mul(2)]
      },
      ['out0', 'out1'],
    ],
    [
      'variables after a spread',
      ({ x }) => {
        const up = x.add(1)
        const more = [x.mul(2), x.mul(3)]
        return [...more, up]
      },
      ['out0', 'out1', 'out2'],
    ],
    [
      'variables before a spread',
      ({ x }) => {
        const up = x.add(1)
        const more = [x.mul(2)]
        return [up, ...more]
      },
      ['up', 'out1'],
    ],
    ['keys', ({ x }) => ({ up: x.add(1), down: x.sub(1) }), ['up', 'down']],
    [
      'a key wins over a variable',
      ({ x }) => {
        const up = x.add(1)
        return { high: up }
      },
      ['high'],
    ],
    ['nested keys', ({ x }) => ({ a: { b: x.add(1), c: { d: x.add(2) } } }), ['a_b', 'a_c_d']],
    ['an array forgets the prefix', ({ x }) => ({ a: [x.add(1), { b: x.add(2) }] }), ['out0', 'b']],
    ['an object in an array starts again', ({ x }) => [{ a: { b: x.add(1) } }, { c: x.add(2) }], ['a_b', 'c']],
    ['named', ({ x }) => [named('up', x.add(1)), x.add(2)], ['up', 'out1']],
    ['named wins over a key', ({ x }) => ({ key: named('up', x.add(1)) }), ['up']],
    [
      'named values are values',
      ({ x }) => {
        const one = named('one', x.add(1))
        return [one, one.mul(2)]
      },
      ['one', 'out1'],
    ],
    ['constants', () => ({ three: 3, yes: true, list: [1, 2] }), ['three', 'yes', 'out2', 'out3']],
    ['a named constant', () => [named('one', 1), named('no', false)], ['one', 'no']],
    [
      'one value under two keys',
      ({ x }) => {
        const y = x.add(1)
        return { a: y, b: y }
      },
      ['a', 'b'],
    ],
    ['a parameter under another key', ({ x }) => ({ x_next: x }), ['x_next']],
    ['a parameter by named', ({ x }) => named('x_next', x), ['x_next']],
    [
      'several returns',
      ({ x }) => {
        const up = x.add(1)
        if (Number('0')) return x.mul(2)
        return up
      },
      ['out'],
    ],
    [
      'a return of a function inside',
      ({ x }) => {
        const f = () => {
          return x.add(1)
        }
        const up = f()
        return up
      },
      ['up'],
    ],
    [
      'a return in a class inside',
      ({ x }) => {
        class C {
          make() {
            return x.add(1)
          }
        }
        const up = new C().make()
        return up
      },
      ['up'],
    ],
    [
      'braces in text and comments',
      ({ x }) => {
        /* return a } */ const t = `} return ${'b'} {`
        const up = x.add(t.length)
        return up // } }
      },
      ['up'],
    ],
    [
      'a variable called like another slot',
      ({ x }) => {
        const b = x.add(1)
        return [b, { b: x.add(2) }]
      },
      ['out0', 'b'],
    ],
    [
      'a variable called like a place',
      ({ x }) => {
        const out1 = x.add(1)
        return [out1, x.add(2)]
      },
      ['out0', 'out1'],
    ],
    [
      'a variable called like a parameter',
      ({ x: input }) => {
        const x = input.add(1)
        return x
      },
      ['out'],
    ],
    [
      'a variable with a name of its own rules',
      ({ x }) => {
        const größe = x.add(1)
        return größe
      },
      ['out'],
    ],
  ]
  test.each(CASES)('%s', (_, body, expected) => expect(names(body)).toEqual(expected))

  test('methods, named functions, nested kernels', () => {
    const holder = {
      method({ x }: X) {
        const up = x.add(1)
        return up
      },
      async: 0,
    }
    expect(names(holder.method)).toEqual(['up'])
    expect(
      names(function named({ x }) {
        const up = x.add(1)
        return up
      }),
    ).toEqual(['up'])
    expect(
      names(({ x }) => {
        const inner = traceBody({ z: Scalar }, ({ z }) => {
          const w = z.add(1)
          return w
        })
        const up = x.add(inner.outputs.length)
        return up
      }),
    ).toEqual(['up'])
  })

  test('text that cannot be read gives positional names, and explain() can say why', () => {
    const readable = ({ x }: X) => {
      const up = x.add(1)
      return up
    }
    // A bound function has no text of its own.
    const bound = Function.prototype.bind.call(readable, undefined) as typeof readable
    expect(traceBody({ x: Scalar }, bound)).toMatchObject({
      outputNames: ['out'],
      namingNote: 'outputs without a key have positional names: the text of the body cannot be read',
    })
    const several = ({ x }: X) => {
      if (Number('0')) return x.mul(2)
      return x.add(1)
    }
    expect(traceBody({ x: Scalar }, several).namingNote).toBe(
      'outputs without a key have positional names: the body has 2 return statements',
    )
    expect(traceBody({ x: Scalar }, ({ x }) => ({ up: x.add(1) })).namingNote).toBeUndefined()
  })

  test('positional names that another slot has do not answer', () => {
    const kernel = traceBody({ x: Scalar }, ({ x }) => ({ out1: x.add(1), b: x.add(2) }))
    expect(
      kernel.outputs.map(({ name, positionalName, positionalNameTaken }) => [
        name,
        positionalName,
        positionalNameTaken,
      ]),
    ).toEqual([
      ['out1', 'out0', false],
      ['b', 'out1', true],
    ])
  })
})

describe('the canonical order', () => {
  test('by role, then by code unit', () => {
    const kernel = traceBody(
      {
        Z: Param,
        a: Param,
        _t: Table(Scalar),
        x: Scalar,
        i: Index,
        m: Matrix(2, 2),
        v: Vector(3),
        total: Reduce('sum'),
        acc: Accum(Scalar),
        y: Mutable(Scalar),
        done: Terminated,
      },
      ({ Z, a, _t, x, i, m, v, total, acc, y, done }) => {
        y.set(x.mul(a).add(Z))
        acc.add(_t.at(i))
        total.contribute(m.trace().add(v.x))
        done.when(x.gt(0))
        return { z: x.add(1), B: x.add(2) }
      },
    )
    expect(kernel.argSpec).toEqual([
      ['mutable', 'B'],
      ['mutable', 'y'],
      ['mutable', 'z'],
      ['accum_out', 'acc'],
      ['reduce', 'total'],
      ['vec_in', 'v'],
      ['mat_in', 'm'],
      ['per_sample', 'i'],
      ['per_sample', 'x'],
      ['lookup', '_t'],
      ['terminated', 'done'],
      ['uniform', 'Z'],
      ['uniform', 'a'],
    ])
    expect(kernel.outputNames).toEqual(['z', 'B'])
  })

  test('names of kernels', () => {
    const body = ({ x }: X) => x.add(1)
    expect(trace('scale', { x: Scalar }, body)).toMatchObject({ name: 'scale', isNamed: true })
    expect(trace(undefined, { x: Scalar }, body)).toMatchObject({ name: 'body', isNamed: false })
    expect(
      trace(
        undefined,
        { x: Scalar },
        (
          () =>
          ({ x }: X) =>
            x.add(1)
        )(),
      ).name,
    ).toBe('kernel')
  })
})

describe('refusals', () => {
  const CASES: readonly (readonly [string, (p: X & { y: Scalar; total: Reduce<Scalar> }) => unknown, string])[] = [
    [
      'a parameter itself',
      ({ x }) => x,
      "E_NAME: the body returns parameter 'x' itself; return it under a key, and use another name (x_next)",
    ],
    [
      'a parameter in an array',
      ({ x, y }) => [y.add(1), x],
      "E_NAME: the body returns parameter 'x' itself; return it under a key, and use another name (x_next)",
    ],
    [
      'a key of a parameter',
      ({ x, y }) => ({ y: x.add(y) }),
      "E_NAME: a returned value is called 'y', which is the name of a parameter; use another name (y_next)",
    ],
    [
      'a parameter under its own key',
      ({ x }) => ({ x }),
      "E_NAME: a returned value is called 'x', which is the name of a parameter; use another name (x_next)",
    ],
    [
      'a name of a parameter',
      ({ x }) => named('y', x),
      "E_NAME: a returned value is called 'y', which is the name of a parameter; use another name (y_next)",
    ],
    [
      'one value in two places',
      ({ x }) => {
        const y = x.add(1)
        return [y, y]
      },
      'E_NAME: returned values 0 and 1 are the same value; return each under a key of its own',
    ],
    [
      'a name given twice',
      ({ x }) => [named('a', x), named('a', x.add(1))],
      "E_NAME: two returned values are called 'a'; give each a name of its own",
    ],
    [
      'a joined name given twice',
      ({ x }) => ({ a_b: x.add(1), a: { b: x.add(2) } }),
      "E_NAME: two returned values are called 'a_b'; give each a name of its own",
    ],
    [
      'a whole number as key',
      ({ x }) => ({ 1: x.add(1) }),
      "E_NAME: returned key '1' is a whole number, which JavaScript would move before the other keys; return an array, or use another name",
    ],
    [
      'a key inside that is no name',
      ({ x }) => ({ a: { 'b-c': x.add(1) } }),
      "E_NAME: returned key 'b-c' at .a is no valid name; names are letters, digits and _, not starting with a digit",
    ],
    [
      '__proto__ as key',
      ({ x }) => Object.fromEntries([['__proto__', x.add(1)]]),
      "E_NAME: returned key '__proto__' is no valid name; names are letters, digits and _, not starting with a digit",
    ],
    [
      'a place that a key has',
      ({ x }) => ({ out1: x.add(1), list: [x.add(2)] }),
      "E_NAME: returned value 1 has no key, and its positional name 'out1' is the name of another returned value; return it under a key",
    ],
    [
      'named without a name',
      ({ x }) => named('a b', x),
      "E_NAME: named: 'a b' is no valid name; names are letters, digits and _, not starting with a digit",
    ],
    [
      'named with the operands turned',
      ({ x }) => named(x as never, 'up' as never),
      'E_NAME: named: x (Scalar) is no valid name; names are letters, digits and _, not starting with a digit',
    ],
    [
      'named of an array',
      ({ x }) => named('a', [x] as never),
      "E_TYPE: named('a', …): found an array, expected one traced value or number",
    ],
    [
      'a reduction twice',
      ({ x, total }) => {
        total.contribute(x)
        return { a: total, b: total }
      },
      "E_NAME: two returned values are called 'total'; give each a name of its own",
    ],
  ]
  test.each(CASES)('%s', (_, body, message) => {
    const [code, ...text] = message.split(': ')
    const params = message.includes('total') ? { x: Scalar, y: Scalar, total: Reduce('sum') } : { x: Scalar, y: Scalar }
    expect(refusalOfBody(params, body as never)).toBe(`${code}: kernel 'k': ${text.join(': ')}`)
  })

  test('a place that a parameter has', () => {
    expect(refusalOfBody({ out: Scalar }, ({ out }: { out: Scalar }) => out.add(1))).toBe(
      "E_NAME: kernel 'k': returned value 0 has no key, and its positional name 'out' is the name of a parameter; return it under a key",
    )
  })

  test('a reduction may keep its name, alone and beside others', () => {
    const kernel = traceBody({ x: Scalar, total: Reduce('sum') }, ({ x, total }) => {
      total.contribute(x)
      return { total, sum: x.add(1) }
    })
    expect(kernel.outputNames).toEqual(['total', 'sum'])
    expect(
      traceBody({ x: Scalar, total: Reduce('sum') }, ({ x, total }) => (total.contribute(x), total)).outputNames,
    ).toEqual(['total'])
  })
})
