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
  const rows = deps.provider.transactions
  const caller = await anApiClient(deps)
  // A bank whose payments the provider settles at once.
  const body = aPaymentBody({ channel_code: 'BNI' })
  const created = await call(deps, API.createPayment, { caller, headers, body })
  const payment = await findPayment(deps, caller.clientId, String(created.body['id']))
  return { deps, rows, caller, created, payment }
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

const announcedFee = async (deps: TestDeps, payment: Parameters<typeof eventOf>[1], type: string) => {
  const event = await eventOf(deps, payment, type)
  return JSON.parse(String(event?.['body'])).data.fee_status
}

describe('fee_status, so that nobody books a net that will still move', () => {
  it('is estimated in every answer about a new payment, and in data while the fee is not known', async () => {
    const { deps, caller, created, payment } = await arrange()
    const before = await shownTo(deps, caller, payment.paymentId)
    deps.provider.pay(payment.paymentRequestId)
    await applyProviderNews(deps, { paymentRequestId: payment.paymentRequestId }, 'callback')

    const after = await shownTo(deps, caller, payment.paymentId)

    expect(created.body['fee_status']).toBe('estimated')
    expect([...before, ...after]).toStrictEqual(Array.from({ length: 8 }, () => 'estimated'))
    expect(await announcedFee(deps, payment, 'payment.succeeded')).toBe('estimated')
  })

  it('is actual in every answer and in data when the provider knew the fee at success', async () => {
    const { deps, rows, caller, payment } = await arrange()
    const providerPaymentId = deps.provider.pay(payment.paymentRequestId)
    rows.push(settledRow({ providerPaymentId, reference: 'any' }, deps.now()))
    await applyProviderNews(deps, { providerPaymentId }, 'callback')

    const shown = await shownTo(deps, caller, payment.paymentId)

    expect(shown).toStrictEqual(['actual', 'actual', 'actual', 'actual'])
    expect(await announcedFee(deps, payment, 'payment.succeeded')).toBe('actual')
  })

  it('is assumed in every answer once the fee was waited for long enough', async () => {
    const { deps, caller, payment } = await arrange()
    deps.provider.pay(payment.paymentRequestId)
    await applyProviderNews(deps, { paymentRequestId: payment.paymentRequestId }, 'callback')
    await finalFee(deps, payment.paymentId)

    const shown = await shownTo(deps, caller, payment.paymentId)

    expect(shown).toStrictEqual(['assumed', 'assumed', 'assumed', 'assumed'])
    // The bytes of an event never change.
    expect(await announcedFee(deps, payment, 'payment.succeeded')).toBe('estimated')
  })
})
