import { callBudget } from '../provider/call-budget.ts'
import { msBetween, type Timestamp } from '../time.ts'
import { claimJob, type DueJob, findDueJobs } from './job-store.ts'
import { planRound } from './plan-round.ts'
import { readSlice, type SliceDeps, type SliceEnd, type SliceRun } from './read-slice.ts'
import { recheckOpen } from './recheck-open.ts'
import type { Slice, SyncJob } from './sync-job.ts'

/** Under the function's time limit, with room for a page that has begun. */
const RUN_BUDGET_MS = 240_000
/** What is left is shared from then on. */
const SHARE_AFTER_MS = 20_000
/** List calls taken from the quota at a time; questions about single payments are rare. */
const PORTIONS = { listTransactions: 10, getPayment: 5, getRequest: 5 } as const
const JOBS_A_QUERY = 50
/** Plans follow each other only where a backlog is longer than one transaction's slices. */
const MOST_ROUNDS = 50

export type SyncSummary = {
  readonly transactions: number
  /** Those nobody could be asked about; they are asked about again by themselves. */
  readonly unanswered: number
  /** Up to when everything updated has been read by this run; null when it did not get so far. */
  readonly until: Timestamp | null
  /** False when something that is due is left, or another run was met; whatever is left is somebody's by then. */
  readonly complete: boolean
}

type Ended = SliceEnd | 'done'

/** One worker's run, and how it went so far. */
export type SyncRun = {
  readonly run: SliceRun
  /** Jobs of this run's own plan, and those found in the index. */
  readonly met: Set<string>
  /** How many jobs wait behind the one this run is at. */
  left: number
  end: SliceEnd
  lagMs: number
}

const work = async ({ run }: SyncRun, job: SyncJob): Promise<Ended> => {
  if (job.kind !== 'open') return readSlice(run, job)
  try {
    await recheckOpen(run, job)
  } catch (cause) {
    // It is due again behind its lease; what else is due must not wait for it.
    run.deps.log.error('sync.row_failed', { transaction_id: job.transaction.transactionId }, cause)
    run.tally.failed++
  }
  return 'done'
}

/** True while the run may go on with another job. */
const doJob = async (state: SyncRun, job: SyncJob): Promise<boolean> => {
  if (job.kind === 'head') state.lagMs = Math.max(state.lagMs, msBetween(job.to, state.run.deps.now()))
  const ended = await work(state, job)
  if (ended === 'read' || ended === 'done') return true
  state.end = ended
  return ended === 'overtaken'
}

/** Claims a job and does it; one that somebody else has by now is theirs. True while the run may go on. */
const doOne = async (state: SyncRun, due: DueJob): Promise<boolean> => {
  state.met.add(`${due.id} ${due.dueAt}`)
  const job = await claimJob(state.run.deps, due)
  if (job !== undefined) return doJob(state, job)
  state.end = 'overtaken'
  return true
}

/** The slices this run planned itself, of which the first is its own from the beginning. */
const doOwn = async (state: SyncRun, slices: readonly Slice[]): Promise<boolean> => {
  const { deps } = state.run
  for (const [at, slice] of slices.entries()) {
    state.left = slices.length - at - 1
    const isOwn = slice.dueAt > deps.now()
    if (!(await (isOwn ? doJob(state, slice) : doOne(state, slice)))) return false
  }
  return true
}

/** Whatever is due, of every pass, until nothing is left or the run must stop. */
export const doDueJobs = async (state: SyncRun): Promise<boolean> => {
  // What cannot be read now is met by everything else, too.
  if (state.end !== 'read' && state.end !== 'overtaken') return false
  const { deps, deadlineMs } = state.run
  for (;;) {
    const found = await findDueJobs(deps, JOBS_A_QUERY)
    const fresh = found.filter(({ id, dueAt }) => !state.met.has(`${id} ${dueAt}`))
    if (fresh.length === 0) return true
    for (const [at, due] of fresh.entries()) {
      state.left = fresh.length - at - 1
      if (deps.monotonicMs() >= deadlineMs) {
        state.end = 'out_of_time'
        return false
      }
      if (!(await doOne(state, due))) return false
    }
  }
}

/** How many jobs there are to share, for whoever can call others. */
export type OnJobs = (jobs: number) => Promise<void>

export const startSync = (deps: SliceDeps, onJobs?: OnJobs): SyncRun => {
  const shareAtMs = deps.monotonicMs() + SHARE_AFTER_MS
  /** A run that takes long shares what is left: most runs are over before. */
  const onPage = async () => {
    if (state.left > 0 && deps.monotonicMs() >= shareAtMs) await onJobs?.(state.left)
  }
  const state: SyncRun = { run: newRun(deps, onPage), met: new Set(), left: 0, end: 'read', lagMs: 0 }
  return state
}

const newRun = (deps: SliceDeps, onPage: SliceRun['onPage']): SliceRun => ({
  onPage,
  deps,
  budget: callBudget(deps, PORTIONS),
  tally: { transactions: 0, unanswered: 0, passedOver: 0, failed: 0 },
  deadlineMs: deps.monotonicMs() + RUN_BUDGET_MS,
  notedHours: new Map(),
  silent: false,
})

/** Rounds of the head until it has read up to now. Answers up to when; undefined when it did not get there. */
export const readHeadRounds = async (state: SyncRun): Promise<Timestamp | undefined> => {
  const { deps } = state.run
  for (let rounds = 0; rounds < MOST_ROUNDS; rounds++) {
    const startedAt = deps.now()
    const round = await planRound(deps)
    if (round === 'overtaken') {
      state.end = 'overtaken'
      return undefined
    }
    if (!(await doOwn(state, round.slices))) return undefined
    if (round.to >= startedAt) return round.to
  }
  return undefined
}

/** The line and the answer of a run that is over. `readTo`: up to when it read everything updated. */
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
