// Reverse mode: a graph whose outputs are the adjoints bar_<input>, from the primal inputs and the adjoints bar_<output> of its outputs.
// Invariants: the primal is recomputed as far as the adjoints need it, its outputs are not written; an input that no output depends on
// gets zeros; samples that were finished before the launch get exactly zero.
import { HarrierError } from '../errors.ts'
import { createBuilder, type Builder } from '../ir/build.ts'
import { copyEffect } from '../ir/copy.ts'
import {
  isConstruct,
  isEffect,
  walk,
  type Construct,
  type Graph,
  type PlaneEffect,
  type ReduceOp,
  type Value,
} from '../ir/graph.ts'
import { liveness } from '../ir/liveness.ts'
import { rebuild } from '../ir/rebuild.ts'
import { usefulValues, variedValues, type ValueSet } from './activity.ts'
import {
  adjointName,
  chooseInputs,
  createDerivedPlanes,
  declareWinners,
  differentiableOutputs,
  gatherOrZero,
  hasWon,
  primalPlanes,
  readShared,
  sharedPlane,
  type Derivative,
  type DerivativeOptions,
  type PrimalPlane,
  type Unnamed,
} from './planes.ts'
import type { Flow } from './product.ts'
import { upperBound, type LoopPlan } from './reverse-loop.ts'
import { createSweep } from './reverse.ts'
import { createValueMap } from './value-map.ts'

export interface VjpOptions extends DerivativeOptions {
  /** Differentiates this output alone, with the adjoint 1 in each of its components, instead of taking seeds. */
  readonly output?: string
  /** Writes that output, too. */
  readonly withValue?: boolean
  /** Gives the contribution of each sample to the adjoint of a uniform, instead of their sum. */
  readonly perSample?: boolean
  /**
   * How loops remember their carries: every iteration, or about 2·√iterations of them at the price of running the body once more;
   * absent: checkpoints from 256 iterations on.
   */
  readonly tape?: 'full' | 'checkpoints'
}

/** Iterations up to which every one of them is recorded: 16 kB a carry and vector of 8 doubles stays in the first or second cache. */
const RECORDED_ITERATIONS = 256

/** What `whileLoop` without a cap counts to. */
const NO_CAP = 2 ** 31 - 1

/**
 * The reverse derivative of a graph.
 * Planes: the inputs of the primal, `<name>_at` for each max or min reduction, the seed `bar_<output>` of each float output
 * (`bar_<name>_out` of a mutable; for a reduction one entry for all samples, for an accumulator a table as long as it), then
 * `bar_<input>` for each input of `wrt`: a sample plane, the sum over samples of a uniform, an accumulator for a table.
 * @throws HarrierError E_DERIVATIVE where `wrt` names no float input, there is no rule, or a loop has no bound
 */
export function vjp(graph: Graph, options: VjpOptions = {}): Derivative {
  const { kernel = 'kernel', tape } = options
  const bounds = new Map<Construct, number | undefined>()
  const boundOf = (loop: Construct) => {
    if (!bounds.has(loop)) bounds.set(loop, cap(loop))
    return bounds.get(loop)
  }
  const first = emit(graph, options, (loop) => ({ bound: boundOf(loop), checkpoints: false }))
  const recorded = recordedLoops(first.graph, first.loopOfTape)
  const unbounded = [...recorded].filter((loop) => boundOf(loop) === undefined)
  if (unbounded.length > 0) {
    throw new HarrierError(
      'E_DERIVATIVE',
      `vjp of kernel '${kernel}': a loop has no bound on its iterations, so that no memory can be set aside for what reverse mode must remember; ` +
        'give whileLoop a cap, { max: 1000 }, or write the count as a number or min(count, 1000); forward mode (jvp) needs none',
    )
  }
  const withCheckpoints = new Set(
    [...recorded].filter((loop) =>
      tape ? tape === 'checkpoints' && boundOf(loop)! > 3 : boundOf(loop)! > RECORDED_ITERATIONS,
    ),
  )
  const { graph: made, planes } =
    withCheckpoints.size === 0
      ? first
      : emit(graph, options, (loop) => ({ bound: boundOf(loop), checkpoints: withCheckpoints.has(loop) }))
  return { graph: rebuild(made), planes }
}

