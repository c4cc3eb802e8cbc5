import { describe, expect, it } from 'vitest'
import { handler as getPaymentOfOperator } from '../../../functions/admin/get-payment.ts'
import { finalFee } from '../../../shared/payment/fee/final-fee.ts'
import { findPayment } from '../../../shared/payment/find-payment.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-provider-news.ts'
import { API, type ApiClient, anApiClient, aPaymentBody, call } from '../../support/api-event.ts'
import { settledRow } from '../../support/fake-provider.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import { eventOf } from '../../support/payment-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

const headers = { 'Idempotency-Key': 'fee' }

const arrange = async () => {
  const deps = testDeps()
  const caller = await anApiClient(deps)
  // A bank whose payments the provider settles at once.
  const body = aPaymentBody({ channel_code: 'BNI' })
  const created = await call(deps, API.createPayment, { caller, headers, body })
  const payment = await findPayment(deps, caller.clientId, String(created.body['id']))
  return { deps, caller, created, payment }
}

/** What every read of a client's and of an operator's says of the fee. */
const shownTo = async (deps: TestDeps, caller: ApiClient, id: string) => {
  const replayed = await call(deps, API.createPayment, { caller, headers, body: aPaymentBody() })
  const fetched = await call(deps, API.getPayment, { caller, id })
  const listed = await call(deps, API.listPayments, { caller })
  const shown = await invokeAdmin(getPaymentOfOperator, deps, { payment_id: id })
  return [replayed.body, fetched.body, Object(listed.body['data'])[0], Object(shown.body)].map(
    (payment) => payment['fee_status'],
  )
}

describe('fee_status, so that nobody books a net that will still move', () => {
  it.each([
    ['estimated while the fee is not known', false, false, 'estimated', 'estimated'],
    ['actual when the provider knew the fee at success', true, false, 'actual', 'actual'],
    // The bytes of an event never change.
    ['assumed once the fee was waited for long enough', false, true, 'assumed', 'estimated'],
  ])('is %s, in every answer and in data', async (_, isKnown, isOver, status, announced) => {
    const { deps, caller, created, payment } = await arrange()
    const before = await shownTo(deps, caller, payment.paymentId)
    const providerPaymentId = deps.provider.pay(payment.paymentRequestId)
    if (isKnown) deps.provider.transactions.push(settledRow({ providerPaymentId, reference: 'any' }, deps.now()))
    await applyProviderNews(deps, { providerPaymentId }, 'callback')
    if (isOver) await finalFee(deps, payment.paymentId)

    const after = await shownTo(deps, caller, payment.paymentId)

    expect([created.body['fee_status'], ...before]).toStrictEqual(Array.from({ length: 5 }, () => 'estimated'))
    expect(after).toStrictEqual([status, status, status, status])
    const event = await eventOf(deps, payment, 'payment.succeeded')
    expect(JSON.parse(String(event?.['body'])).data.fee_status).toBe(announced)
  })
})
