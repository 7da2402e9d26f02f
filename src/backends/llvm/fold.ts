// The function that folds the block results of reductions to one number each, when all blocks are computed: levels of blocks of 4,096
// with 32 accumulators, until one result is left, which goes to the reduction's plane.
import type { Graph } from '../../ir/graph.ts'
import { ACCUMULATORS, BLOCK } from '../../ir/reduction.ts'
import { BYTES } from '../../ir/types.ts'
import { argumentLayout } from './arguments.ts'
import { blockOf, higherOf, lastBlockOf, lowerOf, startOf } from './blocks.ts'
import { createCode, type Code, type Declarations } from './code.ts'
import { printCounted } from './control.ts'
import type { EmitOptions } from './interface.ts'
import { laneType, literalText, MEMORY_TYPE } from './lanes.ts'
import { loadScratch, slotAddress } from './planes.ts'
import { reductionsOf, type Reduction } from './reduce.ts'
import { rows } from './rows.ts'

const RESULT_BYTES = 8

export function printFold(graph: Graph, options: EmitOptions, results: number, declarations: Declarations): string {
  const header = `define internal void @${options.symbol}.fold(ptr %args, i64 %begin, i64 %end) alwaysinline`
  const code = createCode(header, declarations)
  const reductions = reductionsOf(graph)
  const accumulators = code.alloca(`[${ACCUMULATORS} x i64]`, 16)
  const base = code.value(`getelementptr i8, ptr ${loadScratch(code)}, i64 ${results}`)
  const { slots } = argumentLayout(graph.planes)
  const [firstBlock, lastBlock] = [blockOf(code, '%begin'), lastBlockOf(code, '%end')]

  reductions.forEach((reduction, number) => {
    const { plane, component, type, folded } = reduction
    const scalar = laneType(folded, 1)
    const slot = slots[plane]!
    const address = code.value(`load ptr, ptr ${slotAddress(code, slot)}, align 8`)
    const pitch = code.value(`load i64, ptr ${slotAddress(code, slot + 1)}, align 8`)
    const stride = options.sampleStrides?.[plane] ?? 1
    const offset = stride === 1 ? code.value(`mul i64 ${pitch}, ${component}`) : String(component)
    const target = code.value(`getelementptr ${laneType(MEMORY_TYPE[type], 1)}, ptr ${address}, i64 ${offset}`)
    const values = code.value(`getelementptr i64, ptr ${base}, i64 ${number}`)
    const some = code.label('some')
    const none = code.label('none')
    const write = code.label('write')
    code.branch(code.value(`icmp slt i64 %begin, %end`), some, none)
    code.begin(some)
    foldLevels(code, options, reduction, { values, count: reductions.length, accumulators, firstBlock, lastBlock })
    const folded1 = code.value(`load ${scalar}, ptr ${values}, align 8`)
    const end = code.current
    code.jump(write)
    code.begin(none)
    code.jump(write)
    code.begin(write)
    const result = code.phi(scalar, [
      { value: folded1, block: end },
      { value: literalText(folded, reduction.identity), block: none },
    ])
    const stored = type === 'bool' ? code.value(`trunc i32 ${result.name} to i8`) : result.name
    code.line(`store ${laneType(MEMORY_TYPE[type], 1)} ${stored}, ptr ${target}, align ${BYTES[type]}`)
  })
  code.line('ret void')
  return code.finish()
}

interface Level {
  /** Address of the first result of this reduction; results of all reductions alternate. */
  readonly values: string
  readonly count: number
  readonly accumulators: string
  readonly firstBlock: string
  readonly lastBlock: string
}

/** Folds results first … last to results first >> 12 … last >> 12, in place, and so on until one is left. */
function foldLevels(code: Code, options: EmitOptions, reduction: Reduction, level: Level): void {
  const { folded, op, identity } = reduction
  const scalar = laneType(folded, 1)
  const template = rows(options.target)[op](folded, folded, 1)
  const fold = (left: string, right: string) =>
    code.expand(template, { width: 1, T: folded, R: folded, operands: [left, right] })
  const resultAt = (index: string) => {
    const element = code.value(`mul i64 ${index}, ${level.count}`)
    return code.value(`getelementptr [${RESULT_BYTES} x i8], ptr ${level.values}, i64 ${element}`)
  }
  const accumulatorAt = (index: string) =>
    code.value(`getelementptr ${scalar}, ptr ${level.accumulators}, i64 ${index}`)
  const load = (address: string) => code.value(`load ${scalar}, ptr ${address}, align ${BYTES[folded]}`)
  const store = (value: string, address: string) =>
    code.line(`store ${scalar} ${value}, ptr ${address}, align ${BYTES[folded]}`)
  const before = code.current
  const head = code.label('level')
  const enter = code.label('fold')
  const done = code.label('folded')
  code.jump(head)
  code.begin(head)
  const first = code.phi('i64', [{ value: level.firstBlock, block: before }])
  const last = code.phi('i64', [{ value: level.lastBlock, block: before }])
  code.branch(code.value(`icmp eq i64 ${first.name}, ${last.name}`), done, enter)
  code.begin(enter)
  const [firstParent, lastParent] = [blockOf(code, first.name), blockOf(code, last.name)]
  printCounted(code, 'parent', firstParent, code.value(`add i64 ${lastParent}, 1`), (parent) => {
    printCounted(code, 'reset', '0', String(ACCUMULATORS), (k) =>
      store(literalText(folded, identity), accumulatorAt(k)),
    )
    const lowest = startOf(code, parent)
    const past = code.value(`add i64 ${lowest}, ${BLOCK}`)
    const stop = code.value(`add i64 ${last.name}, 1`)
    const [from, to] = [higherOf(code, lowest, first.name), lowerOf(code, past, stop)]
    printCounted(code, 'child', from, to, (child) => {
      const accumulator = accumulatorAt(code.value(`and i64 ${child}, ${ACCUMULATORS - 1}`))
      const value = load(resultAt(code.value(`sub i64 ${child}, ${first.name}`)))
      store(fold(load(accumulator), value), accumulator)
    })
    for (let half = ACCUMULATORS / 2; half >= 1; half /= 2) {
      printCounted(code, 'half', '0', String(half), (k) => {
        const upper = accumulatorAt(code.value(`add i64 ${k}, ${half}`))
        const lower = accumulatorAt(k)
        store(fold(load(lower), load(upper)), lower)
      })
    }
    store(load(accumulatorAt('0')), resultAt(code.value(`sub i64 ${parent}, ${firstParent}`)))
  })
  first.add({ value: firstParent, block: code.current })
  last.add({ value: lastParent, block: code.current })
  code.jump(head)
  code.begin(done)
}
