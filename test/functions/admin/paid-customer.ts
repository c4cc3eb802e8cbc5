import type { Payment } from '../../../shared/payment/payment.ts'
import { auditRecordsOf, invokeAdmin } from '../../support/operator-actions.ts'
import { aStoredClient, eventsOf } from '../../support/payment-builders.ts'
import { creditedPayment, paymentOf } from '../../support/synced-payment.ts'
import { memoryDeps, type TestDeps } from '../../support/test-deps.ts'
import { testWith } from '../../support/test-with.ts'
import { storedEndpoint } from '../../support/webhook-builders.ts'

export async function aPaidCustomer(endpoints = 0) {
  const deps = memoryDeps()
  const client = await aStoredClient(deps)
  for (let count = 0; count < endpoints; count++)
    await storedEndpoint(deps, { clientId: client.clientId })
  const paid = await creditedPayment(deps, client, FIELDS)
  const erase = (
    payload: object = { payment_id: paid.payment.paymentId },
    ownDeps: TestDeps = deps,
  ) => invokeAdmin('erase-customer', ownDeps, { operator: 'ayu', ...payload })
  const storedPayment = () => paymentOf(deps, paid)
  const bodies = async () => (await eventsOf(deps, paid.payment)).map((event) => event?.body)
  const records = () => auditRecordsOf(deps, paid.payment.paymentId)
  return { deps, client, payment: paid.payment, erase, storedPayment, bodies, records }
}

export const erasureTest = testWith(
  () => aPaidCustomer(),
  'deps',
  'client',
  'payment',
  'erase',
  'storedPayment',
  'bodies',
  'records',
)

export function erasedAnswer(
  payment: Payment,
  events: number,
  fields = ['name', 'email', 'phone'],
) {
  return {
    status: 200,
    body: { erased: [{ payment_id: payment.paymentId, fields, events }], complete: true },
  }
}

export const CUSTOMER = { name: 'Sari "Dewi"', email: 'sari@shop.example', phone: '+6281234567890' }
export const FIELDS = {
  customer: CUSTOMER,
  description: 'for "customer":{"name":"x"}',
  metadata: '{"b":1.0,"1":12345678901234567890,"customer":{"name":"kept"}}',
  externalReference: 'order-17',
}
