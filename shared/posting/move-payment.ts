import type { Deps } from '../deps.ts'
import { assertInvariant } from '../errors.ts'
import { requireUnbooked } from '../journal/house-store.ts'
import { contradictionIn, contradictionOut } from '../journal/legs.ts'
import {
  hasMoved,
  MAX_MOVEMENTS,
  type MoneyRow,
  type Movement,
  type MoveResult,
  moveMoney,
} from '../journal/payment-money.ts'
import { moveCredit, moveOpenCredit } from '../ledger/shard-store.ts'
import { readWindow, type Window, writeOffInWindow } from '../ledger/window-store.ts'
import { atLeastZero, less, type Minor, plus, smaller, ZERO } from '../money.ts'
import { announcementOfMovement } from '../payment/announcement.ts'
import type { Payment } from '../payment/payment.ts'
import { findStoredPayment, isForeign } from '../payment/payment-store.ts'
import {
  findingOfMovedMoney,
  findingOfMovement,
  logSuspense,
  publishSuspenseAlert,
} from '../suspense/record-suspense.ts'
import type { Suspense } from '../suspense/suspense.ts'
import { ensureSuspense } from '../suspense/suspense-store.ts'
import type { Steps } from '../table/table.ts'
import { later, type Timestamp } from '../time.ts'
import { sendAnnouncement } from '../webhook/delivery/announce.ts'
import { bookUnmatchedRow } from './house-journal.ts'
import { moneyOf } from './payment-entries.ts'
import { changeMoney } from './posting-store.ts'
import { reversalAfter } from './reversal-after.ts'

export type MoveDeps = Pick<Deps, 'table' | 'now' | 'log' | 'alerts' | 'queues'>

type Move = { readonly row: MoneyRow; readonly result: MoveResult }

/** A settlement or other rows of the payment may refuse a try, each once or twice. */
const MAX_TRIES = 8

/**
 * Applies one provider row, a reversal or a return, to a succeeded payment (design section 10).
 * Each (transaction, type) applies once, in one transaction of payment, shard, entry, event and
 * alert. A row that the house has booked stays with the house. Throws when the payment kept
 * changing, and for a payment whose row names another client; safe to repeat.
 */
export async function movePayment(
  deps: MoveDeps,
  knownPayment: Payment,
  moneyRow: MoneyRow,
): Promise<void> {
  let payment = knownPayment
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    assertInvariant(!isForeign(payment), 'a payment that moves is stored under its own client')
    const row = withProviderLeg(payment, moneyRow)
    if (hasMoved(payment.movements, row)) return
    if (payment.movements.length >= MAX_MOVEMENTS) return bookExcessRow(deps, payment, row)
    const movement = await prepareMovement(deps, payment, row, deps.now())
    const unbooked = requireUnbookedByHouse(row)
    const steps = { ...movement.steps, ...unbooked }
    const outcome = await deps.table.transact<string>(steps, movement.freshUntil)
    if (outcome.applied) return movement.report()
    // The house has booked the row, and that booking stays.
    if (outcome.refusedBy in unbooked) return
    const stored = await findStoredPayment(deps, payment.paymentId)
    if (stored?.status !== 'succeeded') break
    payment = stored
  }
  throw new Error('a payment kept changing while its money moved')
}

/** A void is booked where its row is booked. */
function requireUnbookedByHouse({ type, transactionId, createdAt, at }: MoneyRow): Steps<string> {
  return type === 'reversal' ? {} : requireUnbooked({ transactionId, rowAt: createdAt ?? at })
}

/**
 * A row beyond the maximum belongs to the house. A void has a key of its own, because the row that
 * it undoes may have an entry of the house too.
 */
function bookExcessRow(deps: MoveDeps, payment: Payment, row: MoneyRow) {
  const { type, transactionId: id, createdAt: rowAt = row.at } = row
  const transactionId = type === 'reversal' ? `${id}#void` : id
  const finding = findingOfMovement(payment, row, 'too_many_movements', deps.now())
  return bookUnmatchedRow(deps, { ...row, transactionId, rowAt }, finding)
}

/**
 * The steps of one row's movement, and `report`, which sends the event and the findings after the
 * commit. Throws for a row that was applied before.
 */
export async function prepareMovement(
  deps: MoveDeps,
  payment: Payment,
  row: MoneyRow,
  now: Timestamp,
) {
  const result = moveMoney(moneyOf(payment), row)
  assertInvariant(result !== undefined, 'a row that was applied moves no money again')
  const findings = findingsOf(payment, row, result.figures.netMinor, now)
  const { after, steps } = await planMove(deps, payment, { row, result }, now)
  const announcement = await announcementOfMovement(deps, after)
  const suspenseSteps: Steps<string> = Object.assign({}, ...findings.map(ensureSuspense))
  const allSteps: Steps<string> = { ...steps, ...announcement.steps, ...suspenseSteps }
  const report = async () => {
    for (const finding of findings) logSuspense(deps, finding)
    await sendAnnouncement(deps, announcement)
    for (const finding of findings) await publishSuspenseAlert(deps, finding)
  }
  return { after, findings, steps: allSteps, freshUntil: announcement.freshUntil, report }
}

