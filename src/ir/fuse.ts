// Fuses the steps of a kernel that finishes its own samples into one loop a sample: its state stays in registers until the sample is
// finished or the cap is reached. Invariant: a fused run gives the same bits as launching the step again and again.
import { createBuilder } from './build.ts'
import type { Graph, Value } from './graph.ts'
import { rebuildInto } from './rebuild.ts'

export interface FusedSteps {
  readonly graph: Graph
  /** Uniform plane (i32): the most steps a sample may take in this launch. */
  readonly cap: number
  /** Reduction plane (i32, max): the most steps that a sample took. */
  readonly steps: number
}

/** Whether the effects of a step may run sample by sample: scatter-adds and reductions of one step would mix with those of the next. */
export const canFuse = ({ body }: Graph): boolean =>
  body.nodes.some(({ op }) => op === 'finish') &&
  body.nodes.every(({ op }) => op !== 'scatterAdd' && op !== 'contribute' && op !== 'record')

/** The name itself, or with as many underscores as make it new: a parameter of the user's may have it. */
function unusedName(graph: Graph, name: string): string {
  return graph.planes.some((plane) => plane.name === name) ? unusedName(graph, `${name}_`) : name
}

export function fuseSteps(step: Graph): FusedSteps {
  const b = createBuilder(step.planes)
  const cap = b.plane({ name: unusedName(step, 'step_cap'), role: 'uniform', type: 'i32', components: 1 })
  const steps = b.plane({
    name: unusedName(step, 'steps_taken'),
    role: 'reduction',
    type: 'i32',
    components: 1,
    reduce: 'max',
  })

  const key = (plane: number, component: number) => `${plane}.${component}`
  const stores = step.body.nodes.flatMap((node) => (node.op === 'store' ? [node] : []))
  const isLoaded = new Set(
    step.body.nodes.flatMap((node) => (node.op === 'load' ? [key(node.plane, node.component)] : [])),
  )
  const state = stores.map(({ plane, component }) => ({ plane, component, type: step.planes[plane]!.type }))
  const mask = step.body.nodes.flatMap((node) => (node.op === 'finish' ? [node.plane] : []))[0]!

  const results = b.loop({
    count: b.uniform(cap),
    // What a step writes without reading has no value before the first step, and is not loaded.
    initial: [
      b.const('bool', false),
      ...state.map(({ plane, component, type }) =>
        isLoaded.has(key(plane, component)) ? b.load(plane, component) : b.zero(type),
      ),
      b.zero('i32'),
    ],
    condition: (_, [finished]) => b.not(finished!),
    body(_, [, ...carries]) {
      const current = new Map(state.map(({ plane, component }, k) => [key(plane, component), carries[k]!]))
      const next = new Map<string, Value>()
      let finished = b.const('bool', false)
      rebuildInto(b, step, {
        value: (value) => (value.op === 'load' ? current.get(key(value.plane, value.component)) : undefined),
        effect(effect, operands) {
          if (effect.op === 'store') next.set(key(effect.plane, effect.component), operands[0]!)
          else finished = b.or(finished, operands[0]!)
          return true
        },
      })
      const taken = b.add(carries.at(-1)!, b.const('i32', 1))
      return [finished, ...state.map(({ plane, component }) => next.get(key(plane, component))!), taken]
    },
  })
  state.forEach(({ plane, component }, k) => b.store(plane, component, results[k + 1]!))
  b.contribute(steps, 0, results.at(-1)!)
  b.finish(mask, results[0]!)
  return { graph: b.finishGraph(), cap, steps }
}
