import type { Deps } from '../deps.ts'
import {
  hasMoved,
  MOST_MOVEMENTS,
  type MoneyRow,
  type Moved,
  moveMoney,
  standingFigures,
} from '../journal/payment-money.ts'
import { moveCredit, moveOpenCredit } from '../ledger/shard-store.ts'
import { readWindow, type Window, writeOffInWindow } from '../ledger/window-store.ts'
import { less, type Minor, ZERO } from '../money.ts'
import { announcementOfMovement, tellWorkers } from '../payment/announcement.ts'
import type { Payment } from '../payment/payment.ts'
import { findStoredPayment } from '../payment/payment-store.ts'
import { logSuspense, movedMoney, publishSuspenseAlert, tooManyMovements } from '../suspense/record-suspense.ts'
import { ensureSuspense } from '../suspense/suspense-store.ts'
import { type Steps, transactWhileFresh } from '../table/table.ts'
import { later, type Timestamp } from '../time.ts'
import { bookBeyond } from './house-journal.ts'
import { clawedBack, movedPayment, movedPosted, voidedOpen, withProviderLeg } from './moved-payment.ts'
import { moneyOf } from './payment-entries.ts'
import { changeMoney } from './posting-store.ts'

export type MoveDeps = Pick<Deps, 'table' | 'now' | 'log' | 'alerts' | 'queues'>

type Plan = { readonly after: Payment; readonly steps: Steps<string> }

/**
 * While the payment is open no entry is written: pending changes at once, and the posting writes an entry of every
 * noted row.
 */
const planOpen = (payment: Payment, after: Payment, netMinor: Minor, at: Timestamp): Plan => ({
  after,
  steps: {
    ...changeMoney(payment, after),
    ledger: netMinor === 0 ? undefined : moveOpenCredit(payment, netMinor, at),
  },
})

/** The payment's own row was voided before it settled: it leaves open with nothing for its client. */
const planVoidOpen = (payment: Payment, moved: Payment, postedAt: Timestamp): Plan => {
  const after = voidedOpen(moved, postedAt)
  const netMinor = less(ZERO, standingFigures(moneyOf(payment)).netMinor)
  return { after, steps: { ...changeMoney(payment, after), ledger: moveCredit(payment, netMinor, postedAt) } }
}

const planPosted = (
  payment: Payment,
  moved: Payment,
  netMinor: Minor,
  { window, now }: { readonly window: Window; readonly now: Timestamp },
): Plan => {
  const postedAt = later(now, window.closedUntil)
  const clawedMinor = clawedBack(window, netMinor)
  const after = movedPosted(moved, { clawedMinor, postedAt })
  const written = { readMinor: window.writtenOffMinor, addMinor: less(ZERO, clawedMinor), postedAt }
  return {
    after,
    steps: {
      ...changeMoney(payment, after),
      ledger: moveCredit(payment, less(netMinor, clawedMinor), postedAt),
      window: clawedMinor > 0 ? writeOffInWindow(payment.clientId, written) : undefined,
    },
  }
}

const plan = async (
  deps: MoveDeps,
  payment: Payment,
  { row, moved, now }: { readonly row: MoneyRow; readonly moved: Moved; readonly now: Timestamp },
): Promise<Plan> => {
  const after = movedPayment(payment, row, moved)
  const { netMinor } = moved.figures
  if (payment.openAt !== undefined && row.isOwnRow !== true) return planOpen(payment, after, netMinor, now)
  const window = await readWindow(deps, payment.clientId)
  return payment.openAt === undefined
    ? planPosted(payment, after, netMinor, { window, now })
    : planVoidOpen(payment, after, later(now, window.closedUntil))
}

/** Conflicts with a settlement or with other rows of the payment, each once or twice. */
const MOST_TRIES = 8

/**
 * Applies one provider row, a reversal or a return, to a succeeded payment (design section 10). Each (transaction,
 * type) applies once, in one transaction of payment, shard, entry, event and alert; the payment stays succeeded. The
 * effect is the same at every moment, whatever the state of the payment's settlement. Throws when the payment kept
 * changing; safe to repeat.
 */
export const movePayment = async (deps: MoveDeps, known: Payment, heard: MoneyRow): Promise<void> => {
  let payment = known
  for (let tried = 0; tried < MOST_TRIES; tried++) {
    const row = withProviderLeg(payment, heard)
    if (hasMoved(payment, row)) return
    if (payment.movements.length >= MOST_MOVEMENTS) {
      const { transactionId, providerMinor, at: rowAt } = row
      return bookBeyond(deps, { transactionId, providerMinor, rowAt }, tooManyMovements(payment, row, deps.now()))
    }
    const moved = moveMoney(moneyOf(payment), row)
    if (moved === undefined) return
    const now = deps.now()
    const noted = movedMoney(payment, row, moved.figures.netMinor, now)
    const { after, steps } = await plan(deps, payment, { row, moved, now })
    const told = await announcementOfMovement(deps, after, now)
    const all = { ...steps, ...told.steps, suspense: ensureSuspense(noted) }
    const { applied } = await transactWhileFresh<string>(deps, all, told.freshUntil)
    if (applied === true) {
      logSuspense(deps, noted)
      await tellWorkers(deps, told)
      await publishSuspenseAlert(deps, noted)
      return
    }
    const stored = await findStoredPayment(deps, payment.paymentId)
    if (stored?.status !== 'succeeded') break
    payment = stored
  }
  throw new Error('a payment kept changing while its money moved')
}
