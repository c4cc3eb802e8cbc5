import type { Deps } from '../deps.ts'
import {
  hasMoved,
  MAX_MOVEMENTS,
  type MoneyRow,
  type Moved,
  type Movement,
  moveMoney,
} from '../journal/payment-money.ts'
import { moveCredit, moveOpenCredit } from '../ledger/shard-store.ts'
import { readWindow, type Window, writeOffInWindow } from '../ledger/window-store.ts'
import { atLeastZero, less, type Minor, smaller, ZERO } from '../money.ts'
import { announcementOfMovement, sendAnnounced } from '../payment/announcement.ts'
import type { Payment } from '../payment/payment.ts'
import { findStoredPayment } from '../payment/payment-store.ts'
import {
  findingOfRow,
  logSuspense,
  movedMoney,
  publishSuspenseAlert,
} from '../suspense/record-suspense.ts'
import { ensureSuspense } from '../suspense/suspense-store.ts'
import { later, type Timestamp } from '../time.ts'
import { bookWithFinding } from './house-journal.ts'
import { moneyOf } from './payment-entries.ts'
import { changeMoney } from './posting-store.ts'
import { reversalAfter } from './reversal-after.ts'

type MoveDeps = Pick<Deps, 'table' | 'now' | 'log' | 'alerts' | 'queues'>

type Move = { readonly row: MoneyRow; readonly moved: Moved }

/** Conflicts with a settlement or with other rows of the payment, each once or twice. */
const MAX_TRIES = 8

/**
 * Applies one provider row, a reversal or a return, to a succeeded payment (design section 10). Each (transaction,
 * type) applies once, in one transaction of payment, shard, entry, event and alert. Throws when the payment kept
 * changing; safe to repeat.
 */
export async function movePayment(
  deps: MoveDeps,
  known: Payment,
  moneyRow: MoneyRow,
): Promise<void> {
  let payment = known
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const row = withProviderLeg(payment, moneyRow)
    if (hasMoved(payment.movements, row)) return
    if (payment.movements.length >= MAX_MOVEMENTS) {
      const { transactionId, providerMinor, createdAt: rowAt = row.at } = row
      const house = { transactionId, providerMinor, rowAt }
      return bookWithFinding(
        deps,
        house,
        findingOfRow(payment, row, 'too_many_movements', deps.now()),
      )
    }
    const moved = moveMoney(moneyOf(payment), row)
    if (moved === undefined) return
    const now = deps.now()
    const noted = movedMoney(payment, row, moved.figures.netMinor, now)
    const { after, steps } = await plan(deps, payment, { row, moved }, now)
    const announcement = await announcementOfMovement(deps, after, now)
    const all = { ...steps, ...announcement.steps, suspense: ensureSuspense(noted) }
    const { applied } = await deps.table.transact<string>(all, announcement.freshUntil)
    if (applied) {
      logSuspense(deps, noted)
      await sendAnnounced(deps, announcement)
      await publishSuspenseAlert(deps, noted)
      return
    }
    const stored = await findStoredPayment(deps, payment.paymentId)
    if (stored?.status !== 'succeeded') break
    payment = stored
  }
  throw new Error('a payment kept changing while its money moved')
}

/** A void takes back everything that the row had booked, once for the own row, even if it has two ids there. */
export function withProviderLeg({ ownRow, isVoid, movements }: Payment, row: MoneyRow): MoneyRow {
  if (row.type !== 'reversal') return row
  const moved = movements.find(({ transactionId }) => transactionId === row.transactionId)
  const ownMinor = isVoid === true ? ZERO : ownRow?.providerMinor
  const bookedMinor = row.isOwnRow === true ? ownMinor : moved?.providerMinor
  return {
    ...row,
    amountMinor: moved?.amountMinor ?? row.amountMinor,
    providerMinor: less(ZERO, bookedMinor ?? ZERO),
  }
}

async function plan(deps: MoveDeps, payment: Payment, about: Move, now: Timestamp) {
  const { netMinor } = about.moved.figures
  // While the payment is open no entry is written: pending changes at once, and the posting writes an entry of every
  // noted row.
  if (payment.openAt !== undefined && about.row.isOwnRow !== true) {
    const after = afterRow(payment, about, { clawedMinor: ZERO, postedAt: now })
    const ledger = netMinor === 0 ? undefined : moveOpenCredit(payment, netMinor, now)
    return { after, steps: { ...changeMoney(payment, after), ledger } }
  }
  const { writtenOffMinor, closedUntil } = await readWindow(deps, payment.clientId)
  const postedAt = later(now, closedUntil)
  const clawedMinor =
    payment.openAt === undefined ? clawedBack({ writtenOffMinor }, netMinor) : ZERO
  const after = afterRow(payment, about, { clawedMinor, postedAt })
  const written = { readMinor: writtenOffMinor, addMinor: less(ZERO, clawedMinor), postedAt }
  const ledger = moveCredit(payment, less(netMinor, clawedMinor), postedAt)
  const window = clawedMinor > 0 ? writeOffInWindow(payment.clientId, written) : undefined
  return { after, steps: { ...changeMoney(payment, after), ledger, window } }
}

/** The payment after one more row. An open payment whose own row is voided leaves with nothing for its client. */
export function afterRow(
  payment: Payment,
  { row, moved: { money } }: Move,
  { clawedMinor, postedAt }: { readonly clawedMinor: Minor; readonly postedAt: Timestamp },
): Payment {
  const isOpen = payment.openAt !== undefined
  const isPosted = !isOpen || row.isOwnRow === true
  const { kind: _, createdAt: __, ...moved } = row
  const movements: readonly Movement[] = [...payment.movements, moved]
  const entry = { ...(clawedMinor > 0 && { clawedMinor }), postedAt }
  const after: Payment = {
    ...payment,
    takenBackMinor: money.takenBackMinor,
    movements: movements.map((one) =>
      isPosted && one.postedAt === undefined ? { ...one, ...entry } : one,
    ),
    ...(money.isVoid && { isVoid: true }),
    reversal: reversalAfter(payment.reversal, row, money),
  }
  if (!isOpen || !isPosted) return after
  const finalFee = payment.finalFee ?? {
    status: 'assumed',
    feeMinor: payment.providerFeeMinor,
    at: postedAt,
  }
  return {
    ...after,
    feeStatus: finalFee.status,
    finalFee,
    postedAt,
    openAt: undefined,
    voidedOpen: true,
  }
}

/** The part of returned money that the house had written off: the house takes it. */
export function clawedBack(
  { writtenOffMinor }: Pick<Window, 'writtenOffMinor'>,
  netMinor: Minor,
): Minor {
  return atLeastZero(smaller(netMinor, writtenOffMinor))
}
