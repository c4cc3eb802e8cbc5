import { describe, expect, it } from 'vitest'
import { aCore, aRequestBody, CALLBACK_TOKEN } from '../../support/provider-simulator-harness.ts'

const MINUTE = 60

describe('POST /v3/payment_requests/{id}/simulate of the provider simulator', () => {
  it.each(['BCA_VIRTUAL_ACCOUNT', 'OVO', 'DANA', 'GOPAY', 'QRIS'])('pays a %s request', async (channelCode) => {
    const { core, advance, callbacks } = aCore()
    const request = core.createPaymentRequest(aRequestBody(channelCode, { metadata: { order: '7' } }))

    const answer = core.simulatePayment(request.payment_request_id)
    const sentBeforeAnswer = callbacks.length
    await advance(0)

    const paid = core.getPaymentRequest(request.payment_request_id)
    const payment = core.getPayment(paid.latest_payment_id ?? '')
    expect(answer).toStrictEqual({ status: 'PENDING', message: expect.stringContaining('via a webhook') })
    expect(paid).toStrictEqual({ ...request, status: 'SUCCEEDED', latest_payment_id: payment.payment_id })
    expect(payment).toStrictEqual({
      payment_id: expect.stringMatching(/^py-[0-9a-f-]{36}$/),
      business_id: request.business_id,
      reference_id: request.reference_id,
      payment_request_id: request.payment_request_id,
      type: 'PAY',
      country: 'ID',
      currency: 'IDR',
      request_amount: 150_000,
      capture_method: 'AUTOMATIC',
      channel_code: channelCode,
      captures: [
        {
          capture_id: expect.stringMatching(/^cptr-[0-9a-f-]{36}$/),
          capture_amount: 150_000,
          capture_timestamp: '2026-11-20T04:10:00.000Z',
        },
      ],
      status: 'SUCCEEDED',
      payment_details: {},
      metadata: { order: '7' },
      created: '2026-11-20T04:10:00.000Z',
      updated: '2026-11-20T04:10:00.000Z',
    })
    expect(sentBeforeAnswer).toBe(0)
    expect(callbacks).toStrictEqual([
      {
        headers: {
          'content-type': 'application/json',
          'x-callback-token': CALLBACK_TOKEN,
          'webhook-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
        },
        created: '2026-11-20T04:10:00.000Z',
        business_id: request.business_id,
        event: 'payment.capture',
        api_version: 'v3',
        data: payment,
      },
    ])
  })

  it('captures the amount of the body, whatever was asked', () => {
    const { core } = aCore()
    const { payment_request_id: id } = core.createPaymentRequest(aRequestBody())

    core.simulatePayment(id, { amount: 149_999 })

    const payment = core.getPayment(core.getPaymentRequest(id).latest_payment_id ?? '')
    expect(payment.captures).toMatchObject([{ capture_amount: 149_999 }])
    expect(payment.request_amount).toBe(150_000)
  })

  it.each([[{ amount: '150000' }], [{ amount: 0 }], [{ amount: 1.5 }], ['paid']])('refuses the body %j', (body) => {
    const { core } = aCore()
    const { payment_request_id: id } = core.createPaymentRequest(aRequestBody())

    const simulate = () => core.simulatePayment(id, body)

    expect(simulate).toThrow(expect.objectContaining({ status: 400, errorCode: 'API_VALIDATION_ERROR' }))
    expect(core.getPaymentRequest(id).status).toBe('REQUIRES_ACTION')
  })

  it.each(['SUCCEEDED', 'FAILED', 'CANCELED', 'EXPIRED'])('refuses a request that is %s', (status) => {
    const { core } = aCore()
    const { payment_request_id: id } = core.createPaymentRequest(aRequestBody())
    if (status === 'SUCCEEDED') core.simulatePayment(id)
    if (status === 'FAILED') core.failPaymentRequest(id)
    if (status === 'CANCELED') core.cancelPaymentRequest(id)
    if (status === 'EXPIRED') core.expirePaymentRequest(id)
    const before = core.getPaymentRequest(id)

    const simulate = () => core.simulatePayment(id)

    expect(simulate).toThrow(expect.objectContaining({ status: 400, errorCode: 'INACTIVE_PAYMENT_REQUEST' }))
    expect(core.getPaymentRequest(id)).toStrictEqual(before)
  })

  it('refuses a request whose expiry has passed in the same instant', () => {
    const { core, clock } = aCore()
    const { payment_request_id: id } = core.createPaymentRequest(aRequestBody('OVO'))
    clock.advance(55)

    expect(() => core.simulatePayment(id)).toThrow('EXPIRED')
  })
})

