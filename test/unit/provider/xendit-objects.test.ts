import { describe, expect, it } from 'vitest'
import type { CancelAnswer } from '../../../shared/provider/provider.ts'
import { json, type Script } from '../../support/scripted-server.ts'
import { CAPTURED_PAYMENT, PAID_REQUEST, scriptedProvider } from '../../support/xendit-provider.ts'

const TIMEOUT_MS = 5_000

const captures = (...amounts: readonly unknown[]) => ({
  captures: amounts.map((amount) => ({ capture_amount: amount })),
})

const request = async (overrides: object) =>
  (await scriptedProvider(json(200, { ...PAID_REQUEST, ...overrides }))).provider.getRequest('pr-1', TIMEOUT_MS)

const payment = async (overrides: object) =>
  (await scriptedProvider(json(200, { ...CAPTURED_PAYMENT, ...overrides }))).provider.getPayment('py-1', TIMEOUT_MS)

const cancel = async (script: Script) => {
  const { provider, server } = await scriptedProvider(script)
  return { answer: await provider.cancelRequest('pr-1', TIMEOUT_MS), server }
}

describe('xendit getRequest', () => {
  it('asks for the request and reads it', async () => {
    const { provider, server } = await scriptedProvider(json(200, PAID_REQUEST))

    const answer = await provider.getRequest('pr-1', TIMEOUT_MS)

    expect(server.requests.map(({ method, url }) => `${method} ${url}`)).toStrictEqual([
      'GET /v3/payment_requests/pr-1',
    ])
    expect(answer).toStrictEqual({
      kind: 'found',
      value: {
        paymentRequestId: 'pr-1',
        reference: 'ref-1',
        status: 'succeeded',
        latestPaymentId: 'py-1',
        destination: '8808000000000001',
      },
    })
  })

  it.each([
    ['REQUIRES_ACTION', 'open'],
    ['ACCEPTING_PAYMENTS', 'open'],
    ['PENDING', 'open'],
    ['AUTHORIZED', 'open'],
    ['NEVER_HEARD_OF', 'open'],
    ['toString', 'open'],
    ['SUCCEEDED', 'succeeded'],
    ['FAILED', 'failed'],
    ['EXPIRED', 'expired'],
    ['CANCELED', 'cancelled'],
  ])('reads status %s as %s', async (status, expected) => {
    expect(await request({ status })).toMatchObject({ kind: 'found', value: { status: expected } })
  })

  it('reads a request without a payment', async () => {
    for (const none of [null, undefined, '']) {
      expect(await request({ latest_payment_id: none })).toMatchObject({ value: { latestPaymentId: undefined } })
    }
  })

  it('believes nothing of a request whose payment id could lead elsewhere', async () => {
    expect(await request({ latest_payment_id: '../secrets' })).toMatchObject({ kind: 'unanswered' })
  })
})

describe('xendit getPayment', () => {
  it('asks for the payment and reads it', async () => {
    const { provider, server } = await scriptedProvider(json(200, CAPTURED_PAYMENT))

    const answer = await provider.getPayment('py-1', TIMEOUT_MS)

    expect(server.requests.map(({ method, url }) => `${method} ${url}`)).toStrictEqual(['GET /v3/payments/py-1'])
    expect(answer).toStrictEqual({
      kind: 'found',
      value: {
        providerPaymentId: 'py-1',
        paymentRequestId: 'pr-1',
        reference: 'ref-1',
        currency: 'IDR',
        status: 'captured',
        capturedMinor: 150_000,
      },
    })
  })

  it.each<[string, object, string, number]>([
    ['the sum of its captures', captures(100_000, 50_000), 'captured', 150_000],
    ['what was captured, not what was asked', captures(140_000), 'captured', 140_000],
    ['amounts as text', captures('150000', '0.50'), 'captured', 150_000],
    ['a fraction of a rupiah, left out', captures(149_999.99), 'captured', 149_999],
    ['no capture, so no money', captures(), 'open', 0],
    ['no captures at all', { captures: undefined }, 'open', 0],
    ['null for captures', { captures: null }, 'open', 0],
    ['pending', { status: 'PENDING', captures: [] }, 'open', 0],
    ['authorized', { status: 'AUTHORIZED', captures: [] }, 'open', 0],
    ['a state we do not know', { status: 'HELD', ...captures(150_000) }, 'open', 0],
    ['failed', { status: 'FAILED', captures: undefined }, 'failed', 0],
    ['cancelled', { status: 'CANCELED', captures: [] }, 'failed', 0],
    ['expired', { status: 'EXPIRED', captures: [] }, 'failed', 0],
  ])('reads %s', async (_, overrides, status, capturedMinor) => {
    expect(await payment(overrides)).toMatchObject({ kind: 'found', value: { status, capturedMinor } })
  })

  it.each<[string, object]>([
    ['a negative amount', captures(-1)],
    ['an amount that is no number', captures('1e3')],
    ['an amount beyond all money', captures(1e14)],
    ['an amount that is null', captures(null)],
    ['more captures than there can be', captures(...Array.from({ length: 101 }, () => 1))],
    ['an id that is no id', { payment_id: 'py/1' }],
    ['a request id that is no id', { payment_request_id: '..' }],
    ['no reference', { reference_id: undefined }],
    ['a reference longer than we ever made', { reference_id: 'x'.repeat(256) }],
  ])('believes nothing of a payment with %s', async (_, overrides) => {
    expect(await payment(overrides)).toStrictEqual({ kind: 'unanswered', reason: 'server_error' })
  })
})

describe('xendit cancelRequest', () => {
  it('asks once, without a body', async () => {
    const { answer, server } = await cancel(json(200, { ...PAID_REQUEST, status: 'CANCELED' }))

    expect(answer).toStrictEqual({ kind: 'cancelled' })
    expect(server.requests.map(({ method, url, body }) => ({ method, url, body }))).toStrictEqual([
      { method: 'POST', url: '/v3/payment_requests/pr-1/cancel', body: '' },
    ])
  })

  it.each<[number, string, CancelAnswer]>([
    [400, 'INACTIVE_PAYMENT_REQUEST', { kind: 'final' }],
    [400, 'INELIGIBLE_TRANSACTION_STATUS', { kind: 'not_cancellable' }],
    [400, 'TEMPORARILY_UNAVAILABLE', { kind: 'unanswered', reason: 'server_error' }],
  ])('reads %i %s as %j', async (status, code, expected) => {
    const { answer } = await cancel(json(status, { error_code: code, message: 'x' }))

    expect(answer).toStrictEqual(expected)
  })

  it.each<[string, CancelAnswer]>([
    ['SUCCEEDED', { kind: 'final' }],
    ['EXPIRED', { kind: 'final' }],
    ['REQUIRES_ACTION', { kind: 'unanswered', reason: 'server_error' }],
  ])('does not take a 200 with status %s for a cancellation', async (status, expected) => {
    const { answer } = await cancel(json(200, { ...PAID_REQUEST, status }))

    expect(answer).toStrictEqual(expected)
  })
})