/** The most iterations that a loop can make; undefined where nothing bounds it. */
function cap(loop: Construct): number | undefined {
  const bound = upperBound(loop.operands[0]!)
  return bound === undefined || bound >= NO_CAP ? undefined : bound
}

/** The loops whose recorded carries something needs. */
function recordedLoops(graph: Graph, loopOfTape: ReadonlyMap<number, Construct>): ReadonlySet<Construct> {
  const { isLive } = liveness(graph)
  const loops = new Set<Construct>()
  for (const node of walk(graph.body)) {
    if (isConstruct(node) || isEffect(node) || node.op !== 'recall' || !isLive(node)) continue
    const loop = loopOfTape.get(node.tape)
    if (loop) loops.add(loop)
  }
  return loops
}

interface Emission extends Derivative {
  /** The loop of the primal whose carries a tape holds. */
  readonly loopOfTape: ReadonlyMap<number, Construct>
}

function emit(graph: Graph, options: VjpOptions, plan: (loop: Construct) => LoopPlan): Emission {
  const planes = primalPlanes(graph, options.mutables)
  const wrt = chooseInputs('vjp', planes, options)
  const outputs = differentiableOutputs(
    'vjp',
    options.output === undefined ? planes : planes.filter(({ name, isOutput }) => !isOutput || name === options.output),
    options,
  )
  const b = createBuilder()
  const derived = createDerivedPlanes(b)
  planes.filter(({ isInput }) => isInput).forEach(derived.declarePrimal)
  const winners = declareWinners(outputs, derived.declare)
  const takesSeeds = options.output === undefined
  const seeds = new Map(
    outputs.map(
      (plane) =>
        [
          plane.number,
          takesSeeds ? derived.declare('seed', plane, adjointName(plane.outputName), seedPlane(plane)) : undefined,
        ] as const,
    ),
  )
  const adjointPlanes = new Map(
    wrt.map(
      (plane) =>
        [
          plane.number,
          derived.declare('adjoint', plane, adjointName(plane.name), adjointPlane(plane, options.perSample ?? false)),
        ] as const,
    ),
  )
  if (options.withValue) outputs.forEach(derived.declareValue)
  const mask = planes.find(({ role }) => role === 'mask')
  const finished = mask && b.load(derived.primalNumber(mask.number), 0)

  const active = activeValues(graph, adjointPlanes, seeds)
  refuseReusedTapes(graph, active, options)
  const tapes = graph.tapes.map((declared) => b.tape(declared))
  const adjointTapes = graph.tapes.map((declared) => zeroedTape(b, declared))
  const loopOfTape = new Map<number, Construct>()
  const delivered = new Set<string>()

  const sweep = createSweep({
    kernel: options.kernel ?? 'kernel',
    b,
    active,
    renaming: { type: (same) => same, plane: derived.primalNumber, tape: (number) => tapes[number]! },
    keep: options.withValue
      ? (effect, operands) => seeds.has(effect.plane) && keep(b, effect, operands, derived.primalNumber, finished)
      : undefined,
    adjointTape: (number) => adjointTapes[number]!,
    schedule: { plan, declared: (loop, number) => loopOfTape.set(number, loop) },
    seed(effect, operands): Flow {
      const plane = seeds.get(effect.plane)
      const winner = winners.get(effect.plane)
      const seed = plane === undefined ? b.const(operands.at(-1)!.type, 1) : readSeed(b, plane, effect, operands)
      const zero = b.zero(seed.type)
      const taken = winner === undefined ? seed : b.select(hasWon(b, winner, effect.component), seed, zero)
      return finished ? b.select(finished, zero, taken) : taken
    },
    deliver(leaf, operands, adjoint) {
      if (leaf.op !== 'load' && leaf.op !== 'uniform' && leaf.op !== 'gather') return
      const plane = adjointPlanes.get(leaf.plane)!
      const component = 'component' in leaf ? leaf.component : 0
      delivered.add(`${plane}.${component}`)
      write(b, plane, component, operands, adjoint)
    },
  })

  sweep.forward(graph.body)
  sweep.backward(graph.body, createValueMap())
  for (const plane of adjointPlanes.values()) {
    const { components, role, type } = b.planes[plane]!
    for (let component = 0; component < components; component++) {
      if (role !== 'accumulator' && !delivered.has(`${plane}.${component}`))
        write(b, plane, component, [], b.zero(type))
    }
  }
  return { graph: b.finishGraph(), planes: derived.planes, loopOfTape }
}

