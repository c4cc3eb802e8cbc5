/** A recount of what each payment's entries say. */
import * as v from 'valibot'
import type { Movement } from '../../../shared/journal/payment-money.ts'
import { PaymentSchema } from '../../../shared/payment/payment-store.ts'
import { entriesOf } from '../../../shared/posting/payment-entries.ts'
import { fromItem } from '../../../shared/table/attributes.ts'
import { modelOf } from '../money-model.ts'
import {
  amount,
  type Books,
  clientOf,
  differences,
  isOpen,
  type RawItem,
  sum,
  text,
} from './books.ts'

/**
 * The payment's own row, if it was read. A payment stores the gain only if it is not the notional
 * less the fee.
 */
export function ownRowsOf(payment: RawItem) {
  const transactionId = text(payment, 'transaction_id')
  const usual = amount(payment, 'notional_minor') - amount(payment, 'provider_fee_minor')
  const providerMinor =
    payment['transaction_minor'] === undefined ? usual : amount(payment, 'transaction_minor')
  return transactionId === '' ? [] : [{ transactionId, providerMinor }]
}

/**
 * Each payment has the entries that follow from its fields. Their sum is its remaining money. No
 * entry is unknown.
 */
export function paymentEntryProblems({ payments, entries }: Books) {
  const byPayment = Map.groupBy(entries, (entry) => text(entry, 'payment_id'))
  const known = new Set(payments.map((payment) => text(payment, 'payment_id')))
  const strays = [...byPayment.keys()].filter((id) => id !== '' && !known.has(id))
  return [
    ...strays.map((id) => `an entry is about payment ${id}, which is not there`),
    ...payments.flatMap((payment) =>
      problemsOnce(payment, byPayment.get(text(payment, 'payment_id')) ?? []),
    ),
  ]
}

type Checked = { readonly entries: readonly RawItem[]; readonly problems: string[] }
/** Stored items never change, so a payment is checked once with the same entries. */
const known = new WeakMap<RawItem, Checked>()

function problemsOnce(payment: RawItem, entries: readonly RawItem[]) {
  const last = known.get(payment)
  const isSame =
    last?.entries.length === entries.length && entries.every((one, at) => one === last.entries[at])
  if (isSame) return last.problems
  const problems = ownProblems(payment, entries)
  known.set(payment, { entries, problems })
  return problems
}

function ownProblems(payment: RawItem, entries: readonly RawItem[]) {
  const id = text(payment, 'payment_id')
  const hasSucceeded = payment['status'] === 'succeeded'
  const isPosted = hasSucceeded && !isOpen(payment)
  const remains = hasSucceeded ? remainingMoney(payment) : 0
  const clawed = movementsOf(payment).reduce((total, { clawedMinor = 0 }) => total + clawedMinor, 0)
  const net = isPosted ? remains - clawed : 0
  const gain = isPosted ? gainOf(payment) : 0
  const isCounted = hasSucceeded && payment['voided_open'] !== true
  const stored = isCounted ? amount(payment, 'net_minor') - amount(payment, 'taken_back_minor') : 0
  // From the gateway's own function.
  const expected = entriesOf(v.parse(PaymentSchema, fromItem(payment))).map(
    (entry) => `${entry.eligibleAt}#${entry.entryId} ${entry.netMinor} ${entry.providerMinor}`,
  )
  const found = entries.map((entry) =>
    [text(entry, 'sk'), amount(entry, 'net_minor'), amount(entry, 'provider_minor')].join(' '),
  )
  return differences(`payment ${id}`, [
    ["worth by the provider's rows", remains, stored],
    ['posted', isPosted, payment['posted_at'] !== undefined],
    ['net of its entries', net, sum(entries, 'net_minor')],
    ['gain by its entries', gain, sum(entries, 'provider_minor')],
    ['entries', expected.toSorted().join(), found.toSorted().join()],
    ...entries.map(
      (entry) => ['client of an entry', payment['client_id'], clientOf(entry)] as const,
    ),
  ])
}

/** The remaining money of a payment, counted from its price and those rows. */
function remainingMoney(payment: RawItem) {
  const of = (name: string) => amount(payment, name)
  const model = modelOf(of('notional_minor'), of('provider_fee_minor'), of('markup_minor'))
  for (const movement of movementsOf(payment)) model.apply(movement)
  return model.figures()[3]
}

function movementsOf(payment: RawItem) {
  return (payment['movements'] as readonly Movement[] | undefined) ?? []
}

/**
 * What our account at the provider gained by a payment. A voided row gains nothing, and has no
 * second void.
 */
function gainOf(payment: RawItem) {
  const movements = movementsOf(payment)
  const voided = movements
    .filter(({ type }) => type === 'reversal')
    .map(({ transactionId }) => transactionId)
  const kept = movements.filter(({ transactionId }) => !voided.includes(transactionId))
  const isVoid = movements.some(({ isOwnRow }) => isOwnRow === true)
  const own = isVoid ? [] : ownRowsOf(payment)
  return [...kept, ...own].reduce((total, { providerMinor }) => total + providerMinor, 0)
}
