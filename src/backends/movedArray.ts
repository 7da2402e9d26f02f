// Arrays that lost their memory after they were bound: how a launch sees it, and its error, the same on every backend.
import { HarrierError } from '../errors.ts'
import type { PlaneArray } from './backend.ts'

/**
 * Whether an array has the length that it was bound with, and memory for it. The buffer is asked as well: once compiled code has met an
 * array over a resizable buffer, V8 11 (Node.js 20) goes on giving the old length of arrays that were detached.
 */
export const isInPlace = (array: PlaneArray, size: number): boolean =>
  array.length === size && (size === 0 || array.buffer.byteLength > 0)

export const movedArray = (kernel: string, plane: string): HarrierError =>
  new HarrierError(
    'E_BINDING',
    `kernel '${kernel}': the array of '${plane}' was detached, or its buffer resized, after it was bound; bind the array anew`,
  )
