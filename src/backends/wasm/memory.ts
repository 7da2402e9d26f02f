// The linear memory that all kernels of this backend share: an allocator of blocks, typed views, and planes that live inside.
// Invariants: blocks are aligned to 64 bytes and followed by at least 16 bytes of their own, so that a vector access at the last
// element stays inside; no block lies at address 0; views are taken anew after growth, which detaches every older one.
import { HarrierError } from '../../errors.ts'
import { BYTES } from '../../ir/types.ts'
import type { PlaneArray, PlaneType } from '../backend.ts'
import { engine, type LinearMemory } from './engine.ts'

const PAGE = 65_536
/** 2 GiB, so that an address is a positive i32 everywhere. */
const MAXIMUM_PAGES = 32_768
const INITIAL_PAGES = 64
const ALIGNMENT = 64
const MARGIN = 16

/** The memory seen as each type of array. */
export interface Views {
  readonly f64: Float64Array
  readonly f32: Float32Array
  readonly i32: Int32Array
  readonly u32: Uint32Array
  readonly i64: BigInt64Array
  readonly bool: Uint8Array
}

export interface Memory {
  /** What compiled modules import. */
  readonly linear: LinearMemory
  /** Views of the present buffer; not to be kept beyond the next allocation. */
  views(): Views
  /** Address of a new block; its contents are undefined. Grows the memory where needed. */
  allocate(bytes: number, what: string): number
  release(address: number): void
  /**
   * Address of a block that every launch uses in turn, of at least so many bytes. A launch runs from start to end without another in
   * between, so that one is enough.
   */
  workspace(bytes: number, what: string): number
  /** Where an array lies in this memory, or undefined if it lies elsewhere. */
  addressOf(array: PlaneArray): number | undefined
}

interface Block {
  readonly address: number
  readonly bytes: number
}

