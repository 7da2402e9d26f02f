// Blocks of 4,096 samples by absolute sample number: the unit in which contributions are folded and scatter-adds applied.
import { BLOCK } from '../../ir/reduction.ts'
import type { Code } from './code.ts'
import { printCounted } from './control.ts'

export const BLOCK_BITS = Math.log2(BLOCK)

/** Number of the block of a sample (i64). */
export const blockOf = (code: Code, sample: string): string => code.value(`ashr i64 ${sample}, ${BLOCK_BITS}`)

/** Number of the last block of a range that ends before a sample. */
export const lastBlockOf = (code: Code, end: string): string => blockOf(code, code.value(`sub i64 ${end}, 1`))

/** First sample of a block. */
export const startOf = (code: Code, block: string): string => code.value(`shl i64 ${block}, ${BLOCK_BITS}`)

/** The lower of two numbers (i64). */
export const lowerOf = (code: Code, a: string, b: string): string =>
  code.value(`select i1 ${code.value(`icmp slt i64 ${a}, ${b}`)}, i64 ${a}, i64 ${b}`)

export const higherOf = (code: Code, a: string, b: string): string =>
  code.value(`select i1 ${code.value(`icmp sgt i64 ${a}, ${b}`)}, i64 ${a}, i64 ${b}`)

/** A part of a range, cut to it. */
export interface Part {
  readonly begin: string
  readonly end: string
}

/** The blocks that a range touches, each cut to the range. */
export function printBlocks(code: Code, { begin, end }: Part, body: (block: string, part: Part) => void): void {
  const past = code.value(`add i64 ${lastBlockOf(code, end)}, 1`)
  printCounted(code, 'block', blockOf(code, begin), past, (block) => {
    const start = startOf(code, block)
    const next = code.value(`add i64 ${start}, ${BLOCK}`)
    body(block, { begin: higherOf(code, start, begin), end: lowerOf(code, next, end) })
  })
}
