import { describe, expect, it } from 'vitest'
import { parseCallback } from '../../../shared/provider/xendit/parse-callback.ts'
import { aSimulator } from '../../support/provider-simulator-harness.ts'
import { adapter, arm, createOn, pay, TIMEOUT_MS, transactionsOf } from '../../support/xendit-provider.ts'

/*
 * Goal: the adapter and the simulator agree, so that what the local gateway and the simulation prove about one holds for
 * the other. Method: the real adapter talks HTTP to the real simulator; nothing is scripted. What the adapter makes of
 * answers the simulator never gives is in the unit tests.
 */

describe('the adapter on the simulator: money', () => {
  it('follows a payment from its callback to its capture and its settled fee', async () => {
    await using simulator = await aSimulator()
    const provider = adapter(simulator)
    const request = await createOn(provider, { channelCode: 'BNI' })

    await pay(simulator, request)

    const [callback] = await simulator.receiver.waitFor(1)
    const subject = parseCallback(Buffer.from(JSON.stringify(callback?.body)))
    const providerPaymentId = subject?.providerPaymentId ?? ''
    expect(subject).toStrictEqual({
      paymentRequestId: request.paymentRequestId,
      providerPaymentId: expect.stringMatching(/^py-/),
      reference: request.reference,
    })
    expect(await provider.getRequest(request.paymentRequestId, TIMEOUT_MS)).toMatchObject({
      value: { status: 'succeeded', latestPaymentId: providerPaymentId },
    })
    expect(await provider.getPayment(providerPaymentId, TIMEOUT_MS)).toStrictEqual({
      kind: 'found',
      value: {
        providerPaymentId,
        paymentRequestId: request.paymentRequestId,
        reference: request.reference,
        currency: 'IDR',
        status: 'captured',
        capturedMinor: 150_000,
      },
    })
    expect(await transactionsOf(provider, request.reference)).toMatchObject([
      { providerPaymentId, status: 'success', amountMinor: 150_000, keptMinor: undefined, settledAt: undefined },
    ])
    simulator.clock.advance(600)
    const [settled] = await transactionsOf(provider, request.reference)
    expect(settled).toMatchObject({ providerPaymentId, paymentRequestId: request.paymentRequestId, keptMinor: 4_440 })
    expect(settled?.settledAt).toMatch(/Z$/)
  })

  it('reports what was captured when that is not what was asked', async () => {
    await using simulator = await aSimulator()
    const provider = adapter(simulator)
    const request = await createOn(provider)

    await pay(simulator, request, 149_999)

    const [row] = await transactionsOf(provider, request.reference)
    expect(await provider.getPayment(row?.providerPaymentId ?? '', TIMEOUT_MS)).toMatchObject({
      value: { status: 'captured', capturedMinor: 149_999 },
    })
  })

  it('pages through transactions until there are no more, each once', async () => {
    await using simulator = await aSimulator()
    const provider = adapter(simulator)
    for (let number = 1; number <= 5; number++) {
      await pay(simulator, await createOn(provider, { reference: `many-${number}` }))
    }
    const references: string[] = []
    let afterId: string | undefined

    for (let page = 0; page < 3; page++) {
      const answer = await provider.listTransactions(
        { limit: 2, ...(afterId !== undefined && { afterId }) },
        TIMEOUT_MS,
      )
      if (answer.kind !== 'found') throw new Error(answer.kind)
      references.push(...answer.value.transactions.map(({ reference }) => reference))
      afterId = answer.value.transactions.at(-1)?.transactionId
      expect(answer.value.hasMore).toBe(page < 2)
    }

    expect(references.toSorted()).toStrictEqual(['many-1', 'many-2', 'many-3', 'many-4', 'many-5'])
  })

  it('finds a transaction by the provider payment id', async () => {
    await using simulator = await aSimulator()
    const provider = adapter(simulator)
    for (const reference of ['one', 'two']) await pay(simulator, await createOn(provider, { reference }))
    const [one] = await transactionsOf(provider, 'one')

    const answer = await provider.listTransactions(
      { providerPaymentId: one?.providerPaymentId ?? '', limit: 10 },
      TIMEOUT_MS,
    )

    expect(answer).toStrictEqual({ kind: 'found', value: { transactions: [one], hasMore: false } })
  })
})

