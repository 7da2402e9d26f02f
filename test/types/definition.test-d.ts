// Types of bodies: what parameters are, what operations give, what the compiler refuses.
import {
  Accum,
  add,
  branch,
  cross,
  dispatch,
  dot,
  exp,
  Index,
  kernel,
  loop,
  mat,
  matmul,
  Matrix,
  min,
  Mutable,
  named,
  Param,
  Quat,
  quatMul,
  Reduce,
  sampleIndex,
  Scalar,
  Table,
  Terminated,
  toInt,
  vec,
  Vector,
  where,
  whileLoop,
  type Condition,
} from '../../src/index.ts'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
declare function expectType<Expected>(): <Found>(value: Found, same: Same<Expected, Found>) => void

kernel(
  {
    x: Scalar,
    i: Index,
    a: Param,
    v: Vector(3),
    w: Vector(2),
    q: Quat,
    m: Matrix(2, 3),
    y: Mutable(Scalar),
    p: Mutable(Vector(3)),
    t: Table(Scalar),
    n: Table(Index),
    g: Table({ row: 4, col: 3 }),
    acc: Accum(Vector(3)),
    total: Reduce('sum'),
    every: Reduce('all'),
    done: Terminated,
  },
  ({ x, i, a, v, w, q, m, y, p, t, n, g, acc, total, every, done }) => {
    // Parameters
    expectType<Scalar>()(x, true)
    expectType<Scalar>()(a, true)
    expectType<Index>()(i, true)
    expectType<Vector<3>>()(v, true)
    expectType<Quat>()(q, true)
    expectType<Matrix<2, 3>>()(m, true)

    // Promotion
    expectType<Scalar>()(x.add(1), true)
    expectType<Index>()(i.add(1), true)
    expectType<Scalar>()(i.add(1.5), true)
    expectType<Scalar>()(i.add(x), true)
    expectType<Scalar>()(i.div(2), true)
    expectType<Index>()(add(1, i), true)
    expectType<Scalar>()(add(1, 2), true)
    expectType<Index>()(min(i, 3), true)
    expectType<Condition>()(i.lt(x), true)
    expectType<Scalar>()(where(x.gt(0), 1, 0), true)
    expectType<Index>()(where(x.gt(0), i, 0), true)
    expectType<Condition>()(where(x.gt(0), i.lt(3), false), true)
    expectType<Scalar>()(exp(i), true)
    expectType<Index>()(toInt(x), true)
    expectType<Index>()(sampleIndex(), true)

    // A plain number whose value the compiler does not know is either; it can still index.
    const k: number = 3
    t.at(i.add(k))

    // Aggregates: components need no assertions under noUncheckedIndexedAccess
    const [vx, vy, vz] = v
    expectType<Scalar>()(vx.add(vy).add(vz).add(v.x).add(v[2]).add(v.at(i)), true)
    expectType<Vector<3>>()(v.add(1), true)
    expectType<Vector<3>>()(x.mul(v), true)
    expectType<Vector<3, 'condition'>>()(v.gt(0), true)
    expectType<Vector<3>>()(cross(v, v), true)
    expectType<Scalar>()(dot(v, v), true)
    expectType<Vector<2>>()(vec(x, 1), true)
    expectType<Vector<2, 'integer'>>()(vec(i, i), true)
    expectType<Vector<2>>()(m.matmul(v), true)
    expectType<Matrix<2, 2>>()(matmul(m, m.transpose()), true)
    expectType<Matrix<2, 2>>()(
      mat([
        [x, 1],
        [0, x],
      ]),
      true,
    )
    expectType<Vector<3>>()(m.row(0), true)
    expectType<Quat>()(quatMul(q, q.mul(2)), true)

    // Other kinds
    y.set(y.add(i))
    p.set(p.mul(2))
    expectType<Scalar>()(t.at(i), true)
    expectType<Index>()(n.at(0), true)
    expectType<Scalar>()(g.at({ row: i, col: 2 }), true)
    acc.add(v, i)
    total.contribute(x)
    every.contribute(x.gt(0))
    done.when(x.gt(9))

    // Control flow
    const r = loop(
      10,
      { sum: 0, at: [v, i] },
      (step, s) => ({ sum: s.sum.add(step), at: [s.at[0].mul(2), s.at[1].add(1)] }),
      {
        while: (s) => s.sum.lt(5),
      },
    )
    expectType<Scalar>()(r.sum, true)
    expectType<Vector<3>>()(r.at[0], true)
    expectType<Index>()(r.at[1], true)
    expectType<Scalar>()(
      whileLoop(
        x,
        (s) => s.gt(1),
        (s) => s.mul(0.5),
        { max: 100 },
      ),
      true,
    )
    expectType<Scalar>()(
      branch(
        x.gt(0),
        () => x,
        () => 0,
      ),
      true,
    )
    expectType<Scalar>()(
      branch(
        x.gt(0),
        () => [x, 1],
        () => [1, x],
      )[1],
      true,
    )
    expectType<Scalar>()(dispatch(i, [() => x, () => 1, () => x.neg()]), true)

    // What the compiler refuses
    // @ts-expect-error operators do not exist on symbolic values
    void (x * 2)
    // @ts-expect-error comparisons neither
    void (x > 0)
    // @ts-expect-error widths differ
    v.add(w)
    // @ts-expect-error a vector where a number is expected
    t.at(v)
    // @ts-expect-error a float as index
    t.at(x)
    // @ts-expect-error an axis is missing
    g.at({ row: i })
    // @ts-expect-error a vector into a number
    y.set(v)
    // @ts-expect-error array methods are not there
    v.map((component: Scalar) => component.add(1))
    // @ts-expect-error there is no fourth component
    v[3].add(1)
    // @ts-expect-error a 3-vector has no w
    void v.w
    // @ts-expect-error inner sizes differ
    m.matmul(w)
    // @ts-expect-error cross takes 3-vectors
    cross(w, w)
    // A condition is 0 or 1 where a number is expected; the other way needs a comparison
    total.contribute(x.gt(0))
    // @ts-expect-error a number is no condition
    every.contribute(x)
    // @ts-expect-error numbers are no conditions
    done.when(x)
    // @ts-expect-error the carried type changes
    loop(3, { k: i }, () => ({ k: x }))
    // @ts-expect-error a carried key is lost
    loop(3, { a: x, b: x }, (_, s) => ({ a: s.a }))
    const positive = x.gt(0)
    const first = () => x
    // @ts-expect-error sides of two types
    branch(positive, first, () => v)
    // @ts-expect-error a whileLoop needs its cap
    whileLoop(x, () => positive, first, {})
    // @ts-expect-error the quaternion product is quatMul
    q.mul(q)
    // @ts-expect-error a misspelt method
    x.ad(1)

    // JavaScript conditions on conditions (TS2801); what a test cannot see is listed in the guide
    const c = x.gt(0)
    // @ts-expect-error if (c)
    if (c) x.neg()
    // @ts-expect-error c ? a : b
    void (c ? x : a)
    // @ts-expect-error c && x
    void (c && x)
    // @ts-expect-error a call as condition
    void (x.gt(0) ? x : a)
    // @ts-expect-error a vector of conditions
    void (v.gt(0) ? x : a)
    // Not caught: the negation, an if on a number.
    void (!c && x)
    if (x) x.neg()

    return [named('up', x.add(1)), { total }]
  },
)

// @ts-expect-error text is nothing to return
kernel({ x: Scalar }, () => 'abc')
// @ts-expect-error a class instance neither
kernel({ x: Scalar }, () => new Date())
// @ts-expect-error a kind needs its width
kernel({ v: Vector }, () => 1)
// @ts-expect-error there is no parameter z
kernel({ x: Scalar }, ({ z }) => z)
// @ts-expect-error Param holds no Mutable
Mutable(Param)
// @ts-expect-error no such reduction
Reduce('mean')
