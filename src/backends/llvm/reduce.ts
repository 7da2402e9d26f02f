// Reductions, in the order of src/ir/reduction.ts: the contributions of a block of samples here, the block results in fold.ts.
// Invariant: lanes follow the accumulators: when K vectors hold 32 lanes, each accumulator stays in its lane of a register through a
// block; otherwise they stand in memory.
import { walk, type Graph, type PlaneEffect } from '../../ir/graph.ts'
import type { ComputedOp } from '../../ir/ops.ts'
import { ACCUMULATORS, FOLD_OPS, IDENTITIES } from '../../ir/reduction.ts'
import { BYTES, type Literal, type Type } from '../../ir/types.ts'
import type { Code } from './code.ts'
import { internal, partsOf, type Context, type Mask } from './context.ts'
import type { EmitOptions } from './interface.ts'
import { laneType, shuffleMask } from './lanes.ts'
import { rows } from './rows.ts'

/** One number that is reduced: a component of a reduction plane. */
export interface Reduction {
  readonly plane: number
  readonly component: number
  /** Type of the plane. */
  readonly type: Type
  /** Type that it is folded in: conditions as 0 and 1. */
  readonly folded: Type
  readonly op: ComputedOp
  readonly identity: Literal
}

/** What the graph contributes to, each once. */
export function reductionsOf({ planes, body }: Graph): readonly Reduction[] {
  const found = new Map<string, Reduction>()
  for (const node of walk(body)) {
    if (node.op !== 'contribute') continue
    const { plane, component } = node
    const { type, reduce } = planes[plane]!
    if (reduce === undefined) throw internal(`reduction plane ${plane} does not say how it folds`)
    const identity = IDENTITIES[reduce][type]
    found.set(`${plane}.${component}`, {
      plane,
      component,
      type,
      folded: type === 'bool' ? 'i32' : type,
      op: FOLD_OPS[reduce],
      identity: typeof identity === 'boolean' ? Number(identity) : identity,
    })
  }
  return [...found.values()]
}

/** Bytes of a block result in scratch memory. */
const RESULT_BYTES = 8

export const bytesPerBlock = (reductions: readonly Reduction[]): number => reductions.length * RESULT_BYTES

interface AddedLanes {
  /** Number of the sample in the first lane of the first vector (i64). */
  readonly first?: string
  /** Lanes that take part; absent: all. */
  readonly is?: string | undefined
}

export interface Reducer {
  printBlockStart(): void
  /** @param block its number, counted from the first block of the launch (i64) */
  printBlockEnd(block: string): void
  contribute(context: Context, effect: PlaneEffect, mask: Mask): void
  /**
   * Folds one vector into reduction `number`.
   * @param value in the type that it is folded in
   */
  add(number: number, part: number, value: string, where?: AddedLanes): void
  /** Remembers the accumulators of a group; the function that it gives prints what puts them back. */
  remember(context: Context): () => void
}

export interface ReducerParts {
  readonly code: Code
  readonly width: number
  readonly vectors: number
  readonly reductions: readonly Reduction[]
  readonly options: EmitOptions
  /** Address of the first block result. */
  readonly results: string
}

