import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { finalFee } from '../payment/fee/final-fee.ts'
import { addMs, DAY_MS, type Timestamp } from '../time.ts'
import { type PaidPayment, type Period, paidPayments, sumsOf } from './paid-payments.ts'
import { addSums, NO_SUMS, type Sums } from './sums.ts'

type SumDeps = Pick<Deps, 'stage' | 'table' | 'provider' | 'now' | 'monotonicMs' | 'log' | 'alerts'>

const FEE_TIMEOUT_MS = 7 * DAY_MS

/** A payment's funds wait until then for the provider's actual fee; from then on the estimate is assumed. */
export const feeDeadline = (paidAt: Timestamp): Timestamp => addMs(paidAt, FEE_TIMEOUT_MS)

/**
 * How long one run asks the provider about fees. What is behind it is held for the next run: the part that is final is
 * settled now instead of the whole window running into the function's time limit, day after day.
 */
const ASKING_BUDGET_MS = 240_000

export type WindowSums = {
  readonly period: Period
  readonly sums: Sums
  /** The payment whose fee is not known yet and which therefore ended the window early. */
  readonly heldBy: PaidPayment | undefined
}

/** Sums whole milliseconds: a window ends between two times, never between two payments of the same one. */
type Running = { readonly before: Sums; readonly at: Timestamp | undefined; readonly within: Sums }

const START: Running = { before: NO_SUMS, at: undefined, within: NO_SUMS }

const advance = (running: Running, payment: PaidPayment): Running =>
  payment.paidAt === running.at
    ? { ...running, within: addSums(running.within, sumsOf(payment)) }
    : { before: addSums(running.before, running.within), at: payment.paidAt, within: sumsOf(payment) }

/** What was summed before a time: rows of that same millisecond are taken out again. */
const before = (running: Running, time: Timestamp): Sums =>
  running.at === time ? running.before : addSums(running.before, running.within)

/**
 * Sums a client's payments of a window in one pass over the index (design section 4, "Sweep and settle"). Settlements
 * carry actual fees: the first payment whose fee is still estimated ends the window at its paid_at, unless its seven
 * days are over and the fee can be made final now. Fees only ever leave `estimated`, so a late index can delay a
 * payment and never mis-sum it.
 */
export const sumWindow = async (deps: SumDeps, clientId: ClientId, period: Period): Promise<WindowSums> => {
  const askUntilMs = deps.monotonicMs() + ASKING_BUDGET_MS
  let running = START
  for await (const payment of paidPayments(deps, clientId, period)) {
    const counted = payment.feeStatus === 'estimated' ? await withFinalFee(deps, payment, askUntilMs) : payment
    if (counted === undefined) {
      return {
        period: { start: period.start, end: payment.paidAt },
        sums: before(running, payment.paidAt),
        heldBy: payment,
      }
    }
    running = advance(running, counted)
  }
  return { period, sums: addSums(running.before, running.within), heldBy: undefined }
}

const withFinalFee = async (
  deps: SumDeps,
  payment: PaidPayment,
  askUntilMs: number,
): Promise<PaidPayment | undefined> => {
  if (feeDeadline(payment.paidAt) > deps.now() || deps.monotonicMs() >= askUntilMs) return undefined
  const final = await finalFee(deps, payment.id)
  return final && { ...payment, ...final }
}
