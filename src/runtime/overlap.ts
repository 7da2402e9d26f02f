// Finds arrays of one call that share memory in a way that would change the result. Reading and writing the same sample in place is
// legal, since a sample is read before it is written; anything else that overlaps a written plane is refused.
import { BYTES } from '../ir/types.ts'
import { planeTypeOf, type PlaneType } from './view.ts'
import type { PlaneArray } from '../backends/backend.ts'

/** The memory of one bound plane. */
export interface Extent {
  readonly name: string
  readonly array: PlaneArray
  readonly written: boolean
  readonly perSample: boolean
  readonly components: number
  readonly pitch: number
  readonly sampleStride: number
  /** Samples or entries. */
  readonly length: number
}

const bytesOf = ({ array }: Extent): number => BYTES[planeTypeOf(array) as PlaneType]

/** First byte, and the one after the last, within the buffer. */
function byteRange(extent: Extent): readonly [number, number] {
  const { array, components, pitch, sampleStride, length } = extent
  const elements = length === 0 ? 0 : (components - 1) * pitch + (length - 1) * sampleStride + 1
  return [array.byteOffset, array.byteOffset + elements * bytesOf(extent)]
}

/** Every sample of one plane lies at addresses of the same sample of the other, or nowhere in it. */
function isInPlace(a: Extent, b: Extent): boolean {
  if (!a.perSample || !b.perSample || bytesOf(a) !== bytesOf(b) || a.sampleStride !== b.sampleStride) return false
  const [outer, inner] = a.components >= b.components ? [a, b] : [b, a]
  const distance = (inner.array.byteOffset - outer.array.byteOffset) / bytesOf(a)
  if (outer.components === 1) return distance === 0
  const isComponent = (at: number) =>
    at % outer.pitch === 0 && at / outer.pitch >= 0 && at / outer.pitch < outer.components
  return (
    isComponent(distance) &&
    (inner.components === 1 ||
      (inner.pitch === outer.pitch && isComponent(distance + (inner.components - 1) * inner.pitch)))
  )
}

/** One sentence for each pair of planes that overlap and must not. */
export function findOverlaps(extents: readonly Extent[]): readonly string[] {
  const problems: string[] = []
  extents.forEach((a, k) => {
    for (const b of extents.slice(k + 1)) {
      if ((!a.written && !b.written) || a.array.buffer !== b.array.buffer) continue
      const [beginA, endA] = byteRange(a)
      const [beginB, endB] = byteRange(b)
      if (beginA >= endB || beginB >= endA) continue
      if (a.written && b.written)
        problems.push(`${a.name} and ${b.name} are both written and share memory; give each its own array`)
      else if (!isInPlace(a, b)) {
        const [output, input] = a.written ? [a, b] : [b, a]
        if (!input.perSample) {
          problems.push(
            `${output.name} is written and shares memory with ${input.name}, which all samples read; write to another array`,
          )
          continue
        }
        problems.push(
          `${output.name} is written and overlaps ${input.name} other than exactly in place; write to another array, or to the very array of ${input.name}`,
        )
      }
    }
  })
  return problems
}
