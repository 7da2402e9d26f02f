// Kernels whose LLVM IR is written by hand, so that these tests show what happens around the generated code and not the code itself.
import { createHostBackend, type HostBackend } from '../../../src/backends/host/index.ts'
import { argumentLayout } from '../../../src/backends/llvm/arguments.ts'
import { ATTRIBUTES } from '../../../src/backends/llvm/code.ts'
import type { Emitted } from '../../../src/backends/llvm/interface.ts'
import { createBuilder } from '../../../src/ir/build.ts'
import type { Graph, Plane } from '../../../src/ir/graph.ts'
import { createMachine, type MachineOptions } from '../../../src/runtime/machine.ts'

const plane = (name: string, role: Plane['role']): Plane => ({ name, role, type: 'f64', components: 1 })

/** Numbers of the planes of {@link scaleGraph}. */
export const PLANES = { x: 0, out: 1, a: 2, b: 3 } as const

/** out = x · a + b. */
export function scaleGraph(): Graph {
  const builder = createBuilder([
    plane('x', 'sample'),
    plane('out', 'sample'),
    plane('a', 'uniform'),
    plane('b', 'uniform'),
  ])
  const product = builder.mul(builder.load(PLANES.x, 0), builder.uniform(PLANES.a))
  builder.store(PLANES.out, 0, builder.add(product, builder.uniform(PLANES.b)))
  return builder.finishGraph()
}

const { slots } = argumentLayout(scaleGraph().planes)

/** Samples that a thread takes at once. */
const CHUNK = 1000

/** Writes to every page of a frame, from its top down, as calls would. */
const useFrame = (bytes: number): string => `
  %frame = alloca [${bytes} x i8]
  br label %page
page:
  %left = phi i64 [ ${bytes}, %entry ], [ %left.next, %page ]
  %left.next = sub i64 %left, 4096
  %page.at = getelementptr i8, ptr %frame, i64 %left.next
  store volatile i8 0, ptr %page.at
  %pages = icmp sgt i64 %left.next, 4096
  br i1 %pages, label %page, label %used
used:`

/** The code of {@link scaleGraph}. With `delay`, each sample takes about that many dependent divisions more; with `frame`, so much stack, all of it used. */
export function scaleCode(symbol: string, delay = 0, frame = 0): string {
  const slot = (name: string, index: number) => `  %${name}.slot = getelementptr i64, ptr %args, i64 ${index}`
  return `
define void @${symbol}(ptr %args, i64 %begin, i64 %end) ${ATTRIBUTES} {
entry:
${frame === 0 ? '' : useFrame(frame)}
${slot('x', slots[PLANES.x]!)}
  %x = load ptr, ptr %x.slot
${slot('out', slots[PLANES.out]!)}
  %out = load ptr, ptr %out.slot
${slot('a', slots[PLANES.a]!)}
  %a = load double, ptr %a.slot
${slot('b', slots[PLANES.b]!)}
  %b = load double, ptr %b.slot
  br label %head
head:
  %i = phi i64 [ %begin, ${frame === 0 ? '%entry' : '%used'} ], [ %next, %store ]
  %more = icmp slt i64 %i, %end
  br i1 %more, label %body, label %done
body:
  %x.at = getelementptr double, ptr %x, i64 %i
  %value = load double, ptr %x.at
  br label %spin
spin:
  %k = phi i64 [ 0, %body ], [ %k.next, %spin ]
  %wasted = phi double [ %value, %body ], [ %wasted.next, %spin ]
  %wasted.next = fdiv double %wasted, 0x3FF0000000000001
  %k.next = add i64 %k, 1
  %again = icmp slt i64 %k.next, ${delay}
  br i1 %again, label %spin, label %store
store:
  %never = fcmp oeq double %wasted.next, 0x7FE0000000000123
  %kept = select i1 %never, double 0.0, double %value
  %product = fmul double %kept, %a
  %sum = fadd double %product, %b
  %out.at = getelementptr double, ptr %out, i64 %i
  store double %sum, ptr %out.at
  %next = add i64 %i, 1
  br label %head
done:
  ret void
}

; args, end, next unclaimed sample
define internal void @${symbol}.worker(ptr %shared) ${ATTRIBUTES} {
entry:
  %args = load ptr, ptr %shared
  %end.at = getelementptr i64, ptr %shared, i64 1
  %end = load i64, ptr %end.at
  %counter = getelementptr i64, ptr %shared, i64 2
  br label %head
head:
  %from = atomicrmw add ptr %counter, i64 ${CHUNK} monotonic
  %more = icmp slt i64 %from, %end
  br i1 %more, label %body, label %done
body:
  %full = add i64 %from, ${CHUNK}
  %fits = icmp slt i64 %full, %end
  %to = select i1 %fits, i64 %full, i64 %end
  call void @${symbol}(ptr %args, i64 %from, i64 %to)
  br label %head
done:
  ret void
}

define void @${symbol}_parallel(ptr %args, i64 %begin, i64 %end, i32 %threads) ${ATTRIBUTES} {
  %shared = alloca [3 x i64], align 64
  store ptr %args, ptr %shared
  %end.at = getelementptr i64, ptr %shared, i64 1
  store i64 %end, ptr %end.at
  %counter = getelementptr i64, ptr %shared, i64 2
  store i64 %begin, ptr %counter
  call void @GOMP_parallel(ptr @${symbol}.worker, ptr %shared, i32 %threads, i32 0)
  ret void
}
`
}

export function emitted(definitions: string): Emitted {
  return {
    definitions,
    declarations: ['declare extern_weak void @GOMP_parallel(ptr, ptr, i32, i32)'],
    shape: { width: 1, vectors: 1, divergence: 'straight' },
    scratch: { fixed: 0, perBlock: 0, perThread: 0, perTeamThread: 0 },
    instructions: 1,
    mostUses: 1,
    codegenLevel: 'full',
  }
}

export interface HandwrittenOptions extends MachineOptions {
  /** The code of the kernel, or what throws instead of giving any; absent: {@link scaleCode}. */
  readonly code?: (symbol: string) => string
}

/** A host backend whose every kernel is the hand-written one. */
export function handwrittenBackend({ code = scaleCode, ...options }: HandwrittenOptions = {}): HostBackend {
  return createHostBackend(createMachine(options), (_, { symbol }) => emitted(code(symbol)))
}
