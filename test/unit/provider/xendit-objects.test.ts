import { describe, expect, it } from 'vitest'
import type { CancelAnswer, Provider } from '../../../shared/provider/provider.ts'
import { xenditProvider } from '../../../shared/provider/xendit/xendit-provider.ts'
import {
  CAPTURED_PAYMENT,
  PAID_REQUEST,
  PROVIDER_SECRET,
  scriptedProvider,
} from '../../support/scripted-provider.ts'
import { json } from '../../support/scripted-server.ts'

function captures(...amounts: readonly unknown[]) {
  return { captures: amounts.map((amount) => ({ capture_amount: amount })) }
}

function answerOf(value: object) {
  return { kind: 'found', value }
}
const NO_ANSWER = { kind: 'unanswered', reason: 'server_error' } as const

/** The answer to a question. What is sent for it: `request-facts.test.ts`. */
async function answerTo<T>(status: number, body: object, ask: (provider: Provider) => Promise<T>) {
  return ask((await scriptedProvider(json(status, body))).provider)
}
function getRequest(overrides: object = {}) {
  return answerTo(200, { ...PAID_REQUEST, ...overrides }, (provider) => provider.getRequest('pr-1'))
}
function getPayment(overrides: object = {}) {
  return answerTo(200, { ...CAPTURED_PAYMENT, ...overrides }, (provider) =>
    provider.getPayment('py-1'),
  )
}

describe('xendit getRequest', () => {
  it('reads a request', async () => {
    const shown = { status: 'failed', latestPaymentId: 'py-1', destination: '8808000000000001' }
    const why = { failureReason: 'declined' }

    expect(await getRequest({ status: 'FAILED', failure_code: 'INVALID_OTP' })).toStrictEqual(
      answerOf({ paymentRequestId: 'pr-1', reference: 'ref-1', ...shown, ...why }),
    )
  })

  it('believes no answer about another request', async () => {
    expect(await getRequest({ payment_request_id: 'pr-2' })).toStrictEqual(NO_ANSWER)
  })

  it('reads a request without a payment, and believes no request whose payment id could lead elsewhere', async () => {
    for (const latest_payment_id of [null, '']) {
      expect(await getRequest({ latest_payment_id })).toMatchObject({
        value: { latestPaymentId: undefined },
      })
    }
    expect(await getRequest({ latest_payment_id: '../secrets' })).toMatchObject({
      kind: 'unanswered',
    })
  })
})

describe('xendit getPayment', () => {
  it('reads a payment', async () => {
    const ids = { providerPaymentId: 'py-1', paymentRequestId: 'pr-1', reference: 'ref-1' }
    const captured = { status: 'captured', failureReason: undefined, capturedMinor: 150_000 }
    const capturedAt = '2026-11-20T04:00:00.000Z'

    expect(await getPayment()).toStrictEqual(
      answerOf({ ...ids, currency: 'IDR', ...captured, capturedAt }),
    )
  })

  it.each<[string, object, string, number]>([
    ['the sum of its captures', captures(100_000, 50_000), 'captured', 150_000],
    ['what was captured, not what was asked', captures(140_000), 'captured', 140_000],
    ['amounts as text', captures('150000', '0.50'), 'captured', 150_000],
    ['a fraction of a rupiah, left out', captures(149_999.99), 'captured', 149_999],
    ['no capture, so no money yet', captures(), 'succeeded', 0],
    ['null for captures', { captures: null }, 'succeeded', 0],
  ])('reads %s', async (_case, overrides, status, capturedMinor) => {
    expect(await getPayment(overrides)).toMatchObject({
      kind: 'found',
      value: { status, capturedMinor },
    })
  })

  it.each<[string, object]>([
    ['a negative amount', captures(-1)],
    ['an amount that is no number', captures('1e3')],
    ['an amount beyond all money', captures(1e14)],
    ['an amount that is null', captures(null)],
    ['more captures than there can be', captures(...Array.from({ length: 101 }, () => 1))],
    ['an id that is no id', { payment_id: 'py/1' }],
    ['another id than was asked for', { payment_id: 'py-2' }],
    ['a request id that is no id', { payment_request_id: '..' }],
    ['no reference', { reference_id: undefined }],
    ['a reference longer than we ever made', { reference_id: 'x'.repeat(256) }],
  ])('believes nothing of a payment with %s', async (_case, overrides) => {
    expect(await getPayment(overrides)).toStrictEqual(NO_ANSWER)
  })
})

// The documented refusals: `request-facts.test.ts`.
it.each<[number, object, CancelAnswer]>([
  [200, { ...PAID_REQUEST, status: 'CANCELED' }, { kind: 'cancelled' }],
  [200, { ...PAID_REQUEST, status: 'SUCCEEDED' }, { kind: 'final' }],
  [200, { ...PAID_REQUEST, status: 'REQUIRES_ACTION' }, NO_ANSWER],
  [200, { ...PAID_REQUEST, status: 'STATE_OF_TOMORROW' }, NO_ANSWER],
  [200, { ...PAID_REQUEST, status: 'CANCELED', payment_request_id: 'pr-2' }, NO_ANSWER],
  [400, { error_code: 'TEMPORARILY_UNAVAILABLE' }, NO_ANSWER],
  [500, { error_code: 'INACTIVE_PAYMENT_REQUEST', message: 'x' }, NO_ANSWER],
])('xendit cancelRequest reads %i with %j as %j', async (status, body, expected) => {
  expect(await answerTo(status, body, (provider) => provider.cancelRequest('pr-1'))).toStrictEqual(
    expected,
  )
})

it.each([
  ['API_VALIDATION_ERROR', 'REQUIRES_ACTION', { kind: 'not_cancellable' }],
  ['API_VALIDATION_ERROR', 'EXPIRED', { kind: 'final' }],
  ['INELIGIBLE_TRANSACTION_STATUS', 'PENDING', { kind: 'not_cancellable' }],
])('xendit cancelRequest that is refused by %s asks: %s is %j', async (code, status, expected) => {
  const refused = json(400, { error_code: code })
  const shown = json(200, { ...PAID_REQUEST, status })
  const { provider } = await scriptedProvider((response, request) =>
    (request.method === 'POST' ? refused : shown)(response, request),
  )

  expect(await provider.cancelRequest('pr-1')).toStrictEqual(expected)
})

it('xendit cancelRequest asks within the time of its caller', async () => {
  const timeoutsMs: number[] = []
  const provider = xenditProvider({
    stage: 'test',
    secrets: { get: async () => PROVIDER_SECRET },
    nowMs: () => 900 * timeoutsMs.length,
    call: async ({ timeoutMs }) => {
      timeoutsMs.push(timeoutMs)
      return { kind: 'answered', status: 400, json: { error_code: 'API_VALIDATION_ERROR' } }
    },
  })

  await provider.cancelRequest('pr-1', 1_000)
  await provider.cancelRequest('pr-1', 900)

  expect(timeoutsMs).toStrictEqual([1_000, 100, 900, 1])
})

function cash(amountMinor: number) {
  return answerOf({ account: 'CASH', amountMinor })
}

it.each([
  // Rounded down.
  [200, { balance: 1_241_231.7 }, cash(1_241_231)],
  [200, { balance: '-5000.5' }, cash(-5_001)],
  [200, {}, NO_ANSWER],
  [200, { balance: 1e300 }, NO_ANSWER],
])('xendit getBalance reads %i with %o as %o', async (status, body, expected) => {
  expect(await answerTo(status, body, (provider) => provider.getBalance())).toMatchObject(expected)
})
