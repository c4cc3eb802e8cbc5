import { eventNamesOf } from '../audit/judged/audit-events.ts'
import type { ClientBooks } from '../audit/judged/client-books.ts'
import { derivedPayment } from '../audit/judged/derive-payment.ts'
import { type Event, isOfSuspense, typeOfEvent } from '../event/event.ts'
import { type Entry, fieldsText } from '../journal/entry.ts'
import { type MoneyRow, moveMoney } from '../journal/payment-money.ts'
import { less, minor, negated, ZERO } from '../money.ts'
import { announcedEnd } from '../payment/announcement.ts'
import { paymentAfterEnd } from '../payment/news/close-payment.ts'
import { creditedNewPayment, creditedPayment } from '../payment/news/succeed-payment.ts'
import type { Payment, StoredPayment } from '../payment/payment.ts'
import { askForOwnRow } from '../posting/assume-fee.ts'
import {
  clawedMinorOf,
  findingsOf,
  paymentAfterRow,
  withProviderLeg,
} from '../posting/move-payment.ts'
import { addedEntries, entriesOf, moneyOf } from '../posting/payment-entries.ts'
import { planPosting, type SettledRow, withLateRow } from '../posting/post-payments.ts'
import { type ProviderTransaction, providerFailure } from '../provider/provider.ts'
import { finding } from '../suspense/record-suspense.ts'
import type { Suspense } from '../suspense/suspense.ts'
import { bookedFees } from '../sync/book-late-fee.ts'
import { moneyRowOf, withDisputedAmount } from '../sync/provider-row.ts'
import type { Timestamp } from '../time.ts'
import { tryToMake } from '../verdict/difference.ts'
import { askForCapture, askForRow, SILENT, settledRowAt } from './ask-provider.ts'
import type { RecountDeps } from './plan.ts'

/** The payment's rows in other partitions. */
type Shown = { readonly events: readonly Event[]; readonly entries: readonly Entry[] }

/** `findings`: those of the transactions that the payment had lost. */
type Raised = { readonly payment: StoredPayment; readonly findings: readonly Suspense[] }

/** A restore tears the last transactions, so few of them are of one payment. */
const MAX_CHANGES = 15

/**
 * Brings a payment up to its events and entries: one lost transaction after another, each with the
 * time and figures of the row that it left. Undefined if these rows cannot be explained exactly.
 * Throws 502 if the provider does not answer.
 */
export async function raisePayment(
  deps: RecountDeps,
  books: ClientBooks,
  stored: StoredPayment,
  shown: Shown,
) {
  let raised: Raised = { payment: stored, findings: [] }
  for (let change = 0; change < MAX_CHANGES; change++) {
    const strays = straysOf(raised.payment, shown)
    if (strays.events.length === 0 && strays.entries.length === 0) return raised
    const next = await nextPayment(deps, books, raised.payment, strays)
    const derived = next && tryToMake(() => derivedPayment(next.payment, next.payment.clientId))
    if (next === undefined || derived === undefined) return undefined
    const payment = { ...next.payment, moneyVersion: derived.moneyVersion }
    raised = { payment, findings: [...raised.findings, ...next.findings] }
  }
  return undefined
}

function straysOf(payment: StoredPayment, { events, entries }: Shown): Shown {
  const isVisible = payment.status !== 'creating'
  const names = isVisible ? eventNamesOf(payment) : []
  const ids = new Set(isVisible ? entriesOf(payment).map(({ entryId }) => entryId) : [])
  return {
    // Events of suspense say nothing of status or money.
    events: events.filter(({ name, type }) => !names.includes(name) && !isOfSuspense(type)),
    entries: entries.filter(({ entryId }) => !ids.has(entryId)),
  }
}

type Next = Raised & { readonly payment: Payment }

async function nextPayment(
  deps: RecountDeps,
  { ledger }: ClientBooks,
  payment: StoredPayment,
  strays: Shown,
) {
  if (payment.status === 'succeeded') {
    const changes = ledger ? await possibleChanges(deps, ledger.window, payment, strays) : []
    return changes.find(
      (change) => hasProgress(change.payment, strays) && fitsEntries(payment, change, strays),
    )
  }
  const ended = await endedPayment(deps, payment, strays)
  return ended && { payment: ended, findings: [] }
}

function hasProgress(payment: Payment, strays: Shown) {
  const remaining = straysOf(payment, strays)
  return (
    remaining.events.length + remaining.entries.length <
    strays.events.length + strays.entries.length
  )
}

/** No entry of the change differs from the stored entry in any figure. */
function fitsEntries(before: Payment, { payment }: Next, { entries }: Shown) {
  const expected = new Map(
    addedEntries(before, payment).map((entry) => [entry.entryId, fieldsText(entry)]),
  )
  return entries.every(
    (entry) => (expected.get(entry.entryId) ?? fieldsText(entry)) === fieldsText(entry),
  )
}

/**
 * The end that the payment's event shows. Without this event, an entry or the event of a movement
 * shows when the payment succeeded.
 */
async function endedPayment(deps: RecountDeps, payment: StoredPayment, { events, entries }: Shown) {
  if (payment.status !== 'creating' && payment.status !== 'pending') return undefined
  const event = events.find(({ name }) => typeOfEvent(name) === name)
  const type = event?.type ?? 'payment.succeeded'
  const paidAt = [entries[0]?.paidAt, ...events.map((one) => announcedEnd(one).paid_at)]
  const at = event?.firedAt ?? paidAt.find((time) => time !== undefined)
  if (at === undefined) return undefined
  const end = { ...(event && announcedEnd(event)), at, source: 'operator' } as const
  if (type !== 'payment.succeeded') {
    const status = type === 'payment.failed' ? 'failed' : 'expired'
    return payment.status === 'creating' ? undefined : paymentAfterEnd(payment, { ...end, status })
  }
  // The end of a payment that no request has seen is in its event alone.
  if (payment.status === 'creating' && event === undefined) return undefined
  const capture = await askForCapture(deps, payment)
  if (capture === undefined) return undefined
  return payment.status === 'creating'
    ? creditedNewPayment(deps, payment, undefined, { ...end, capture })
    : creditedPayment(deps, payment, { ...end, capture })
}