/** The findings of a movement: its own, of a row that contradicts itself, and of a double loss. */
export function findingsOf(
  payment: Payment,
  row: MoneyRow,
  netMinor: Minor,
  now: Timestamp,
): readonly Suspense[] {
  const isContradiction = row.type !== 'reversal' && contradictionOf(row) !== 0
  const lostMinor = lostTwice(payment, row, netMinor)
  const lost = findingOfMovement(payment, row, 'went_back_twice', now)
  return [
    findingOfMovedMoney(payment, row, netMinor, now),
    ...(isContradiction ? [findingOfMovement(payment, row, 'row_contradicts', now)] : []),
    ...(lostMinor > 0 ? [{ ...lost, amountMinor: lostMinor }] : []),
  ]
}

/** What the house bears of a refund or a dispute about money that went back before. */
function lostTwice(payment: Payment, row: MoneyRow, netMinor: Minor) {
  if (row.type !== 'chargeback' && row.type !== 'refund') return ZERO
  const { wentBackMinor, isVoid } = moneyOf(payment)
  const isTwice = isVoid || plus(wentBackMinor, row.amountMinor) > payment.notionalMinor
  return isTwice ? less(netMinor, row.providerMinor) : ZERO
}

function contradictionOf(row: MoneyRow) {
  if (row.isByBank === true) return ZERO
  return row.type === 'dispute_won' ? contradictionIn(row) : contradictionOut(row)
}

/**
 * A void takes back all that its row has booked at the provider: for the own row once, even if that
 * row has two ids.
 */
export function withProviderLeg({ ownRow, isVoid, movements }: Payment, row: MoneyRow): MoneyRow {
  if (row.type !== 'reversal') return row
  const movement = movements.find(({ transactionId }) => transactionId === row.transactionId)
  const ownMinor = isVoid === true ? ZERO : ownRow?.providerMinor
  const bookedMinor = row.isOwnRow === true ? ownMinor : movement?.providerMinor
  return {
    ...row,
    amountMinor: movement?.amountMinor ?? row.amountMinor,
    providerMinor: less(ZERO, bookedMinor ?? ZERO),
  }
}

async function planMove(deps: MoveDeps, payment: Payment, move: Move, now: Timestamp) {
  const { netMinor } = move.result.figures
  // While the payment is open no entry is written: pending changes at once, and the posting writes
  // an entry of every recorded movement.
  if (payment.openAt !== undefined && move.row.isOwnRow !== true) {
    const after = paymentAfterRow(payment, move, { clawedMinor: ZERO, notedAt: now, postedAt: now })
    const ledger = netMinor === 0 ? undefined : moveOpenCredit(payment, netMinor, now)
    return { after, steps: { ...changeMoney(payment, after), ledger } }
  }
  const { writtenOffMinor, closedUntil } = await readWindow(deps, payment.clientId)
  const postedAt = later(now, closedUntil)
  const clawedMinor =
    payment.openAt === undefined ? clawedMinorOf({ writtenOffMinor }, netMinor) : ZERO
  const after = paymentAfterRow(payment, move, { clawedMinor, notedAt: now, postedAt })
  const writeOff = { readMinor: writtenOffMinor, addMinor: less(ZERO, clawedMinor), postedAt }
  const ledger = moveCredit(payment, less(netMinor, clawedMinor), postedAt)
  const window = clawedMinor > 0 ? writeOffInWindow(payment.clientId, writeOff) : undefined
  return { after, steps: { ...changeMoney(payment, after), ledger, window } }
}

/** An open payment whose own row becomes void is closed with nothing for its client. */
export function paymentAfterRow(
  payment: Payment,
  { row, result: { money } }: Move,
  {
    clawedMinor,
    notedAt,
    postedAt,
  }: Required<Pick<Movement, 'clawedMinor' | 'notedAt' | 'postedAt'>>,
): Payment {
  const isOpen = payment.openAt !== undefined
  const isPosted = !isOpen || row.isOwnRow === true
  const { kind: _, createdAt: __, ...movement } = row
  const movements: readonly Movement[] = [...payment.movements, { ...movement, notedAt }]
  const entry = { ...(clawedMinor > 0 && { clawedMinor }), postedAt }
  const after: Payment = {
    ...payment,
    takenBackMinor: money.takenBackMinor,
    movements: movements.map((item) =>
      isPosted && item.postedAt === undefined ? { ...item, ...entry } : item,
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

/** The part that the house had written off, which it takes back. */
export function clawedMinorOf(
  { writtenOffMinor }: Pick<Window, 'writtenOffMinor'>,
  netMinor: Minor,
): Minor {
  return atLeastZero(smaller(netMinor, writtenOffMinor))
}
