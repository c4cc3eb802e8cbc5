import type { Deps } from '../deps.ts'
import { paymentIdOf } from '../ids.ts'
import type { Payment } from '../payment/payment.ts'
import { findPaymentsByKey } from '../payment/payment-store.ts'
import { callBudget } from '../provider/call-budget.ts'
import { callsPerMinute } from '../provider/provider-quota.ts'
import { workersForQuota } from '../provider/workers-for-quota.ts'
import { addMs, HOUR_MS, msBetween, type Timestamp } from '../time.ts'
import { claimJob, type DueJob, findDueJobs, finishJob, retryOpen } from './job-store.ts'
import { isRoundPast, planRound } from './plan-round.ts'
import { readSlice, type SliceDeps, type SliceEnd, type SliceRun } from './read-slice.ts'
import { ASK_AGAIN_MS, askAbout } from './reconcile-page.ts'
import { reconcileTransaction } from './reconcile-transaction.ts'
import type { OpenTransaction, Slice, SyncJob } from './sync-job.ts'
import { addOpen, type OpenHours, registerOpen } from './tail.ts'

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

/** Backoff: two minutes, doubled up to an hour. */
const againAt = (now: Timestamp, tries: number): Timestamp =>
  addMs(now, Math.min(HOUR_MS, ASK_AGAIN_MS * 2 ** Math.min(tries, 10)))

/**
 * Reconciles an open transaction again. Without an answer it stays open and is retried; after two days it becomes a
 * finding for an operator.
 */
export const recheckOpen = async (run: SliceRun, job: OpenTransaction): Promise<void> => {
  const { deps, tally } = run
  const transaction = { keptMinor: undefined, settledAt: undefined, paymentRequestId: undefined, ...job.transaction }
  const paymentId = paymentIdOf(transaction.reference)
  const [known]: readonly Payment[] = paymentId === undefined ? [] : await findPaymentsByKey(deps, [paymentId])
  const reconciled = await reconcileTransaction(deps, transaction, known, askAbout(run))
  if (reconciled.kind === 'open') {
    tally.unanswered++
    await retryOpen(deps, job, againAt(deps.now(), job.tries + 1))
    return
  }
  if (reconciled.kind === 'credited') {
    const hours: OpenHours = new Map()
    addOpen(hours, transaction, reconciled.payment, deps.now())
    await registerOpen(deps, hours, run.scheduledHours)
  }
  await finishJob(deps, job)
}

/**
 * Does the sync jobs that are due. `woken`: callbacks were deferred, so the worker also reads the rows updated after
 * the last round, unless that round is too recent.
 */
export const shareSync = async (deps: SliceDeps, { woken }: { readonly woken: boolean }): Promise<void> => {
  const run = startSync(deps)
  const readTo = woken && (await isRoundPast(deps)) ? await readHeadRounds(run) : undefined
  await doDueJobs(run)
  endSync(run, readTo)
}

const MIN_HELPERS = 9

/** Wakes other workers immediately instead of at the next tick. A worker without a job costs one query. */
const callingHelpers = ({ queues, stage, now }: Pick<Deps, 'queues' | 'stage' | 'now'>): OnJobs => {
  const most = Math.max(MIN_HELPERS, workersForQuota('listing', callsPerMinute(stage, now())) - 1)
  let called = 0
  return async (jobs) => {
    for (; called < Math.min(jobs, most); called++) {
      await queues.send('sync', { body: {}, delaySeconds: 0, group: 'sync' })
    }
  }
}

/**
 * Reconciles the provider's transactions with the books (design section 4, "Sync"), every five minutes and on demand.
 * It finds lost captures, replaces estimated fees, books the provider's payouts and records unexplained rows in
 * suspense. Runs share the due slices. After a crash another worker continues from the kept position; two workers on
 * one slice have the effect of one.
 */
export const syncProviderTransactions = async (deps: SliceDeps & Pick<Deps, 'queues'>): Promise<SyncSummary> => {
  const run = startSync(deps, callingHelpers(deps))
  const readTo = await readHeadRounds(run)
  await doDueJobs(run)
  return endSync(run, readTo)
}
