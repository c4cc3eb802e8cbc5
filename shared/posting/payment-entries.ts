import { derivedUuid } from '../ids.ts'
import {
  type Entry,
  type Figures,
  figuresOf,
  type Legs,
  NO_FIGURES,
  NO_LEGS,
  newEntry,
} from '../journal/entry.ts'
import {
  bankRefundLegs,
  disputeWonLegs,
  lateRowLegs,
  type OwnMoney,
  ownVoidLegs,
  paymentLegs,
  takenBackLegs,
  undoneLegs,
} from '../journal/legs.ts'
import {
  type Movement,
  moneyAfter,
  moveMoney,
  type PaymentMoney,
  standingFigures,
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
 * for its client in its entries.
 */
export function entriesOf(payment: Payment): readonly Entry[] {
  const { postedAt, lateRowAt, voidedOpen, ownRow } = payment
  if (postedAt === undefined) return []
  const movements = movementEntries(payment, postedAt)
  if (voidedOpen === true) return movements
  const own = ownMoneyOf(payment)
  const isLate = lateRowAt !== undefined
  const rowFields = { row: ownRow, providerSettledAt: payment.providerSettledAt }
  const ownEntry = entryOf(payment, {
    type: 'payment',
    figures: own.price,
    postedAt,
    legs: paymentLegs(isLate ? { ...own, row: undefined } : own),
    ...(!isLate && ownRow && rowFields),
  })
  if (!isLate || ownRow === undefined) return [ownEntry, ...movements]
  const lateEntry = entryOf(payment, {
    type: 'late_row',
    figures: NO_FIGURES,
    postedAt: lateRowAt,
    legs: lateRowLegs({ ...own, row: ownRow }),
    ...rowFields,
    ...(ownRow.contradicts !== true && {
      provenMinor: payment.netMinor,
      provenEligibleAt: eligibleAt(payment, postedAt),
    }),
  })
  return [ownEntry, ...movements, lateEntry]
}

function ownMoneyOf(payment: Payment): OwnMoney {
  return {
    price: priceOf(payment),
    isInvoiced: payment.finalFee?.invoiced === true,
    row: payment.ownRow,
  }
}

function movementEntries(payment: Payment, postedAt: Timestamp): readonly Entry[] {
  let money = moneyAfter(priceOf(payment), [])
  return payment.movements.flatMap((row) => {
    const before = money
    const moved = moveMoney(before, row)
    money = moved?.money ?? before
    const figures = payment.voidedOpen === true ? NO_FIGURES : (moved?.figures ?? NO_FIGURES)
    const fields = { type: row.type, figures, row, postedAt: row.postedAt ?? postedAt }
    const entry = entryOf(payment, { ...fields, legs: movementLegs(payment, before, row, figures) })
    if (row.clawedMinor === undefined) return [entry]
    // The part that the house had written off and now takes.
    const clawed = entryOf(payment, {
      ...fields,
      type: 'written_off',
      figures: figuresOf(less(ZERO, row.clawedMinor), ZERO, ZERO),
      legs: { ...NO_LEGS, costMinor: row.clawedMinor },
    })
    return [entry, clawed]
  })
}

function movementLegs(
  payment: Payment,
  before: PaymentMoney,
  row: Movement,
  figures: Figures,
): Legs {
  switch (row.type) {
    case 'refund':
    case 'chargeback':
      return row.isByBank === true
        ? bankRefundLegs(row.amountMinor, figures)
        : takenBackLegs(row, figures)
    case 'dispute_won':
      return disputeWonLegs(row, figures)
    case 'reversal': {
      if (row.isOwnRow === true) {
        // A payment is void once, even if its row has two ids at the provider.
        if (before.isVoid || payment.voidedOpen === true) return NO_LEGS
        const standing = standingFigures(before)
        return ownVoidLegs(ownMoneyOf(payment), before.takenBackMinor, standing.markupMinor)
      }
      const undone = before.rows.find(({ transactionId }) => transactionId === row.transactionId)
      if (undone === undefined) return NO_LEGS
      return undoneLegs(undone, undone.type === 'dispute_won' ? 'in' : 'out', figures)
    }
  }
}

/** An entry is eligible a day after its payment was paid, but not before it was posted. */
function eligibleAt({ paidAt }: Payment, postedAt: Timestamp) {
  return later(postedAt, addMs(paidAt ?? postedAt, DAY_MS))
}

type EntryFields = Pick<
  Entry,
  'type' | 'postedAt' | 'providerSettledAt' | 'provenMinor' | 'provenEligibleAt'
> & {
  readonly figures: Figures
  readonly legs: Legs
  /** The provider's row that the entry books. */
  readonly row?: Pick<Movement, 'transactionId'> | undefined
}

function entryOf(payment: Payment, { type, figures, legs, row, postedAt, ...fields }: EntryFields) {
  return newEntry({
    entryId: derivedUuid('entry', payment.paymentId, type, row?.transactionId ?? ''),
    type,
    eligibleAt: eligibleAt(payment, postedAt),
    postedAt,
    ...figures,
    ...legs,
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