describe('the adapter on the simulator: ends without money', () => {
  it('cancels an open request once; then it is final', async () => {
    await using simulator = await aSimulator()
    const provider = adapter(simulator)
    const { paymentRequestId } = await createOn(provider)

    const answers = [
      await provider.cancelRequest(paymentRequestId, TIMEOUT_MS),
      await provider.cancelRequest(paymentRequestId, TIMEOUT_MS),
    ]

    expect(answers).toStrictEqual([{ kind: 'cancelled' }, { kind: 'final' }])
    expect(await provider.getRequest(paymentRequestId, TIMEOUT_MS)).toMatchObject({ value: { status: 'cancelled' } })
  })

  it('cannot cancel a pushed request, which is not final either: the payer can still answer', async () => {
    await using simulator = await aSimulator()
    const provider = adapter(simulator)
    const { paymentRequestId } = await createOn(provider, {
      method: 'ewallet',
      channelCode: 'OVO',
      phone: '+6281234567890',
    })

    expect(await provider.cancelRequest(paymentRequestId, TIMEOUT_MS)).toStrictEqual({ kind: 'not_cancellable' })
    expect(await provider.getRequest(paymentRequestId, TIMEOUT_MS)).toMatchObject({ value: { status: 'open' } })
  })

  it('hears how long to wait with a 429, and of room with any other answer', async () => {
    await using simulator = await aSimulator()
    const provider = adapter(simulator)
    const { paymentRequestId } = await createOn(provider)
    await arm(simulator, 'get', 'http_429', 7.5)

    await provider.getRequest(paymentRequestId, TIMEOUT_MS)
    const pauseMs = provider.pauseMs('getRequest')
    await provider.getRequest(paymentRequestId, TIMEOUT_MS)

    expect(pauseMs).toBeGreaterThan(5_000)
    expect(pauseMs).toBeLessThanOrEqual(7_500)
    expect(provider.pauseMs('getRequest')).toBe(0)
  })

  it.each<[string, unknown, object]>([
    ['refuse', 'INELIGIBLE_TRANSACTION_STATUS', { kind: 'not_cancellable' }],
    ['refuse', 'TEMPORARILY_UNAVAILABLE', { kind: 'unanswered', reason: 'server_error' }],
    ['refuse', 'API_VALIDATION_ERROR', { kind: 'unanswered', reason: 'refused', code: 'API_VALIDATION_ERROR' }],
    ['http_503', undefined, { kind: 'unanswered', reason: 'server_error' }],
    ['http_500', undefined, { kind: 'unanswered', reason: 'server_error' }],
    ['http_429', undefined, { kind: 'unanswered', reason: 'rate_limited' }],
    ['timeout_after_commit', undefined, { kind: 'unanswered', reason: 'unreachable' }],
  ])('classes the cancel fault %s %s', async (fault, value, expected) => {
    await using simulator = await aSimulator()
    const provider = adapter(simulator)
    const { paymentRequestId } = await createOn(provider)
    await arm(simulator, 'cancel', fault, value)

    const timeoutMs = fault === 'timeout_after_commit' ? 150 : TIMEOUT_MS

    expect(await provider.cancelRequest(paymentRequestId, timeoutMs)).toStrictEqual(expected)
  })

  it.each<[string, string, string, object]>([
    ['fail', 'failed', 'payment.failure', { providerPaymentId: expect.stringMatching(/^py-/) }],
    ['expire', 'expired', 'payment_request.expiry', { providerPaymentId: undefined }],
  ])('hears of a request that is told to %s', async (verb, status, event, subject) => {
    await using simulator = await aSimulator()
    const provider = adapter(simulator)
    const { paymentRequestId } = await createOn(provider)

    await simulator.call('POST', `/_simulator/payment_requests/${paymentRequestId}/${verb}`, {})

    const [callback] = await simulator.receiver.waitFor(1)
    expect(callback?.body.event).toBe(event)
    expect(parseCallback(Buffer.from(JSON.stringify(callback?.body)))).toMatchObject({ paymentRequestId, ...subject })
    expect(await provider.getRequest(paymentRequestId, TIMEOUT_MS)).toMatchObject({ value: { status } })
  })

  it('reads callbacks under their older names alike', async () => {
    await using simulator = await aSimulator()
    const request = await createOn(adapter(simulator))
    await arm(simulator, 'callback', 'legacy_names')

    await pay(simulator, request)

    const [callback] = await simulator.receiver.waitFor(1)
    expect(callback?.body.event).toBe('payment.succeeded')
    expect(parseCallback(Buffer.from(JSON.stringify(callback?.body)))).toMatchObject({
      paymentRequestId: request.paymentRequestId,
      reference: request.reference,
    })
  })

  it('does not find what never was, and is misconfigured with a wrong key', async () => {
    await using simulator = await aSimulator()

    expect(await adapter(simulator).getRequest('pr-unknown', TIMEOUT_MS)).toStrictEqual({ kind: 'not_found' })
    expect(await adapter(simulator).getPayment('py-unknown', TIMEOUT_MS)).toStrictEqual({ kind: 'not_found' })
    expect(await adapter(simulator).cancelRequest('pr-unknown', TIMEOUT_MS)).toStrictEqual({ kind: 'not_found' })
    expect(await adapter(simulator, 'xnd_wrong').getRequest('pr-unknown', TIMEOUT_MS)).toStrictEqual({
      kind: 'unanswered',
      reason: 'misconfigured',
      code: 'INVALID_API_KEY',
    })
  })
})
