// How every benchmark measures: answers are compared before anything is timed, arms are interleaved and take turns to be first, each sample
// is long enough for the clock and starts with its own data in the caches, and what is reported is the median with its spread. Times are
// seconds a call.

/** One way of doing the work of a cell. */
export interface Arm {
  readonly name: string
  /** Does the work once. */
  run(): void
  /** Numbers to compare with the reference arm's, after one run; absent: nothing to compare (limits that do other work). */
  answer?(): ArrayLike<number>
  /** Seconds from definition to first result, when this arm has such a thing. */
  readonly firstCall?: number
  /** The arm measures itself, in a process of its own. */
  readonly measured?: Measurement
  /** Worst error, for the accuracy column. */
  readonly ulp?: number
}

export interface Measurement {
  readonly median: number
  readonly low: number
  readonly high: number
}

/** One row of a benchmark: the same work by several arms. */
export interface Cell {
  readonly label: string
  /** The first arm with an answer is the reference. */
  readonly arms: readonly Arm[]
  /** Largest relative difference allowed between answers; 0 asks for the same bits. */
  readonly tolerance: number
  /** Units of work in one run, and what they are, for a rate column. */
  readonly work?: { readonly amount: number; readonly unit: string }
}

export interface Benchmark {
  readonly name: string
  /** What the benchmark shows, in one sentence. */
  readonly claim: string
  /** Arms that could not be measured here, with the reason. */
  readonly absent: readonly string[]
  /** Cells are made one after another, so that only one holds its arrays. */
  cells(): Iterable<Cell> | AsyncIterable<Cell>
  /** The aim and whether the measured cells meet it. */
  judge(cells: readonly CellResult[]): readonly string[]
}

export interface ArmResult extends Measurement {
  readonly name: string
  readonly firstCall?: number
  readonly ulp?: number
}

export interface CellResult {
  readonly label: string
  readonly work?: Cell['work']
  readonly arms: readonly ArmResult[]
}

const SAMPLES = 7
const SHORTEST_SAMPLE = 0.02
/** Seconds that short work runs before it is timed: engines compile what runs often, in steps, on threads of their own. */
const WARM_UP = 0.15

const now = (): number => Number(process.hrtime.bigint()) / 1e9

const timeOf = (run: () => void, repeats: number): number => {
  const begin = now()
  for (let k = 0; k < repeats; k++) run()
  return (now() - begin) / repeats
}

/** How often to repeat so that a sample lasts long enough for the clock and for one scheduling hiccup not to matter. */
function repeatsFor(run: () => void): number {
  let repeats = 1
  for (;;) {
    const seconds = timeOf(run, repeats) * repeats
    if (seconds >= SHORTEST_SAMPLE / 2) return Math.max(1, Math.round((repeats * SHORTEST_SAMPLE) / seconds))
    repeats *= seconds > 0 ? Math.min(10, Math.max(2, Math.ceil(SHORTEST_SAMPLE / 2 / seconds))) : 10
  }
}

/** The same of work that has run for a while, where it is short. */
function repeatsWarm(run: () => void): number {
  const cold = repeatsFor(run)
  if (cold === 1) return cold
  for (const end = now() + WARM_UP; now() < end;) run()
  return repeatsFor(run)
}

function compare(cell: Cell): void {
  const answering = cell.arms.filter(({ answer }) => answer)
  const reference = answering.find(({ measured }) => !measured)
  if (!reference) return
  const others = answering.filter((arm) => arm !== reference)
  reference.run()
  const expected = Float64Array.from(reference.answer!())
  for (const arm of others) {
    arm.run()
    const found = arm.answer!()
    if (found.length !== expected.length)
      throw new Error(`${cell.label}: ${arm.name} gives ${found.length} numbers, ${reference.name} ${expected.length}`)
    for (let i = 0; i < expected.length; i++) {
      const [a, b] = [expected[i]!, found[i]!]
      const isEqual =
        Object.is(a, b) || a === b || Math.abs(a - b) <= cell.tolerance * Math.max(Math.abs(a), Math.abs(b))
      if (!isEqual)
        throw new Error(`${cell.label}: ${arm.name} differs from ${reference.name} at ${i}: ${b}, expected ${a}`)
    }
  }
}

const quantile = (sorted: readonly number[], q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]!

/** Compares the answers of a cell, then times its arms in turn. */
export function measure(cell: Cell): CellResult {
  compare(cell)
  const live = cell.arms.filter(({ measured }) => !measured)
  const repeats = live.map(({ run }) => repeatsWarm(run))
  const times: number[][] = live.map(() => [])
  for (let sample = 0; sample < SAMPLES; sample++) {
    for (let turn = 0; turn < live.length; turn++) {
      const k = (sample + turn) % live.length
      const { run } = live[k]!
      // What ran before has left its data in the caches.
      if (repeats[k]! > 1) run()
      times[k]!.push(timeOf(run, repeats[k]!))
    }
  }
  const arms = cell.arms.map((arm): ArmResult => {
    const sorted = times[live.indexOf(arm)]?.sort((a, b) => a - b)
    const measured = arm.measured ?? { median: quantile(sorted!, 0.5), low: sorted![0]!, high: sorted!.at(-1)! }
    return {
      name: arm.name,
      ...measured,
      ...(arm.firstCall === undefined ? {} : { firstCall: arm.firstCall }),
      ...(arm.ulp === undefined ? {} : { ulp: arm.ulp }),
    }
  })
  return { label: cell.label, ...(cell.work ? { work: cell.work } : {}), arms }
}

/** Time of one arm over that of another: above 1 the second is faster. */
export function ratio(cell: CellResult, of: string, over: string): number {
  const time = (name: string) => cell.arms.find((arm) => arm.name === name)?.median ?? Number.NaN
  return time(of) / time(over)
}

/** Seconds that a function takes, with what it gives. */
export function timed<Result>(work: () => Result): { readonly seconds: number; readonly result: Result } {
  const begin = now()
  const result = work()
  return { seconds: now() - begin, result }
}
