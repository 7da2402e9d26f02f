// The error of a kernel built with `check`, the same whatever backend found the access.
import { HarrierError } from '../errors.ts'
import type { OutsideAccess } from '../ir/interpret.ts'

export function outOfRange(kernel: string, { plane, length, sample, index }: OutsideAccess): HarrierError {
  const isTable = plane.role === 'table'
  const what = isTable ? `reads index ${index} of table` : `adds at index ${index} of accumulator`
  const range = length === 0 ? 'is empty' : `has the indices 0 to ${length - 1}`
  const otherwise = isTable ? 'such a read gives NaN, or 0 for integers' : 'such a contribution is dropped'
  return new HarrierError(
    'E_OUT_OF_RANGE',
    `kernel '${kernel}': sample ${sample} ${what} '${plane.name}', which ${range}; ` +
      `keep the index inside, or call without check, where ${otherwise}`,
  )
}
