// Prints a lowered graph as the text of a WebAssembly module, which works on samples a group of vectors at a time:
//   part(block, begin, end)     any samples; block: address of the frame (frame.ts); begin, end: absolute sample numbers
//   whole(block, begin, end)    the same for samples that make whole groups
//   reset(block)                puts the identity in every accumulator of the reductions
//   fold(block)                 folds the accumulators of each reduction into the first of them
// Groups start at multiples of their size, so that a reduction finds its accumulators. Lanes outside [begin, end) are masked wherever
// they could show: in loops, in sides, in effects other than stores. Plain stores write whole groups: the tiles have room for them.
import { sizeOf } from '../../ir/cost.ts'
import {
  isConstruct,
  isEffect,
  isPlaneEffect,
  walk,
  type Construct,
  type Graph,
  type Node,
  type Value,
} from '../../ir/graph.ts'
import type { BuildOptions } from '../backend.ts'
import { uniformity, type Uniformity } from '../llvm/uniformity.ts'
import { loadSamples } from './access.ts'
import { anyLane } from './control.ts'
import { BEGIN, constantGlobals, createEmitter, END, read, SAMPLE, type Emitter, type Sections } from './emitter.ts'
import { foldFunctions } from './fold.ts'
import { layOut, type Frame } from './frame.ts'
import { laneCount, widenMask } from './lanes.ts'
import { sampleNumbers } from './leaves.ts'
import { emitNodes } from './nodes.ts'
import { emitRefilled, mainLoop } from './refill.ts'
import { REPORT_FUNCTION } from './report.ts'
import { ALONE, applyNotes, forgetNotes, OVERFLOWED, SCATTER_LOCALS } from './scatter.ts'

export interface EmitOptions {
  readonly sampleStrides?: readonly number[] | undefined
  readonly check?: boolean | undefined
  /** How a loop that samples leave one by one runs, where it is the main work of the kernel; absent: refilled if it may be long. */
  readonly divergence?: BuildOptions['divergence']
  /** Samples of a group, as far as 1, 2 or 4 vectors hold so many; absent: by the number of values that live at one time. */
  readonly width?: number | undefined
}

/** Vectors that run side by side. */
type Vectors = 1 | 2 | 4

export interface Emitted {
  readonly text: string
  readonly frame: Frame
}

/**
 * How many values of all vectors may live at one time. Common processors have 16 registers; what does not fit is kept on the stack, which
 * costs less than waiting for dependent steps, up to about six times as many.
 */
const MOST_LIVE = 100
/** Larger bodies fill the pipelines by themselves; side by side they would only take longer to compile. */
const LARGEST_INTERLEAVED = 1500
/** Larger bodies are not emitted a second time without masks. */
const LARGEST_REPEATED = 600

/** Vectors side by side hide the latency of dependent steps. */
function chooseVectors(live: number, size: number): Vectors {
  if (size > LARGEST_INTERLEAVED) return 1
  return live * 4 <= MOST_LIVE ? 4 : live * 2 <= MOST_LIVE ? 2 : 1
}

export function emit(graph: Graph, options: EmitOptions): Emitted {
  const lanes = laneCount(graph)
  const size = sizeOf(graph.body)
  const check = options.check ?? false
  const kernel: Kernel = {
    graph,
    alike: uniformity(graph),
    size,
    check,
    sampleStrides: options.sampleStrides,
    refilled: check ? undefined : mainLoop(graph, options.divergence),
  }
  if (options.divergence === 'masked') return emitModule(kernel, layOut({ graph, lanes, vectors: 1 }))
  if (options.width !== undefined) {
    const vectors = options.width / lanes
    return emitModule(kernel, layOut({ graph, lanes, vectors: vectors >= 4 ? 4 : vectors >= 2 ? 2 : 1 }))
  }
  const single = layOut({ graph, lanes, vectors: 1 })
  const { live } = emitFunction(kernel, single, 'samples', needsRange(kernel))
  const vectors = chooseVectors(live, size)
  return emitModule(kernel, vectors === 1 ? single : layOut({ graph, lanes, vectors }))
}

interface Kernel {
  readonly graph: Graph
  readonly alike: Uniformity
  /** Operations of the body that are no rare sides. */
  readonly size: number
  readonly check: boolean
  readonly sampleStrides: readonly number[] | undefined
  /** The loop whose lanes are given new samples while it runs. */
  readonly refilled: Construct | undefined
}

