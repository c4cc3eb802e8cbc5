import { describe, expect } from 'vitest'
import { CALLBACK_TOKEN } from '../../../infra/local/provider-simulator/simulator-keys.ts'
import { CHANNEL_FACTS } from '../../support/provider-facts.ts'
import { aRequestBody, FINAL, simulatorIt as it } from '../../support/provider-simulator-harness.ts'

const HOUR = 3_600

describe('POST /v3/payment_requests of the provider simulator', () => {
  it('makes a second request for a reference it has seen', ({ sim: { core } }) => {
    const [first, second] = [aRequestBody(), aRequestBody()].map(core.createPaymentRequest)

    expect(core.findPaymentRequests(first?.reference_id ?? '')).toStrictEqual([first, second])
  })

  const of = (channel_code: string, channel_properties: object) => ({ channel_code, channel_properties })

  it.for<[Record<string, unknown>, string]>([
    [{ channel_code: 'BCA' }, "not supported for 'BCA' channel code with country 'ID'"],
    [{ currency: 'USD' }, 'currency'],
    [{ request_amount: 0 }, 'request_amount'],
    [{ customer: { reference_id: 'a-b' } }, 'alphanumeric'],
    [{ metadata: { note: 'x'.repeat(501) } }, 'metadata.note'],
    [of('BNI_VIRTUAL_ACCOUNT', {}), 'display_name'],
    [of('BNI_VIRTUAL_ACCOUNT', { display_name: 'A', expires_at: '2026-11-20T04:10:00.000Z' }), 'future'],
    [of('OVO', { account_mobile_number: '081234567890' }), 'account_mobile_number'],
    [of('DANA', {}), 'success_return_url'],
    [of('QRIS', { display_name: 'Toko Maju' }), 'display_name'],
  ])('refuses %j', ([overrides, message], { sim: { core, create } }) => {
    const refusal = { status: 400, errorCode: 'API_VALIDATION_ERROR', message: expect.stringContaining(message) }

    expect(() => create('BNI_VIRTUAL_ACCOUNT', overrides)).toThrow(expect.objectContaining(refusal))
    expect(core.findPaymentRequests('')).toStrictEqual([])
  })

  it('takes a wallet it has no facts about, and amounts of any size', ({ sim: { core } }) => {
    const { actions } = core.createPaymentRequest(aRequestBody('FUTUREPAY', { request_amount: 1 }))

    expect(actions.map(({ descriptor }) => descriptor)).toStrictEqual(['WEB_URL'])
  })

  it.for(CHANNEL_FACTS)('takes the amounts of the provider for $providerCode', (channel, { sim: { core } }) => {
    const [least, most] = channel.amounts
    const ask = (request_amount: number) => () =>
      core.createPaymentRequest(aRequestBody(channel.providerCode, { request_amount }))
    const refusal = (errorCode: string) => expect.objectContaining({ status: 400, errorCode })

    expect(ask(least - 1)).toThrow(refusal(least === 1 ? 'API_VALIDATION_ERROR' : 'INVALID_VALUE_ERROR'))
    expect(ask(most + 1)).toThrow(refusal('INVALID_VALUE_ERROR'))
    expect([least, most].map((amount) => ask(amount)().request_amount)).toStrictEqual([least, most])
  })

  it.for([
    ...CHANNEL_FACTS.filter(({ method }) => method !== 'virtual_account').map(
      ({ providerCode, lifetimeSeconds }) => [providerCode, lifetimeSeconds, undefined] as const,
    ),
    ['BCA_VIRTUAL_ACCOUNT', HOUR, '2026-11-20T05:10:00.000Z'],
    ['QRIS', HOUR, '2026-11-20T05:10:00.000Z'],
  ] as const)('expires for %s after %i seconds, with its callback', async ([channel, seconds, asked], { sim }) => {
    const { channel_properties: properties } = aRequestBody(channel)
    const id = sim.create(channel, { channel_properties: { ...properties, ...(asked && { expires_at: asked }) } })
    const open = sim.statusOf(id)

    await sim.advance(seconds - 0.001)
    const before = sim.statusOf(id)
    await sim.advance(0.001)

    expect([before, sim.statusOf(id)]).toStrictEqual([open, 'EXPIRED'])
    expect(sim.callbacks).toMatchObject([
      { event: 'payment_request.expiry', data: { payment_request_id: id, status: 'EXPIRED', request_amount: 150_000 } },
    ])
  })

  it.for([
    ['BNI_VIRTUAL_ACCOUNT', /^8808\d{12}$/],
    // An EMVCo string that says the amount and ends with its checksum.
    ['QRIS', /^000201010212.*53033605406150000.*6304[0-9A-F]{4}$/],
  ] as const)('gives every request of %s a destination of its own (spec 2.1.2)', ([channel, form], { sim }) => {
    const destinations = Array.from(
      { length: 200 },
      () => sim.core.createPaymentRequest(aRequestBody(channel)).actions[0]?.value,
    )

    expect(new Set(destinations).size).toBe(200)
    for (const destination of destinations) expect(destination).toMatch(form)
  })
})

