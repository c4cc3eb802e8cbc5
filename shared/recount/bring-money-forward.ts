import type { ClientBooks } from '../audit/judged/client-books.ts'
import { eventNamesOf } from '../audit/judged/judge-events.ts'
import { isMoneySound } from '../audit/judged/judge-payments.ts'
import { referenceOf } from '../ids.ts'
import { type Entry, fieldsText } from '../journal/entry.ts'
import { moveMoney } from '../journal/payment-money.ts'
import type { Ledger } from '../ledger/ledger-store.ts'
import { less, ZERO } from '../money.ts'
import type { Payment } from '../payment/payment.ts'
import { askForOwnRow } from '../posting/assume-fee.ts'
import { clawedMinorOf, paymentAfterRow, withProviderLeg } from '../posting/move-payment.ts'
import { addedEntries, moneyOf } from '../posting/payment-entries.ts'
import { planPosting, type SettledRow } from '../posting/post-payments.ts'
import { changeMoney } from '../posting/posting-store.ts'
import { providerFailure } from '../provider/provider.ts'
import { finding, movedMoney } from '../suspense/record-suspense.ts'
import type { Suspense } from '../suspense/suspense.ts'
import { ensureSuspense } from '../suspense/suspense-store.ts'
import { moneyRowOf, withDisputedAmount } from '../sync/provider-row.ts'
import type { Timestamp } from '../time.ts'
import { completeEvent } from './complete-payment.ts'
import {
  ADVICE,
  listProviderRows,
  type RecountDeps,
  type Repair,
  type Strays,
  shiftFigures,
} from './repair.ts'

/** A payment after one transaction, with the finding for the operators. */
type MoneyAfter = { readonly after: Payment; readonly suspense?: Suspense | undefined }

/**
 * Repairs a succeeded payment whose entries or event show a movement that the payment does not
 * show. The payment gets the change of the entries and of the provider's row, at the time of the
 * entries. Existing items are never written again, so no money counts twice. Undefined if no single
 * change explains any stray exactly.
 */
export async function bringMoneyForward(
  deps: RecountDeps,
  books: ClientBooks,
  before: Payment,
  strays: Strays,
): Promise<Repair | undefined> {
  const { ledger } = books
  for (const change of ledger ? await possibleChanges(deps, ledger, before, strays) : []) {
    const { after, suspense } = change
    const explained = explainedStrays(before, strays, change)
    const targets = [...explained.entries, ...explained.events].map(({ difference }) => difference)
    if (targets.length === 0) continue
    const storedIds = new Set<string>(explained.entries.map(({ entry }) => entry.entryId))
    const steps = async () => {
      const entries = addedEntries(before, after).filter(({ entryId }) => !storedIds.has(entryId))
      const moneySteps = Object.entries(changeMoney(before, after)).filter(
        ([name]) => !storedIds.has(name),
      )
      const knownNames = eventNamesOf(before)
      const addedNames = eventNamesOf(after).filter((name) => !knownNames.includes(name))
      const events = await Promise.all(addedNames.map((name) => completeEvent(deps, after, name)))
      const shift = shiftFigures(deps, books, { before, after, entries })
      const held = suspense && ensureSuspense(suspense)
      return Object.assign({}, ...events, Object.fromEntries(moneySteps), shift, held)
    }
    return { subject: before.paymentId, targets, steps }
  }
  return undefined
}