/** Whole groups have functions of their own where that spares masks: nothing but the range decides which lanes run. */
function emitModule(kernel: Kernel, frame: Frame): Emitted {
  const { graph, size, check, refilled } = kernel
  const isMasked = refilled === undefined && needsRange(kernel)
  const isDecidedElsewhere =
    check || finishingPlane(graph) >= 0 || (frame.log !== null && frame.log.mode !== 'together')
  const isRepeated = isMasked && !isDecidedElsewhere && size <= LARGEST_REPEATED
  const printed = [
    refilled ? emitRefilling(kernel, refilled, frame) : emitFunction(kernel, frame, 'part', isMasked),
    ...(isRepeated ? [emitFunction(kernel, frame, 'whole', false)] : []),
  ]
  const functions = [check ? REPORT_FUNCTION : '', ...printed.map(({ text }) => text), ...foldFunctions(frame)]
  const constants = new Map(printed.flatMap((each) => [...each.constants]))
  const text = `(module
  (import "harrier" "memory" (memory 1 32768))
${constantGlobals(constants).join('\n')}
  (export "part" (func $part))
  (export "whole" (func $${isRepeated ? 'whole' : 'part'}))
  (export "reset" (func $reset))
  (export "fold" (func $fold))
${functions.filter((text) => text !== '').join('\n')}
)
`
  return { text, frame }
}

/** The text of a function, with what else it says about itself. */
interface Printed extends Pick<Sections, 'constants'> {
  readonly text: string
  /** The most vectors that live at one time. */
  readonly live: number
}

function emitFunction(
  { graph, alike, check, sampleStrides }: Kernel,
  frame: Frame,
  name: string,
  isMasked: boolean,
): Printed {
  const { invariant, early, late } = rootOrder(graph, alike, frame, check)
  const order = [...invariant, ...early, ...late]
  const e = createEmitter({ graph, frame, uniformity: alike, order, check, sampleStrides })

  emitNodes(e, invariant, undefined)
  e.startGroup()
  const mask = isMasked ? e.masks() : undefined
  const body: GroupBody = {
    early: () => emitNodes(e, early, mask),
    late: () => emitNodes(e, late, mask),
  }
  if (frame.log && frame.log.mode !== 'together') emitAttempts(e, mask!, frame.log.mode, body)
  else {
    if (mask) restrictToRange(e, mask)
    if (frame.log) forgetNotes(e)
    body.early()
    body.late()
    if (frame.log) applyNotes(e)
  }

  const { setup, group, body: lines, locals, constants } = e.sections()
  const scatterLocals = frame.log ? SCATTER_LOCALS.map((local) => `(local ${local} i32)`).join(' ') : ''
  const text = `  (func $${name} (param $block i32) (param $begin i32) (param $end i32)
  (local $sample i32) ${scatterLocals} ${locals.declarations()}
${setup}
  (local.set $sample (i32.and ${BEGIN} (i32.const ${-frame.group})))
  (block $done (loop $nextGroup
  (br_if $done (i32.ge_u ${SAMPLE} ${END}))
${group}
  (block $skipGroup
${lines}
  )
  (local.set $sample (i32.add ${SAMPLE} (i32.const ${frame.group})))
  (br $nextGroup))))`
  return { text, live: locals.peak(), constants }
}

/** The function `part` of a kernel whose lanes take new samples as they finish: it runs any samples, whole groups or not. */
function emitRefilling({ graph, sampleStrides }: Kernel, loop: Construct, frame: Frame): Printed {
  // Lanes count their iterations apart.
  const alike = uniformity(graph, loop)
  const invariant = [...invariantNodes(graph, alike)]
  const varying = graph.body.nodes.filter((node) => !invariant.includes(node))
  const samples = Array.from({ length: frame.vectors }, (_, vector) => `$sample${vector}`)
  const e = createEmitter({
    graph,
    frame,
    uniformity: alike,
    order: [...invariant, ...varying],
    check: false,
    sampleStrides,
    samples,
  })
  emitNodes(e, invariant, undefined)
  e.startGroup()
  const { declarations } = emitRefilled(e, loop, varying)
  const { setup, body, locals, constants } = e.sections()
  const text = `  (func $part (param $block i32) (param $begin i32) (param $end i32)
  ${samples.map((sample) => `(local ${sample} v128)`).join(' ')} ${declarations} ${locals.declarations()}
${setup}
${body})`
  return { text, live: locals.peak(), constants }
}

/** The nodes of a group, in two parts: what may be run again, and what follows. */
interface GroupBody {
  readonly early: () => void
  readonly late: () => void
}

/**
 * What is computed before the samples, and the order of the rest: stores, contributions and marks are put off until the last load, as a
 * load sees what was there at launch, and to the end where the group may be run again.
 */
