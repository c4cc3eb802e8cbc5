import * as v from 'valibot'
import { assertInvariant } from '../errors.ts'
import { less, type Minor, MinorSchema, plus, ZERO } from '../money.ts'
import { TimestampSchema } from '../time.ts'
import { type Figures, figuresOf, lessFigures, NO_FIGURES } from './figures.ts'

/** The kinds of provider rows that move the money of a paid payment (design section 10). */
export const MOVEMENT_TYPES = ['refund', 'chargeback', 'reversal', 'dispute_won'] as const

/** How a provider takes money back, in the words of the public `reversal`. */
export const REVERSAL_KINDS = ['voided', 'reversed', 'refund', 'chargeback'] as const
export type ReversalKind = (typeof REVERSAL_KINDS)[number]

/** What one provider row did to a payment. A row can move a payment twice: once as it is, once when it is voided. */
export const MovementSchema = v.object({
  type: v.picklist(MOVEMENT_TYPES),
  transactionId: v.string(),
  /** What the row is about: refunded, disputed or won, without the provider's own fee. */
  amountMinor: MinorSchema,
  /** What our account at the provider gained by it. */
  providerMinor: MinorSchema,
  /** When we heard of it. */
  at: TimestampSchema,
  /** The payment's own row, and not one that moved it before. */
  isOwnRow: v.optional(v.boolean()),
  /** When its entry was written; absent while the payment is open. */
  postedAt: v.optional(TimestampSchema),
  /** What of it the house took, because it had given that up before. */
  clawedMinor: v.optional(MinorSchema),
  /** What it took from the client; below zero, what it gave back. */
  tookMinor: MinorSchema,
  /** What of it is still taken. */
  leftMinor: MinorSchema,
})
export type Movement = v.InferOutput<typeof MovementSchema>

/** A payment has at most so many: a further one is for a person. */
export const MOST_MOVEMENTS = 50

/** The client's side of one paid payment: its price, and what went back. */
export type PaymentMoney = {
  readonly price: Figures
  readonly takenBackMinor: Minor
  /** The payment's own row is VOIDED or REVERSED. */
  readonly isVoid: boolean
  /** Oldest first; each (transaction, type) once. */
  readonly movements: readonly Movement[]
}

/** A payment of which nothing went back. */
export const untouched = (price: Figures): PaymentMoney => ({
  price,
  takenBackMinor: ZERO,
  isVoid: false,
  movements: [],
})

/**
 * What a payment's entries add up to, at every moment and by every path: nothing if its own row is void or its whole
 * net went back, else its price less what was taken back. Its net is always net - taken back.
 */
export const standingFigures = ({ price, takenBackMinor, isVoid }: PaymentMoney): Figures => {
  if (isVoid || (price.netMinor > 0 && takenBackMinor === price.netMinor)) return NO_FIGURES
  return figuresOf(less(price.grossMinor, takenBackMinor), price.feeMinor, price.markupMinor)
}

/** One provider row about a paid payment. `reversal`: a row that became VOIDED or REVERSED. */
export type MoneyRow = Omit<Movement, 'tookMinor' | 'leftMinor' | 'postedAt' | 'clawedMinor'> & {
  /** How merchants are told of it; absent where money comes back to the client. */
  readonly kind?: ReversalKind | undefined
}

export type Moved = {
  readonly money: PaymentMoney
  /** The difference to what the entries added up to before. */
  readonly figures: Figures
}

const atLeastZero = (amount: Minor): Minor => (amount > 0 ? amount : ZERO)
const smaller = (a: Minor, b: Minor): Minor => (a < b ? a : b)

/** Whether a row has moved the payment before, or is void by now: what an older reading says of it counts no more. */
export const hasMoved = (
  { movements }: Pick<PaymentMoney, 'movements'>,
  row: Pick<MoneyRow, 'type' | 'transactionId'>,
) =>
  movements.some(
    ({ type, transactionId }) => transactionId === row.transactionId && (type === row.type || type === 'reversal'),
  )

const withMovement = (money: PaymentMoney, row: MoneyRow, tookMinor: Minor): PaymentMoney => {
  const { type, transactionId, amountMinor, providerMinor, at, isOwnRow } = row
  const heard = { type, transactionId, amountMinor, providerMinor, at, ...(isOwnRow === true && { isOwnRow }) }
  return {
    ...money,
    takenBackMinor: plus(money.takenBackMinor, tookMinor),
    movements: [...money.movements, { ...heard, tookMinor, leftMinor: atLeastZero(tookMinor) }],
  }
}

/** The client gives back at most what it still has of the payment. */
const take = (money: PaymentMoney, row: MoneyRow, wantedMinor: Minor): PaymentMoney =>
  withMovement(money, row, atLeastZero(smaller(wantedMinor, less(money.price.netMinor, money.takenBackMinor))))

/** Gives back what the given movements took, oldest first. A void payment has nothing to give: its figures stay zero. */
const give = (
  money: PaymentMoney,
  row: MoneyRow,
  { from, mostMinor }: { readonly from: (movement: Movement) => boolean; readonly mostMinor: Minor },
): PaymentMoney => {
  let gaveMinor = ZERO
  const movements = money.movements.map((movement) => {
    if (money.isVoid || !from(movement)) return movement
    const given = smaller(movement.leftMinor, less(mostMinor, gaveMinor))
    gaveMinor = plus(gaveMinor, given)
    return { ...movement, leftMinor: less(movement.leftMinor, given) }
  })
  return withMovement({ ...money, movements }, row, less(ZERO, gaveMinor))
}

/** Whatever its sign, nothing of the payment stands any more. */
const voidOwnRow = (money: PaymentMoney, row: MoneyRow): PaymentMoney => ({
  ...withMovement(money, row, less(money.price.netMinor, money.takenBackMinor)),
  isVoid: true,
})

/** A refund or a chargeback that is void gives back what is left of its own; a won dispute that is void takes again. */
const voidMovement = (money: PaymentMoney, row: MoneyRow): PaymentMoney => {
  const own = money.movements.find(({ transactionId }) => transactionId === row.transactionId)
  if (own === undefined) return withMovement(money, row, ZERO)
  if (own.type === 'dispute_won') return take(money, row, less(ZERO, own.tookMinor))
  return give(money, row, { from: (movement) => movement === own, mostMinor: own.leftMinor })
}

const after = (money: PaymentMoney, row: MoneyRow): PaymentMoney => {
  switch (row.type) {
    case 'refund':
    case 'chargeback':
      return take(money, row, row.amountMinor)
    case 'dispute_won':
      return give(money, row, { from: ({ type }) => type !== 'refund', mostMinor: row.amountMinor })
    case 'reversal':
      return row.isOwnRow === true ? voidOwnRow(money, row) : voidMovement(money, row)
  }
}

/**
 * Applies one provider row to a payment's money (design section 10). The same row and type again changes nothing:
 * undefined. The caller writes an entry with the figures, and adds them to the shard.
 */
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
