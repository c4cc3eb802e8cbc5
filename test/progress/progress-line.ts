/** How far one test file is, and what is known of it from an earlier run. */
export type FileProgress = {
  /** How many tests it has; undefined until the file is loaded. */
  readonly tests: number | undefined
  readonly done: number
  readonly isOver: boolean
  readonly before: FileRecord | undefined
}

export type FileRecord = { readonly tests: number; readonly ms: number }

type Run = {
  readonly files: readonly FileProgress[]
  readonly elapsedMs: number
  readonly workers: number
}

/** Such as `1,240 of about 4,900 tests done, 96 of 207 files, about 2 min left`. */
export function progressLine(run: Run): string {
  const { files } = run
  const done = sum(files.map((file) => file.done))
  const known = files.flatMap(({ tests, before }) => tests ?? before?.tests ?? [])
  const total = Math.round((sum(known) / known.length) * files.length)
  const isExact = files.every(({ tests }) => tests !== undefined)
  const ofTotal = known.length === 0 ? '' : ` of ${isExact ? '' : 'about '}${grouped(total)}`
  const over = files.filter(({ isOver }) => isOver).length
  const parts = [`${grouped(done)}${ofTotal} tests done`, `${over} of ${files.length} files`]
  const leftMs = leftMsOf(run)
  return [...parts, ...(leftMs === undefined ? [] : [`about ${duration(leftMs)} left`])].join(', ')
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}

function grouped(count: number): string {
  return count.toLocaleString('en-US')
}

/** Before this share of the work is done, the pace of a run says little. */
const LEAST_SHARE = 0.05
/** Without an earlier run. The longest files begin first, so their pace misleads. */
const LEAST_SHARE_UNKNOWN = 0.5

/**
 * The rest at the pace of this run, or of an earlier one at first. Undefined when neither says
 * anything.
 */
function leftMsOf({ files, elapsedMs, workers }: Run): number | undefined {
  const recorded = files.flatMap(({ before }) => before?.ms ?? [])
  const mean = recorded.length === 0 ? 1 : sum(recorded) / recorded.length
  const work = files.map((file) => ({ ms: file.before?.ms ?? mean, share: shareOf(file) }))
  const allMs = sum(work.map(({ ms }) => ms))
  const share = sum(work.map((one) => one.ms * one.share)) / allMs
  if (share === 1) return undefined
  const isKnown = recorded.length > files.length / 2
  if (share >= (isKnown ? LEAST_SHARE : LEAST_SHARE_UNKNOWN)) return elapsedMs * (1 / share - 1)
  const earlierMs = Math.max(allMs / workers, ...recorded)
  return isKnown && earlierMs > elapsedMs ? earlierMs - elapsedMs : undefined
}

function shareOf({ tests = 0, done, isOver }: FileProgress): number {
  if (isOver) return 1
  return tests === 0 ? 0 : done / tests
}

function duration(ms: number): string {
  const seconds = Math.max(10, Math.ceil(ms / 10_000) * 10)
  return seconds < 90 ? `${seconds} s` : `${Math.round(ms / 60_000)} min`
}