function rootOrder(graph: Graph, alike: Uniformity, frame: Frame, check: boolean) {
  // A checked access belongs to a sample, so that nothing is computed before there is one.
  const hoisted = check ? new Set<Node>() : invariantNodes(graph, alike)
  const varying = graph.body.nodes.filter((node) => !hoisted.has(node))
  const isLate = (node: Node) => isPlaneEffect(node) && node.op !== 'scatterAdd'
  const lastLoad =
    frame.log?.mode === 'attempted' ? varying.length - 1 : varying.findLastIndex(({ op }) => op === 'load')
  const start = varying.slice(0, lastLoad + 1)
  return {
    invariant: [...hoisted],
    early: start.filter((node) => !isLate(node)),
    late: [...start.filter(isLate), ...varying.slice(lastLoad + 1)],
  }
}

/** Nodes that can stand before the samples. A value alike in all lanes cannot where a construct that differs among them gives it. */
function invariantNodes({ body }: Graph, alike: Uniformity): ReadonlySet<Node> {
  const outer = new Set<Node>(body.nodes)
  const hoisted = new Set<Node>()
  const isThere = (value: Value): boolean => {
    const source = value.op === 'result' ? value.source : value
    return !outer.has(source) || hoisted.has(source)
  }
  const canStand = (node: Node): boolean =>
    node.operands.every(isThere) &&
    (!isConstruct(node) || node.regions.every(({ nodes, results }) => nodes.every(canStand) && results.every(isThere)))
  for (const node of body.nodes) if (alike.isInvariant(node) && canStand(node)) hoisted.add(node)
  return hoisted
}

/** The plane that says which samples are finished, or −1. */
const finishingPlane = ({ planes }: Graph): number => planes.findIndex(({ role }) => role === 'mask')

/** Whether it matters which lanes are in the range. */
function needsRange({ graph, alike, check }: Kernel): boolean {
  if (check || finishingPlane(graph) >= 0) return true
  return [...walk(graph.body)].some((node) =>
    isConstruct(node)
      ? (node.op !== 'shortcut' && !alike.isUniform(node.operands[0]!)) ||
        (node.op === 'loop' && !alike.leavesTogether(node))
      : isEffect(node) && node.op !== 'store',
  )
}

/** Samples in the range that are not finished; a group without any is skipped. */
function restrictToRange(e: Emitter, masks: readonly string[]): void {
  const { lanes } = e.frame
  const begin = e.once('begin', 'v128', () => `(i32x4.splat ${BEGIN})`)
  const end = e.once('end', 'v128', () => `(i32x4.splat ${END})`)
  const finishing = finishingPlane(e.graph)
  masks.forEach((mask, vector) => {
    const numbers = sampleNumbers(e, vector)
    const inRange = `(v128.and (i32x4.ge_s ${numbers} ${begin}) (i32x4.lt_s ${numbers} ${end}))`
    e.set(mask, widenMask(inRange, lanes))
    if (finishing >= 0) e.set(mask, `(v128.andnot ${read(mask)} ${loadSamples(e, finishing, 0, vector)})`)
  })
  if (finishing >= 0) e.line(`(br_if $skipGroup (i32.eqz ${anyLane(masks)}))`)
}

/**
 * Runs a group whose notes of scatter-adds may run out of room: each lane alone or, where nothing but notes is written before the end of
 * the first part, all lanes together, and each alone only when that did not go.
 */
function emitAttempts(
  e: Emitter,
  masks: readonly string[],
  mode: 'attempted' | 'alone',
  { early, late }: GroupBody,
): void {
  const { lanes, group } = e.frame
  e.set(ALONE, `(i32.const ${mode === 'attempted' ? -1 : 0})`)
  e.nest(
    '(loop $attempt',
    () => {
      restrictToRange(e, masks)
      masks.forEach((mask, vector) => {
        const isAlone = `(i32x4.eq (i32x4.sub ${sampleNumbers(e, vector)} (i32x4.splat ${SAMPLE})) (i32x4.splat ${read(ALONE)}))`
        const together = `(i32x4.splat (i32.shr_s ${read(ALONE)} (i32.const 31)))`
        e.set(mask, `(v128.and ${read(mask)} ${widenMask(`(v128.or ${isAlone} ${together})`, lanes)})`)
      })
      e.set(OVERFLOWED, '(i32.const 0)')
      forgetNotes(e)
      early()
      if (mode === 'attempted')
        e.line(`(if ${read(OVERFLOWED)} (then (local.set ${ALONE} (i32.const 0)) (br $attempt)))`)
      late()
      applyNotes(e)
      const next = `(local.tee ${ALONE} (i32.add ${read(ALONE)} (i32.const 1)))`
      e.line(
        `(if (i32.ge_s ${read(ALONE)} (i32.const 0)) (then (br_if $attempt (i32.lt_s ${next} (i32.const ${group})))))`,
      )
    },
    ')',
  )
}
