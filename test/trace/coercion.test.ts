// Values used as plain ones, where JavaScript lets us see it; conditions that nothing uses, where it does not; two loaded copies.
import { inspect } from 'node:util'
import { describe, expect, test, vi } from 'vitest'
import * as h from '../../src/trace/index.ts'
import { Index, named, Scalar, Vector } from '../../src/trace/index.ts'
import { refusalOfBody, traceBody } from './support/evaluate.ts'

/** JavaScript as a user who forgets that `x` is symbolic writes it. */
interface Loose {
  readonly x: number
  readonly i: number
  readonly v: number
}
const NUMBER = 'used as a plain number, as x * 2, x > 0 or Math.sin(x) would'
const PLAIN = 'used as a plain value, as x + 1 or x == 1 would'
const TEXT = 'used as text, as a template string or a property key would'

const refused = (label: string, found: string, instead: string) =>
  `E_COERCION: kernel 'k': ${label} was ${found}; it stands for one number a sample and has no plain value here — use calls instead: ${instead}`
const numbers = (name: string) => `${name}.mul(2), ${name}.gt(0), sin(${name})`

describe('coercion', () => {
  const X = 'x (Scalar)'
  const CASES: readonly (readonly [string, (p: Loose) => unknown, string])[] = [
    ['x * 2', ({ x }) => x * 2, refused(X, NUMBER, numbers('x'))],
    ['2 * x', ({ x }) => 2 * x, refused(X, NUMBER, numbers('x'))],
    ['x - 1', ({ x }) => x - 1, refused(X, NUMBER, numbers('x'))],
    ['x / 2', ({ x }) => x / 2, refused(X, NUMBER, numbers('x'))],
    ['x % 2', ({ x }) => x % 2, refused(X, NUMBER, numbers('x'))],
    ['x ** 2', ({ x }) => x ** 2, refused(X, NUMBER, numbers('x'))],
    ['-x', ({ x }) => -x, refused(X, NUMBER, numbers('x'))],
    ['+x', ({ x }) => +x, refused(X, NUMBER, numbers('x'))],
    ['~x', ({ x }) => ~x, refused(X, NUMBER, numbers('x'))],
    ['x | 0', ({ x }) => x | 0, refused(X, NUMBER, numbers('x'))],
    [
      'x++',
      ({ x }) => {
        let y = x
        y++
        return y
      },
      refused(X, NUMBER, numbers('x')),
    ],
    ['x > 0', ({ x }) => x > 0, refused(X, NUMBER, numbers('x'))],
    ['0 <= x', ({ x }) => 0 <= x, refused(X, NUMBER, numbers('x'))],
    ['Math.sin(x)', ({ x }) => Math.sin(x), refused(X, NUMBER, numbers('x'))],
    ['Number(x)', ({ x }) => Number(x), refused(X, NUMBER, numbers('x'))],
    ['x.valueOf()', ({ x }) => x.valueOf(), refused(X, NUMBER, numbers('x'))],
    ['x + 1', ({ x }) => x + 1, refused(X, PLAIN, 'x.add(1), x.eq(1)')],
    ['x == 1', ({ x }) => x == 1, refused(X, PLAIN, 'x.add(1), x.eq(1)')],
    [
      '`${x}`',
      ({ x }) => `${x}`,
      refused(X, TEXT, "named('name', x) to name an output, t.at(x) to look up by an int32 value"),
    ],
    [
      'String(x)',
      ({ x }) => String(x),
      refused(X, TEXT, "named('name', x) to name an output, t.at(x) to look up by an int32 value"),
    ],
    [
      'x.toString()',
      ({ x }) => x.toString(),
      refused(X, TEXT, "named('name', x) to name an output, t.at(x) to look up by an int32 value"),
    ],
    [
      'list[i]',
      ({ i }) => [1, 2, 3][i],
      refused('i (Index)', TEXT, "named('name', i) to name an output, t.at(i) to look up by an int32 value"),
    ],
    [
      'JSON.stringify',
      ({ x }) => JSON.stringify({ x }),
      refused(
        X,
        'passed to JSON.stringify',
        'return x from the body, and take the number from the array that the call gives back',
      ),
    ],
    [
      'const [a] = x',
      ({ x }) => {
        const [a] = x as never as [Scalar]
        return a
      },
      refused(
        X,
        'iterated over or destructured like a vector',
        'vec(x, x) to make a vector, Vector(W) as kind to receive one',
      ),
    ],
    [
      'Math.max(...v) of components',
      ({ v }) => Math.max(...(v as never as number[])),
      refused('v[0] (Scalar)', NUMBER, numbers('v[0]')),
    ],
    ['v * 2', ({ v }) => v * 2, refused('v (Vector(3))', NUMBER, numbers('v'))],
    [
      'a longer expression',
      ({ x }) => (x as never as Scalar).add(1).mul(2).toString(),
      refused(
        'x.add(1).mul(2) (Scalar)',
        TEXT,
        "named('name', x.add(1).mul(2)) to name an output, t.at(x.add(1).mul(2)) to look up by an int32 value",
      ),
    ],
    [
      'a very long one',
      ({ x }) => Number(h.exp((x as never as Scalar).add(0.123456789).mul(0.123456789).add(1).add(2))),
      refused('exp((…).add(1).add(2)) (Scalar)', NUMBER, numbers('exp((…).add(1).add(2))')),
    ],
  ]
  test.each(CASES)('%s', (_, body, message) => {
    expect(refusalOfBody({ x: Scalar, i: Index, v: Vector(3) }, body as never)).toBe(message)
  })

  test('looking at a value is no mistake', () => {
    traceBody({ x: Scalar, v: Vector(3) }, ({ x, v }) => {
      expect(inspect(x)).toBe('<x (Scalar)>')
      expect(inspect(v.dot(v))).toBe('<v.dot(v) (Scalar)>')
      return x.add(1)
    })
  })

  test('no value has a then at run time', () => {
    traceBody({ x: Scalar }, ({ x }) => {
      const c = x.gt(0)
      expect('then' in c).toBe(false)
      return c
    })
  })
})

