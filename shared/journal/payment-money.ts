import * as v from 'valibot'
import { assertInvariant } from '../errors.ts'
import { atLeastZero, less, type Minor, MinorSchema, plus, smaller, ZERO } from '../money.ts'
import { type Timestamp, TimestampSchema } from '../time.ts'
import { type Figures, figuresOf, lessFigures, NO_FIGURES } from './entry.ts'

/** The kinds of provider rows that move the money of a paid payment (design section 10). */
export const MOVEMENT_TYPES = ['refund', 'chargeback', 'reversal', 'dispute_won'] as const

export const REVERSAL_KINDS = ['voided', 'reversed', 'refund', 'chargeback'] as const

/** A row may move a payment twice: as itself, and when it becomes void. */
export const MovementSchema = v.object({
  type: v.picklist(MOVEMENT_TYPES),
  transactionId: v.string(),
  /** The refunded, disputed or won amount, without the provider's own fee. */
  amountMinor: MinorSchema,
  providerMinor: MinorSchema,
  at: TimestampSchema,
  /** When the payment's row was written with this movement. Its event has the same time. */
  notedAt: TimestampSchema,
  /** The void row is the payment's own row, and not a refund or dispute. */
  isOwnRow: v.optional(v.boolean()),
  postedAt: v.optional(TimestampSchema),
  /** The house took this part, because it had written off the amount before. */
  clawedMinor: v.optional(MinorSchema),
})
export type Movement = v.InferOutput<typeof MovementSchema>

/** Further rows are left to an operator. */
export const MAX_MOVEMENTS = 50

/** One provider row about a paid payment. `reversal`: a row that became VOIDED or REVERSED. */
export type MoneyRow = Omit<Movement, 'notedAt' | 'postedAt' | 'clawedMinor'> & {
  readonly kind?: (typeof REVERSAL_KINDS)[number] | undefined
  readonly createdAt?: Timestamp | undefined
}

/** A row and its effect: the row takes an amount of its own, or changes what earlier rows take. */
type AppliedRow = {
  readonly row: MoneyRow
  /** The part of the row's own amount that is still taken. */
  readonly leftMinor: Minor
  /** By the position of each earlier row: how much more that row takes because of this row. */
  readonly shiftsMinor: readonly Minor[]
}

/** The client's side of one paid payment. */
export type PaymentMoney = {
  readonly price: Figures
  readonly takenBackMinor: Minor
  /** The payment's own row is VOIDED or REVERSED. */
  readonly isVoid: boolean
  /** Oldest row first; each (transaction, type) once. */
  readonly applied: readonly AppliedRow[]
}

export function initialMoney(price: Figures): PaymentMoney {
  return { price, takenBackMinor: ZERO, isVoid: false, applied: [] }
}

/** The sum of a payment's entries at any moment. Its net is the price's net - taken back. */
export function standingFigures({ price, takenBackMinor, isVoid }: PaymentMoney): Figures {
  if (isVoid || (price.netMinor > 0 && takenBackMinor === price.netMinor)) return NO_FIGURES
  return figuresOf(less(price.grossMinor, takenBackMinor), price.feeMinor, price.markupMinor)
}

/** An older reading of the row no longer counts. */
export function hasMoved(
  movements: readonly Pick<MoneyRow, 'type' | 'transactionId'>[],
  row: Pick<MoneyRow, 'type' | 'transactionId'>,
) {
  return movements.some(
    ({ type, transactionId }) =>
      transactionId === row.transactionId && (type === row.type || type === 'reversal'),
  )
}

export type MoveResult = { readonly money: PaymentMoney; readonly figures: Figures }

/** Undefined when the row was applied before (design section 10). */
export function moveMoney(money: PaymentMoney, row: MoneyRow): MoveResult | undefined {
  if (hasMoved(rowsOf(money), row)) return undefined
  const nextMoney = applyRow(money, row)
  const figures = lessFigures(standingFigures(nextMoney), standingFigures(money))
  assertInvariant(
    standingFigures(nextMoney).netMinor ===
      less(nextMoney.price.netMinor, nextMoney.takenBackMinor),
    'the entries of a payment do not add up to its net less what was taken back',
  )
  return { money: nextMoney, figures }
}

function rowsOf({ applied }: PaymentMoney): readonly MoneyRow[] {
  return applied.map(({ row }) => row)
}

/** A void payment has nothing left to take or to give back. */
function applyRow(money: PaymentMoney, row: MoneyRow): PaymentMoney {
  // Without its own row nothing of the payment remains, whatever the sign of its net.
  if (row.isOwnRow === true) {
    return {
      ...addRow(money, row, less(money.price.netMinor, money.takenBackMinor), []),
      isVoid: true,
    }
  }
  if (money.isVoid) return addRow(money, row, ZERO, [])
  switch (row.type) {
    case 'refund':
    case 'chargeback':
      // The client loses at most what it still has of the payment.
      return addRow(money, row, atLeastZero(smaller(row.amountMinor, heldMinorOf(money))), [])
    case 'dispute_won':
      return giveBackDisputed(money, row)
    case 'reversal':
      return undoRow(money, row)
  }
}

function addRow(
  money: PaymentMoney,
  row: MoneyRow,
  tookMinor: Minor,
  shiftsMinor: readonly Minor[],
): PaymentMoney {
  return {
    ...money,
    takenBackMinor: [tookMinor, ...shiftsMinor].reduce(plus, money.takenBackMinor),
    applied: [
      ...money.applied.map((earlier, at) => ({
        ...earlier,
        leftMinor: plus(earlier.leftMinor, shiftsMinor[at] ?? ZERO),
      })),
      { row, leftMinor: tookMinor, shiftsMinor },
    ],
  }
}

function heldMinorOf({ price, takenBackMinor }: PaymentMoney): Minor {
  return atLeastZero(less(price.netMinor, takenBackMinor))
}

/** A won dispute gives back what chargebacks took, oldest first. */
function giveBackDisputed(money: PaymentMoney, row: MoneyRow): PaymentMoney {
  let restMinor = row.amountMinor
  const shiftsMinor = money.applied.map(({ row: { type }, leftMinor }) => {
    const gaveMinor = type === 'chargeback' ? smaller(leftMinor, restMinor) : ZERO
    restMinor = less(restMinor, gaveMinor)
    return less(ZERO, gaveMinor)
  })
  return addRow(money, row, ZERO, shiftsMinor)
}

/**
 * A void refund or chargeback gives back what is still taken of its amount. A void dispute win
 * takes again what the win gave back, except from chargebacks that are void themselves.
 */
function undoRow(money: PaymentMoney, row: MoneyRow): PaymentMoney {
  const undoneRow = money.applied.find((earlier) => earlier.row.transactionId === row.transactionId)
  let heldMinor = heldMinorOf(money)
  const shiftsMinor = money.applied.map((earlier, at) => {
    if (earlier === undoneRow) return less(ZERO, earlier.leftMinor)
    const isVoid = hasMoved(rowsOf(money), {
      type: 'reversal',
      transactionId: earlier.row.transactionId,
    })
    const againMinor = smaller(
      isVoid ? ZERO : less(ZERO, undoneRow?.shiftsMinor[at] ?? ZERO),
      heldMinor,
    )
    heldMinor = less(heldMinor, againMinor)
    return againMinor
  })
  return addRow(money, row, ZERO, shiftsMinor)
}

export function moneyAfter(price: Figures, rows: readonly MoneyRow[]): PaymentMoney {
  return rows.reduce((money, row) => moveMoney(money, row)?.money ?? money, initialMoney(price))
}
