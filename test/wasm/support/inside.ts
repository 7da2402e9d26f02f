// An executable whose arrays are moved into the linear memory for each run and back, with the elements around them, so that a write
// outside an array is seen by whoever compares the memory of the caller.
import type { Executable, PlaneArray } from '../../../src/backends/backend.ts'
import type { WasmBackend } from '../../../src/backends/wasm/index.ts'
import type { AllocatedPlane } from '../../../src/backends/wasm/memory.ts'
import { planeTypeOf } from '../../../src/runtime/view.ts'

/** Elements taken along before and after an array, as far as its buffer has them. */
const AROUND = 8

interface Moved {
  readonly outer: PlaneArray
  readonly plane: AllocatedPlane
}

/** The array with what lies around it in its buffer. */
function widened(array: PlaneArray): { outer: PlaneArray; start: number } {
  const { buffer, byteOffset, BYTES_PER_ELEMENT: bytes, length } = array
  const start = Math.min(AROUND, Math.floor(byteOffset / bytes))
  const after = Math.min(AROUND, Math.floor((buffer.byteLength - byteOffset) / bytes) - length)
  const make = array.constructor as new (memory: ArrayBufferLike, offset: number, length: number) => PlaneArray
  return { outer: new make(buffer, byteOffset - start * bytes, start + length + after), start }
}

export function inside(backend: WasmBackend, executable: Executable): Executable {
  return {
    backend: executable.backend,
    launch() {
      const launch = executable.launch()
      const moved: Moved[] = []
      const back = () => {
        for (const { outer, plane } of moved) outer.set(plane.data)
      }
      return {
        ...launch,
        bind(number, array, pitch, length) {
          const { outer, start } = widened(array)
          const plane = backend.alloc(outer.length, planeTypeOf(array)!)
          plane.data.set(outer)
          moved.push({ outer, plane })
          launch.bind(number, plane.data.subarray(start, start + array.length), pitch, length)
        },
        run(range) {
          launch.run(range)
          back()
        },
        release() {
          launch.release()
          for (const { plane } of moved) plane.free()
        },
      }
    },
  }
}
