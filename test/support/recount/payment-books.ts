/** A recount of what each payment's entries say. */
import * as v from 'valibot'
import { PaymentSchema } from '../../../shared/payment/payment-store.ts'
import { entriesOf } from '../../../shared/posting/payment-entries.ts'
import { fromItem } from '../../../shared/table/attributes.ts'
import { amount, type Books, isOpen, partIn, partOf, type RawItem, sum, text } from './books.ts'

/** What stands of a posted payment, by its own fields. */
const standing = (payment: RawItem): number =>
  payment['voided_open'] === true ? 0 : amount(payment, 'net_minor') - amount(payment, 'taken_back_minor')

const movementsOf = (payment: RawItem): readonly RawItem[] =>
  (payment['movements'] as readonly RawItem[] | undefined) ?? []

const clawed = (payment: RawItem): number => sum(movementsOf(payment), 'clawedMinor')

/** The entries that a payment's own fields tell, by the gateway's one function of them. */
const toldBy = (payment: RawItem): readonly string[] =>
  entriesOf(v.parse(PaymentSchema, fromItem(payment)))
    .map((entry) => `${entry.eligibleAt}#${entry.entryId} ${entry.netMinor} ${entry.providerMinor}`)
    .toSorted()

const stored = (entries: readonly RawItem[]): readonly string[] =>
  entries
    .map((entry) => `${text(entry, 'sk')} ${amount(entry, 'net_minor')} ${amount(entry, 'provider_minor')}`)
    .toSorted()

const ownProblems = (payment: RawItem, entries: readonly RawItem[]): string[] => {
  const id = text(payment, 'payment_id')
  const isPosted = payment['status'] === 'succeeded' && !isOpen(payment)
  const net = isPosted ? standing(payment) - clawed(payment) : 0
  return [
    ...(isPosted === (payment['posted_at'] !== undefined) ? [] : [`payment ${id} is both open and posted, or neither`]),
    ...(sum(entries, 'net_minor') === net ? [] : [`payment ${id}: its entries are not what stands of it, ${net}`]),
    ...(stored(entries).join() === toldBy(payment).join() ? [] : [`payment ${id} has not the entries that it tells`]),
    ...entries
      .filter((entry) => partIn(entry) !== partOf(payment))
      .map((entry) => `entry ${text(entry, 'sk')} is in another part than payment ${id}`),
  ]
}

/** Each payment has the entries that its fields tell, and they add up to what stands of it. No entry is about another. */
export const paymentEntryProblems = ({ payments, entries }: Books): string[] => {
  const byPayment = Map.groupBy(entries, (entry) => text(entry, 'payment_id'))
  const known = new Set(payments.map((payment) => text(payment, 'payment_id')))
  const strays = [...byPayment.keys()].filter((id) => id !== '' && !known.has(id))
  return [
    ...strays.map((id) => `an entry is about payment ${id}, which is not there`),
    ...payments.flatMap((payment) => ownProblems(payment, byPayment.get(text(payment, 'payment_id')) ?? [])),
  ]
}