type Window = NonNullable<ClientBooks['ledger']>['window']

/** Each of these single transactions may have written one of the strays. */
async function possibleChanges(
  deps: RecountDeps,
  window: Window,
  payment: Payment,
  { entries, events }: Shown,
) {
  const ordered = entries.toSorted((a, b) => (a.postedAt < b.postedAt ? -1 : 1))
  const [first] = ordered
  if (first?.type === 'late_row') {
    const row = await settledRowAt(deps, payment, first)
    return row ? [{ payment: withLateRow(payment, row, first.postedAt), findings: [] }] : []
  }
  const isPosting = ({ type, providerTransactionId: transactionId = '' }: Entry) =>
    type === 'payment' || payment.movements.some((one) => one.transactionId === transactionId)
  const posting = ordered.find(isPosting)
  if (payment.openAt !== undefined && posting) return postedForms(deps, payment, ordered, posting)
  const transactionId = first?.providerTransactionId ?? transactionOf(events[0])
  if (transactionId === undefined) return []
  const moved = await movedPayment(deps, window, payment, transactionId, {
    entries: ordered.filter((entry) => entry.providerTransactionId === transactionId),
    events: events.filter((event) => transactionOf(event) === transactionId),
  })
  return moved ? [moved] : []
}

/** The name of a movement's event is `payment.reversed#<transaction id>#<type>`. */
function transactionOf(event: Event | undefined) {
  return event?.name.split('#').slice(1, -1).join('#')
}

/** The provider is asked for the row that moved the money. */
async function movedPayment(
  deps: RecountDeps,
  window: Window,
  payment: Payment,
  transactionId: string,
  { entries, events: [event] }: Shown,
) {
  const transaction = await askForRow(deps, payment, transactionId)
  const moneyRow = transaction && moneyRowOf(transaction)
  const disputed = moneyRow && withDisputedAmount(moneyRow, transaction, payment)
  const shown = disputed && withProviderLeg(payment, disputed)
  const row = shown && (await asBooked(deps, shown, transaction, entries))
  const at = entries[0]?.postedAt ?? event?.firedAt
  if (row === undefined || at === undefined) return undefined
  const result = moveMoney(moneyOf(payment), row)
  if (result === undefined) return undefined
  const { netMinor } = result.figures
  const writeOff = entries.find(({ type }) => type === 'written_off')
  const clawedMinor =
    payment.openAt !== undefined
      ? ZERO
      : writeOff
        ? less(ZERO, writeOff.netMinor)
        : clawedMinorOf(window, netMinor)
  const booked = { clawedMinor, notedAt: event?.firedAt ?? at, postedAt: at }
  return {
    payment: paymentAfterRow(payment, { row, result }, booked),
    findings: findingsOf(payment, row, netMinor, at),
  }
}

/**
 * The provider may show a fee that became final after the row was booked: its entry counts.
 * Without this entry, what the house has booked of that fee is no part of the movement.
 */
async function asBooked(
  deps: RecountDeps,
  row: MoneyRow,
  transaction: ProviderTransaction,
  entries: readonly Entry[],
) {
  if (row.type === 'reversal') return row
  const own = entries.find(({ type }) => type === row.type)
  if (own) {
    const { providerMinor, netMinor, markupMinor, costMinor } = own
    const movedMinor = row.type === 'dispute_won' ? row.amountMinor : negated(row.amountMinor)
    const feeMinor = minor(movedMinor - netMinor - markupMinor - costMinor) || undefined
    return { ...row, providerMinor, feeMinor }
  }
  return (await bookedFees(deps, transaction)).reduce(
    (booked, fee) => ({
      ...booked,
      providerMinor: less(booked.providerMinor, fee.providerMinor),
      feeMinor: less(booked.feeMinor ?? ZERO, fee.feeMinor ?? ZERO) || undefined,
    }),
    row,
  )
}

/** As posted by the provider's row, which its own entry may name, or with a fee. */
async function postedForms(
  deps: RecountDeps,
  payment: Payment,
  strays: readonly Entry[],
  { postedAt }: Entry,
) {
  const own = strays.find(({ type }) => type === 'payment')
  if (own === undefined) {
    const answer = await askForOwnRow(deps, payment)
    if (answer.kind === 'unanswered') throw providerFailure(answer, SILENT)
    const { row, contradicting } = answer
    return [row && { row }, { contradicting }, {}].flatMap((by) =>
      by ? [posted(payment, postedAt, by)] : [],
    )
  }
  const at = own.postedAt
  if (own.providerTransactionId === undefined) return [posted(payment, at, {})]
  const row = await settledRowAt(deps, payment, own)
  return row ? [posted(payment, at, row.contradicts ? { contradicting: row } : { row })] : []
}

type Row = { readonly row?: SettledRow; readonly contradicting?: SettledRow | undefined }

/** By its settled row, else with an assumed fee. */
function posted(payment: Payment, at: Timestamp, { row, contradicting }: Row) {
  const cause = contradicting ? 'row_contradicts' : 'fee_assumed'
  const assumed = finding({ subject: payment.paymentId, cause, payment, now: at })
  const { after } = planPosting({ payment, by: row ? { row } : { assumed, contradicting } }, at)
  return { payment: after, findings: row ? [] : [assumed] }
}