function readSeed(b: Builder, plane: number, { op, component }: PlaneEffect, operands: readonly Value[]): Value {
  if (op === 'store') return b.load(plane, component)
  return op === 'scatterAdd' ? gatherOrZero(b, plane, component, operands[0]!) : readShared(b, plane, component)
}

/** Identities of the folds that have a derivative. */
const IDENTITY: Partial<Record<ReduceOp, number>> = { sum: -0, max: -Infinity, min: Infinity }

/** Writes an output of the primal; a sample that was finished before the launch adds nothing, and its planes get zeros. */
function keep(
  b: Builder,
  effect: PlaneEffect,
  operands: readonly Value[],
  planeNumber: (number: number) => number,
  finished: Value | undefined,
): void {
  const value = operands.at(-1)!
  const { reduce } = b.planes[planeNumber(effect.plane)]!
  const nothing = b.const(value.type, reduce ? IDENTITY[reduce]! : 0)
  const kept = finished ? b.select(finished, nothing, value) : value
  copyEffect(b, effect, [...operands.slice(0, -1), kept], { plane: planeNumber, tape: (same) => same })
}

/** Writes an adjoint to its plane; `operands` are those of the leaf that read the input. */
function write(b: Builder, plane: number, component: number, operands: readonly Value[], adjoint: Value): void {
  const { role } = b.planes[plane]!
  if (role === 'accumulator') b.scatterAdd(plane, component, operands[0]!, adjoint)
  else if (role === 'reduction') b.contribute(plane, component, adjoint)
  else b.store(plane, component, adjoint)
}

function seedPlane({ role, type, components }: PrimalPlane): Unnamed {
  if (role === 'reduction') return sharedPlane(type, components)
  return { role: role === 'accumulator' ? 'table' : 'sample', type, components }
}

function adjointPlane({ role, type, components }: PrimalPlane, perSample: boolean): Unnamed {
  if (role === 'table') return { role: 'accumulator', type, components }
  if (role === 'uniform' && !perSample) return { role: 'reduction', reduce: 'sum', type, components }
  return { role: 'sample', type, components }
}

function activeValues(
  graph: Graph,
  adjointPlanes: ReadonlyMap<number, number>,
  seeds: ReadonlyMap<number, unknown>,
): ValueSet {
  const varied = variedValues(
    graph,
    (leaf) => (leaf.op === 'load' || leaf.op === 'gather' || leaf.op === 'uniform') && adjointPlanes.has(leaf.plane),
  )
  const useful = usefulValues(graph, (effect) => effect.op !== 'record' && seeds.has(effect.plane))
  return {
    has: (value) => varied.has(value) && useful.has(value),
    hasResult: (source, index) => varied.hasResult(source, index) && useful.hasResult(source, index),
  }
}

/** A tape for adjoints, which starts at zero. */
function zeroedTape(b: Builder, { type, capacity }: { type: Value['type']; capacity: number }): number {
  const tape = b.tape({ type, capacity })
  b.loop({
    count: b.const('i32', capacity),
    initial: [],
    body(slot) {
      b.record(tape, slot, b.zero(type))
      return []
    },
  })
  return tape
}

/** A tape that is written in several places, as with checkpoints, does not hold everything until the sweep comes back to it. */
function refuseReusedTapes(graph: Graph, active: ValueSet, { kernel = 'kernel' }: VjpOptions): void {
  const records = new Map<number, number>()
  for (const node of walk(graph.body)) {
    if (isConstruct(node) || !isEffect(node) || node.op !== 'record' || !active.has(node.operands[1]!)) continue
    records.set(node.tape, (records.get(node.tape) ?? 0) + 1)
  }
  if ([...records.values()].some((count) => count > 1)) {
    throw new HarrierError(
      'E_DERIVATIVE',
      `vjp of kernel '${kernel}': it is a reverse derivative of a loop, with checkpoints or taken twice, which cannot be reversed again; ` +
        "take jvp of it, which gives the same derivatives, or where it has checkpoints build it with vjp(…, { tape: 'full' })",
    )
  }
}
