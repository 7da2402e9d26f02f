// A kernel whose main work is one loop that samples leave one by one: a lane that is through gets the next sample while the others go on.
// Invariants: which lane a sample runs in changes nothing of its result; a lane that has no sample keeps the number of one that it had, so
// that its loads stay inside; only what the lanes of a mask write reaches memory.
import {
  isConstruct,
  isEffect,
  walk,
  type Construct,
  type Graph,
  type Node,
  type ResultValue,
  type Value,
} from '../../ir/graph.ts'
import type { BuildOptions } from '../backend.ts'
import { uniformity } from '../llvm/uniformity.ts'
import { anyLane, blend, everyVector, setTogether } from './control.ts'
import { BEGIN, END, read, type Emitter } from './emitter.ts'
import { maskFor, narrowMask, widenMask } from './lanes.ts'
import { emitNodes } from './nodes.ts'

/** Iterations between two looks at which lanes are through. */
const ITERATIONS = 8
/** A loop of at most so many iterations ends before refilling pays. */
const SHORT_LOOP = 16

/**
 * The loop of the body that lanes leave one by one, if there is one such, what it computes ends in stores alone, and it may be long.
 * Effects that depend on the order of samples, or on which are finished, need the samples of a group side by side.
 */
export function mainLoop(graph: Graph, divergence: BuildOptions['divergence']): Construct | undefined {
  if (divergence === 'masked' || divergence === 'interleaved') return undefined
  if (graph.tapes.length > 0 || graph.planes.some(({ role }) => role === 'mask')) return undefined
  const effects = [...walk(graph.body)].filter(isEffect)
  if (!effects.every((effect) => effect.op === 'store' && graph.body.nodes.includes(effect))) return undefined
  const { leavesTogether } = uniformity(graph)
  const loops = graph.body.nodes.filter(
    (node): node is Construct => node.op === 'loop' && !leavesTogether(node as Construct),
  )
  const [loop] = loops
  if (loops.length !== 1 || !loop) return undefined
  const [count] = loop.operands
  const isShort = count!.op === 'const' && Number(count!.literal) <= SHORT_LOOP
  return isShort && divergence !== 'refilled' ? undefined : loop
}

/** The nodes that a loop needs, and the others, which follow it. */
function around(loop: Construct, nodes: readonly Node[]) {
  const needed = new Set<Node>()
  const own = new Set(nodes)
  const need = (value: Value): void => {
    const source = value.op === 'result' ? value.source : value
    if (!own.has(source) || needed.has(source)) return
    needed.add(source)
    usesOf(source).forEach(need)
  }
  usesOf(loop).forEach(need)
  const before = nodes.filter((node) => needed.has(node))
  const after = nodes.filter((node) => node !== loop && !needed.has(node))
  // Loads see what was there at launch, so that they stand before the stores.
  return { before, after: [...after.filter((node) => !isEffect(node)), ...after.filter(isEffect)] }
}

/** Values that a node uses, those of the regions inside it included. */
const usesOf = (node: Node): readonly Value[] =>
  isConstruct(node)
    ? [...node.operands, ...node.regions.flatMap(({ nodes, results }) => [...nodes.flatMap(usesOf), ...results])]
    : node.operands

