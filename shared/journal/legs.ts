import { type Minor, minor, negated, ZERO } from '../money.ts'
import { type Figures, type Legs, NO_LEGS } from './entry.ts'

type BookedRow = {
  /** Its own net amount, signed by its cashflow. */
  readonly providerMinor: Minor
  /** Without sign, and without the provider's own fee. */
  readonly amountMinor: Minor
  /** The provider's own fee that the row shows. */
  readonly feeMinor?: Minor | undefined
}

/**
 * The legs of design section 12, one function for each line of its table. Each leg is computed by
 * itself, from amounts, shown fees and states: the provider's leg enters another leg only as a
 * difference with a name.
 */

/** The entry of a posted payment. `row`: undefined while the payment's row is in transit. */
export function paymentLegs({ price, isInvoiced, row }: OwnMoney): Legs {
  const { grossMinor, feeMinor } = price
  if (row === undefined) return { ...NO_LEGS, transitMinor: minor(grossMinor - feeMinor) }
  const expectedMinor = expectedCredit({ price, isInvoiced })
  const contradicts = row.contradicts === true
  return {
    ...NO_LEGS,
    providerMinor: row.providerMinor,
    transitMinor: minor(grossMinor - feeMinor - expectedMinor),
    // A fee that the provider keeps although it bills it later, too.
    costMinor: minor(isInvoiced && !contradicts ? row.providerMinor - expectedMinor : 0),
    otherMinor: minor(contradicts ? row.providerMinor - expectedMinor : 0),
  }
}

export type OwnMoney = {
  readonly price: Figures
  readonly isInvoiced: boolean
  readonly row: OwnRow | undefined
}

export type OwnRow = {
  readonly transactionId: string
  /** What our account at the provider gains. */
  readonly providerMinor: Minor
  /** Another amount than the payment's, or a fee that cannot be: it says nothing about the fee. */
  readonly contradicts?: true | undefined
}

/** What the provider is to credit; a contract that bills later deducts no fee. */
function expectedCredit({ price, isInvoiced }: Omit<OwnMoney, 'row'>) {
  return minor(isInvoiced ? price.grossMinor : price.grossMinor - price.feeMinor)
}

/** The row of a payment that was posted before. It empties transit. */
export function lateRowLegs(own: OwnMoney & { readonly row: OwnRow }): Legs {
  const { providerMinor, contradicts } = own.row
  const expectedMinor = expectedCredit(own)
  const differenceMinor = minor(providerMinor - expectedMinor)
  return {
    ...NO_LEGS,
    providerMinor,
    transitMinor: negated(expectedMinor),
    ...(contradicts === true ? { otherMinor: differenceMinor } : { costMinor: differenceMinor }),
  }
}

/** The client bears what it gives back, the house the provider's fee and the rest. */
export function takenBackLegs(row: BookedRow, { netMinor, markupMinor }: Figures): Legs {
  const { providerMinor, amountMinor, feeMinor = ZERO } = row
  return {
    ...NO_LEGS,
    providerMinor,
    costMinor: minor(negated(feeMinor) - (amountMinor + netMinor) - markupMinor),
    otherMinor: contradictionOut(row),
  }
}

/** A refund by transfer from our bank. */
export function bankRefundLegs(amountMinor: Minor, { netMinor, markupMinor }: Figures): Legs {
  return {
    ...NO_LEGS,
    bankMinor: negated(amountMinor),
    costMinor: minor(-(amountMinor + netMinor) - markupMinor),
  }
}

export function disputeWonLegs(row: BookedRow, { netMinor, markupMinor }: Figures): Legs {
  const { providerMinor, amountMinor, feeMinor = 0 } = row
  return {
    ...NO_LEGS,
    providerMinor,
    costMinor: minor(amountMinor - netMinor - feeMinor - markupMinor),
    otherMinor: contradictionIn(row),
  }
}

/** A row that was booked, out or in, is void. */
export function undoneLegs(
  row: BookedRow,
  direction: 'out' | 'in',
  { netMinor, markupMinor }: Figures,
): Legs {
  const { providerMinor, amountMinor, feeMinor = 0 } = row
  const isOut = direction === 'out'
  const undoneMinor = isOut ? amountMinor + feeMinor : feeMinor - amountMinor
  return {
    ...NO_LEGS,
    providerMinor: negated(providerMinor),
    costMinor: minor(undoneMinor - netMinor - markupMinor),
    otherMinor: negated(isOut ? contradictionOut(row) : contradictionIn(row)),
  }
}

/** A posted payment's own row is void: its entries are booked back, what was taken back is lost. */
export function ownVoidLegs(
  own: OwnMoney,
  takenBackMinor: Minor,
  standingMarkupMinor: Minor,
): Legs {
  const { price, row } = own
  const expectedMinor = row ? expectedCredit(own) : 0
  const differenceMinor = row ? row.providerMinor - expectedMinor : 0
  const isOther = row?.contradicts === true
  return {
    ...NO_LEGS,
    providerMinor: negated(row?.providerMinor ?? ZERO),
    transitMinor: minor(expectedMinor - (price.grossMinor - price.feeMinor)),
    costMinor: minor(
      negated(takenBackMinor) -
        (price.markupMinor - standingMarkupMinor) -
        (isOther ? 0 : differenceMinor),
    ),
    otherMinor: minor(isOther ? -differenceMinor : 0),
  }
}

