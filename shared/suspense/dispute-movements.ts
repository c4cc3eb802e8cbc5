import * as v from 'valibot'
import { mapInChunks } from '../chunks.ts'
import type { TableDeps } from '../deps.ts'
import { PaymentIdSchema } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { figuresOf } from '../journal/entry.ts'
import { type Movement, MovementSchema, moneyAfter } from '../journal/payment-money.ts'
import { type Minor, MinorSchema, ZERO } from '../money.ts'
import { paymentKey } from '../table/keys.ts'
import { type Suspense, toSuspenseDto } from './suspense.ts'

/** What went back of a disputed payment. */
export type WentBack = {
  /** By refunds, which answer the dispute. */
  readonly refundedMinor: Minor
  /** The rows that took the disputed money. */
  readonly chargebacks: readonly Movement[]
}

/** Of a payment that succeeded, what says how much went back. */
const PaidSchema = v.object({
  status: v.literal('succeeded'),
  notionalMinor: MinorSchema,
  movements: v.optional(v.array(MovementSchema), []),
})

/** Undefined for an item that is no dispute of a payment that succeeded. */
export async function wentBackOf(deps: TableDeps, item: Suspense): Promise<WentBack | undefined> {
  if (item.kind !== 'case' || item.cause !== 'dispute') return undefined
  const paymentId = ifValid(PaymentIdSchema, item.paymentId)
  const payment = ifValid(PaidSchema, paymentId && (await deps.table.get(paymentKey(paymentId))))
  if (payment === undefined) return undefined
  const { notionalMinor, movements } = payment
  const refunds = movements.filter(({ type }) => type !== 'chargeback' && type !== 'dispute_won')
  // What went back does not depend on fees.
  const price = figuresOf(notionalMinor, ZERO, ZERO)
  return {
    refundedMinor: moneyAfter(price, refunds).wentBackMinor,
    chargebacks: movements.filter(({ type }) => type === 'chargeback'),
  }
}

/** Items as operators see them: a dispute with what went back of its payment. */
export function showItems(deps: TableDeps, items: readonly Suspense[]) {
  return mapInChunks(items, 8, (item) => showItem(deps, item))
}

async function showItem(deps: TableDeps, item: Suspense) {
  const wentBack = await wentBackOf(deps, item)
  const { refundedMinor, chargebacks = [] } = wentBack ?? {}
  const rows = chargebacks.map(({ transactionId, amountMinor, at }) => {
    return { transaction_id: transactionId, amount_minor: amountMinor, at }
  })
  return {
    ...toSuspenseDto(item),
    ...(wentBack && { refunded_minor: refundedMinor, chargebacks: rows }),
  }
}
