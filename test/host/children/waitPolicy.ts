// Prints what native code sees of OMP_WAIT_POLICY before and after the OpenMP runtime was loaded, on the main thread or in a worker.
import { isMainThread, Worker } from 'node:worker_threads'
import { nativeFunction, openProgram, readMemory } from '../../../src/runtime/ffi.ts'
import { createMachine } from '../../../src/runtime/machine.ts'

function nativeEnvironment(name: string): string | null {
  const getenv = nativeFunction(openProgram().symbol('getenv')!, 'address', ['text'])
  const address = getenv(name)
  if (address === null || address === 0n) return null
  const bytes = readMemory(address, 8)
  return new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)))
}

if (isMainThread && process.argv[2] === 'worker') {
  new Worker(new URL(import.meta.url)).on('error', (error) => console.error(error))
} else {
  const before = nativeEnvironment('OMP_WAIT_POLICY')
  createMachine().openMp()
  console.log(JSON.stringify({ before, after: nativeEnvironment('OMP_WAIT_POLICY') }))
}
