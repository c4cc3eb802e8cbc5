import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { finalFee } from '../payment/fee/final-fee.ts'
import { HISTORY_STEPS } from '../stage-settings.ts'
import { addMs, DAY_MS, later, MINUTE_MS, type Timestamp } from '../time.ts'
import { type PaidPayment, type Period, paidPages } from './paid-payments.ts'
import type { Sums } from './sums.ts'
import { foldMillisecond, keepProgress, readProgress, type WindowProgress } from './window-progress-store.ts'

type SumDeps = Pick<Deps, 'stage' | 'table' | 'provider' | 'now' | 'monotonicMs' | 'log' | 'alerts'>

const FEE_TIMEOUT_MS = 7 * DAY_MS

/** A payment's funds wait until then for the provider's actual fee; from then on the estimate is assumed. */
export const feeDeadline = (paidAt: Timestamp): Timestamp => addMs(paidAt, FEE_TIMEOUT_MS)

/** How long one run reads and asks the provider about fees: half of the five minutes that its function has. */
const RUN_MS = 2.5 * MINUTE_MS

export type WindowSums = {
  readonly period: Period
  readonly sums: Sums
  /** False when the run's time was over: the sums end with the period, and the next run goes on from there. */
  readonly isWhole: boolean
  /** The payment whose fee is not known yet and which therefore ended the window early. */
  readonly heldBy: PaidPayment | undefined
}

/** Sums whole milliseconds: a window ends between two times, never between two payments of the same one. */
type Running = { readonly done: WindowProgress; readonly within: readonly PaidPayment[] }

const advance = ({ done, within }: Running, payment: PaidPayment): Running => {
  const [first] = within
  return first === undefined || first.paidAt === payment.paidAt
    ? { done, within: [...within, payment] }
    : { done: foldMillisecond(done, within, payment.paidAt), within: [payment] }
}

/** What was summed before a time: rows of that same millisecond are taken out again. */
const before = ({ done, within }: Running, time: Timestamp): WindowProgress =>
  within[0]?.paidAt === time ? done : foldMillisecond(done, within, time)

type Run = {
  /** Where this run began: none ends without having come further. */
  readonly began: Timestamp
  readonly endsAtMs: number
}

/** A client with so many parts, and the window that is summed. */
export type Swept = { readonly clientId: ClientId; readonly parts: number; readonly period: Period }

type Passed = WindowSums | 'overtaken'

const isOver = (deps: SumDeps, run: Run, { until }: WindowProgress): boolean =>
  until > run.began && deps.monotonicMs() >= run.endsAtMs

const unfinished = (start: Timestamp, { until, sums }: WindowProgress): WindowSums => ({
  period: { start, end: until },
  sums,
  isWhole: false,
  heldBy: undefined,
})

/** One pass over the index from where it was kept. Overtaken: somebody else sums the same, and has kept more. */
const pass = async (
  deps: SumDeps,
  { clientId, parts, period, kept, run }: Swept & { readonly kept: WindowProgress; readonly run: Run },
): Promise<Passed> => {
  const { start, end } = period
  const stopAt = async (reached: WindowProgress): Promise<Passed> => {
    const done = await keepProgress(deps, clientId, start, reached)
    return done ? unfinished(start, done) : 'overtaken'
  }
  let running: Running = { done: kept, within: [] }
  let keptUntil = kept.until
  let pagesLeft = (deps.stage.historySteps ?? HISTORY_STEPS).pages
  for await (const page of paidPages(deps, { clientId, parts, period: { start: kept.until, end } })) {
    for (const payment of page.payments) {
      if (mayAsk(deps, payment)) {
        const reached = before(running, payment.paidAt)
        if (isOver(deps, run, reached)) return stopAt(reached)
      }
      const counted = await withFinalFee(deps, payment)
      if (counted === undefined) {
        const { sums } = before(running, payment.paidAt)
        return { period: { start, end: payment.paidAt }, sums, isWhole: true, heldBy: payment }
      }
      running = advance(running, counted)
    }
    if (!page.more || running.done.until <= keptUntil) continue
    if (--pagesLeft <= 0 || isOver(deps, run, running.done)) return stopAt(running.done)
    const done = await keepProgress(deps, clientId, start, running.done)
    if (done === undefined) return 'overtaken'
    running = { ...running, done }
    keptUntil = done.until
  }
  return { period, sums: before(running, end).sums, isWhole: true, heldBy: undefined }
}

/**
 * Sums a client's payments of a window in one pass over the index (design section 4, "Sweep and settle"). Settlements
 * carry actual fees: the first payment whose fee is still estimated ends the window at its paid_at, unless its seven
 * days are over and the fee can be made final now. Fees only ever leave `estimated`, so a late index can delay a
 * payment and never mis-sum it. The sums are kept behind every page but the last, on what was kept before: a run that
 * dies, or whose time is over, is gone on with, and two at once never count a row twice.
 */
export const sumWindow = async (deps: SumDeps, { clientId, parts, period }: Swept): Promise<WindowSums> => {
  const { start } = period
  let kept = await readProgress(deps, clientId, start)
  const run = { began: kept.until, endsAtMs: deps.monotonicMs() + RUN_MS }
  for (;;) {
    // Another machine's clock may have let a run see a few seconds further.
    const end = later(period.end, kept.until)
    const passed = await pass(deps, { clientId, parts, period: { start, end }, kept, run })
    if (passed !== 'overtaken') return passed
    // Whoever overtook it came further, so this ends with the window if not with the time.
    kept = await readProgress(deps, clientId, start)
    if (isOver(deps, run, kept)) return unfinished(start, kept)
  }
}

/** Only when its time is over. */
const mayAsk = (deps: SumDeps, { feeStatus, paidAt }: PaidPayment): boolean =>
  feeStatus === 'estimated' && feeDeadline(paidAt) <= deps.now()

const withFinalFee = async (deps: SumDeps, payment: PaidPayment): Promise<PaidPayment | undefined> => {
  if (payment.feeStatus !== 'estimated') return payment
  const final = mayAsk(deps, payment) ? await finalFee(deps, payment.id) : undefined
  return final && { ...payment, ...final }
}