/** Each single transaction may have written the payment's strays. */
async function possibleChanges(
  deps: RecountDeps,
  { window }: Ledger,
  payment: Payment,
  { entries: strayEntries, events: [event] }: Strays,
): Promise<readonly MoneyAfter[]> {
  const entries = strayEntries
    .map(({ entry }) => entry)
    .toSorted((a, b) => (a.postedAt < b.postedAt ? -1 : 1))
  const [firstEntry] = entries
  if (firstEntry?.type === 'late_row') {
    const {
      postedAt: lateRowAt,
      providerMinor,
      providerSettledAt,
      providerTransactionId = '',
    } = firstEntry
    const ownRow = { transactionId: providerTransactionId, providerMinor }
    return [{ after: { ...payment, lateRowAt, ownRow, providerSettledAt } }]
  }
  const knownIds = new Set(payment.movements.map(({ transactionId }) => transactionId))
  const isPosting = ({ type, providerTransactionId: id = '' }: Entry) =>
    type === 'payment' || knownIds.has(id)
  const postingEntry = entries.find(isPosting)
  if (payment.openAt !== undefined && postingEntry)
    return postedForms(deps, payment, entries, postingEntry.postedAt)
  // The name of a movement's event is `payment.reversed#<transaction id>#<type>`.
  const transactionId =
    firstEntry?.providerTransactionId ?? event?.event.name.split('#').slice(1, -1).join('#')
  const at = firstEntry?.postedAt ?? event?.event.firedAt
  const notedAt = event?.event.firedAt ?? at
  if (transactionId === undefined || at === undefined || notedAt === undefined) return []
  const transaction = await askForRow(deps, payment, transactionId)
  const moneyRow = transaction && moneyRowOf(transaction)
  const disputed = moneyRow && transaction && withDisputedAmount(moneyRow, transaction, payment)
  const row = disputed && withProviderLeg(payment, disputed)
  const moved = row && moveMoney(moneyOf(payment), row)
  // The provider does not show the row, or the row is booked already.
  if (row === undefined || moved === undefined) return []
  const { netMinor } = moved.figures
  const writeOff = entries.find(({ type }) => type === 'written_off')
  const clawedMinor = writeOff ? less(ZERO, writeOff.netMinor) : clawedMinorOf(window, netMinor)
  const isOpen = payment.openAt !== undefined
  const booked = { clawedMinor: isOpen ? ZERO : clawedMinor, notedAt, postedAt: at }
  return [
    {
      after: paymentAfterRow(payment, { row, result: moved }, booked),
      suspense: movedMoney(payment, row, netMinor, at),
    },
  ]
}

/**
 * An open payment's possible posted forms: by its own entry, the provider's row, or an assumed fee.
 */
async function postedForms(
  deps: RecountDeps,
  payment: Payment,
  strays: readonly Entry[],
  postedAt: Timestamp,
) {
  const ownEntry = strays.find(({ type }) => type === 'payment')
  if (ownEntry) {
    // The entry has all fields of the settled row.
    const {
      feeMinor,
      providerMinor,
      providerTransactionId: transactionId,
      providerSettledAt: settledAt,
    } = ownEntry
    const invoiced = payment.finalFee?.invoiced
    const isByRow = transactionId !== undefined && settledAt !== undefined
    const row = isByRow
      ? { feeMinor, transactionId, settledAt, providerMinor, ...(invoiced && { invoiced }) }
      : undefined
    return [postedForm(payment, ownEntry.postedAt, row)]
  }
  const answer = await askForOwnRow(deps, payment)
  if (answer.kind === 'unanswered') throw providerFailure(answer, ADVICE)
  const assumed = postedForm(payment, postedAt)
  return answer.row ? [postedForm(payment, postedAt, answer.row), assumed] : [assumed]
}

/** The payment posted by its settled row, else with an assumed fee. */
function postedForm(payment: Payment, at: Timestamp, row?: SettledRow): MoneyAfter {
  const assumed = finding({ subject: payment.paymentId, cause: 'fee_assumed', payment, now: at })
  const { after } = planPosting({ payment, by: row ? { row } : { assumed } }, at)
  return row ? { after } : { after, suspense: assumed }
}

async function askForRow(deps: RecountDeps, payment: Payment, transactionId: string) {
  const { creditedProviderPaymentId: providerPaymentId, providerAttempts, paymentId } = payment
  const references = providerAttempts.map(({ number }) => ({
    reference: referenceOf(paymentId, number),
  }))
  for (const by of [{ providerPaymentId }, ...references]) {
    const rows = await listProviderRows(deps, { ...by, limit: 50 })
    const row = rows.find(({ transactionId: id }) => id === transactionId)
    if (row) return row
  }
  return undefined
}

/**
 * The strays that the repaired payment explains. None if a stray differs in any figure, or the
 * payment is inconsistent. If two changes are torn, the next recount repairs the second change.
 */
function explainedStrays(
  before: Payment,
  { entries, events }: Strays,
  { after }: MoneyAfter,
): Strays {
  const expected = new Map(
    addedEntries(before, after).map((entry) => [entry.entryId, fieldsText(entry)]),
  )
  const names = eventNamesOf(after)
  const isWrong = entries.some(
    ({ entry }) => (expected.get(entry.entryId) ?? fieldsText(entry)) !== fieldsText(entry),
  )
  const isSound = isMoneySound({ ...after, moneyVersion: (before.moneyVersion ?? 0) + 1 })
  if (isWrong || !isSound) return { entries: [], events: [] }
  return {
    entries: entries.filter(({ entry }) => expected.has(entry.entryId)),
    events: events.filter(({ event }) => names.includes(event.name)),
  }
}