/** Money in suspense whose own row has settled. The provider's fee is a cost. */
export function suspenseLegs(
  { providerMinor }: Pick<BookedRow, 'providerMinor'>,
  amountMinor: Minor,
): Legs {
  return {
    ...NO_LEGS,
    providerMinor,
    suspenseMinor: amountMinor,
    costMinor: minor(providerMinor - amountMinor),
  }
}

/** `backMinor`: the part of the row that the item still held. */
export function suspenseRefundLegs(row: BookedRow, backMinor: Minor): Legs {
  const { providerMinor, amountMinor, feeMinor = ZERO } = row
  return {
    ...NO_LEGS,
    providerMinor,
    suspenseMinor: negated(backMinor),
    costMinor: minor(negated(feeMinor) - (amountMinor - backMinor)),
    otherMinor: contradictionOut(row),
  }
}

/** `againMinor`: what the item gets back; zero after its end. */
export function suspenseRefundVoidLegs(refund: Legs, againMinor: Minor): Legs {
  return {
    ...NO_LEGS,
    providerMinor: negated(refund.providerMinor),
    suspenseMinor: againMinor,
    costMinor: minor(negated(refund.costMinor) - refund.suspenseMinor - againMinor),
    otherMinor: negated(refund.otherMinor),
  }
}

/** The own row of money in suspense is void: its entry is booked back, the rest of it is lost. */
export function suspenseVoidLegs(item: Suspended): Legs {
  const { amountMinor = ZERO, providerMinor, refundedMinor = ZERO, resolvedMinor, heldMinor } = item
  const feeMinor = providerMinor === undefined ? 0 : amountMinor - providerMinor
  return {
    ...NO_LEGS,
    providerMinor: negated(providerMinor ?? ZERO),
    suspenseMinor: negated(heldMinor),
    costMinor: minor(feeMinor - refundedMinor - resolvedMinor),
  }
}

type Suspended = {
  readonly amountMinor?: Minor | undefined
  /** What its own row moved; undefined before it settles. */
  readonly providerMinor?: Minor | undefined
  readonly refundedMinor?: Minor | undefined
  /** What an operator gave back by bank or wrote off. */
  readonly resolvedMinor: Minor
  readonly heldMinor: Minor
}

/** An operator closes an item: our bank refunds it, or the house keeps it. */
export function suspenseResolvedLegs(heldMinor: Minor, isByBank: boolean): Legs {
  const suspenseMinor = negated(heldMinor)
  return isByBank
    ? { ...NO_LEGS, suspenseMinor, bankMinor: negated(heldMinor) }
    : { ...NO_LEGS, suspenseMinor, otherMinor: heldMinor }
}

export function unmatchedLegs({ providerMinor }: Pick<BookedRow, 'providerMinor'>): Legs {
  return { ...NO_LEGS, providerMinor, otherMinor: providerMinor }
}

/** The amount moves between our bank and the provider's account; its fee is a cost. */
export function transferLegs(type: 'topup' | 'withdrawal', row: BookedRow): Legs {
  const { providerMinor, amountMinor, feeMinor = ZERO } = row
  const isIn = type === 'topup'
  return {
    ...NO_LEGS,
    providerMinor,
    bankMinor: isIn ? negated(amountMinor) : amountMinor,
    costMinor: negated(feeMinor),
    otherMinor: isIn ? contradictionIn(row) : contradictionOut(row),
  }
}

/** The client's money that an operator writes down. `row`: one that the house gives up for it. */
export function adjustmentLegs(
  type: 'recovered' | 'returned' | 'written_off' | 'correction',
  amountMinor: Minor,
  row?: Pick<BookedRow, 'providerMinor'>,
): Legs {
  switch (type) {
    case 'recovered':
    case 'returned':
      return { ...NO_LEGS, bankMinor: amountMinor }
    case 'written_off':
      return { ...NO_LEGS, costMinor: negated(amountMinor) }
    case 'correction': {
      const providerMinor = row?.providerMinor ?? ZERO
      return { ...NO_LEGS, providerMinor, otherMinor: minor(providerMinor - amountMinor) }
    }
  }
}

/** What a row for money out moves beyond its amount and its fee: it contradicts itself. */
export function contradictionOut({
  providerMinor,
  amountMinor,
  feeMinor = ZERO,
}: BookedRow): Minor {
  return minor(providerMinor + amountMinor + feeMinor)
}

export function contradictionIn({ providerMinor, amountMinor, feeMinor = ZERO }: BookedRow): Minor {
  return minor(providerMinor - (amountMinor - feeMinor))
}
