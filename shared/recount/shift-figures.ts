import type { ClientBooks } from '../audit/judged/client-books.ts'
import { type Entry, netsOf } from '../journal/entry.ts'
import { standingFigures } from '../journal/payment-money.ts'
import { countTransition, creditShard, moveOpenCredit } from '../ledger/shard-store.ts'
import { writeOffInWindow } from '../ledger/window-store.ts'
import { less, type Minor, plus, ZERO } from '../money.ts'
import type { Payment, StoredPayment } from '../payment/payment.ts'
import { moneyOf } from '../posting/payment-entries.ts'
import type { Step } from '../table/step.ts'
import type { Steps } from '../table/table.ts'
import { later } from '../time.ts'
import type { RecountDeps } from './plan.ts'

/**
 * Moves shard and written-off sum as the audit's expectation moves. So figures can be corrected
 * before or after this repair.
 */
export function shiftFigures(
  { now }: Pick<RecountDeps, 'now'>,
  { ledger, unsettled }: ClientBooks,
  {
    before,
    after,
    entries,
    isInJournal,
  }: {
    readonly before: StoredPayment
    readonly after: Payment
    readonly entries: readonly Entry[]
    readonly isInJournal: boolean
  },
): Steps<string> {
  // Entries before the last settlement's end are in that settlement's own sums.
  const counted = entries.filter(({ eligibleAt }) => eligibleAt >= unsettled.span.start)
  const netMinor = plus(less(openNet(after), isInJournal ? ZERO : openNet(before)), netsOf(counted))
  const addMinor = netsOf(counted.filter(({ type }) => type === 'written_off'))
  const window = addMinor === 0 ? undefined : ledger?.window
  const writeOff = window && {
    readMinor: window.writtenOffMinor,
    addMinor,
    postedAt: later(now(), window.closedUntil),
  }
  return {
    ledger: ledgerStep(before, after, netMinor, now()),
    window: writeOff && writeOffInWindow(after.clientId, writeOff),
  }
}

function ledgerStep(
  before: StoredPayment,
  after: Payment,
  netMinor: Minor,
  now: ReturnType<RecountDeps['now']>,
): Step | undefined {
  const from = before.status === 'creating' ? undefined : before.status
  if (from === after.status)
    return netMinor === 0 ? undefined : moveOpenCredit(after, netMinor, now)
  return after.status === 'succeeded'
    ? creditShard({ ...after, from }, netMinor, now)
    : countTransition({ ...after, from, to: after.status })
}

function openNet(payment: StoredPayment): Minor {
  return payment.status === 'succeeded' && payment.openAt !== undefined
    ? standingFigures(moneyOf(payment)).netMinor
    : ZERO
}
