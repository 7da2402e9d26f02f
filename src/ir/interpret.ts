// Runs a lowered graph on plain arrays, sample by sample: this is what a graph means, and every backend agrees with it bit for bit.
// Invariants: a finished sample is skipped whole, nothing of it is loaded, stored or counted; loads see the state at launch; the
// writes of a sample happen in program order and samples in ascending order; `finish` is set-only and applied when the sample is done;
// reductions fold in the order of reduction.ts.
// Nodes become closures over registers once, at `compile`; a launch then only runs them.
import { HarrierError } from '../errors.ts'
import {
  isConstruct,
  isEffect,
  type Construct,
  type ConstValue,
  type Effect,
  type GatherValue,
  type Graph,
  type LoadValue,
  type Node,
  type OtherLeaf,
  type Plane,
  type PlaneEffect,
  type RecallValue,
  type RecordEffect,
  type Region,
  type ResultValue,
  type UniformValue,
  type Value,
} from './graph.ts'
import { definition, type BasicOp, type ComputedOp, type ConstructOp, type EffectOp } from './ops.ts'
import { createFolder, type Folder } from './reduction.ts'
import { isComputed, semantics } from './semantics.ts'
import type { Literal, PlaneArray, Type } from './types.ts'

/** Where a plane lies; element 0 of the array is component 0 of sample (or entry) 0. */
export interface BoundPlane {
  readonly array: PlaneArray
  /** Elements between components, for a sample stride of 1; with another the components lie side by side. */
  readonly pitch: number
  /** Samples, or entries of a table or accumulator. */
  readonly length: number
}

/** By plane number: an array, or the number of a uniform. A plane that nothing accesses may be absent. */
export type Bindings = readonly (BoundPlane | number | undefined)[]

export interface SampleRange {
  /** Number of samples of the whole problem. */
  readonly sampleCount: number
  /** First sample, and the one after the last. */
  readonly begin: number
  readonly end: number
}

/** A read or an addition at an index that its table or accumulator does not have. */
export interface OutsideAccess {
  readonly plane: Plane
  readonly length: number
  readonly sample: number
  readonly index: number
}

export interface InterpretOptions {
  /** Elements between consecutive samples or entries of each plane; absent: 1. */
  readonly sampleStrides?: readonly number[]
  /** Called at each such access before it gives NaN (0, false) or is dropped; may throw to end the launch. */
  readonly onOutside?: (access: OutsideAccess) => void
}

/** Runs a compiled graph over a range of samples. */
export type Interpreter = (bindings: Bindings, range: SampleRange) => void

type Step = () => void

/** One component of a plane at launch: entry i lies at offset + i · stride. */
interface Cursor {
  array: PlaneArray
  offset: number
  stride: number
  length: number
}

type LeafOp = Exclude<BasicOp, ComputedOp | ConstructOp | EffectOp>
interface LeafNodes {
  const: ConstValue
  load: LoadValue
  uniform: UniformValue
  sampleIndex: OtherLeaf
  sampleCount: OtherLeaf
  entryCount: UniformValue
  parameter: OtherLeaf
  result: ResultValue
  gather: GatherValue
  recall: RecallValue
}

const NOTHING = new Uint8Array(0)
const nothing: Step = () => {}

/** What a read outside a table gives. */
const OUTSIDE: Record<Type, Literal> = { f64: NaN, f32: NaN, i32: 0, u32: 0, i64: 0n, bool: false }

const run = (steps: readonly Step[]): void => {
  for (let k = 0; k < steps.length; k++) steps[k]!()
}

