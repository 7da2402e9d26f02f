// Turns the text of a module into bytes by binaryen, which checks it on the way. Importing binaryen takes about a second and 150 MB, so
// that whoever imports this file's function does so only when there is something to assemble.
import type binaryen from 'binaryen'
import { HarrierError } from '../../errors.ts'

/** Bytes of a module, or E_INTERNAL with binaryen's own complaint. */
export type Assemble = (text: string, kernel: string) => Uint8Array

export function invalidModule(kernel: string, complaint: string): HarrierError {
  return new HarrierError(
    'E_INTERNAL',
    `wasm backend: the module of kernel '${kernel}' is not valid WebAssembly; please report this with the kernel:\n${complaint.trim()}`,
  )
}

/** Imports binaryen into this thread. */
export async function createAssembler(): Promise<Assemble> {
  // Binaryen writes what validation finds to console.error, which it looks up once, when it is imported.
  const complaints: string[] = []
  let isListening = false
  const original = console.error
  console.error = (...parts: readonly unknown[]) => {
    if (isListening) complaints.push(parts.join(' '))
    else original(...parts)
  }
  let assembler: typeof binaryen
  try {
    assembler = (await import('binaryen')).default
  } finally {
    console.error = original
  }
  return (text, kernel) => {
    complaints.length = 0
    isListening = true
    try {
      const module = assembler.parseText(text)
      module.setFeatures(assembler.Features.SIMD128 | assembler.Features.NontrappingFPToInt)
      const isValid = module.validate()
      const bytes = isValid ? module.emitBinary() : undefined
      module.dispose()
      if (bytes) return bytes
    } catch (error) {
      // What binaryen throws is no Error, but has a message.
      complaints.push((error as { readonly message?: string }).message ?? String(error))
    } finally {
      isListening = false
    }
    throw invalidModule(kernel, complaints.join('\n'))
  }
}
