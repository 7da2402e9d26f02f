// The rule of unused conditions. JavaScript's `if`, `?:` and `&&` give a symbolic condition no chance to notice that it is tested, so a
// condition that a call made and that nothing consumed is refused when the body has returned: most likely it stood in an `if`.
// Each call counts by itself, before equal nodes are shared; components of a condition vector do not count apart from it.
import { currentTrace, refusal, type Trace } from './context.ts'
import { isTraced, show, use } from './value.ts'
import type { SymbolicValue } from './values.ts'

export interface ConditionRecord {
  readonly label: string
  /** Its stack begins at the user's line. */
  readonly place: { readonly stack?: string }
  isUsed: boolean
}

/** Notes a condition that `entry`, the public function, makes for its caller. */
export function registerCondition(
  trace: Trace,
  label: string,
  entry: (...operands: never[]) => unknown,
): ConditionRecord {
  const place: { stack?: string } = {}
  Error.captureStackTrace(place, entry)
  const record: ConditionRecord = { label, place, isUsed: false }
  trace.conditions.push(record)
  return record
}

/** The first line of a captured stack: `file:line:column`. */
function lineOf({ stack }: ConditionRecord['place']): string {
  const frame = stack?.split('\n').find((line) => line.trimStart().startsWith('at '))
  if (frame === undefined) return 'a line unknown'
  return /\(([^()]*)\)\s*$/.exec(frame)?.[1] ?? frame.trim().slice('at '.length)
}

/** Refuses the trace if a condition was made in vain. */
export function checkConditions(trace: Trace): void {
  const unused = trace.conditions.filter(({ isUsed }) => !isUsed)
  if (unused.length === 0) return
  const lines = unused.map(({ label, place }) => `\n  ${label} at ${lineOf(place)}`)
  throw refusal(
    trace,
    'E_UNUSED_CONDITION',
    `${unused.length === 1 ? 'a condition was' : `${unused.length} conditions were`} computed and never used:${lines.join('')}\n` +
      'JavaScript tests such as if (c), c ? a : b and c && x do not see the samples; select with where(c, a, b), ' +
      'run one side with branch(c, () => a, () => b), or call discard(c) where the condition is not needed',
  )
}

/** States that a condition is computed and deliberately not used. */
export function discard(condition: SymbolicValue<'condition'>): void {
  const trace = currentTrace('discard()')
  if (!isTraced(condition)) throw refusal(trace, 'E_TYPE', `discard: expected a condition, found ${show(condition)}`)
  use(condition, 'discard')
}