/** Makes a graph of basic ops ready to run; E_GRAPH for one that is not lowered. */
export function compile(graph: Graph, { sampleStrides = [], onOutside }: InterpretOptions = {}): Interpreter {
  const { planes, tapes, body } = graph
  /** Literals of constants, uniforms and values, by slot. */
  const registers: Literal[] = []
  const slots = new Map<Value, number>()
  /** Slot of the first result of each construct. */
  const resultSlots = new Map<Construct, number>()

  let sample = 0
  const atLaunch: ((bindings: Bindings, range: SampleRange) => void)[] = []
  const beforeSample: Step[] = []
  const afterSample: Step[] = []
  const afterLaunch: Step[] = []

  const allocate = (initial: Literal = 0): number => registers.push(initial) - 1

  function slotOf(value: Value): number {
    if (value.op === 'result') return resultSlots.get(value.source)! + value.index
    const known = slots.get(value)
    if (known !== undefined) return known
    const slot = allocate(value.op === 'const' ? value.literal : 0)
    slots.set(value, slot)
    return slot
  }

  const copy = (from: Value, to: number): Step => {
    const source = slotOf(from)
    return () => {
      registers[to] = registers[source]!
    }
  }

  const cursors = new Map<string, Cursor>()
  function cursorOf(plane: number, component: number): Cursor {
    const key = `${plane}.${component}`
    const known = cursors.get(key)
    if (known) return known
    const cursor: Cursor = { array: NOTHING, offset: 0, stride: 1, length: 0 }
    cursors.set(key, cursor)
    atLaunch.push((bindings) => {
      const bound = bindings[plane]
      if (bound === undefined || typeof bound === 'number') {
        throw new HarrierError('E_INTERNAL', `interpret: no array is bound to plane '${planes[plane]!.name}'`)
      }
      const stride = sampleStrides[plane] ?? 1
      Object.assign(cursor, { array: bound.array, offset: component * (stride === 1 ? bound.pitch : 1), stride })
      cursor.length = bound.length
    })
    return cursor
  }

  /** Reads an element as a literal of its type. */
  const reader = (type: Type): ((array: PlaneArray, at: number) => Literal) =>
    type === 'bool' ? (array, at) => array[at] !== 0 : (array, at) => array[at]!

  /** Whether an index lies inside; reports it otherwise. */
  function isInside(index: number, cursor: Cursor, plane: number): boolean {
    if (index >= 0 && index < cursor.length) return true
    onOutside?.({ plane: planes[plane]!, length: cursor.length, sample, index })
    return false
  }

  const leaves: { readonly [O in LeafOp]: (node: LeafNodes[O]) => Step } = {
    const: () => nothing,
    parameter: () => nothing,
    result: () => nothing,
    // Before anything of the sample is stored.
    load(node) {
      const slot = slotOf(node)
      const cursor = cursorOf(node.plane, node.component)
      const read = reader(node.type)
      beforeSample.push(() => {
        registers[slot] = read(cursor.array, cursor.offset + sample * cursor.stride)
      })
      return nothing
    },
    uniform(node) {
      const slot = slotOf(node)
      const convert = semantics.convert('f64', node.type)
      atLaunch.push((bindings) => {
        const bound = bindings[node.plane]
        if (typeof bound !== 'number') {
          throw new HarrierError('E_INTERNAL', `interpret: no number is set for '${planes[node.plane]!.name}'`)
        }
        registers[slot] = convert(bound, bound, bound)
      })
      return nothing
    },
    sampleIndex(node) {
      const slot = slotOf(node)
      return () => {
        registers[slot] = sample
      }
    },
    sampleCount(node) {
      const slot = slotOf(node)
      atLaunch.push((_, { sampleCount }) => {
        registers[slot] = sampleCount
      })
      return nothing
    },
    entryCount(node) {
      const slot = slotOf(node)
      const cursor = cursorOf(node.plane, 0)
      atLaunch.push(() => {
        registers[slot] = cursor.length
      })
      return nothing
    },
    gather(node) {
      const slot = slotOf(node)
      const index = slotOf(node.operands[0]!)
      const cursor = cursorOf(node.plane, node.component)
      const read = reader(node.type)
      const outside = OUTSIDE[node.type]
      return () => {
        const at = registers[index] as number
        registers[slot] = isInside(at, cursor, node.plane)
          ? read(cursor.array, cursor.offset + at * cursor.stride)
          : outside
      }
    },
    recall(node) {
      const slot = slotOf(node)
      const place = slotOf(node.operands[0]!)
      const tape = tapeOf(node.tape)
      return () => {
        const found = tape[registers[place] as number]
        if (found === undefined) {
          const which = `slot ${String(registers[place])} of tape #${node.tape}`
          throw new HarrierError('E_INTERNAL', `interpret: sample ${sample} recalls ${which}, which it did not record`)
        }
        registers[slot] = found
      }
    },
  }

  /** Tapes hold what the present sample recorded. */
  const recorded = new Map<number, Literal[]>()
  function tapeOf(tape: number): Literal[] {
    const known = recorded.get(tape)
    if (known) return known
    const made: Literal[] = []
    recorded.set(tape, made)
    beforeSample.push(() => {
      made.length = 0
    })
    return made
  }

  const folders = new Map<string, { folder: Folder }>()
  function folderOf(plane: number, component: number): { folder: Folder } {
    const key = `${plane}.${component}`
    const known = folders.get(key)
    if (known) return known
    const { reduce, type } = planes[plane]!
    const cursor = cursorOf(plane, component)
    const made = { folder: createFolder(reduce!, type) }
    folders.set(key, made)
    atLaunch.push(() => {
      made.folder = createFolder(reduce!, type)
    })
    afterLaunch.push(() => {
      cursor.array[cursor.offset] = Number(made.folder.result())
    })
    return made
  }

  const effects: {
    readonly [O in EffectOp]: (node: O extends 'record' ? RecordEffect : PlaneEffect) => Step
  } = {
    store(node) {
      const from = slotOf(node.operands[0]!)
      const cursor = cursorOf(node.plane, node.component)
      return () => {
        cursor.array[cursor.offset + sample * cursor.stride] = Number(registers[from])
      }
    },
    scatterAdd(node) {
      const [index, from] = node.operands.map(slotOf) as [number, number]
      const cursor = cursorOf(node.plane, node.component)
      return () => {
        const at = registers[index] as number
        if (!isInside(at, cursor, node.plane)) return
        const place = cursor.offset + at * cursor.stride
        // Storing rounds a sum to f32 and wraps one to i32, each as adding in the type does.
        cursor.array[place] = cursor.array[place]! + Number(registers[from])
      }
    },
    contribute(node) {
      const from = slotOf(node.operands[0]!)
      const target = folderOf(node.plane, node.component)
      return () => target.folder.add(sample, registers[from]!)
    },
    finish(node) {
      const condition = slotOf(node.operands[0]!)
      const cursor = cursorOf(node.plane, node.component)
      let isFinished = false
      beforeSample.push(() => {
        isFinished = false
      })
      afterSample.push(() => {
        if (isFinished) cursor.array[cursor.offset + sample * cursor.stride] = 1
      })
      return () => {
        isFinished ||= registers[condition] as boolean
      }
    },
    record(node) {
      const [place, from] = node.operands.map(slotOf) as [number, number]
      const { capacity } = tapes[node.tape]!
      const tape = tapeOf(node.tape)
      return () => {
        const at = registers[place] as number
        if (at < 0 || at >= capacity) {
          const what = `slot ${at} of tape #${node.tape}, which has ${capacity}`
          throw new HarrierError('E_INTERNAL', `interpret: sample ${sample} records in ${what}`)
        }
        tape[at] = registers[from]!
      }
    },
  }

  function computedStep(op: ComputedOp, node: Value): Step {
    // T of the signature is the type of the first operand marked so.
    const shared = node.operands[Math.max(0, definition(op).operands.indexOf('T'))]!.type
    const rule = semantics[op](shared, node.type)
    const slot = slotOf(node)
    const [a, b, c] = node.operands.map(slotOf) as [number, number?, number?]
    if (b === undefined) {
      return () => {
        const x = registers[a]!
        registers[slot] = rule(x, x, x)
      }
    }
    if (c === undefined) {
      return () => {
        const y = registers[b]!
        registers[slot] = rule(registers[a]!, y, y)
      }
    }
    return () => {
      registers[slot] = rule(registers[a]!, registers[b]!, registers[c]!)
    }
  }

  function regionSteps({ nodes }: Region): readonly Step[] {
    return nodes.map(stepOf).filter((step) => step !== nothing)
  }

  /** A region without parameters, run to give the results of its construct. */
  function side(region: Region, firstResult: number): Step {
    const steps = [...regionSteps(region), ...region.results.map((result, k) => copy(result, firstResult + k))]
    return () => run(steps)
  }

  function loopStep({ operands, regions }: Construct, firstResult: number): Step {
    const [count, ...initial] = operands
    const [bodyRegion, conditionRegion] = regions as readonly [Region, Region]
    const limit = slotOf(count!)
    // The carries live in the slots of the results; each region starts from its own copies.
    const enter = ({ parameters: [iteration, ...carries] }: Region): { iteration: number; steps: readonly Step[] } => ({
      iteration: slotOf(iteration!),
      steps: carries.map((carry, k) => {
        const slot = slotOf(carry)
        return () => {
          registers[slot] = registers[firstResult + k]!
        }
      }),
    })
    const start = initial.map((value, k) => copy(value, firstResult + k))
    const ofCondition = enter(conditionRegion)
    const ofBody = enter(bodyRegion)
    const test = [...ofCondition.steps, ...regionSteps(conditionRegion)]
    const goesOn = slotOf(conditionRegion.results[0]!)
    const advance = [
      ...ofBody.steps,
      ...regionSteps(bodyRegion),
      ...bodyRegion.results.map((result, k) => copy(result, firstResult + k)),
    ]
    return () => {
      run(start)
      const iterations = registers[limit] as number
      for (let i = 0; i < iterations; i++) {
        registers[ofCondition.iteration] = i
        run(test)
        if (!registers[goesOn]) return
        registers[ofBody.iteration] = i
        run(advance)
      }
    }
  }

  function branchStep({ operands, regions }: Construct, firstResult: number): Step {
    const condition = slotOf(operands[0]!)
    const [then, otherwise] = regions.map((region) => side(region, firstResult)) as [Step, Step]
    return () => (registers[condition] ? then() : otherwise())
  }

  const constructs: Record<ConstructOp, (node: Construct, firstResult: number) => Step> = {
    loop: loopStep,
    branch: branchStep,
    shortcut: branchStep,
    dispatch({ operands, regions }, firstResult) {
      const index = slotOf(operands[0]!)
      const cases = regions.map((region) => side(region, firstResult))
      return () => cases[Math.min(Math.max(registers[index] as number, 0), cases.length - 1)]!()
    },
  }

  function stepOf(node: Node): Step {
    if (isEffect(node)) return (effects[node.op] as (node: Effect) => Step)(node)
    if (isConstruct(node)) {
      const firstResult = registers.length
      node.types.forEach(() => allocate())
      resultSlots.set(node, firstResult)
      return constructs[node.op](node, firstResult)
    }
    if (isComputed(node.op)) return computedStep(node.op, node)
    if (!(node.op in leaves)) {
      throw new HarrierError('E_GRAPH', `interpret: ${node.op} is a derived op; lower the graph first`)
    }
    return (leaves[node.op as LeafOp] as (node: Value) => Step)(node)
  }

  const steps = regionSteps(body)
  const masks = planes.flatMap(({ role }, plane) => (role === 'mask' ? [cursorOf(plane, 0)] : []))
  const isFinished = (): boolean => masks.some(({ array, offset, stride }) => array[offset + sample * stride] !== 0)

  return (bindings, range) => {
    for (const prepare of atLaunch) prepare(bindings, range)
    for (sample = range.begin; sample < range.end; sample++) {
      if (isFinished()) continue
      run(beforeSample)
      run(steps)
      run(afterSample)
    }
    run(afterLaunch)
  }
}

/** Runs a graph of basic ops once. */
export function interpret(graph: Graph, bindings: Bindings, range: SampleRange, options: InterpretOptions = {}): void {
  compile(graph, options)(bindings, range)
}
