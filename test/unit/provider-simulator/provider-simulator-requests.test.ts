import { describe, expect, it } from 'vitest'
import { aCore, aRequestBody } from '../../support/provider-simulator-harness.ts'

const HOUR = 3600

describe('POST /v3/payment_requests of the provider simulator', () => {
  it('answers the whole request object', () => {
    const { core } = aCore()
    const body = aRequestBody('BNI_VIRTUAL_ACCOUNT', {
      channel_properties: { display_name: 'Toko Maju', expires_at: '2026-11-21T04:10:00Z' },
      description: 'Order 7',
      metadata: { order: '7' },
    })

    const request = core.createPaymentRequest(body)

    expect(request).toStrictEqual({
      payment_request_id: 'pr-00000000-0000-4000-8000-000000000001',
      business_id: expect.stringMatching(/^[0-9a-f]{24}$/),
      reference_id: body.reference_id,
      type: 'PAY',
      country: 'ID',
      currency: 'IDR',
      request_amount: 150_000,
      capture_method: 'AUTOMATIC',
      channel_code: 'BNI_VIRTUAL_ACCOUNT',
      channel_properties: { display_name: 'Toko Maju', expires_at: '2026-11-21T04:10:00Z' },
      actions: [expect.objectContaining({ descriptor: 'VIRTUAL_ACCOUNT_NUMBER' })],
      status: 'REQUIRES_ACTION',
      description: 'Order 7',
      metadata: { order: '7' },
      created: '2026-11-20T04:10:00.000Z',
      updated: '2026-11-20T04:10:00.000Z',
    })
    expect(core.getPaymentRequest(request.payment_request_id)).toStrictEqual(request)
  })

  it('makes a second request for a reference it has seen', () => {
    const { core } = aCore()

    const first = core.createPaymentRequest(aRequestBody())
    const second = core.createPaymentRequest(aRequestBody())

    expect(core.findPaymentRequests(first.reference_id)).toStrictEqual([first, second])
  })

  it.each([
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
    ['a virtual account without a name', { channel_properties: {} }, 'display_name'],
    ['a virtual account with customer_name', { channel_properties: { customer_name: 'A' } }, 'customer_name'],
    [
      'an expiry in the past',
      { channel_properties: { display_name: 'A', expires_at: '2026-11-20T04:10:00.000Z' } },
      'future',
    ],
    ['an expiry that is no time', { channel_properties: { display_name: 'A', expires_at: 'soon' } }, 'expires_at'],
  ])('refuses %s', (_what, overrides, message) => {
    const { core } = aCore()

    const create = () => core.createPaymentRequest(aRequestBody('BNI_VIRTUAL_ACCOUNT', overrides))

    expect(create).toThrow(expect.objectContaining({ status: 400, message: expect.stringContaining(message) }))
    expect(core.findPaymentRequests('')).toStrictEqual([])
  })

  it.each([
    ['OVO', {}, 'account_mobile_number'],
    ['OVO', { account_mobile_number: '081234567890' }, 'account_mobile_number'],
    ['DANA', {}, 'success_return_url'],
    ['LINKAJA', {}, 'success_return_url'],
    ['SHOPEEPAY', {}, 'success_return_url'],
    ['GOPAY', { success_return_url: 'not a url' }, 'success_return_url'],
    ['QRIS', { display_name: 'Toko Maju' }, 'display_name'],
  ])('refuses %s with channel properties %j', (channelCode, properties, message) => {
    const { core } = aCore()

    const create = () => core.createPaymentRequest(aRequestBody(channelCode, { channel_properties: properties }))

    expect(create).toThrow(
      expect.objectContaining({ errorCode: 'API_VALIDATION_ERROR', message: expect.stringContaining(message) }),
    )
  })

  it('takes a wallet it has no facts about, and amounts of any size', () => {
    const { core } = aCore()
    const properties = { success_return_url: 'https://merchant.example/' }

    const wallet = core.createPaymentRequest(
      aRequestBody('FUTUREPAY', { request_amount: 1, channel_properties: properties }),
    )

    expect(wallet.actions.map(({ descriptor }) => descriptor)).toStrictEqual(['WEB_URL'])
  })
})

