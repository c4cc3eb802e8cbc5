import { chunks } from '../chunks.ts'
import type { Deps } from '../deps.ts'
import type { ProviderOperation } from '../provider/provider.ts'
import { isPausing, waitForProvider } from '../provider/wait-for-provider.ts'
import { WORK_SLOTS, type Work } from '../table/schema.ts'
import { msBetween } from '../time.ts'
import { checkAlert, checkDelivery, checkEvent, checkPayment, type WorkDone } from './due-workers.ts'
import { type DueItem, findDuePage } from './find-due-page.ts'

type Worker = (deps: Deps, item: DueItem) => Promise<WorkDone>

/** Payouts wait for people, and the sync looks after its own. */
type CheckedWork = Exclude<Work, 'payout' | 'sync'>

type Plan = {
  readonly work: CheckedWork
  readonly worker: Worker
  /** Most items of this kind in one run; the rest stays due. */
  readonly limit: number
  readonly concurrency: number
  /** What its worker asks the provider: it waits where the provider wants to hear nothing for a while. */
  readonly asks?: readonly ProviderOperation[]
}

/** Side by side, each with its own workers and the whole time of a run: no kind can hold up another. */
const PLANS: readonly Plan[] = [
  { work: 'event', worker: checkEvent, limit: 2_000, concurrency: 8 },
  { work: 'alert', worker: checkAlert, limit: 500, concurrency: 4 },
  { work: 'delivery', worker: checkDelivery, limit: 2_000, concurrency: 8 },
  // The provider allows 600 questions a minute and endpoint; callbacks and creates need some of them.
  {
    work: 'payment',
    worker: checkPayment,
    limit: 400,
    concurrency: 8,
    asks: ['getRequest', 'getPayment', 'cancelRequest'],
  },
]

/** A run ends before the next one is due; what is left stays due. */
const RUN_BUDGET_MS = 50_000
const PAGE = 50

export type DueWorkSummary = Record<CheckedWork, number> & { failed: number }

/** `latestMs`: how long the item that has waited longest was overdue, by kind of work. */
type Run = { readonly end: number; readonly summary: DueWorkSummary; readonly latestMs: Record<CheckedWork, number> }

const runItem = async (deps: Deps, plan: Plan, item: DueItem, run: Run): Promise<WorkDone> => {
  try {
    const done = await plan.worker(deps, item)
    if (done === 'done') run.summary[plan.work]++
    return done
  } catch (cause) {
    // One item's trouble costs the others nothing; it stays due and is tried again.
    deps.log.error('payment.check_failed', { work: plan.work, id: item.id }, cause)
    run.summary.failed++
    return 'nothing'
  }
}

const noteLateness = (deps: Deps, { work }: Plan, items: readonly DueItem[], { latestMs }: Run): void => {
  for (const { dueAt } of items) latestMs[work] = Math.max(latestMs[work], msBetween(dueAt, deps.now()))
}

/** Works through one slot. Answers false when the provider wants no more questions, or the run is over. */
const drainSlot = async (
  deps: Deps,
  plan: Plan,
  slot: number,
  taken: { count: number },
  run: Run,
): Promise<boolean> => {
  let cursor: Awaited<ReturnType<typeof findDuePage>>['cursor']
  do {
    const page = await findDuePage(deps, { work: plan.work, slot, limit: PAGE, cursor })
    noteLateness(deps, plan, page.items, run)
    for (const group of chunks(page.items, plan.concurrency)) {
      if (taken.count >= plan.limit || deps.monotonicMs() >= run.end) return false
      if (plan.asks && !(await waitForProvider(deps, plan.asks, run.end))) return false
      taken.count += group.length
      const results = await Promise.all(group.map((item) => runItem(deps, plan, item, run)))
      // Without a word on how long to wait, the rest is for the next run.
      if (results.includes('stop') && !isPausing(deps, plan.asks ?? [])) return false
    }
    cursor = page.cursor
  } while (cursor)
  return true
}

const drain = async (deps: Deps, plan: Plan, run: Run): Promise<void> => {
  const slots = WORK_SLOTS[plan.work]
  // A run that ends early must not always leave the same slots behind.
  const first = Math.floor(deps.random() * slots)
  const taken = { count: 0 }
  for (let offset = 0; offset < slots; offset++) {
    if (!(await drainSlot(deps, plan, (first + offset) % slots, taken, run))) return
  }
}

/**
 * Every minute: whatever must be looked at by now (design section 4). Events the stream lost, alerts not published,
 * deliveries overdue, payments whose callback may be lost or whose time is over. One run at a time; each item is
 * claimed by moving its due time forward, so a second run would only find less to do. A kind that breaks off lets the
 * others finish, and then fails the run.
 */
export const checkDueWork = async (deps: Deps): Promise<DueWorkSummary> => {
  const run: Run = {
    end: deps.monotonicMs() + RUN_BUDGET_MS,
    summary: { event: 0, alert: 0, delivery: 0, payment: 0, failed: 0 },
    latestMs: { event: 0, alert: 0, delivery: 0, payment: 0 },
  }
  const drained = await Promise.allSettled(PLANS.map((plan) => drain(deps, plan, run)))
  for (const end of drained) if (end.status === 'rejected') throw end.reason
  deps.log.info('due_work.completed', {
    ...run.summary,
    event_late_ms: run.latestMs.event,
    alert_late_ms: run.latestMs.alert,
    delivery_late_ms: run.latestMs.delivery,
    payment_late_ms: run.latestMs.payment,
  })
  return run.summary
}
