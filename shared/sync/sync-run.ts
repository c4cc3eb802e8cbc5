import type { Deps } from '../deps.ts'
import { paymentIdOf } from '../ids.ts'
import { findPaymentsByKey } from '../payment/payment-store.ts'
import { callBudget, callsPerMinute, workersForQuota } from '../provider/quota-store.ts'
import { msBetween } from '../time.ts'
import { isRoundDue, moveHead, nextRound } from './head-store.ts'
import {
  claimJob,
  type DueJob,
  findDueJobs,
  finishJob,
  isHeadUnread,
  nextTryAt,
  type OpenTransaction,
  releaseJob,
  type SyncJob,
} from './job-store.ts'
import { inHead, inJob } from './kept-position.ts'
import { isYoung, recordRowFinding } from './provider-row.ts'
import { lookupsOf, readSlice, type SliceEnd, type SyncRun } from './read-slice.ts'
import { reconcileTransaction } from './reconcile-transaction.ts'
import { addOpenTransaction, type OpenHours, registerOpenHours } from './tail.ts'

const MIN_HELPERS = 9

/**
 * Reconciles the provider's transactions with the books (design section 4, "Sync"), every five
 * minutes and on demand. After a crash another worker continues from the stored position. Two
 * workers on one slice have the effect of one. `complete`: no due job is left, and every slice of
 * the head is read.
 */
export async function syncProviderTransactions(deps: SyncRun['deps'] & Pick<Deps, 'queues'>) {
  const { queues, stage, now } = deps
  const most = Math.max(MIN_HELPERS, workersForQuota('listing', callsPerMinute(stage, now())) - 1)
  // Wakes other workers at once, before their next schedule. A worker without a job costs one
  // query.
  const wakeHelpers = async () => {
    const jobs = await findDueJobs(deps, most)
    for (let woken = 0; woken < jobs.length; woken++) {
      await queues.send('sync', { body: {}, delaySeconds: 0, group: 'sync' })
    }
  }
  const { complete, ...result } = await runSync(deps, 'in place', wakeHelpers)
  return { ...result, complete: complete && !(await isHeadUnread(deps)) }
}

/**
 * Runs the due jobs of the sync. `woken`: first reads the rows after the last round, if that round
 * is old enough.
 */
export async function runSyncJobs(deps: SyncRun['deps'], { woken }: { readonly woken: boolean }) {
  await runSync(deps, woken && (await isRoundDue(deps)) ? 'as jobs' : 'none')
}

/**
 * How a run reads the head. Several workers are woken at once: the first one makes jobs of the
 * round before it reads, so the others do not read the same page.
 */
type HeadReading = 'in place' | 'as jobs' | 'none'

/** Shorter than the function's timeout, so that the run can finish its current page. */
const RUN_BUDGET_MS = 240_000
const SHARE_AFTER_MS = 20_000
/** How many calls a run takes from the quota at once. Calls for single payments are rare. */
const PORTIONS = { listTransactions: 10, getPayment: 5, getRequest: 5 } as const

/**
 * Reads the head unless `none`, runs due jobs, and logs the result. `unanswered`: how many of the
 * read transactions stay open. `until`: the end of the round. `complete`: this run left no due job.
 */
async function runSync(
  deps: SyncRun['deps'],
  reading: HeadReading,
  shareJobs?: () => Promise<void>,
) {
  const startMs = deps.monotonicMs()
  const run: SyncRun = {
    deps,
    budget: callBudget(deps, PORTIONS),
    tally: { transactions: 0, unanswered: 0, passed_over: 0, failed: 0 },
    deadlineMs: startMs + RUN_BUDGET_MS,
    scheduledHours: new Map(),
    // Most runs end before they share jobs.
    onPage: async () => {
      if (deps.monotonicMs() < startMs + SHARE_AFTER_MS) return
      await shareJobs?.()
      shareJobs = undefined
    },
    silent: false,
    triedClaims: new Set(),
    end: 'read',
    lagMs: 0,
  }
  const readTo = reading === 'none' ? undefined : await readHeadRound(run, reading)
  await runDueJobs(run)
  const { tally, end, lagMs } = run
  const { transactions, unanswered } = tally
  const complete = end === 'read'
  const incomplete = complete || end === 'overtaken' ? 0 : 1
  deps.log[complete ? 'info' : 'warn']('sync.completed', {
    ...tally,
    incomplete,
    end,
    until: readTo,
    lag_ms: lagMs,
  })
  return {
    transactions,
    unanswered,
    until: readTo ?? null,
    complete: complete && readTo !== undefined,
  }
}

