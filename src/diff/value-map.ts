// Maps and sets of values. A result of a construct is known by its construct and number, so that a walker that meets the construct can
// enter its results without having seen a use of them.
import type { Construct, Value } from '../ir/graph.ts'

export interface ValueMap<T> {
  get(value: Value): T | undefined
  getResult(source: Construct, index: number): T | undefined
  has(value: Value): boolean
  hasResult(source: Construct, index: number): boolean
  set(value: Value, entry: T): void
  setResult(source: Construct, index: number, entry: T): void
  /** In the order in which they were entered. */
  values(): readonly T[]
  readonly size: number
}

export function createValueMap<T>(): ValueMap<T> {
  const entries = new Map<Value | string, T>()
  const resultKey = (source: Construct, index: number) => `${source.id}.${index}`
  const key = (value: Value) => (value.op === 'result' ? resultKey(value.source, value.index) : value)
  return {
    get: (value) => entries.get(key(value)),
    getResult: (source, index) => entries.get(resultKey(source, index)),
    has: (value) => entries.has(key(value)),
    hasResult: (source, index) => entries.has(resultKey(source, index)),
    set: (value, entry) => void entries.set(key(value), entry),
    setResult: (source, index, entry) => void entries.set(resultKey(source, index), entry),
    values: () => [...entries.values()],
    get size() {
      return entries.size
    },
  }
}
