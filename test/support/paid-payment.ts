import type { Payment } from '../../shared/payment/payment.ts'
import { eventKey } from '../../shared/table/keys.ts'
import { aPendingPayment, aStoredClient } from './payment-builders.ts'
import { type TestDeps, testDeps } from './test-deps.ts'

/** A pending payment whose customer has paid at the provider; nobody has told us yet. */
export const aPaid = async () => {
  const deps = testDeps()
  const client = await aStoredClient(deps)
  const payment = await aPendingPayment(deps, client)
  const providerPaymentId = deps.provider.pay(payment.paymentRequestId)
  return { deps, client, payment, providerPaymentId }
}

/** The outbox row of a payment, as stored. */
export const eventOf = (deps: TestDeps, payment: Pick<Payment, 'paymentId'>, type: string) =>
  deps.table.get(eventKey(payment.paymentId, type))
