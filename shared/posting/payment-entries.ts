import { derivedUuid } from '../ids.ts'
import { type Entry, type Figures, figuresOf, NO_FIGURES, newEntry } from '../journal/entry.ts'
import {
  initialMoney,
  type Movement,
  moneyAfter,
  moveMoney,
  type PaymentMoney,
} from '../journal/payment-money.ts'
import { less, ZERO } from '../money.ts'
import type { Payment } from '../payment/payment.ts'
import { addMs, DAY_MS, later, type Timestamp } from '../time.ts'

export function moneyOf(payment: Payment): PaymentMoney {
  return moneyAfter(priceOf(payment), payment.movements)
}

function priceOf({ notionalMinor, providerFeeMinor, markupMinor }: Payment): Figures {
  return figuresOf(notionalMinor, providerFeeMinor, markupMinor)
}

/**
 * Every entry of a payment, by its stored fields. A payment that became void while open has zeros
 * in its entries.
 */
export function entriesOf(payment: Payment): readonly Entry[] {
  const { postedAt, lateRowAt, voidedOpen, ownRow, providerSettledAt } = payment
  if (postedAt === undefined) return []
  const figures = priceOf(payment)
  const settledFields =
    lateRowAt === undefined && ownRow ? { row: ownRow, providerSettledAt } : { row: undefined }
  // The entry of a late row has zeros for the client, and the row's amount at the provider.
  const provenFields = {
    provenMinor: payment.netMinor,
    provenEligibleAt: eligibleAt(payment, postedAt),
  }
  const lateFields = {
    type: 'late_row',
    figures: NO_FIGURES,
    row: ownRow,
    providerSettledAt,
    ...provenFields,
  } as const
  let money = initialMoney(figures)
  const moveEntries = payment.movements.flatMap((movement) => {
    const result = moveMoney(money, movement)
    money = result?.money ?? money
    const change = voidedOpen === true ? NO_FIGURES : (result?.figures ?? NO_FIGURES)
    return movementEntries(payment, movement, change, movement.postedAt ?? postedAt)
  })
  return [
    ...(voidedOpen === true
      ? []
      : [entryOf(payment, { type: 'payment', figures, postedAt, ...settledFields })]),
    ...moveEntries,
    ...(lateRowAt === undefined ? [] : [entryOf(payment, { ...lateFields, postedAt: lateRowAt })]),
  ]
}

/** An entry is eligible a day after its payment was paid, but not before it was posted. */
function eligibleAt({ paidAt }: Payment, postedAt: Timestamp): Timestamp {
  return later(postedAt, addMs(paidAt ?? postedAt, DAY_MS))
}

/** A second entry has the part that the house had written off and now takes. */
function movementEntries(
  payment: Payment,
  row: Movement,
  figures: Figures,
  postedAt: Timestamp,
): readonly Entry[] {
  const fields = { type: row.type, figures, row, postedAt }
  if (row.clawedMinor === undefined) return [entryOf(payment, fields)]
  const clawedFields = {
    figures: figuresOf(less(ZERO, row.clawedMinor), ZERO, ZERO),
    row: { ...row, providerMinor: ZERO },
  }
  return [
    entryOf(payment, fields),
    entryOf(payment, { ...fields, ...clawedFields, type: 'written_off' }),
  ]
}

type EntryFields = Pick<
  Entry,
  'type' | 'postedAt' | 'providerSettledAt' | 'provenMinor' | 'provenEligibleAt'
> & {
  readonly figures: Figures
  /** The provider's row that the entry books. */
  readonly row: Payment['ownRow']
}

function entryOf(payment: Payment, { type, figures, row, postedAt, ...fields }: EntryFields) {
  return newEntry({
    entryId: derivedUuid('entry', payment.paymentId, type, row?.transactionId ?? ''),
    type,
    eligibleAt: eligibleAt(payment, postedAt),
    postedAt,
    ...figures,
    providerMinor: row?.providerMinor,
    paymentId: payment.paymentId,
    providerTransactionId: row?.transactionId,
    externalReference: payment.externalReference,
    method: payment.method,
    channelCode: payment.channelCode,
    paidAt: payment.paidAt,
    ...fields,
  })
}

export function addedEntries(before: Payment, after: Payment): readonly Entry[] {
  const knownIds = new Set(entriesOf(before).map(({ entryId }) => entryId))
  return entriesOf(after).filter(({ entryId }) => !knownIds.has(entryId))
}
