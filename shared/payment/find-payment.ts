import * as v from 'valibot'
import type { TableDeps } from '../deps.ts'
import { notFound } from '../errors.ts'
import { type ClientId, PaymentIdSchema } from '../ids.ts'
import type { Payment, StoredPayment } from './payment.ts'
import { findStoredPayment } from './payment-store.ts'

/**
 * One payment of a client (spec 4.3). The same 404 is thrown for an absent id, another client's id, a malformed id, and
 * a payment that is still being created.
 */
export const findPayment = async (deps: TableDeps, clientId: ClientId, id: string): Promise<Payment> => {
  const stored = await findAnyPayment(deps, id)
  if (stored.status === 'creating' || stored.clientId !== clientId) throw notFound('payment')
  return stored
}

/** One payment of any client, for operators, including payments that are still being created. Throws 404. */
export const findAnyPayment = async (deps: TableDeps, id: string): Promise<StoredPayment> => {
  const paymentId = v.safeParse(PaymentIdSchema, id)
  const stored = paymentId.success ? await findStoredPayment(deps, paymentId.output) : undefined
  if (stored === undefined) throw notFound('payment')
  return stored
}
