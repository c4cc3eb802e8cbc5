import * as v from 'valibot'
import { assertInvariant } from '../errors.ts'
import { atLeastZero, less, type Minor, MinorSchema, plus, smaller, ZERO } from '../money.ts'
import { type Timestamp, TimestampSchema } from '../time.ts'
import { type Figures, lessFigures, type PaymentMoney, standingFigures } from './entry.ts'

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
  tookMinor: MinorSchema,
  /** The part that is still taken. */
  leftMinor: MinorSchema,
})
export type Movement = v.InferOutput<typeof MovementSchema>

/** The most movements of a payment. A further one is left to an operator. */
export const MAX_MOVEMENTS = 50

/** One provider row about a paid payment. `reversal`: a row that became VOIDED or REVERSED. */
export type MoneyRow = Omit<Movement, 'tookMinor' | 'leftMinor' | 'postedAt' | 'clawedMinor'> & {
  readonly kind?: (typeof REVERSAL_KINDS)[number] | undefined
  readonly createdAt?: Timestamp | undefined
}

export type Moved = { readonly money: PaymentMoney; readonly figures: Figures }

/** Whether a row has moved the payment before, or is already void: an older reading of it no longer counts. */
export const hasMoved = (
  { movements }: Pick<PaymentMoney, 'movements'>,
  row: Pick<MoneyRow, 'type' | 'transactionId'>,
) =>
  movements.some(
    ({ type, transactionId }) => transactionId === row.transactionId && (type === row.type || type === 'reversal'),
  )

const withMovement = (money: PaymentMoney, row: MoneyRow, tookMinor: Minor): PaymentMoney => {
  const { type, transactionId, amountMinor, providerMinor, at, isOwnRow } = row
  const movement = { type, transactionId, amountMinor, providerMinor, at, ...(isOwnRow === true && { isOwnRow }) }
  return {
    ...money,
    takenBackMinor: plus(money.takenBackMinor, tookMinor),
    movements: [...money.movements, { ...movement, tookMinor, leftMinor: atLeastZero(tookMinor) }],
  }
}

/** Takes from the client at most what it still has of the payment. */
const take = (money: PaymentMoney, row: MoneyRow, wantedMinor: Minor): PaymentMoney =>
  withMovement(money, row, atLeastZero(smaller(wantedMinor, less(money.price.netMinor, money.takenBackMinor))))

/** Gives back what the given movements took, oldest first. A void payment gives nothing: its figures stay zero. */
const give = (
  money: PaymentMoney,
  row: MoneyRow,
  { from, maxMinor }: { readonly from: (movement: Movement) => boolean; readonly maxMinor: Minor },
): PaymentMoney => {
  let gaveMinor = ZERO
  const movements = money.movements.map((movement) => {
    if (money.isVoid || !from(movement)) return movement
    const given = smaller(movement.leftMinor, less(maxMinor, gaveMinor))
    gaveMinor = plus(gaveMinor, given)
    return { ...movement, leftMinor: less(movement.leftMinor, given) }
  })
  return withMovement({ ...money, movements }, row, less(ZERO, gaveMinor))
}

/** Voids the payment's own row: nothing of the payment remains, whatever its sign. */
const voidOwnRow = (money: PaymentMoney, row: MoneyRow): PaymentMoney => ({
  ...withMovement(money, row, less(money.price.netMinor, money.takenBackMinor)),
  isVoid: true,
})

/** A voided refund or chargeback gives back the rest of its own amount; a voided dispute win takes again. */
const voidMovement = (money: PaymentMoney, row: MoneyRow): PaymentMoney => {
  const own = money.movements.find(({ transactionId }) => transactionId === row.transactionId)
  if (own === undefined) return withMovement(money, row, ZERO)
  if (own.type === 'dispute_won') return take(money, row, less(ZERO, own.tookMinor))
  return give(money, row, { from: (movement) => movement === own, maxMinor: own.leftMinor })
}

const after = (money: PaymentMoney, row: MoneyRow): PaymentMoney => {
  switch (row.type) {
    case 'refund':
    case 'chargeback':
      return take(money, row, row.amountMinor)
    case 'dispute_won':
      return give(money, row, { from: ({ type }) => type !== 'refund', maxMinor: row.amountMinor })
    case 'reversal':
      return row.isOwnRow === true ? voidOwnRow(money, row) : voidMovement(money, row)
  }
}

/** Applies one provider row to a payment's money (design section 10). Undefined when it was applied before. */
export const moveMoney = (money: PaymentMoney, row: MoneyRow): Moved | undefined => {
  if (hasMoved(money, row)) return undefined
  const next = after(money, row)
  const figures = lessFigures(standingFigures(next), standingFigures(money))
  assertInvariant(
    standingFigures(next).netMinor === less(next.price.netMinor, next.takenBackMinor),
    'the entries of a payment do not add up to its net less what was taken back',
  )
  return { money: next, figures }
}
