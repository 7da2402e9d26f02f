// The reference backend: the interpreter behind the interface of a backend. It needs nothing but JavaScript, and is what the others are
// compared with; being a hundred times slower, it is for tests and for a machine that has nothing else.
// Invariant: it adds no meaning of its own, only binding and the error of checked kernels.
import type { Graph } from '../../ir/graph.ts'
import { compile, type BoundPlane } from '../../ir/interpret.ts'
import { lower } from '../../ir/lower/lower.ts'
import { print } from '../../ir/print.ts'
import { verify } from '../../ir/verify.ts'
import { HarrierError } from '../../errors.ts'
import type { Backend, BuildOptions, Launch, LaunchRange, PlaneArray, PlaneType } from '../backend.ts'
import { isInPlace, movedArray } from '../movedArray.ts'
import { outOfRange } from '../outOfRange.ts'

/** It computes `fma` exactly, as targets that have the instruction do. */
const TARGET = { fma: true, scaling: true }

const ARRAYS: Record<PlaneType, new (length: number) => PlaneArray> = {
  f64: Float64Array,
  f32: Float32Array,
  i32: Int32Array,
  bool: Uint8Array,
}

function lowered(graph: Graph): Graph {
  const basic = lower(graph, TARGET)
  verify(basic, { lowered: TARGET })
  return basic
}

function createLaunch(graph: Graph, { name, sampleStrides, check }: BuildOptions): Launch {
  const interpreter = compile(graph, {
    ...(sampleStrides && { sampleStrides }),
    ...(check && {
      onOutside(access) {
        throw outOfRange(name, access)
      },
    }),
  })
  const bindings: (BoundPlane | number | undefined)[] = graph.planes.map(() => undefined)
  /** Elements of each array when it was bound. */
  const sizes = graph.planes.map(() => 0)

  /** Without their memory arrays read as undefined and forget what is written, which an interpreter would not notice. */
  function refuseMoved(): void {
    bindings.forEach((bound, plane) => {
      if (typeof bound !== 'object') return
      if (!isInPlace(bound.array, sizes[plane]!)) throw movedArray(name, graph.planes[plane]!.name)
    })
  }
  function run(range: LaunchRange): void {
    refuseMoved()
    interpreter(bindings, range)
  }

  return {
    bind(plane, array, pitch, length) {
      bindings[plane] = { array, pitch, length }
      sizes[plane] = array.length
    },
    set(plane, value) {
      bindings[plane] = value
    },
    run,
    release() {
      bindings.forEach((bound, plane) => {
        if (typeof bound === 'object') bindings[plane] = undefined
      })
    },
    // There is no other thread to run on: the work is done before the promise is handed out.
    async runAsync(range) {
      run(range)
    },
  }
}

export const referenceBackend: Backend = {
  name: 'reference',
  availability: () => ({ available: true, detail: 'the interpreter, on one thread' }),
  allocate: (type, length) => new ARRAYS[type](length),
  build(graph, options) {
    const basic = lowered(graph)
    return { backend: 'reference', launch: () => createLaunch(basic, options) }
  },
  sourceForms: ['ir'],
  source(graph, { name }, form) {
    if (form === 'ir') return print(lowered(graph))
    throw new HarrierError(
      'E_OPTION',
      `kernel '${name}': the reference backend has no source form '${form}'; it has 'ir', the graph that it interprets`,
    )
  },
}
