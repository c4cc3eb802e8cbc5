import { derivedUuid } from '../ids.ts'
import { type Entry, type Figures, figuresOf, NO_FIGURES, newEntry } from '../journal/entry.ts'
import { type Movement, moneyAfter, moveMoney, type PaymentMoney, untouched } from '../journal/payment-money.ts'
import { less, type Minor, ZERO } from '../money.ts'
import type { Payment } from '../payment/payment.ts'
import { addMs, DAY_MS, later, type Timestamp } from '../time.ts'

/** A payment's client side, by its present figures. */
export const moneyOf = (payment: Payment): PaymentMoney => moneyAfter(priceOf(payment), payment.movements)

const priceOf = ({ notionalMinor, providerFeeMinor, markupMinor }: Payment): Figures =>
  figuresOf(notionalMinor, providerFeeMinor, markupMinor)

type EntryOf = Pick<Entry, 'type' | 'postedAt' | 'providerSettledAt' | 'provenMinor' | 'provenEligibleAt'> & {
  readonly figures: Figures
  readonly providerMinor: Minor | undefined
  readonly transactionId: string | undefined
}

/** An entry is eligible a day after its payment was paid, but not before it was posted. */
const eligibleAt = ({ paidAt }: Payment, postedAt: Timestamp): Timestamp =>
  later(postedAt, addMs(paidAt ?? postedAt, DAY_MS))

const entryOf = (payment: Payment, { type, figures, providerMinor, transactionId, postedAt, ...fields }: EntryOf) =>
  newEntry({
    entryId: derivedUuid('entry', payment.paymentId, type, transactionId ?? ''),
    type,
    eligibleAt: eligibleAt(payment, postedAt),
    postedAt,
    ...figures,
    providerMinor,
    paymentId: payment.paymentId,
    providerTransactionId: transactionId,
    externalReference: payment.externalReference,
    method: payment.method,
    channelCode: payment.channelCode,
    paidAt: payment.paidAt,
    ...fields,
  })

/** The payment's own entry: its final price, with its settled row at the provider unless that came late or never. */
const ownEntry = (payment: Payment, postedAt: Timestamp): Entry => {
  const row = payment.lateRowAt === undefined ? payment.ownRow : undefined
  return entryOf(payment, {
    type: 'payment',
    figures: priceOf(payment),
    providerMinor: row?.providerMinor,
    transactionId: row?.transactionId,
    postedAt,
    providerSettledAt: row && payment.providerSettledAt,
  })
}

/** The late settled row of a posted payment: zeros for the client, all of it at the provider. */
const lateEntry = (payment: Payment, { postedAt, lateRowAt }: { postedAt: Timestamp; lateRowAt: Timestamp }): Entry =>
  entryOf(payment, {
    type: 'late_row',
    figures: NO_FIGURES,
    providerMinor: payment.ownRow?.providerMinor,
    transactionId: payment.ownRow?.transactionId,
    postedAt: lateRowAt,
    providerSettledAt: payment.providerSettledAt,
    provenMinor: payment.netMinor,
    provenEligibleAt: eligibleAt(payment, postedAt),
  })

/** What a movement took back, and the part that the house took because it had written it off. */
const movementEntries = (
  payment: Payment,
  { type, transactionId, providerMinor, clawedMinor }: Movement,
  { figures, postedAt }: { readonly figures: Figures; readonly postedAt: Timestamp },
): readonly Entry[] => {
  const moved = { type, figures, providerMinor, transactionId, postedAt }
  if (clawedMinor === undefined) return [entryOf(payment, moved)]
  const clawed = figuresOf(less(ZERO, clawedMinor), ZERO, ZERO)
  const writtenOff = { ...moved, type: 'written_off', figures: clawed, providerMinor: ZERO } as const
  return [entryOf(payment, moved), entryOf(payment, writtenOff)]
}

/** Every entry that a payment has, by its stored fields. A payment that was voided while open has zeros in them. */
export const entriesOf = (payment: Payment): readonly Entry[] => {
  const { postedAt, lateRowAt, voidedOpen } = payment
  if (postedAt === undefined) return []
  let money = untouched(priceOf(payment))
  const moved = payment.movements.flatMap((movement) => {
    const step = moveMoney(money, movement)
    money = step?.money ?? money
    const figures = voidedOpen === true ? NO_FIGURES : (step?.figures ?? NO_FIGURES)
    return movementEntries(payment, movement, { figures, postedAt: movement.postedAt ?? postedAt })
  })
  return [
    ...(voidedOpen === true ? [] : [ownEntry(payment, postedAt)]),
    ...moved,
    ...(lateRowAt === undefined ? [] : [lateEntry(payment, { postedAt, lateRowAt })]),
  ]
}

export const addedEntries = (before: Payment, after: Payment): readonly Entry[] => {
  const known = new Set(entriesOf(before).map(({ entryId }) => entryId))
  return entriesOf(after).filter(({ entryId }) => !known.has(entryId))
}