describe('the end of a request of the provider simulator', () => {
  it('is a payment, and its callback follows the answer', async ({ sim }) => {
    const { channel_properties, ...same } = aRequestBody('QRIS', { metadata: { order: '7' } })
    const request = sim.core.createPaymentRequest({ channel_properties, ...same })
    const { business_id, payment_request_id, created } = request

    const answer = sim.core.simulatePayment(payment_request_id)
    const sentBeforeAnswer = sim.callbacks.length
    await sim.advance(0)

    const payment = sim.paymentOf(payment_request_id)
    const paid = { status: 'SUCCEEDED', latest_payment_id: payment.payment_id }
    const captures = [{ capture_amount: 150_000, capture_timestamp: created }]
    const headers = { 'x-callback-token': CALLBACK_TOKEN }
    expect(answer).toStrictEqual({ status: 'PENDING', message: expect.stringContaining('via a webhook') })
    expect(sim.core.getPaymentRequest(payment_request_id)).toStrictEqual({ ...request, ...paid })
    // That no field is missing and none is more is held against the provider's documents in `provider-contract.test.ts`.
    expect(payment).toMatchObject({ ...same, business_id, payment_request_id, captures, status: 'SUCCEEDED', created })
    expect(sentBeforeAnswer).toBe(0)
    expect(sim.callbacks).toMatchObject([{ headers, created, business_id, event: 'payment.capture', data: payment }])
  })

  it.for([
    ['INSUFFICIENT_BALANCE', { failure_code: 'INSUFFICIENT_BALANCE' }],
    ['USER_DECLINED_PAYMENT', undefined],
  ] as const)('is a FAILED payment by %s and its callback', async ([code, body], { sim }) => {
    const id = sim.create('DANA')

    const failed = sim.core.failPaymentRequest(id, body)
    await sim.advance(0)

    const payment = sim.paymentOf(id)
    for (const shown of [failed, payment]) expect(shown).toMatchObject({ status: 'FAILED', failure_code: code })
    expect(payment).not.toHaveProperty('captures')
    expect(sim.callbacks).toMatchObject([{ event: 'payment.failure', data: payment }])
  })

  it.for(FINAL)('comes once: one that is %s is neither paid, cancelled, failed nor expired', (status, { sim }) => {
    const id = sim.create()
    sim.end(id, status)
    const before = sim.core.getPaymentRequest(id)

    for (const other of FINAL) {
      const refusal = expect.objectContaining({ status: 400, errorCode: 'INACTIVE_PAYMENT_REQUEST' })
      expect(() => sim.end(id, other)).toThrow(refusal)
    }
    expect(before.status).toBe(status)
    expect(sim.core.getPaymentRequest(id)).toStrictEqual(before)
  })

  it.for([
    [undefined, { amount: 149_999 }, 149_999],
    [149_000, { amount: 149_999 }, 149_000],
  ] as const)('captures the amount of the fault %s, else of the body %j', ([wrong, body, captured], { sim }) => {
    if (wrong !== undefined) sim.order('payment', 'wrong_amount', wrong)
    const id = sim.create()

    sim.pay(id, body)

    expect(sim.paymentOf(id)).toMatchObject({ captures: [{ capture_amount: captured }], request_amount: 150_000 })
    expect(sim.rows()).toMatchObject([{ amount: captured }])
    expect(sim.statusOf(id)).toBe('SUCCEEDED')
  })

  it.for(FINAL)('after_expiry: money arrives on a request that is %s and stays so', async (status, { sim }) => {
    const id = sim.create()
    sim.end(id, status)
    const before = sim.core.getPaymentRequest(id).latest_payment_id
    sim.order('payment', 'after_expiry')

    sim.core.simulatePayment(id)
    await sim.advance(0)

    const payment = sim.paymentOf(id)
    expect(sim.statusOf(id)).toBe(status)
    expect(payment).toMatchObject({ status: 'SUCCEEDED', captures: [{ capture_amount: 150_000 }] })
    expect(payment.payment_id).not.toBe(before)
    expect(sim.rows({ product_id: payment.payment_id })).toHaveLength(1)
    expect(sim.callbacks.at(-1)).toMatchObject({ event: 'payment.capture', data: payment })
  })
})