/** The refusal with file names cut to the last part, and lines and columns as L and C. */
const withoutPlaces = (message: string) => message.replaceAll(/\S*\/([^/\s]+):\d+:\d+/g, '$1:L:C')

const ADVICE =
  '\nJavaScript tests such as if (c), c ? a : b and c && x do not see the samples; select with where(c, a, b), ' +
  'run one side with branch(c, () => a, () => b), or call discard(c) where the condition is not needed'

describe('unused conditions', () => {
  type X = { x: Scalar; v: Vector<3> }
  const params = { x: Scalar, v: Vector(3) }
  const one = (label: string) =>
    `E_UNUSED_CONDITION: kernel 'k': a condition was computed and never used:\n  ${label} at coercion.test.ts:L:C${ADVICE}`
  const CASES: readonly (readonly [string, (p: X) => unknown, string])[] = [
    // oxlint-disable-next-line no-constant-condition
    [
      'if (c)',
      ({ x }) => {
        if (x.gt(0) as unknown) return x.add(1)
        return x.mul(100)
      },
      one('x.gt(0)'),
    ],
    ['c ? a : b', ({ x }) => ((h.lt(x, 0) as unknown) ? x.neg() : x.add(0)), one('lt(x, 0)')],
    ['c && x', ({ x }) => (x.eq(1) as unknown) && x.add(1), one('x.eq(1)')],
    ['!c', ({ x }) => (!(x.eq(1) as unknown) ? 1 : x.add(1)), one('x.eq(1)')],
    ['isnan', ({ x }) => ((h.isnan(x) as unknown) ? 0 : x.add(1)), one('isnan(x)')],
    [
      'the outermost only',
      ({ x }) => {
        if (x.gt(0).and(x.lt(1)) as unknown) return x.add(1)
        return x
      },
      one('x.gt(0).and(x.lt(1))'),
    ],
    ['a vector of conditions', ({ v }) => ((v.gt(0) as unknown) ? v.add(1) : v.neg()), one('v.gt(0)')],
    [
      'where of conditions',
      ({ x }) => ((h.where(x.gt(0), x.lt(9), false) as unknown) ? x.add(1) : x),
      one('where(x.gt(0), x.lt(9), false)'),
    ],
    [
      'a branch that gives a condition',
      ({ x }) =>
        (h.branch(
          x.gt(0),
          () => x.lt(9),
          () => false,
        ) as unknown)
          ? x.add(1)
          : x,
      one('branch(…)'),
    ],
    ['bernoulli', ({ x }) => ((h.bernoulli(1, 2, 0.5) as unknown) ? x.add(1) : x), one('bernoulli(1, 2, 0.5)')],
    [
      'each call counts, before equal nodes are shared',
      ({ x }) => {
        if (x.gt(0) as unknown) return h.where(x.gt(0), x, 1)
        return x
      },
      one('x.gt(0)'),
    ],
    [
      'all in one error',
      ({ x, v }) => {
        if (x.gt(0) as unknown) {
          if (v.x.lt(1) as unknown) return x.add(1)
        }
        return x
      },
      `E_UNUSED_CONDITION: kernel 'k': 2 conditions were computed and never used:\n  x.gt(0) at coercion.test.ts:L:C\n  v.x.lt(1) at coercion.test.ts:L:C${ADVICE}`,
    ],
  ]
  test.each(CASES)('%s', (_, body, message) => {
    expect(withoutPlaces(refusalOfBody(params, body as never))).toBe(message)
  })

  test('names the line of the user', () => {
    let here: Error | undefined
    const message = refusalOfBody(params, (({ x }: X) => {
      const [c] = [x.gt(0), (here = new Error())]
      return { y: (c as unknown) ? x.add(1) : 0 }
    }) as never)
    const lineOf = (text: string) => /coercion\.test\.ts:(\d+):/.exec(text)![1]
    expect(lineOf(message)).toBe(lineOf(here!.stack!))
  })

  test('used: returned, selected by, discarded, consumed by a dead value, carried, in a while', () => {
    const { outputs } = traceBody(params, ({ x, v }) => {
      h.discard(x.gt(1))
      h.toInt(x.gt(2))
      const [a] = v.gt(0)
      const next = (s: { x: Scalar }) => ({ x: s.x.add(1), done: s.x.gt(6) })
      const r = h.loop(3, { x, done: x.gt(5) }, (_, s) => next(s), { while: (s) => s.done })
      return { c: x.gt(7), d: h.where(a.or(x.gt(8)), r.x, 0), e: [named('n', x.gt(4))] }
    })
    expect(outputs.map(({ head }) => head.type)).toEqual(['bool', 'f64', 'bool'])
  })

  test('discard takes conditions', () => {
    expect(refusalOfBody(params, (() => h.discard(1 as never)) as never)).toBe(
      "E_TYPE: kernel 'k': discard: expected a condition, found 1",
    )
  })
})

describe('two copies of the library', () => {
  test('know each other’s kinds and values, and warn once', async () => {
    const warnings: Error[] = []
    const note = (warning: Error) => warnings.push(warning)
    process.on('warning', note)
    vi.resetModules()
    const other = await import('../../src/trace/index.ts')
    vi.resetModules()
    await import('../../src/trace/index.ts')
    await new Promise((resolve) => setTimeout(resolve, 5))
    process.off('warning', note)
    expect(other.exp).not.toBe(h.exp)
    const kernel = traceBody({ x: other.Scalar }, ({ x }) => ({ y: other.exp(x).add(other.sampleIndex()) }))
    expect(kernel.graph.body.nodes.map(({ op }) => op)).toEqual([
      'load',
      'exp',
      'sampleIndex',
      'convert',
      'add',
      'store',
    ])
    expect(warnings.map(({ message }) => message)).toEqual([
      'harrier is loaded twice in this process; values and kinds of both copies work together only if their versions are equal. Let every package depend on one version, or load it from one path.',
    ])
  })
})