describe('the fail and expire controls of the provider simulator', () => {
  it('fails a request with a FAILED payment and its callback', async () => {
    const { core, advance, callbacks } = aCore()
    const { payment_request_id: id } = core.createPaymentRequest(aRequestBody('DANA'))

    const failed = core.failPaymentRequest(id, { failure_code: 'INSUFFICIENT_BALANCE' })
    await advance(0)

    const payment = core.getPayment(failed.latest_payment_id ?? '')
    expect(failed).toMatchObject({ status: 'FAILED', failure_code: 'INSUFFICIENT_BALANCE' })
    expect(payment).toMatchObject({ status: 'FAILED', failure_code: 'INSUFFICIENT_BALANCE' })
    expect(payment).not.toHaveProperty('captures')
    expect(callbacks).toMatchObject([{ event: 'payment.failure', data: payment }])
  })

  it('fails a request without a body by a decline', () => {
    const { core } = aCore()
    const { payment_request_id: id } = core.createPaymentRequest(aRequestBody('OVO'))

    expect(core.failPaymentRequest(id)).toMatchObject({ status: 'FAILED', failure_code: 'USER_DECLINED_PAYMENT' })
  })

  it('expires a request at once, with its callback', async () => {
    const { core, advance, callbacks } = aCore()
    const { payment_request_id: id } = core.createPaymentRequest(aRequestBody())

    const expired = core.expirePaymentRequest(id)
    await advance(0)

    expect(expired.status).toBe('EXPIRED')
    expect(callbacks).toMatchObject([{ event: 'payment_request.expiry', data: { payment_request_id: id } }])
  })

  it('neither fails nor expires a final request', () => {
    const { core } = aCore()
    const { payment_request_id: id } = core.createPaymentRequest(aRequestBody())
    core.simulatePayment(id)

    expect(() => core.failPaymentRequest(id)).toThrow(expect.objectContaining({ status: 400 }))
    expect(() => core.expirePaymentRequest(id)).toThrow(expect.objectContaining({ status: 400 }))
  })
})

describe('the callback retries of the provider simulator', () => {
  it.each([500, 302, 404, 'unreachable'] as const)(
    'come after 15 min, 45 min, 2 h, 3 h, 6 h and 12 h when the answer is %s, then never again',
    async (status) => {
      const { core, clock, advance, callbacks, receiver } = aCore()
      receiver.status = status
      const { payment_request_id: id } = core.createPaymentRequest(aRequestBody('DANA'))
      core.simulatePayment(id)
      await advance(0)
      const counts = [callbacks.length]

      for (const minutes of [15, 45, 120, 180, 360, 720]) {
        await advance(minutes * MINUTE - 1)
        counts.push(callbacks.length)
        await advance(1)
        counts.push(callbacks.length)
      }
      await advance(30 * 24 * 3600)

      expect(counts).toStrictEqual([1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7])
      expect(callbacks).toHaveLength(7)
      expect(new Set(callbacks.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
      expect(new Set(callbacks.map(({ created }) => created)).size).toBe(7)
      expect(clock.pending()).toBe(0)
    },
  )

  it('stop at the first 2xx', async () => {
    const { core, advance, callbacks, receiver } = aCore()
    receiver.status = 503
    const { payment_request_id: id } = core.createPaymentRequest(aRequestBody())
    core.simulatePayment(id)
    await advance(0)

    receiver.status = 204
    await advance(15 * MINUTE)
    await advance(30 * 24 * 3600)

    expect(callbacks).toHaveLength(2)
  })
})
