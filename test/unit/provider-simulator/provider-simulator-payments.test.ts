import { describe, expect } from 'vitest'
import { CALLBACK_TOKEN } from '../../../infra/local/provider-simulator/simulator-keys.ts'
import { aRequestBody, FINAL, simulatorIt as it } from '../../support/provider-simulator-harness.ts'

const MINUTE = 60
const MONTH = 30 * 24 * 3600

describe('POST /v3/payment_requests/{id}/simulate of the provider simulator', () => {
  it('pays a request, and tells of it once it has answered', async ({ sim }) => {
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

  it('captures the amount of the body, whatever was asked', ({ sim }) => {
    const id = sim.create()

    sim.pay(id, { amount: 149_999 })

    expect(sim.paymentOf(id)).toMatchObject({ captures: [{ capture_amount: 149_999 }], request_amount: 150_000 })
    expect(sim.rows()).toMatchObject([{ amount: 149_999 }])
  })
})

describe('a final request of the provider simulator', () => {
  it.for(FINAL)('that is %s is neither paid, cancelled, failed nor expired', (status, { sim }) => {
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
})

describe('the fail control of the provider simulator', () => {
  it.for([
    ['INSUFFICIENT_BALANCE', { failure_code: 'INSUFFICIENT_BALANCE' }],
    ['USER_DECLINED_PAYMENT', undefined],
  ] as const)('fails a request by %s with a FAILED payment and its callback', async ([code, body], { sim }) => {
    const id = sim.create('DANA')

    const failed = sim.core.failPaymentRequest(id, body)
    await sim.advance(0)

    const payment = sim.paymentOf(id)
    expect(failed).toMatchObject({ status: 'FAILED', failure_code: code })
    expect(payment).toMatchObject({ status: 'FAILED', failure_code: code })
    expect(payment).not.toHaveProperty('captures')
    expect(sim.callbacks).toMatchObject([{ event: 'payment.failure', data: payment }])
  })
})

describe('the callback retries of the provider simulator', () => {
  it.for([500, 'unreachable'] as const)(
    'come after 15 min, 45 min, 2 h, 3 h, 6 h and 12 h when the answer is %s, then never again',
    async (status, { sim: { clock, pay, advance, callbacks, receiver } }) => {
      receiver.status = status
      pay()
      await advance(0)
      const counts = [callbacks.length]

      for (const minutes of [15, 45, 120, 180, 360, 720]) {
        await advance(minutes * MINUTE - 1)
        counts.push(callbacks.length)
        await advance(1)
        counts.push(callbacks.length)
      }
      await advance(MONTH)

      expect(counts).toStrictEqual([1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7])
      expect(callbacks).toHaveLength(7)
      expect(new Set(callbacks.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
      expect(new Set(callbacks.map(({ created }) => created)).size).toBe(7)
      expect(await clock.step()).toBe(false)
    },
  )

  it('stop at the first 2xx', async ({ sim: { pay, advance, callbacks, receiver } }) => {
    receiver.status = 503
    pay()
    await advance(0)

    receiver.status = 204
    await advance(15 * MINUTE)
    await advance(MONTH)

    expect(callbacks).toHaveLength(2)
  })
})