describe('the expiry of a payment request', () => {
  it.each([
    ['OVO', 55],
    ['DANA', 24 * HOUR],
    ['LINKAJA', HOUR / 2],
    ['SHOPEEPAY', HOUR / 2],
    ['GOPAY', HOUR / 2],
    ['QRIS', 48 * HOUR],
  ])('comes for %s after %i seconds, with its callback', async (channelCode, seconds) => {
    const { core, advance, callbacks } = aCore()
    const { payment_request_id: id, status: open } = core.createPaymentRequest(aRequestBody(channelCode))

    await advance(seconds - 0.001)
    const before = core.getPaymentRequest(id).status
    await advance(0.001)

    expect(before).toBe(open)
    expect(core.getPaymentRequest(id).status).toBe('EXPIRED')
    expect(callbacks).toMatchObject([
      { event: 'payment_request.expiry', data: { payment_request_id: id, status: 'EXPIRED', request_amount: 150_000 } },
    ])
  })

  it.each(['BCA_VIRTUAL_ACCOUNT', 'QRIS'])('follows expires_at for %s', async (channelCode) => {
    const { core, advance } = aCore()
    const base = aRequestBody(channelCode)
    const properties = { ...base.channel_properties, expires_at: '2026-11-20T05:10:00.000Z' }
    const { payment_request_id: id } = core.createPaymentRequest({ ...base, channel_properties: properties })

    await advance(HOUR - 1)
    const before = core.getPaymentRequest(id).status
    await advance(1)

    expect([before, core.getPaymentRequest(id).status]).toStrictEqual(['REQUIRES_ACTION', 'EXPIRED'])
  })

  it('does not touch a request that was paid or cancelled before', async () => {
    const { core, advance, callbacks } = aCore()
    const paid = core.createPaymentRequest(aRequestBody('OVO'))
    const cancelled = core.createPaymentRequest(aRequestBody('DANA'))
    core.simulatePayment(paid.payment_request_id)
    core.cancelPaymentRequest(cancelled.payment_request_id)

    await advance(HOUR)

    expect(core.getPaymentRequest(paid.payment_request_id).status).toBe('SUCCEEDED')
    expect(core.getPaymentRequest(cancelled.payment_request_id).status).toBe('CANCELED')
    expect(callbacks.map(({ event }) => event)).toStrictEqual(['payment.capture'])
  })
})

describe('POST /v3/payment_requests/{id}/cancel of the provider simulator', () => {
  it('refuses a push that the payer can still answer', () => {
    const { core } = aCore()
    const { payment_request_id: id } = core.createPaymentRequest(aRequestBody('OVO'))

    expect(() => core.cancelPaymentRequest(id)).toThrow(
      expect.objectContaining({ status: 400, errorCode: 'INELIGIBLE_TRANSACTION_STATUS' }),
    )
    expect(core.getPaymentRequest(id).status).toBe('PENDING')
  })

  it.each(['BNI_VIRTUAL_ACCOUNT', 'DANA', 'QRIS'])('cancels an open %s request without a callback', async (channel) => {
    const { core, advance, callbacks } = aCore()
    const request = core.createPaymentRequest(aRequestBody(channel))

    const cancelled = core.cancelPaymentRequest(request.payment_request_id)
    await advance(30 * 24 * HOUR)

    expect(cancelled).toStrictEqual({ ...request, status: 'CANCELED' })
    expect(core.getPaymentRequest(request.payment_request_id)).toStrictEqual(cancelled)
    expect(callbacks).toStrictEqual([])
  })

  it.each(['SUCCEEDED', 'FAILED', 'CANCELED', 'EXPIRED'])('refuses a request that is %s', (status) => {
    const { core } = aCore()
    const { payment_request_id: id } = core.createPaymentRequest(aRequestBody())
    if (status === 'SUCCEEDED') core.simulatePayment(id)
    if (status === 'FAILED') core.failPaymentRequest(id)
    if (status === 'CANCELED') core.cancelPaymentRequest(id)
    if (status === 'EXPIRED') core.expirePaymentRequest(id)

    const cancel = () => core.cancelPaymentRequest(id)

    expect(cancel).toThrow(expect.objectContaining({ status: 400, errorCode: 'INACTIVE_PAYMENT_REQUEST' }))
    expect(core.getPaymentRequest(id).status).toBe(status)
  })

  it('refuses an unknown request', () => {
    const { core } = aCore()

    expect(() => core.cancelPaymentRequest('pr-none')).toThrow(
      expect.objectContaining({ status: 404, errorCode: 'DATA_NOT_FOUND' }),
    )
  })
})
