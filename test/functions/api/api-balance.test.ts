import { describe, expect, it } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { findPayment } from '../../../shared/payment/find-payment.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-provider-news.ts'
import { windowKey } from '../../../shared/table/keys.ts'
import { update } from '../../../shared/table/step.ts'
import { anApi, aPaymentBody } from '../../support/api-event.ts'
import { settled } from '../../support/payout-builders.ts'
import { payOut } from '../../support/settlement-builders.ts'

type Api = Awaited<ReturnType<typeof anApi>>

const aPaidPayment = async ({ deps, caller, ask }: Api, amount: number) => {
  const { body } = await ask('createPayment', { body: aPaymentBody({ amount }) })
  const { paymentRequestId } = await findPayment(deps, caller.clientId, String(body['id']))
  deps.provider.pay(paymentRequestId)
  await applyProviderNews(deps, { paymentRequestId }, 'callback')
  return Number(body['client_net_minor'])
}

const EMPTY = { currency: 'IDR', available_minor: 0, pending_minor: 0, updated_at: null }

describe('GET /v1/balance (spec 4.5, 2.2)', () => {
  it('answers zeros and null to a client that never received a payment', async () => {
    const { caller, ask } = await anApi()

    const { status, body } = await ask('getBalance')

    expect(status).toBe(200)
    expect(body).toStrictEqual({ client_id: caller.clientId, ...EMPTY })
  })

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

  it('takes what was swept off pending, and shows what waits in available', async () => {
    const api = await anApi()
    const { deps, caller, ask } = api
    await aPaidPayment(api, 100_000)
    const changedAt = '2026-11-22T02:00:00.000Z'
    const swept = { settledMinor: 90_000, availableMinor: 5_000, changedAt }
    await deps.table.write(update(windowKey(caller.clientId), { set: swept }))

    const { body } = await ask('getBalance')

    expect(body).toMatchObject({ available_minor: 5_000, pending_minor: 5_900, updated_at: changedAt })
  })

  it('adds what is in settlements and what was paid out for include=settlements, and nothing else', async () => {
    const { deps, caller, ask } = await anApi({ settlementFloorMinor: minor(0) })
    await payOut(deps, await settled(deps, caller, 10_000))
    await settled(deps, caller, 20_000)

    const plain = await ask('getBalance')
    const whole = await ask('getBalance', { query: { include: 'settlements' } })

    expect(plain.body).toStrictEqual({ client_id: caller.clientId, ...EMPTY, updated_at: deps.now() })
    expect(whole).toMatchObject({ status: 200 })
    expect(whole.body).toStrictEqual({ ...plain.body, in_settlement_minor: 15_980, paid_out_minor: 5_990 })
  })

  it('takes an empty include as none and refuses any other', async () => {
    const { ask } = await anApi()
    const plain = await ask('getBalance')

    const answers = []
    for (const include of ['', 'payments', 'Settlements', 'settlements,settlements']) {
      answers.push(await ask('getBalance', { query: { include } }))
    }

    const message = 'include must be settlements'
    expect(answers.map(({ status }) => status)).toStrictEqual([200, 422, 422, 422])
    expect(answers[0]?.body).toStrictEqual(plain.body)
    expect(answers[1]?.body).toStrictEqual({ message, code: 'validation', field_errors: { include: [message] } })
  })

  it('takes IDR or nothing as currency and refuses any other', async () => {
    const { ask } = await anApi()

    const answers = []
    for (const currency of ['IDR', '', 'USD', 'idr', `${'x'.repeat(63)}👍`]) {
      answers.push(await ask('getBalance', { query: { currency } }))
    }

    const refusal = (message: string) => ({ message, code: 'validation', field_errors: { currency: [message] } })
    expect(answers.map(({ status }) => status)).toStrictEqual([200, 200, 422, 422, 422])
    expect(answers.slice(2).map(({ body }) => body)).toStrictEqual([
      refusal('unsupported currency: USD'),
      refusal('unsupported currency: idr'),
      refusal(`unsupported currency: ${'x'.repeat(63)}\ufffd`),
    ])
  })
})
