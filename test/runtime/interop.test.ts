// Arrays of other libraries and of other owners: what docs/interop.md claims.
import { Worker } from 'node:worker_threads'
import { describe, expect, test } from 'vitest'
import { engine } from '../../src/backends/wasm/engine.ts'
import { kernel, Mutable, Scalar, Vector } from '../../src/index.ts'

const double = kernel('double', { v: Mutable(Vector(2)) }, ({ v }) => v.set(v.mul(2)))
const scale = kernel('scale', { y: Mutable(Scalar) }, ({ y }) => y.set(y.mul(3)))
const data = () => new Float64Array([1, 2, 3, 4, 5, 6])
const doubled = new Float64Array([2, 4, 6, 8, 10, 12])

describe('arrays of other libraries', () => {
  test('scijs ndarray', () => {
    // As the package builds them: fields of the instance, strides under the name `stride`.
    const own = data()
    double({ data: own, shape: [2, 3], stride: [3, 1], offset: 0, dtype: 'float64' } as never)
    expect(own).toEqual(doubled)
  })

  test('stdlib-like ndarray', () => {
    class StdlibNdarray {
      readonly #data: Float64Array
      constructor(own: Float64Array) {
        this.#data = own
      }
      get data() {
        return this.#data
      }
      get shape() {
        return [2, 3]
      }
      get strides() {
        return [3, 1]
      }
      get offset() {
        return 0
      }
      get flags() {
        return { READONLY: false }
      }
    }
    const own = data()
    double(new StdlibNdarray(own) as never)
    expect(own).toEqual(doubled)
  })
})

describe('memory of other owners', () => {
  test('WebAssembly memory', () => {
    const memory = new engine!.Memory({ initial: 1, maximum: 2 })
    const y = new Float64Array(memory.buffer, 64, 4).fill(2)
    scale(y)
    expect(new Float64Array(memory.buffer, 64, 4)).toEqual(new Float64Array(4).fill(6))
    memory.grow(1)
    expect(() => scale(y)).toThrow(
      "kernel 'scale': y is a detached or out-of-bounds array: its buffer was transferred or shrunk; pass a live array",
    )
  })

  test('an array transferred to a worker', async () => {
    const y = new Float64Array([1, 2])
    const worker = new Worker(
      "require('node:worker_threads').parentPort.once('message', (y) => { require('node:worker_threads').parentPort.postMessage(y.length) })",
      { eval: true },
    )
    const answer = new Promise((resolve) => worker.once('message', resolve))
    worker.postMessage(y, [y.buffer])
    expect(await answer).toBe(2)
    expect(() => scale(y)).toThrow('detached or out-of-bounds')
    await worker.terminate()
  })
})