const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`

export function createMemory(): Memory {
  if (!engine) throw new HarrierError('E_BACKEND_UNAVAILABLE', 'wasm backend: this JavaScript has no WebAssembly')
  const linear = new engine.Memory({ initial: INITIAL_PAGES, maximum: MAXIMUM_PAGES })
  /** Free blocks by address, no two adjacent. */
  let free: Block[] = [{ address: ALIGNMENT, bytes: INITIAL_PAGES * PAGE - ALIGNMENT }]
  const used = new Map<number, number>()
  let current: Views | undefined
  let shared: Block = { address: 0, bytes: 0 }

  function views(): Views {
    const { buffer } = linear
    if (current?.bool.buffer !== buffer) {
      current = {
        f64: new Float64Array(buffer),
        f32: new Float32Array(buffer),
        i32: new Int32Array(buffer),
        u32: new Uint32Array(buffer),
        i64: new BigInt64Array(buffer),
        bool: new Uint8Array(buffer),
      }
    }
    return current
  }

  function addFree(added: Block): void {
    const sorted = [...free, added].toSorted((a, b) => a.address - b.address)
    free = []
    for (const block of sorted) {
      const last = free.at(-1)
      if (last && last.address + last.bytes === block.address) {
        free[free.length - 1] = { address: last.address, bytes: last.bytes + block.bytes }
      } else free.push(block)
    }
  }

  /** Makes room for a block at the end: grows by at least half, as growth detaches views that callers hold. */
  function grow(bytes: number, what: string): void {
    const size = linear.buffer.byteLength
    const last = free.at(-1)
    const atEnd = last && last.address + last.bytes === size ? last.bytes : 0
    const needed = Math.ceil((bytes - atEnd) / PAGE)
    const present = size / PAGE
    const left = MAXIMUM_PAGES - present
    const refuse = (cause?: unknown): HarrierError =>
      new HarrierError(
        'E_MEMORY',
        `wasm backend: ${what} needs ${mebibytes(bytes)}, and its linear memory, of which ${mebibytes(size)} are taken up, ` +
          `cannot grow beyond ${mebibytes(MAXIMUM_PAGES * PAGE)}; use smaller tables, free planes made by alloc(), or use the host backend`,
        cause === undefined ? {} : { cause },
      )
    if (needed > left) throw refuse()
    const pages = Math.min(Math.max(needed, present >> 1), left)
    try {
      linear.grow(pages)
    } catch (cause) {
      throw refuse(cause)
    }
    addFree({ address: size, bytes: pages * PAGE })
  }

  function take(bytes: number): number | undefined {
    const index = free.findIndex((block) => block.bytes >= bytes)
    if (index < 0) return undefined
    const { address, bytes: size } = free[index]!
    free.splice(index, 1, ...(size > bytes ? [{ address: address + bytes, bytes: size - bytes }] : []))
    used.set(address, bytes)
    return address
  }

  function allocate(bytes: number, what: string): number {
    const size = Math.ceil((bytes + MARGIN) / ALIGNMENT) * ALIGNMENT
    const found = take(size)
    if (found !== undefined) return found
    grow(size, what)
    return take(size)!
  }

  function release(address: number): void {
    const bytes = used.get(address)
    if (bytes === undefined) return
    used.delete(address)
    addFree({ address, bytes })
  }

  return {
    linear,
    views,
    allocate,
    release,
    workspace(bytes, what) {
      if (shared.bytes < bytes) {
        release(shared.address)
        shared = { address: 0, bytes: 0 }
        shared = { address: allocate(bytes, what), bytes }
      }
      return shared.address
    },
    addressOf: (array) => (array.buffer === linear.buffer ? array.byteOffset : undefined),
  }
}

/** A plane inside the memory of the backend: kernels run on it in place. Binds wherever an array with a shape does. */
export interface AllocatedPlane {
  readonly shape: readonly number[]
  /**
   * The plane as a typed array, taken anew at each access: an array that was kept from before the memory grew is detached (its
   * length is 0), so read `data` again after allocating or calling. Throws once the plane is freed.
   */
  readonly data: PlaneArray
  /** Gives the memory back; what `data` gave before must not be used any more. May be called again. */
  free(): void
}

const PLANE_TYPES: readonly unknown[] = ['f64', 'f32', 'i32', 'bool'] satisfies PlaneType[]

const isList = (shape: unknown): shape is readonly number[] => Array.isArray(shape)

/** What a caller gave, with its type where its text does not say it. */
function describe(given: unknown): string {
  if (Array.isArray(given)) return `[${given.map(describe).join(', ')}]`
  if (typeof given === 'string') return `the string '${given}'`
  if (typeof given === 'bigint') return `the bigint ${given}n`
  if (typeof given === 'function') return `the function ${given.name || 'without a name'}`
  return typeof given === 'object' && given !== null
    ? `an object of class ${given.constructor?.name ?? 'null'}`
    : String(given)
}

/** Checks what alloc was given, by callers whose compiler did not. @throws E_OPTION */
function checkAllocation(dimensions: readonly unknown[], type: unknown): void {
  if (dimensions.length === 0 || !dimensions.every((size) => Number.isSafeInteger(size) && (size as number) >= 0)) {
    throw new HarrierError(
      'E_OPTION',
      `alloc: the shape is ${describe(dimensions)}, expected whole numbers from 0 on, as in alloc(n) or alloc([3, n])`,
    )
  }
  if (!PLANE_TYPES.includes(type)) {
    throw new HarrierError(
      'E_OPTION',
      `alloc: the type is ${describe(type)}, expected 'f64', 'f32', 'i32' or 'bool', as in alloc(n, 'f32')`,
    )
  }
}

/**
 * Makes a plane filled with zeros inside the memory of the backend, which kernels use without copying.
 * @param shape number of samples, or a row-major shape such as `[3, n]` for a 3-vector
 * @throws E_OPTION for a shape or type that is none, E_MEMORY where the plane does not fit
 */
export function allocatePlane(
  memory: Memory,
  shape: number | readonly number[],
  type: PlaneType = 'f64',
): AllocatedPlane {
  const dimensions = isList(shape) ? [...shape] : [shape]
  checkAllocation(dimensions, type)
  const length = dimensions.reduce((product, size) => product * size, 1)
  const address = memory.allocate(length * BYTES[type], `alloc([${dimensions.join(', ')}], '${type}')`)
  const start = address / BYTES[type]
  let isFree = false
  const view = (): PlaneArray => memory.views()[type].subarray(start, start + length)
  view().fill(0)
  return {
    shape: dimensions,
    get data() {
      if (isFree) throw new HarrierError('E_MEMORY', 'alloc: the plane was freed; allocate a new one')
      return view()
    },
    free() {
      if (!isFree) memory.release(address)
      isFree = true
    },
  }
}
