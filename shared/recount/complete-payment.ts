import { eventNamesOf } from '../audit/judged/audit-event.ts'
import type { JudgedPayment } from '../audit/judged/audit-payments.ts'
import type { ClientBooks } from '../audit/judged/client-books.ts'
import { putEntry } from '../journal/entry-store.ts'
import type { Payment } from '../payment/payment.ts'
import { entriesOf } from '../posting/payment-entries.ts'
import { moneyStands } from '../posting/posting-store.ts'
import type { Steps } from '../table/table.ts'
import type { Difference } from '../verdict/difference.ts'
import { lostDeliveries, rebuiltEvent, storedEvent } from './rebuilt-event.ts'
import { type RecountBy, type RecountDeps, type Repair, repairOf } from './repair.ts'
import { shiftedBy } from './shifted-by.ts'

type Completion = { readonly of: readonly Difference[]; readonly steps: Steps<string> }

/** Rebuilds the events that the payment must have and that are missing. */
const completeEvents = (
  deps: RecountDeps,
  payment: Payment,
  differences: readonly Difference[],
): Promise<readonly Completion[]> => {
  const names = eventNamesOf(payment)
  const lost = differences.filter(
    ({ what, expected, found }) => what === 'event' && found === null && names.some((name) => name === expected),
  )
  return Promise.all(
    lost.map(async (one) => ({ of: [one], steps: await rebuiltEvent(deps, payment, String(one.expected)) })),
  )
}

/** Rebuilds the deliveries that an event of the payment names and that are missing. */
const completeDeliveries = async (
  deps: RecountDeps,
  payment: Payment,
  differences: readonly Difference[],
): Promise<readonly Completion[]> => {
  const lost = differences.filter(({ what, found }) => what === 'delivery' && found === null)
  if (lost.length === 0) return []
  const events = await Promise.all(eventNamesOf(payment).map((name) => storedEvent(deps, payment, name)))
  const steps = await Promise.all(
    events.map((stored) => (stored ? lostDeliveries(deps, stored.event) : Promise.resolve({}))),
  )
  return steps.flatMap((made) => {
    const of = lost.filter(({ id }) => id in made)
    return of.length === 0 ? [] : [{ of, steps: made }]
  })
}

/** Rebuilds the entries that the payment's fields imply and that are missing, each under its own key. */
const completeEntries = (
  deps: RecountDeps,
  books: ClientBooks,
  payment: Payment,
  differences: readonly Difference[],
): readonly Completion[] => {
  const of = differences.filter(({ what, found }) => what === 'entry' && found === 'not there')
  const ids = new Set(of.map(({ id }) => id))
  const entries = entriesOf(payment).filter(({ entryId }) => ids.has(entryId))
  if (entries.length === 0) return []
  const puts = entries.map((entry) => [entry.entryId, putEntry(payment, entry)] as const)
  const shift = shiftedBy(books, { before: payment, after: payment, entries, at: deps.now() })
  return [{ of, steps: { ...Object.fromEntries(puts), ...shift } }]
}

/**
 * Rebuilds a payment's lost events, deliveries and entries from its row, under their ids, in one transaction. Refused
 * if the payment's money or customer has changed after the read.
 */
export const completePayment = async (
  deps: RecountDeps,
  by: RecountBy,
  { books, judged: { payment, differences } }: { readonly books: ClientBooks; readonly judged: JudgedPayment },
): Promise<readonly Repair[]> => {
  if (payment === undefined) return []
  const completions = [
    ...(await completeEvents(deps, payment, differences)),
    ...(await completeDeliveries(deps, payment, differences)),
    ...completeEntries(deps, books, payment, differences),
  ]
  if (completions.length === 0) return []
  const of = completions.flatMap((one) => one.of)
  const steps = { ...Object.assign({}, ...completions.map((one) => one.steps)), payment: moneyStands(payment) }
  return [repairOf(deps, by, { subject: payment.paymentId, of, steps: () => steps })]
}
