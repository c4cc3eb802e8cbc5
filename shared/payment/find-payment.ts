import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { notFound } from '../errors.ts'
import { type ClientId, PaymentIdSchema } from '../ids.ts'
import type { Payment, StoredPayment } from './payment.ts'
import { findStoredPayment } from './payment-store.ts'

/**
 * One payment of a client (spec 4.3). An absent id, another client's, one of a wrong shape and one still being created
 * throw the same 404.
 */
export const findPayment = async (deps: Pick<Deps, 'table'>, clientId: ClientId, id: string): Promise<Payment> => {
  const stored = await findAnyPayment(deps, id)
  if (stored.status === 'creating' || stored.clientId !== clientId) throw notFound('payment')
  return stored
}

/** One payment of whatever client, for operators; those still being created too. Throws 404. */
export const findAnyPayment = async (deps: Pick<Deps, 'table'>, id: string): Promise<StoredPayment> => {
  const paymentId = v.safeParse(PaymentIdSchema, id)
  const stored = paymentId.success ? await findStoredPayment(deps, paymentId.output) : undefined
  if (stored === undefined) throw notFound('payment')
  return stored
}
