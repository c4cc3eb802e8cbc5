import { derivedUuid } from '../ids.ts'
import { type Entry, type Figures, figuresOf, NO_FIGURES, newEntry } from '../journal/entry.ts'
import {
  type Movement,
  moneyAfter,
  moveMoney,
  type PaymentMoney,
  untouched,
} from '../journal/payment-money.ts'
import { less, ZERO } from '../money.ts'
import type { Payment } from '../payment/payment.ts'
import { addMs, DAY_MS, later, type Timestamp } from '../time.ts'

/** A payment's client side, by its present figures. */
export function moneyOf(payment: Payment): PaymentMoney {
  return moneyAfter(priceOf(payment), payment.movements)
}

function priceOf({ notionalMinor, providerFeeMinor, markupMinor }: Payment): Figures {
  return figuresOf(notionalMinor, providerFeeMinor, markupMinor)
}

/** Every entry that a payment has, by its stored fields. A payment that was voided while open has zeros in them. */
export function entriesOf(payment: Payment): readonly Entry[] {
  const { postedAt, lateRowAt, voidedOpen, ownRow, providerSettledAt } = payment
  if (postedAt === undefined) return []
  const figures = priceOf(payment)
  // Its settled row came before the posting, or late, or never.
  const settled =
    lateRowAt === undefined && ownRow ? { row: ownRow, providerSettledAt } : { row: undefined }
  // A late row has zeros for the client, and all of it at the provider.
  const proven = { provenMinor: payment.netMinor, provenEligibleAt: eligibleAt(payment, postedAt) }
  const late = {
    type: 'late_row',
    figures: NO_FIGURES,
    row: ownRow,
    providerSettledAt,
    ...proven,
  } as const
  let money = untouched(figures)
  const moved = payment.movements.flatMap((movement) => {
    const step = moveMoney(money, movement)
    money = step?.money ?? money
    const change = voidedOpen === true ? NO_FIGURES : (step?.figures ?? NO_FIGURES)
    return movementEntries(payment, movement, change, movement.postedAt ?? postedAt)
  })
  return [
    ...(voidedOpen === true
      ? []
      : [entryOf(payment, { type: 'payment', figures, postedAt, ...settled })]),
    ...moved,
    ...(lateRowAt === undefined ? [] : [entryOf(payment, { ...late, postedAt: lateRowAt })]),
  ]
}

/** An entry is eligible a day after its payment was paid, but not before it was posted. */
function eligibleAt({ paidAt }: Payment, postedAt: Timestamp): Timestamp {
  return later(postedAt, addMs(paidAt ?? postedAt, DAY_MS))
}

/** What a movement took back, and the part that the house took because it had written it off. */
function movementEntries(
  payment: Payment,
  row: Movement,
  figures: Figures,
  postedAt: Timestamp,
): readonly Entry[] {
  const moved = { type: row.type, figures, row, postedAt }
  if (row.clawedMinor === undefined) return [entryOf(payment, moved)]
  const clawed = {
    figures: figuresOf(less(ZERO, row.clawedMinor), ZERO, ZERO),
    row: { ...row, providerMinor: ZERO },
  }
  return [entryOf(payment, moved), entryOf(payment, { ...moved, ...clawed, type: 'written_off' })]
}

type EntryOf = Pick<
  Entry,
  'type' | 'postedAt' | 'providerSettledAt' | 'provenMinor' | 'provenEligibleAt'
> & {
  readonly figures: Figures
  /** The provider's row that it books. */
  readonly row: Payment['ownRow']
}

function entryOf(payment: Payment, { type, figures, row, postedAt, ...fields }: EntryOf) {
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
  const known = new Set(entriesOf(before).map(({ entryId }) => entryId))
  return entriesOf(after).filter(({ entryId }) => !known.has(entryId))
}