/** Emits everything between the setup and the end of the function. */
export function emitRefilled(e: Emitter, loop: Construct, nodes: readonly Node[]): { readonly declarations: string } {
  const { lanes } = e.frame
  const [count, ...initial] = loop.operands
  const [body, condition] = loop.regions as [Construct['regions'][number], Construct['regions'][number]]
  const { before, after } = around(loop, nodes)
  const vectors = everyVector(e)
  const samples = e.samples!
  const ownVectors = () => vectors.map(() => e.own('v128'))
  /** Lanes that run; lanes that have a sample, as masks of 32-bit lanes; iterations of each lane. */
  const [live, full, iterations] = [ownVectors(), ownVectors(), ownVectors()]
  const carries = initial.map(ownVectors)
  const isResult = (value: Value) => value.op === 'result' && value.source === loop
  for (const result of after.flatMap(usesOf).filter(isResult)) {
    e.alias(result, carries[(result as ResultValue).index]!)
  }
  /** What is computed for a sample before the loop and used later stays with its lane. */
  const made = new Set<Node>(before)
  const used = new Set([...usesOf(loop), ...after.flatMap(usesOf)])
  const kept = [...used]
    .filter((value) => made.has(value.op === 'result' ? value.source : (value as Node)))
    .map((value) => ({ value, locals: ownVectors() }))
  const readKept = () => kept.forEach(({ value, locals }) => e.alias(value, locals))
  readKept()
  for (const { parameters } of loop.regions) {
    e.alias(parameters[0]!, iterations)
    carries.forEach((locals, k) => e.alias(parameters[k + 1]!, locals))
  }

  for (const sample of samples) e.set(sample, `(i32x4.splat ${BEGIN})`)
  e.set('$next', BEGIN)
  const stopped = vectors.map(() => e.take('v128'))
  const chosen = vectors.map(() => e.take('v128'))
  /** Lanes that stopped and have a sample. */
  const choose = () =>
    vectors.forEach((vector) =>
      e.set(chosen[vector]!, `(v128.and ${read(stopped[vector]!)} ${widenMask(read(full[vector]!), lanes)})`),
    )

  e.nest(
    '(block $done (loop $round',
    () => {
      vectors.forEach((vector) => e.set(stopped[vector]!, `(v128.not ${read(live[vector]!)})`))
      e.nest(
        `(if ${anyLane(stopped)} (then`,
        () => {
          choose()
          e.nest(
            `(if ${anyLane(chosen)} (then`,
            () =>
              e.scoped(
                () => emitNodes(e, after, chosen),
                () => {},
              ),
            '))',
          )
          handOut(e, stopped, full)
          e.line(`(br_if $done (i32.eqz ${anyLane(full)}))`)
          choose()
          e.scoped(
            () => emitNodes(e, before, chosen),
            () => {
              for (const { value, locals } of kept) {
                locals.forEach((local, vector) =>
                  e.set(local, blend(e, value, vector, read(local), read(stopped[vector]!))),
                )
              }
              carries.forEach((locals, k) =>
                locals.forEach((local, vector) =>
                  e.set(local, blend(e, initial[k]!, vector, read(local), read(stopped[vector]!))),
                ),
              )
            },
          )
          readKept()
          vectors.forEach((vector) => {
            const begun = maskFor('i32', read(stopped[vector]!), lanes)
            e.set(iterations[vector]!, `(v128.andnot ${read(iterations[vector]!)} ${begun})`)
            e.set(live[vector]!, `(v128.or ${read(live[vector]!)} ${read(chosen[vector]!)})`)
          })
        },
        '))',
      )
      e.set('$left', `(i32.const ${ITERATIONS})`)
      const narrow = (restrict: (vector: number) => string) =>
        live.forEach((local, vector) => e.set(local, `(v128.and ${read(local)} ${restrict(vector)})`))
      e.nest(
        '(block $pause (loop $again',
        () => {
          narrow((vector) => widenMask(`(i32x4.lt_s ${read(iterations[vector]!)} ${e.get(count!, vector)})`, lanes))
          e.scoped(
            () => emitNodes(e, condition.nodes, live),
            () => narrow((vector) => e.get(condition.results[0]!, vector)),
          )
          e.line(`(br_if $pause (i32.eqz ${anyLane(live)}))`)
          e.scoped(
            () => emitNodes(e, body.nodes, live),
            () =>
              setTogether(
                e,
                carries.flatMap((locals, k) =>
                  locals.map((local, vector) => {
                    const next = body.results[k]!
                    const isKept = e.get(next, vector) === read(local)
                    return {
                      local,
                      expression: isKept ? read(local) : blend(e, next, vector, read(local), read(live[vector]!)),
                    }
                  }),
                ),
              ),
          )
          // A mask is −1 where a lane runs.
          iterations.forEach((local, vector) =>
            e.set(local, `(i32x4.sub ${read(local)} ${narrowMask(read(live[vector]!), lanes)})`),
          )
          e.line('(br_if $again (local.tee $left (i32.sub (local.get $left) (i32.const 1))))')
        },
        '))',
      )
      e.line('(br $round)')
    },
    '))',
  )
  return { declarations: '(local $next i32) (local $left i32) (local $takes i32)' }
}

/** Gives each lane that stopped the next sample, as long as there are any. */
function handOut(e: Emitter, stopped: readonly string[], full: readonly string[]): void {
  const { lanes } = e.frame
  stopped.forEach((mask, vector) => {
    const [sample, holds] = [e.samples![vector]!, full[vector]!]
    for (let lane = 0; lane < lanes; lane++) {
      const isFree = `(i32x4.extract_lane ${lane} ${narrowMask(read(mask), lanes)})`
      e.nest(
        `(if ${isFree} (then`,
        () => {
          e.set('$takes', `(i32.lt_u (local.get $next) ${END})`)
          e.line(
            `(if (local.get $takes) (then (local.set ${sample} (i32x4.replace_lane ${lane} ${read(sample)} (local.get $next)))))`,
          )
          e.set(holds, `(i32x4.replace_lane ${lane} ${read(holds)} (i32.sub (i32.const 0) (local.get $takes)))`)
          e.set('$next', '(i32.add (local.get $next) (local.get $takes))')
        },
        '))',
      )
    }
  })
}
