// Prints a lowered graph as textual LLVM IR that clang 15 to 22 accept.
// For `symbol` NAME the module exports
//   void NAME(ptr args, i64 begin, i64 end)                        samples [begin, end) on the calling thread
//   void NAME_parallel(ptr args, i64 begin, i64 end, i32 threads)  the same bits, on up to `threads` threads
// where args is the block of src/backends/llvm/arguments.ts. Apart from GOMP_parallel of the OpenMP runtime nothing is called.
export { BLOCK, CHECK_REPORT_BYTES, moduleText, scratchBytes } from './interface.ts'
export type { Emitted, EmitOptions, HostTarget, KernelShape, ScratchPlan } from './interface.ts'
