/**
 * Goal: while the provider does not find what an ended request is about, nothing is closed, because
 * it may be a capture. Method: the fake provider hides the request or the payment that it names.
 */
import { expect, it } from 'vitest'
import { refreshPayment } from '../../../shared/payment/news/refresh-payment.ts'
import { addMs, MINUTE_MS } from '../../../shared/time.ts'
import { aQris, aScene, LIFETIME_S } from './payment-test.ts'

it.each([
  ['names a payment that the provider does not find', 'failed'],
  ['names a payment that the provider does not find', 'cancelled'],
  ['is not found', 'expired'],
] as const)(
  'a request that has ended and %s is a finding, and ends its payment as %s an hour after the expiry',
  async (_, status) => {
    const { deps, payment, cancel, check, request, reread, suspenseOf } = await aQris()
    deps.provider.answer('cancelRequest', { kind: 'final' })
    if (status === 'expired') deps.provider.answer('getRequest', { kind: 'not_found' })
    else request({ status, latestPaymentId: 'py-unseen' })

    await expect(cancel()).rejects.toMatchObject({ code: 'server_error' })

    expect(await suspenseOf(`${payment.paymentId}#not_found_upstream`)).toBeDefined()
    deps.clock.advance(LIFETIME_S)
    await check()
    expect(await reread()).toMatchObject({ status: 'pending' })
    deps.clock.advance(3_600)
    await check()
    expect(await reread()).toMatchObject({ status })
  },
)

it('a payment whose failed request names an unseen capture is credited two minutes later', async () => {
  const { deps, payment, pay, check, request, reread } = await aQris()
  const { payments } = deps.provider
  const id = pay()
  const capture = payments.get(id)
  payments.delete(id)
  request({ status: 'failed' })
  const refreshed = refreshPayment(deps, payment.paymentId, 'ana')
  await expect(refreshed).rejects.toMatchObject({ code: 'server_error' })

  await check()

  expect(await reread()).toMatchObject({ dueAt: addMs(deps.now(), 2 * MINUTE_MS) })
  if (capture) payments.set(id, capture)
  await check()
  expect(await reread()).toMatchObject({ status: 'succeeded' })
})

it('a wallet whose request is not found is asked about again only at its expiry', async () => {
  const { deps, payment, check, reread } = await aScene({ method: 'ewallet', channelCode: 'DANA' })
  deps.provider.answer('getRequest', { kind: 'not_found' })

  await check()

  expect(await reread()).toMatchObject({ status: 'pending', dueAt: payment.expiresAt })
})