/** Answers the end of the round; undefined when the reading stopped. */
async function readHeadRound(run: SyncRun, reading: HeadReading) {
  const round = await nextRound(run.deps)
  const [first, ...others] = round.slices
  const isInPlace = reading === 'in place' && round.isShort
  if (!first || (!isInPlace && !(await moveHead(run.deps, round, round.slices)))) {
    run.end = 'overtaken'
    return undefined
  }
  if (!(await runJob(run, first, isInPlace ? inHead(run.deps, round) : inJob(run.deps))))
    return undefined
  // Another worker reads the remaining pages of the round.
  if (isInPlace && run.end === 'overtaken') return undefined
  for (const slice of others) if (!(await claimAndRun(run, slice))) return undefined
  return run.end === 'refused' ? undefined : round.to
}

async function runJob(run: SyncRun, job: SyncJob, kept = inJob(run.deps)) {
  if (job.kind === 'open') {
    await recheckTransaction(run, job)
    return true
  }
  if (job.kind === 'head') run.lagMs = Math.max(run.lagMs, msBetween(job.to, run.deps.now()))
  noteEnd(run, await readSlice(run, job, kept))
  return mayContinue(run)
}

/** The run's summary names a problem before a slice that another worker has. */
function noteEnd(run: SyncRun, end: SliceEnd) {
  if (end !== 'read' && (end !== 'overtaken' || run.end === 'read')) run.end = end
}

/** A slice that the provider refuses stops no other slice. Any other problem stops all slices. */
function mayContinue({ end }: SyncRun) {
  return end === 'read' || end === 'overtaken' || end === 'refused'
}

/**
 * After a failure the job is due again when its lease has expired. After two days it is a finding
 * too.
 */
async function recheckTransaction(run: SyncRun, job: OpenTransaction) {
  const { deps, tally } = run
  const { transaction } = job
  try {
    const paymentId = paymentIdOf(transaction.reference)
    // An unreadable payment counts as unknown, as on a page.
    const [payment] = paymentId === undefined ? [] : await findPaymentsByKey(deps, [paymentId])
    const row = { transaction, payment }
    const reconciled = await reconcileTransaction(deps, row, lookupsOf(run))
    if (reconciled === 'open' || reconciled === 'unasked') {
      tally.unanswered++
      const isAsked = reconciled === 'open'
      const tries = isAsked ? job.tries + 1 : job.tries
      // Due before the row that was asked about, or each later run would ask about that row first.
      const dueAt = nextTryAt(deps, isAsked ? tries : 0, transaction.updatedAt)
      await releaseJob(deps, { ...job, tries }, dueAt)
      return
    }
    if (typeof reconciled === 'object') {
      const hours: OpenHours = new Map()
      addOpenTransaction(hours, transaction, deps.now(), reconciled.booked)
      await registerOpenHours(deps, hours, run.scheduledHours)
    }
    await finishJob(deps, job)
  } catch (cause) {
    deps.log.error('sync.row_failed', { transaction_id: transaction.transactionId }, cause)
    tally.failed++
    if (!isYoung(deps, transaction)) await recordRowFinding(deps, transaction, undefined)
  }
}

/** Skips a job that another worker has. True: the run may continue. */
async function claimAndRun(run: SyncRun, due: DueJob) {
  run.triedClaims.add(`${due.id} ${due.dueAt}`)
  const job = await claimJob(run.deps, due)
  if (job !== undefined) return runJob(run, job)
  noteEnd(run, 'overtaken')
  return true
}

async function runDueJobs(run: SyncRun) {
  while (mayContinue(run)) {
    // The index may still show every job that this run has tried.
    const shown = await findDueJobs(run.deps, 50 + run.triedClaims.size)
    const jobs = shown.filter(({ id, dueAt }) => !run.triedClaims.has(`${id} ${dueAt}`))
    if (jobs.length === 0) return
    for (const due of jobs.slice(0, 50)) {
      if (run.deps.monotonicMs() >= run.deadlineMs) run.end = 'out_of_time'
      if (run.end === 'out_of_time' || !(await claimAndRun(run, due))) return
    }
  }
}
