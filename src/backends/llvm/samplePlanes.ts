// Loads and stores of sample planes at the samples of a group, whatever the layout of the plane and wherever the samples lie.
import type { Type } from '../../ir/types.ts'
import type { Context, Mask } from './context.ts'
import { loadTogether, readsWide, storeTogether, writesWide } from './interleaved.ts'
import {
  addressOfPlane,
  firstOf,
  fromMemory,
  laneAddresses,
  loadConsecutive,
  loadScattered,
  sampleNumbers,
  scalarAddress,
  storeConsecutive,
  storeScattered,
  toMemory,
} from './memory.ts'

/** Whether the elements of a component follow each other in the samples of a vector. */
const isConsecutive = ({ group, width }: Context, stride: number): boolean =>
  group.numbers === undefined && (stride === 1 || width === 1)

/** Component of a sample plane in the lanes of a mask; 0 in the others. */
export function loadSamples(
  context: Context,
  type: Type,
  plane: number,
  component: number,
  mask: Mask,
): readonly string[] {
  const { group, vectors } = context
  const address = addressOfPlane(context, plane)
  const isWide = mask === undefined && address.stride > 1 && readsWide(context, plane)
  const load = (part: number): string => {
    if (isWide) return loadTogether(context, type, plane, component, part)
    if (isConsecutive(context, address.stride)) {
      const element = scalarAddress(context, type, address, component, 'i64', firstOf(context, group, part))
      return loadConsecutive(context, type, element, mask?.[part])
    }
    const elements = laneAddresses(context, type, address, component, 'i64', sampleNumbers(context, group, part))
    return loadScattered(context, type, elements, mask?.[part])
  }
  return Array.from({ length: vectors }, (_, part) => fromMemory(context, type, load(part)))
}

export function storeSamples(
  context: Context,
  type: Type,
  plane: number,
  component: number,
  values: readonly string[],
  mask: Mask,
): void {
  const { group } = context
  const address = addressOfPlane(context, plane)
  const stored = values.map((value) => toMemory(context, type, value))
  if (mask === undefined && address.stride > 1 && writesWide(context, plane)) {
    return storeTogether(context, type, plane, component, stored)
  }
  stored.forEach((value, part) => {
    if (isConsecutive(context, address.stride)) {
      const element = scalarAddress(context, type, address, component, 'i64', firstOf(context, group, part))
      return storeConsecutive(context, type, value, element, mask?.[part])
    }
    const elements = laneAddresses(context, type, address, component, 'i64', sampleNumbers(context, group, part))
    storeScattered(context, type, value, elements, mask?.[part])
  })
}
