import { describe, expect } from 'vitest'
import { aRequestBody, simulatorIt as it } from '../../support/provider-simulator-harness.ts'

const HOUR = 3600

describe('POST /v3/payment_requests of the provider simulator', () => {
  it('answers the whole request object', ({ sim: { core } }) => {
    const body = aRequestBody('BNI_VIRTUAL_ACCOUNT', {
      channel_properties: { display_name: 'Toko Maju', expires_at: '2026-11-21T04:10:00Z' },
      description: 'Order 7',
      metadata: { order: '7' },
    })

    const request = core.createPaymentRequest(body)

    expect(request).toStrictEqual({
      ...body,
      payment_request_id: 'pr-00000000-0000-4000-8000-000000000001',
      business_id: expect.stringMatching(/^[0-9a-f]{24}$/),
      capture_method: 'AUTOMATIC',
      actions: [expect.objectContaining({ descriptor: 'VIRTUAL_ACCOUNT_NUMBER' })],
      status: 'REQUIRES_ACTION',
      created: '2026-11-20T04:10:00.000Z',
      updated: '2026-11-20T04:10:00.000Z',
    })
    expect(core.getPaymentRequest(request.payment_request_id)).toStrictEqual(request)
  })

  it('makes a second request for a reference it has seen', ({ sim: { core } }) => {
    const [first, second] = [aRequestBody(), aRequestBody()].map(core.createPaymentRequest)

    expect(core.findPaymentRequests(first?.reference_id ?? '')).toStrictEqual([first, second])
  })

  it.for<[string, Record<string, unknown>, string]>([
    ['the plain bank code', { channel_code: 'BCA' }, "not supported for 'BCA' channel code with country 'ID'"],
    ['an unknown bank', { channel_code: 'MARS_VIRTUAL_ACCOUNT' }, 'not supported'],
    ['a missing channel', { channel_code: undefined }, 'channel_code'],
    ['a missing reference', { reference_id: undefined }, 'reference_id'],
    ['another currency', { currency: 'USD' }, 'currency'],
    ['another country', { country: 'PH' }, 'country'],
    ['another type', { type: 'REUSABLE_PAYMENT_CODE' }, 'type'],
    ['an amount in text', { request_amount: '150000' }, 'request_amount'],
    ['a fraction of a rupiah', { request_amount: 1.5 }, 'request_amount'],
    ['an amount of zero', { request_amount: 0 }, 'request_amount'],
    ['a customer reference with dashes', { customer: { reference_id: 'a-b' } }, 'alphanumeric'],
    ['metadata beyond 500 characters', { metadata: { note: 'x'.repeat(501) } }, 'metadata.note'],
  ])('refuses %s', ([, overrides, message], { sim: { core, create } }) => {
    const refusal = { status: 400, message: expect.stringContaining(message) }

    expect(() => create('BNI_VIRTUAL_ACCOUNT', overrides)).toThrow(expect.objectContaining(refusal))
    expect(core.findPaymentRequests('')).toStrictEqual([])
  })

  it.for([
    ['BNI_VIRTUAL_ACCOUNT', {}, 'display_name'],
    ['BNI_VIRTUAL_ACCOUNT', { customer_name: 'A' }, 'customer_name'],
    ['BNI_VIRTUAL_ACCOUNT', { display_name: 'A', expires_at: '2026-11-20T04:10:00.000Z' }, 'future'],
    ['BNI_VIRTUAL_ACCOUNT', { display_name: 'A', expires_at: 'soon' }, 'expires_at'],
    ['OVO', {}, 'account_mobile_number'],
    ['OVO', { account_mobile_number: '081234567890' }, 'account_mobile_number'],
    ['DANA', {}, 'success_return_url'],
    ['LINKAJA', {}, 'success_return_url'],
    ['SHOPEEPAY', {}, 'success_return_url'],
    ['GOPAY', { success_return_url: 'not a url' }, 'success_return_url'],
    ['QRIS', { display_name: 'Toko Maju' }, 'display_name'],
  ] as const)('refuses %s with channel properties %j', ([channel, properties, message], { sim: { core, create } }) => {
    const refusal = { status: 400, errorCode: 'API_VALIDATION_ERROR', message: expect.stringContaining(message) }

    expect(() => create(channel, { channel_properties: properties })).toThrow(expect.objectContaining(refusal))
    expect(core.findPaymentRequests('')).toStrictEqual([])
  })

  it('takes a wallet it has no facts about, and amounts of any size', ({ sim: { core } }) => {
    const { actions } = core.createPaymentRequest(aRequestBody('FUTUREPAY', { request_amount: 1 }))

    expect(actions.map(({ descriptor }) => descriptor)).toStrictEqual(['WEB_URL'])
  })
})

describe('the expiry of a payment request', () => {
  it.for([
    ['OVO', 55],
    ['DANA', 24 * HOUR],
    ['LINKAJA', HOUR / 2],
    ['SHOPEEPAY', HOUR / 2],
    ['GOPAY', HOUR / 2],
    ['QRIS', 48 * HOUR],
    ['BCA_VIRTUAL_ACCOUNT', HOUR, '2026-11-20T05:10:00.000Z'],
    ['QRIS', HOUR, '2026-11-20T05:10:00.000Z'],
  ] as const)('comes for %s after %i seconds, with its callback', async ([channel, seconds, asked], { sim }) => {
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

  it('does not touch a request that was paid or cancelled before', async ({ sim }) => {
    const [paid, cancelled] = [sim.create('OVO'), sim.create('DANA')]
    sim.pay(paid)
    sim.end(cancelled, 'CANCELED')

    await sim.advance(HOUR)

    expect([sim.statusOf(paid), sim.statusOf(cancelled)]).toStrictEqual(['SUCCEEDED', 'CANCELED'])
    expect(sim.callbacks.map(({ event }) => event)).toStrictEqual(['payment.capture'])
  })
})

describe('POST /v3/payment_requests/{id}/cancel of the provider simulator', () => {
  it('refuses a push that the payer can still answer', ({ sim }) => {
    const id = sim.create('OVO')

    const refusal = expect.objectContaining({ status: 400, errorCode: 'INELIGIBLE_TRANSACTION_STATUS' })
    expect(() => sim.core.cancelPaymentRequest(id)).toThrow(refusal)
    expect(sim.statusOf(id)).toBe('PENDING')
  })

  it.for(['BNI_VIRTUAL_ACCOUNT', 'DANA', 'QRIS'])(
    'cancels an open %s request without a callback',
    async (channel, { sim }) => {
      const request = sim.core.createPaymentRequest(aRequestBody(channel))

      const cancelled = sim.core.cancelPaymentRequest(request.payment_request_id)
      await sim.advance(30 * 24 * HOUR)

      expect(cancelled).toStrictEqual({ ...request, status: 'CANCELED' })
      expect(sim.core.getPaymentRequest(request.payment_request_id)).toStrictEqual(cancelled)
      expect(sim.callbacks).toStrictEqual([])
    },
  )

  it('refuses an unknown request', ({ sim: { core } }) => {
    const refusal = expect.objectContaining({ status: 404, errorCode: 'DATA_NOT_FOUND' })

    expect(() => core.cancelPaymentRequest('pr-none')).toThrow(refusal)
  })
})