/** Printed in the entry block: reserves the accumulators. */
export function createReducer({ code, width, vectors, reductions, options, results }: ReducerParts): Reducer {
  const table = rows(options.target)
  const inRegisters = width * vectors === ACCUMULATORS
  const count = ACCUMULATORS / width
  const memory = reductions.map(({ folded }) =>
    inRegisters
      ? Array.from({ length: vectors }, () => code.alloca(laneType(folded, width), 64))
      : [code.alloca(`[${ACCUMULATORS} x ${laneType(folded, 1)}]`, 64)],
  )
  const fold = ({ op, folded }: Reduction, left: string, right: string, lanes: number): string =>
    code.expand(table[op](folded, folded, lanes), { width: lanes, T: folded, R: folded, operands: [left, right] })

  /** Address of the accumulators of lanes `first` … `first` + W − 1 of vector `part`. */
  function address(number: number, part: number, first: string | number): string {
    if (inRegisters) return memory[number]![part]!
    const { folded } = reductions[number]!
    const base = memory[number]![0]!
    if (typeof first === 'number') return code.value(`getelementptr ${laneType(folded, 1)}, ptr ${base}, i64 ${first}`)
    const lane = code.value(`and i64 ${first}, ${ACCUMULATORS - 1}`)
    const element = part === 0 ? lane : code.value(`add i64 ${lane}, ${part * width}`)
    return code.value(`getelementptr ${laneType(folded, 1)}, ptr ${base}, i64 ${element}`)
  }

  function foldByHalves(reduction: Reduction, vectorsLeft: readonly string[]): string {
    let parts = vectorsLeft
    while (parts.length > 1) {
      const half = parts.length / 2
      parts = parts.slice(0, half).map((part, k) => fold(reduction, part, parts[k + half]!, width))
    }
    let vector = parts[0]!
    for (let lanes = width; lanes > 1; lanes /= 2) {
      const lower = Array.from({ length: lanes / 2 }, (_, lane) => lane)
      const type = laneType(reduction.folded, lanes)
      const half = (from: number) =>
        code.value(`shufflevector ${type} ${vector}, ${type} poison, ${shuffleMask(lower.map((lane) => lane + from))}`)
      if (lanes > 2) vector = fold(reduction, half(0), half(lanes / 2), lanes / 2)
      else {
        const [low, high] = [0, 1].map((lane) => code.value(`extractelement ${type} ${vector}, i64 ${lane}`))
        vector = fold(reduction, low!, high!, 1)
      }
    }
    return vector
  }

  return {
    printBlockStart() {
      reductions.forEach((reduction, number) => {
        const identity = code.constant(reduction.folded, reduction.identity, width)
        for (let k = 0; k < count; k++) {
          code.line(
            `store ${laneType(reduction.folded, width)} ${identity}, ptr ${address(number, k, k * width)}, align ${BYTES[reduction.folded]}`,
          )
        }
      })
    },

    printBlockEnd(block) {
      reductions.forEach((reduction, number) => {
        const lanes = laneType(reduction.folded, width)
        const parts = Array.from({ length: count }, (_, k) =>
          code.value(`load ${lanes}, ptr ${address(number, k, k * width)}, align ${BYTES[reduction.folded]}`),
        )
        const result = foldByHalves(reduction, parts)
        const slot = code.value(`mul i64 ${block}, ${reductions.length}`)
        const element = code.value(`add i64 ${slot}, ${number}`)
        const target = code.value(`getelementptr i64, ptr ${results}, i64 ${element}`)
        code.line(`store ${laneType(reduction.folded, 1)} ${result}, ptr ${target}, align 8`)
      })
    },

    remember({ group }) {
      const held = reductions.flatMap(({ folded }, number) =>
        Array.from({ length: vectors }, (_, part) => {
          const target = address(number, part, group.first)
          const lanes = laneType(folded, width)
          const value = code.value(`load ${lanes}, ptr ${target}, align ${BYTES[folded]}`)
          return `store ${lanes} ${value}, ptr ${target}, align ${BYTES[folded]}`
        }),
      )
      return () => held.forEach(code.line)
    },

    add(number, part, value, { first = '0', is } = {}) {
      const reduction = reductions[number]!
      const lanes = laneType(reduction.folded, width)
      const target = address(number, part, first)
      const before = code.value(`load ${lanes}, ptr ${target}, align ${BYTES[reduction.folded]}`)
      const after = fold(reduction, before, value, width)
      const kept =
        is === undefined
          ? after
          : code.value(`select ${laneType('bool', width)} ${is}, ${lanes} ${after}, ${lanes} ${before}`)
      code.line(`store ${lanes} ${kept}, ptr ${target}, align ${BYTES[reduction.folded]}`)
    },

    contribute(context, { plane, component, operands }, mask) {
      const number = reductions.findIndex((one) => one.plane === plane && one.component === component)
      const { type, folded } = reductions[number]!
      const lanes = laneType(folded, width)
      partsOf(context, operands[0]!).forEach((given, part) => {
        const value = type === 'bool' ? code.value(`zext ${laneType('bool', width)} ${given} to ${lanes}`) : given
        this.add(number, part, value, { first: context.group.first, is: mask?.[part] })
      })
    },
  }
}
