import { describe, expect, it } from 'vitest'
import { findPayment } from '../../../shared/payment/find-payment.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-provider-news.ts'
import { anApi, aPaymentBody } from '../../support/api-event.ts'

type Api = Awaited<ReturnType<typeof anApi>>

const aPaidPayment = async ({ deps, caller, ask }: Api, amount: number) => {
  const { body } = await ask('createPayment', { body: aPaymentBody({ amount }) })
  const { paymentRequestId } = await findPayment(deps, caller.clientId, String(body['id']))
  deps.provider.pay(paymentRequestId)
  await applyProviderNews(deps, { paymentRequestId }, 'callback')
  return Number(body['client_net_minor'])
}

const EMPTY = { currency: 'IDR', available_minor: 0, pending_minor: 0, updated_at: null }

/* What it shows from the first payment to the last payout, with include=settlements and without: settlement-balance. */

describe('GET /v1/balance (spec 4.5, 2.2)', () => {
  it('does not move when payments are created, cancelled or refused', async () => {
    const { ask } = await anApi()
    const { body } = await ask('createPayment', { body: aPaymentBody() })
    await ask('createPayment', { body: aPaymentBody({ amount: 0 }) })
    await ask('cancelPayment', { id: String(body['id']) })

    expect((await ask('getBalance')).body).toMatchObject(EMPTY)
  })

  it('adds the net of each succeeded payment to pending and shows the time of the last change', async () => {
    const api = await anApi()
    const { deps, caller, ask } = api
    const nets = []
    for (const amount of [100_000, 1, 250_000]) {
      deps.clock.advance(60)
      nets.push(await aPaidPayment(api, amount))
    }
    deps.clock.advance(60)

    const { body } = await ask('getBalance')

    expect(nets).toStrictEqual([95_900, -3_999, 245_750])
    const shown = { ...EMPTY, pending_minor: 337_651, updated_at: '2026-11-20T04:03:00.000Z' }
    expect(body).toStrictEqual({ client_id: caller.clientId, ...shown })
  })
})
