// Prints a lowered graph as textual LLVM IR that clang 15 to 22 accept.
// For `symbol` NAME the module exports
//   void NAME(ptr args, i64 begin, i64 end)                        samples [begin, end) on the calling thread
//   void NAME_parallel(ptr args, i64 begin, i64 end, i32 threads)  the same bits, on up to `threads` threads
// where args is the block of src/backends/llvm/arguments.ts. Apart from GOMP_parallel of the OpenMP runtime nothing is called.
import { walk, type Graph } from '../../ir/graph.ts'
import { createCode, type Declarations } from './code.ts'
import { printFold } from './fold.ts'
import { moduleText, type Emitted, type EmitOptions } from './interface.ts'
import { printParallel, printSequential } from './parallel.ts'
import { zeroSymbol } from './planes.ts'
import { reductionsOf } from './reduce.ts'
import { layOutScratch } from './scratch.ts'
import { shapeOf } from './shape.ts'
import { printWork } from './work.ts'

export { CHECK_REPORT_BYTES, moduleText, scratchBytes } from './interface.ts'
export type { Emitted, EmitOptions, HostTarget, KernelShape, ScratchPlan } from './interface.ts'

/** Above these, optimising code generation takes minutes: it is quadratic in the uses of one value. */
const MOST_USES = 5_000
const MOST_INSTRUCTIONS = 50_000

/** @param graph lowered: basic ops only, floats of their final type */
export function emit(graph: Graph, options: EmitOptions): Emitted {
  const declarations: Declarations = { lines: new Set() }
  const shape = shapeOf(graph, options)
  const scratch = layOutScratch(graph, shape, options)
  const folds = reductionsOf(graph).length > 0
  const hasTables = [...walk(graph.body)].some(({ op }) => op === 'gather' || op === 'entryCount')
  const isSequential = options.check === true || scratch.events !== undefined || hasScalarScatter(graph, shape.width)

  const parts = [
    hasTables ? `${zeroSymbol(options)} = internal constant i64 0\n` : '',
    printWork({ graph, options, shape, layout: scratch }, declarations),
    folds ? printFold(graph, options, scratch.results, declarations) : '',
    printEntry(options, declarations),
    isSequential ? printSequential(options) : printParallel({ graph, options, layout: scratch, declarations }),
  ]
  const definitions = parts.filter((part) => part !== '').join('\n')
  const { instructions, mostUses } = measure(definitions)
  return {
    definitions,
    declarations: [...declarations.lines].sort(),
    shape,
    scratch: scratch.plan,
    instructions,
    mostUses,
    codegenLevel: instructions > MOST_INSTRUCTIONS || mostUses > MOST_USES ? 'light' : 'full',
  }
}

function hasScalarScatter(graph: Graph, width: number): boolean {
  return width === 1 && [...walk(graph.body)].some(({ op }) => op === 'scatterAdd')
}

function printEntry({ symbol, check }: EmitOptions, declarations: Declarations): string {
  const code = createCode(`define void @${symbol}(ptr %args, i64 %begin, i64 %end)`, declarations)
  if (check) {
    const slot = code.value('getelementptr i8, ptr %args, i64 8')
    code.line(`store i64 -1, ptr ${code.value(`load ptr, ptr ${slot}, align 8`)}, align 8`)
  }
  code.line(`tail call void @${symbol}.work(ptr %args, i64 %begin, i64 %end, ptr null)`)
  code.line('ret void')
  return code.finish()
}

/** Instructions of a text, and the most uses of one name in one function. */
function measure(text: string): { readonly instructions: number; readonly mostUses: number } {
  let instructions = 0
  let mostUses = 0
  for (const body of text.split('\n}\n')) {
    const uses = new Map<string, number>()
    for (const line of body.split('\n')) {
      if (!line.startsWith('  ')) continue
      instructions += 1
      const operands = line.includes(' = ') ? line.slice(line.indexOf(' = ')) : line
      for (const [name] of operands.matchAll(/%[\w.]+/g)) {
        const count = (uses.get(name) ?? 0) + 1
        uses.set(name, count)
        mostUses = Math.max(mostUses, count)
      }
    }
  }
  return { instructions, mostUses }
}

/** The module of one kernel. */
export const emitModule = (graph: Graph, options: EmitOptions): string => moduleText([emit(graph, options)])
