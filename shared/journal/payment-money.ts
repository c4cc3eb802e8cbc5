import * as v from 'valibot'
import { assertInvariant } from '../errors.ts'
import { atLeastZero, less, type Minor, MinorSchema, plus, smaller, ZERO } from '../money.ts'
import { type Timestamp, TimestampSchema } from '../time.ts'
import { type Figures, figuresOf, lessFigures, NO_FIGURES } from './entry.ts'

/** The kinds of provider rows that move the money of a paid payment (design section 10). */
export const MOVEMENT_TYPES = ['refund', 'chargeback', 'reversal', 'dispute_won'] as const

export const REVERSAL_KINDS = ['voided', 'reversed', 'refund', 'chargeback'] as const

/** The effect of one provider row on a payment. A row can move a payment twice: as it is, and when it is voided. */
export const MovementSchema = v.object({
  type: v.picklist(MOVEMENT_TYPES),
  transactionId: v.string(),
  /** The refunded, disputed or won amount, without the provider's own fee. */
  amountMinor: MinorSchema,
  providerMinor: MinorSchema,
  at: TimestampSchema,
  /** Whether it is the payment's own row, and not one that moved it before. */
  isOwnRow: v.optional(v.boolean()),
  postedAt: v.optional(TimestampSchema),
  /** The part that the house took, because it had written that off before. */
  clawedMinor: v.optional(MinorSchema),
})
export type Movement = v.InferOutput<typeof MovementSchema>

/** The most movements of a payment. A further one is left to an operator. */
export const MAX_MOVEMENTS = 50

/** One provider row about a paid payment. `reversal`: a row that became VOIDED or REVERSED. */
export type MoneyRow = Omit<Movement, 'postedAt' | 'clawedMinor'> & {
  readonly kind?: (typeof REVERSAL_KINDS)[number] | undefined
  readonly createdAt?: Timestamp | undefined
}

/** A row, and what it did: it took an amount of its own, or more or less of what the rows before it took. */
type Applied = {
  readonly row: MoneyRow
  /** The part of its own amount that is still taken. */
  readonly leftMinor: Minor
  /** By the position of a row before it: how much more is taken because of this row. */
  readonly shiftsMinor: readonly Minor[]
}

/** The client's side of one paid payment: its price, and what the provider's rows did to it. */
export type PaymentMoney = {
  readonly price: Figures
  readonly takenBackMinor: Minor
  /** The payment's own row is VOIDED or REVERSED. */
  readonly isVoid: boolean
  /** Oldest first; each (transaction, type) once. */
  readonly applied: readonly Applied[]
}

export function untouched(price: Figures): PaymentMoney {
  return { price, takenBackMinor: ZERO, isVoid: false, applied: [] }
}

/** The sum of a payment's entries, at every moment and by every path. Its net is always net - taken back. */
export function standingFigures({ price, takenBackMinor, isVoid }: PaymentMoney): Figures {
  if (isVoid || (price.netMinor > 0 && takenBackMinor === price.netMinor)) return NO_FIGURES
  return figuresOf(less(price.grossMinor, takenBackMinor), price.feeMinor, price.markupMinor)
}

/** Whether a row has moved the payment before, or is already void: an older reading of it no longer counts. */
export function hasMoved(
  movements: readonly Pick<MoneyRow, 'type' | 'transactionId'>[],
  row: Pick<MoneyRow, 'type' | 'transactionId'>,
) {
  return movements.some(
    ({ type, transactionId }) =>
      transactionId === row.transactionId && (type === row.type || type === 'reversal'),
  )
}

export type Moved = { readonly money: PaymentMoney; readonly figures: Figures }

/** Applies one provider row to a payment's money (design section 10). Undefined when it was applied before. */
export function moveMoney(money: PaymentMoney, row: MoneyRow): Moved | undefined {
  if (hasMoved(rowsOf(money), row)) return undefined
  const next = after(money, row)
  const figures = lessFigures(standingFigures(next), standingFigures(money))
  assertInvariant(
    standingFigures(next).netMinor === less(next.price.netMinor, next.takenBackMinor),
    'the entries of a payment do not add up to its net less what was taken back',
  )
  return { money: next, figures }
}

function rowsOf({ applied }: PaymentMoney): readonly MoneyRow[] {
  return applied.map(({ row }) => row)
}

/** Nothing is left of a void payment to take or to give back. */
function after(money: PaymentMoney, row: MoneyRow): PaymentMoney {
  // Without its own row nothing of the payment remains, whatever its sign.
  if (row.isOwnRow === true) {
    return {
      ...apply(money, row, less(money.price.netMinor, money.takenBackMinor), []),
      isVoid: true,
    }
  }
  if (money.isVoid) return apply(money, row, ZERO, [])
  switch (row.type) {
    case 'refund':
    case 'chargeback':
      // The client loses at most what it still has of the payment.
      return apply(money, row, atLeastZero(smaller(row.amountMinor, heldOf(money))), [])
    case 'dispute_won':
      return give(money, row)
    case 'reversal':
      return undo(money, row)
  }
}

function apply(
  money: PaymentMoney,
  row: MoneyRow,
  tookMinor: Minor,
  shiftsMinor: readonly Minor[],
): PaymentMoney {
  return {
    ...money,
    takenBackMinor: [tookMinor, ...shiftsMinor].reduce(plus, money.takenBackMinor),
    applied: [
      ...money.applied.map((one, at) => ({
        ...one,
        leftMinor: plus(one.leftMinor, shiftsMinor[at] ?? ZERO),
      })),
      { row, leftMinor: tookMinor, shiftsMinor },
    ],
  }
}

/** What the client still has of the payment. */
function heldOf({ price, takenBackMinor }: PaymentMoney): Minor {
  return atLeastZero(less(price.netMinor, takenBackMinor))
}

/** A won dispute gives back what chargebacks took, oldest first. */
function give(money: PaymentMoney, row: MoneyRow): PaymentMoney {
  let restMinor = row.amountMinor
  const shiftsMinor = money.applied.map(({ row: { type }, leftMinor }) => {
    const gaveMinor = type === 'chargeback' ? smaller(leftMinor, restMinor) : ZERO
    restMinor = less(restMinor, gaveMinor)
    return less(ZERO, gaveMinor)
  })
  return apply(money, row, ZERO, shiftsMinor)
}

/**
 * A void refund or chargeback gives back the rest of its own amount. A void dispute win takes again what it gave back,
 * except from chargebacks that are void themselves.
 */
function undo(money: PaymentMoney, row: MoneyRow): PaymentMoney {
  const undone = money.applied.find((one) => one.row.transactionId === row.transactionId)
  let heldMinor = heldOf(money)
  const shiftsMinor = money.applied.map((one, at) => {
    if (one === undone) return less(ZERO, one.leftMinor)
    const isVoid = hasMoved(rowsOf(money), {
      type: 'reversal',
      transactionId: one.row.transactionId,
    })
    const againMinor = smaller(
      isVoid ? ZERO : less(ZERO, undone?.shiftsMinor[at] ?? ZERO),
      heldMinor,
    )
    heldMinor = less(heldMinor, againMinor)
    return againMinor
  })
  return apply(money, row, ZERO, shiftsMinor)
}

/** The money of a payment of this price after these rows. */
export function moneyAfter(price: Figures, rows: readonly MoneyRow[]): PaymentMoney {
  return rows.reduce((money, row) => moveMoney(money, row)?.money ?? money, untouched(price))
}
