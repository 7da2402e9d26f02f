// The error of a launch whose array lost its memory after it was bound, the same on every backend.
import { HarrierError } from '../errors.ts'

export const movedArray = (kernel: string, plane: string): HarrierError =>
  new HarrierError(
    'E_BINDING',
    `kernel '${kernel}': the array of '${plane}' was detached, or its buffer resized, after it was bound; bind the array anew`,
  )
