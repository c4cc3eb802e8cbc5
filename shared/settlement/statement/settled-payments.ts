import type { Deps } from '../../deps.ts'
import { assertInvariant } from '../../errors.ts'
import type { ClientId } from '../../ids.ts'
import { findPaymentsByKey } from '../../payment/payment-store.ts'
import { findSettlement } from '../settlement-store.ts'
import { toSettledPaymentDto } from './settled-payment-dto.ts'
import type { SettledPaymentDto } from './settled-payment-dto-schema.ts'
import { positionIn, statementCursor } from './statement-cursor.ts'
import { statementPage } from './statement-page.ts'

type Asked = {
  readonly clientId: ClientId
  readonly id: string
  readonly after?: string | undefined
  readonly limit: number
}

export type SettledPayments = {
  readonly payments: readonly SettledPaymentDto[]
  /** Where the next page begins; undefined behind the last one. */
  readonly next: string | undefined
}

/**
 * A page of the payments that a client's settlement pays out: those of the operators' statement, so that their sums are
 * the settlement's. A page costs its own payments, wherever it lies. Throws 404 as `findSettlement` does, and 422 for a
 * cursor of another settlement.
 */
export const settledPayments = async (
  deps: Pick<Deps, 'stage' | 'table'>,
  { clientId, id, after: cursor, limit }: Asked,
): Promise<SettledPayments> => {
  const settlement = await findSettlement(deps, clientId, id)
  const after = cursor === undefined ? undefined : positionIn(settlement, cursor, 'after')
  const { payments: paid, next } = await statementPage(deps, settlement, { limit, after })
  // As they were a moment ago: what is shown of them never changes, and they are a day old at least.
  const found = await findPaymentsByKey(
    deps,
    paid.map((payment) => payment.id),
    'eventual',
  )
  const known = new Map(found.map((payment) => [payment.paymentId, payment]))
  const payments = paid.map((line) => {
    const payment = known.get(line.id)
    assertInvariant(payment !== undefined, 'a settled payment is not there')
    return toSettledPaymentDto(line, payment)
  })
  return { payments, next: next && statementCursor(settlement, next) }
}
