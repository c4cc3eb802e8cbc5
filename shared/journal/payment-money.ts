import * as v from 'valibot'
import { atLeastZero, less, type Minor, MinorSchema, plus, smaller, ZERO } from '../money.ts'
import { type Timestamp, TimestampSchema } from '../time.ts'
import { type Figures, figuresOf, lessFigures, NO_FIGURES } from './entry.ts'

export const MOVEMENT_TYPES = ['refund', 'chargeback', 'reversal', 'dispute_won'] as const

export const REVERSAL_KINDS = ['voided', 'reversed', 'refund', 'chargeback'] as const

/** A row may move a payment twice: as itself, and when it becomes void. */
export const MovementSchema = v.object({
  type: v.picklist(MOVEMENT_TYPES),
  transactionId: v.string(),
  /** The refunded, disputed or won amount, without the provider's own fee. */
  amountMinor: MinorSchema,
  feeMinor: v.optional(MinorSchema),
  providerMinor: MinorSchema,
  /** A refund that our bank paid: no row of the provider moved the amount. */
  isByBank: v.optional(v.literal(true)),
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

/** A row that moves a paid payment's money. `reversal`: it became VOIDED or REVERSED. */
export type MoneyRow = Omit<Movement, 'notedAt' | 'postedAt' | 'clawedMinor'> & {
  readonly kind?: (typeof REVERSAL_KINDS)[number] | undefined
  readonly createdAt?: Timestamp | undefined
}

/** The client's side of one paid payment: a function of the rows that stand, in any order. */
export type PaymentMoney = {
  readonly price: Figures
  /** Each (transaction, type) once. */
  readonly rows: readonly MoneyRow[]
  readonly takenBackMinor: Minor
  /** Refunds and lost disputes, which may exceed the payment. */
  readonly wentBackMinor: Minor
  readonly isDisputed: boolean
  readonly isVoid: boolean
}

export function moneyAfter(price: Figures, rows: readonly MoneyRow[]): PaymentMoney {
  const distinctRows = rows.filter((row, at) => !hasMoved(rows.slice(0, at), row))
  const isVoid = rows.some(({ isOwnRow }) => isOwnRow === true)
  const disputedMinor = atLeastZero(
    less(standingMinor(distinctRows, 'chargeback'), standingMinor(distinctRows, 'dispute_won')),
  )
  const wentBackMinor = plus(standingMinor(distinctRows, 'refund'), disputedMinor)
  return {
    price,
    rows: distinctRows,
    // Without its own row nothing of the payment remains, whatever the sign of its net.
    takenBackMinor: isVoid ? price.netMinor : atLeastZero(smaller(price.netMinor, wentBackMinor)),
    wentBackMinor,
    isDisputed: disputedMinor > 0,
    isVoid,
  }
}

/** Voided and reversed rows do not count. */
function standingMinor(rows: readonly MoneyRow[], type: Movement['type']) {
  return rows
    .filter((row) => row.type === type && undoneBy(rows, row) === undefined)
    .reduce((sum, { amountMinor }) => plus(sum, amountMinor), ZERO)
}

function undoneBy(rows: readonly MoneyRow[], { transactionId }: MoneyRow) {
  return rows.find((row) => row.type === 'reversal' && row.transactionId === transactionId)
}

/** The sum of a payment's entries at any moment. Its net is the price's net - taken back. */
export function standingFigures({ price, takenBackMinor, isVoid }: PaymentMoney): Figures {
  if (isVoid || (price.netMinor > 0 && takenBackMinor === price.netMinor)) return NO_FIGURES
  return figuresOf(less(price.grossMinor, takenBackMinor), price.feeMinor, price.markupMinor)
}

/** A row whose void was applied has moved too: an older reading of it no longer counts. */
export function hasMoved(
  movements: readonly Pick<MoneyRow, 'type' | 'transactionId'>[],
  row: Pick<MoneyRow, 'type' | 'transactionId'>,
) {
  return movements.some(
    ({ type, transactionId }) =>
      transactionId === row.transactionId && (type === row.type || type === 'reversal'),
  )
}

/** `figures`: the difference that the row makes. */
export type MoveResult = { readonly money: PaymentMoney; readonly figures: Figures }

/** Undefined when the row was applied before (design section 10). */
export function moveMoney(money: PaymentMoney, row: MoneyRow): MoveResult | undefined {
  if (hasMoved(money.rows, row)) return undefined
  const nextMoney = moneyAfter(money.price, [...money.rows, row])
  return {
    money: nextMoney,
    figures: lessFigures(standingFigures(nextMoney), standingFigures(money)),
  }
}
