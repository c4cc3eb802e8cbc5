import { callBudget } from '../provider/call-budget.ts'
import { msBetween, type Timestamp } from '../time.ts'
import { claimJob, type DueJob, findDueJobs } from './job-store.ts'
import { planRound } from './plan-round.ts'
import { readSlice, type SliceDeps, type SliceEnd, type SliceRun } from './read-slice.ts'
import { recheckOpen } from './recheck-open.ts'
import type { Slice, SyncJob } from './sync-job.ts'

/** Below the function's timeout, with time to finish the current page. */
const RUN_BUDGET_MS = 240_000
/** After this time the run shares its remaining jobs. */
const SHARE_AFTER_MS = 20_000
/** Calls taken from the quota at once; calls for single payments are rare. */
const PORTIONS = { listTransactions: 10, getPayment: 5, getRequest: 5 } as const
const JOBS_A_QUERY = 50
/** More than one round is needed only when a backlog exceeds the slices of one transaction. */
const MAX_ROUNDS = 50

export type SyncSummary = {
  readonly transactions: number
  /** Transactions without a decision; each is checked again alone. */
  readonly unanswered: number
  /** This run read every row updated before this time; null when it stopped earlier. */
  readonly until: Timestamp | null
  /** False when due jobs are left, or another run holds some of them. */
  readonly complete: boolean
}

type Ended = SliceEnd | 'done'

/** One worker's run and its state. */
export type SyncRun = {
  readonly run: SliceRun
  /** Claims that this run has already tried, as job id and due time. */
  readonly tried: Set<string>
  /** The number of jobs that wait after the current one. */
  left: number
  end: SliceEnd
  lagMs: number
}

const work = async ({ run }: SyncRun, job: SyncJob): Promise<Ended> => {
  if (job.kind !== 'open') return readSlice(run, job)
  try {
    await recheckOpen(run, job)
  } catch (cause) {
    // It is due again after its lease has expired; the other jobs must not wait for it.
    run.deps.log.error('sync.row_failed', { transaction_id: job.transaction.transactionId }, cause)
    run.tally.failed++
  }
  return 'done'
}

/** Does a claimed job. True: the run may continue with another job. */
const doJob = async (state: SyncRun, job: SyncJob): Promise<boolean> => {
  if (job.kind === 'head') state.lagMs = Math.max(state.lagMs, msBetween(job.to, state.run.deps.now()))
  const ended = await work(state, job)
  if (ended === 'read' || ended === 'done') return true
  state.end = ended
  return ended === 'overtaken'
}

/** Claims a job and does it; skips a job of another worker. True: the run may continue. */
const claimAndDo = async (state: SyncRun, due: DueJob): Promise<boolean> => {
  state.tried.add(`${due.id} ${due.dueAt}`)
  const job = await claimJob(state.run.deps, due)
  if (job !== undefined) return doJob(state, job)
  state.end = 'overtaken'
  return true
}

/** Does the slices that this run planned; it already holds the first. */
const doPlanned = async (state: SyncRun, slices: readonly Slice[]): Promise<boolean> => {
  const { deps } = state.run
  for (const [at, slice] of slices.entries()) {
    state.left = slices.length - at - 1
    const isOwn = slice.dueAt > deps.now()
    if (!(await (isOwn ? doJob(state, slice) : claimAndDo(state, slice)))) return false
  }
  return true
}

/** Does due jobs of every kind until none is left or the run must stop. True: none is left. */
export const doDueJobs = async (state: SyncRun): Promise<boolean> => {
  // The cause that stopped the head would stop every other job too.
  if (state.end !== 'read' && state.end !== 'overtaken') return false
  const { deps, deadlineMs } = state.run
  for (;;) {
    const found = await findDueJobs(deps, JOBS_A_QUERY)
    const fresh = found.filter(({ id, dueAt }) => !state.tried.has(`${id} ${dueAt}`))
    if (fresh.length === 0) return true
    for (const [at, due] of fresh.entries()) {
      state.left = fresh.length - at - 1
      if (deps.monotonicMs() >= deadlineMs) {
        state.end = 'out_of_time'
        return false
      }
      if (!(await claimAndDo(state, due))) return false
    }
  }
}

/** Called with the number of jobs that other workers can take. */
export type OnJobs = (jobs: number) => Promise<void>

export const startSync = (deps: SliceDeps, onJobs?: OnJobs): SyncRun => {
  const shareAtMs = deps.monotonicMs() + SHARE_AFTER_MS
  /** Only a long run shares its jobs; most runs end earlier. */
  const onPage = async () => {
    if (state.left > 0 && deps.monotonicMs() >= shareAtMs) await onJobs?.(state.left)
  }
  const state: SyncRun = { run: newRun(deps, onPage), tried: new Set(), left: 0, end: 'read', lagMs: 0 }
  return state
}

const newRun = (deps: SliceDeps, onPage: SliceRun['onPage']): SliceRun => ({
  onPage,
  deps,
  budget: callBudget(deps, PORTIONS),
  tally: { transactions: 0, unanswered: 0, passedOver: 0, failed: 0 },
  deadlineMs: deps.monotonicMs() + RUN_BUDGET_MS,
  scheduledHours: new Map(),
  silent: false,
})

/** Reads rounds of the head up to now. Answers the time read up to; undefined when it stopped earlier. */
export const readHeadRounds = async (state: SyncRun): Promise<Timestamp | undefined> => {
  const { deps } = state.run
  for (let rounds = 0; rounds < MAX_ROUNDS; rounds++) {
    const startedAt = deps.now()
    const round = await planRound(deps)
    if (round === 'overtaken') {
      state.end = 'overtaken'
      return undefined
    }
    if (!(await doPlanned(state, round.slices))) return undefined
    if (round.to >= startedAt) return round.to
  }
  return undefined
}

/** Logs a finished run and answers its summary. `readTo`: the run read every row updated before it. */
export const endSync = (state: SyncRun, readTo: Timestamp | undefined): SyncSummary => {
  const { deps, tally } = state.run
  const complete = state.end === 'read'
  deps.log[complete ? 'info' : 'warn']('sync.completed', {
    transactions: tally.transactions,
    unanswered: tally.unanswered,
    passed_over: tally.passedOver,
    failed: tally.failed,
    incomplete: complete || state.end === 'overtaken' ? 0 : 1,
    end: state.end,
    until: readTo,
    lag_ms: state.lagMs,
  })
  return {
    transactions: tally.transactions,
    unanswered: tally.unanswered,
    until: readTo ?? null,
    complete: complete && readTo !== undefined,
  }
}
