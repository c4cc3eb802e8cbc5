import { describe, expect, it } from 'vitest'
import { GatewayError, invalid } from '../../shared/errors.ts'
import { paymentIdForKey } from '../../shared/ids.ts'
import { minor } from '../../shared/money.ts'
import { createPayment } from '../../shared/payment/create-payment.ts'
import { findStoredPayment, releaseAttempt } from '../../shared/payment/payment-store.ts'
import type { CreateAnswer } from '../../shared/provider/provider.ts'
import { ledgerView } from '../support/ledger-view.ts'
import { aRequest, aStoredClient, create, OVO_REQUEST } from '../support/payment-builders.ts'
import { testDeps } from '../support/test-deps.ts'

const refusedBody = { ok: false, error: invalid('invalid JSON body: not well-formed JSON') } as const

describe('createPayment (spec 4.1)', () => {
  it('makes one provider request, one pending payment with its estimate, and counts it', async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)

    const { payment, replayed } = await create(deps, client, aRequest({ externalReference: 'order-1' }), 'key-1')

    expect(replayed).toBe(false)
    expect(payment).toMatchObject({
      paymentId: paymentIdForKey(client.clientId, 'key-1'),
      status: 'pending',
      notionalMinor: 100_000,
      providerFeeMinor: 4_000,
      markupMinor: 100,
      netMinor: 95_900,
      feeStatus: 'estimated',
      paymentDestination: '381652390000001',
      externalReference: 'order-1',
      expiresAt: '2026-11-21T04:00:00.000Z',
      createdAt: '2026-11-20T04:00:00.000Z',
    })
    expect(deps.provider.countOf('createRequest')).toBe(1)
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, pending: 1 })
    expect(await findStoredPayment(deps, payment.paymentId)).toEqual(payment)
  })

  it('makes a payment of its own for every request without a key', async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)

    const first = await create(deps, client)
    const second = await create(deps, client)

    expect(first.payment.paymentId).not.toBe(second.payment.paymentId)
    expect(deps.provider.countOf('createRequest')).toBe(2)
  })

  it('returns the original payment for a reused key, whatever the new body says', async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    const original = await create(deps, client, aRequest(), 'key-1')

    const replay = await create(deps, client, aRequest({ notionalMinor: minor(5) }), 'key-1')
    const unreadable = await createPayment(deps, { client, idempotencyKey: 'key-1', parsed: refusedBody })

    expect(replay).toEqual({ payment: original.payment, replayed: true })
    expect(unreadable).toEqual({ payment: original.payment, replayed: true })
    expect(deps.provider.countOf('createRequest')).toBe(1)
  })

  it('refuses an unreadable body with a key that has no payment, and writes nothing', async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)

    const attempt = createPayment(deps, { client, idempotencyKey: 'key-1', parsed: refusedBody })

    await expect(attempt).rejects.toThrow('invalid JSON body')
    expect(await findStoredPayment(deps, paymentIdForKey(client.clientId, 'key-1'))).toBeUndefined()
  })

  it('makes two payments for the same key of two clients', async () => {
    const deps = testDeps()
    const [one, two] = [await aStoredClient(deps), await aStoredClient(deps)]

    const first = await create(deps, one, aRequest(), 'key-1')
    const second = await create(deps, two, aRequest(), 'key-1')

    expect(first.payment.paymentId).not.toBe(second.payment.paymentId)
  })

  it('answers 200 concurrent requests of one key with the same payment and one provider call', async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)

    const results = await Promise.all(Array.from({ length: 200 }, () => create(deps, client, aRequest(), 'key-1')))

    expect(new Set(results.map(({ payment }) => payment.paymentId)).size).toBe(1)
    expect(new Set(results.map(({ payment }) => payment.paymentDestination)).size).toBe(1)
    expect(results.filter(({ replayed }) => !replayed)).toHaveLength(1)
    expect(deps.provider.countOf('createRequest')).toBe(1)
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, pending: 1 })
  })

  it('sends an explicit expiry where the provider takes one, and shows the earlier of wish and channel elsewhere', async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)

    const bank = await create(deps, client, aRequest({ expiresInSeconds: 7 * 86_400 }))
    const qris = await create(
      deps,
      client,
      aRequest({ method: 'qris', channelCode: undefined, expiresInSeconds: 7 * 86_400 }),
    )

    const sent = [...deps.provider.requests.values()].map(({ input }) => input.expiresAt)
    expect(sent).toStrictEqual(['2026-11-27T04:00:00.000Z', undefined])
    expect(bank.payment.expiresAt).toBe('2026-11-27T04:00:00.000Z')
    expect(qris.payment.expiresAt).toBe('2026-11-22T04:00:00.000Z')
  })
})

describe('createPayment when the provider fails', () => {
  const failWith = (answer: CreateAnswer) => async () => answer

  it.each([
    [
      { kind: 'refused', code: 'INVALID_MERCHANT_SETTINGS' },
      'the provider refused the payment: INVALID_MERCHANT_SETTINGS',
    ],
    [{ kind: 'not_executed', reason: 'rate_limited' }, 'the provider takes no payments right now'],
    [{ kind: 'unknown', reason: 'timeout' }, 'the provider did not answer'],
  ] as const)('answers internal_error after %o and lets a retry make the payment', async (answer, message) => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    deps.provider.script('createRequest', failWith(answer))

    const failed = await create(deps, client, aRequest(), 'key-1').catch((error: unknown) => error)
    deps.provider.script('createRequest', testDeps().provider.createRequest)
    const retried = await create(deps, client, aRequest(), 'key-1')

    expect(failed).toBeInstanceOf(GatewayError)
    expect(failed).toMatchObject({ code: 'internal_error', message: expect.stringContaining(message) as string })
    expect(retried.payment).toMatchObject({ status: 'pending', attempt: 2 })
    expect(retried.payment.providerAttempts.map(({ outcome }) => outcome)).toStrictEqual([answer.kind, 'created'])
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, pending: 1 })
  })

  it('uses the stored request after an attempt that may exist upstream', async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    deps.provider.script('createRequest', failWith({ kind: 'unknown', reason: 'timeout' }))
    await create(deps, client, aRequest({ notionalMinor: minor(100_000) }), 'key-1').catch(() => undefined)
    deps.provider.script('createRequest', testDeps().provider.createRequest)

    const { payment } = await create(deps, client, aRequest({ notionalMinor: minor(7) }), 'key-1')

    expect(payment.notionalMinor).toBe(100_000)
  })

  it("uses the new request's own words when the provider refused every attempt for good", async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    deps.provider.script('createRequest', failWith({ kind: 'refused', code: 'INVALID_VALUE_ERROR' }))
    await create(deps, client, aRequest({ notionalMinor: minor(1) }), 'key-1').catch(() => undefined)
    deps.provider.script('createRequest', testDeps().provider.createRequest)

    const { payment } = await create(deps, client, aRequest({ notionalMinor: minor(70_000) }), 'key-1')

    expect(payment.notionalMinor).toBe(70_000)
  })

  it('takes over with the stored request when the retry cannot be read and the first may exist upstream', async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    deps.provider.script('createRequest', failWith({ kind: 'unknown', reason: 'timeout' }))
    await create(deps, client, aRequest(), 'key-1').catch(() => undefined)
    deps.provider.script('createRequest', testDeps().provider.createRequest)

    const { payment } = await createPayment(deps, { client, idempotencyKey: 'key-1', parsed: refusedBody })

    expect(payment).toMatchObject({ status: 'pending', notionalMinor: 100_000 })
  })

  it('makes no stampede: 200 callers waiting on a failing attempt all get its failure and nobody asks again', async () => {
    let polls = 0
    // Waiting takes no time on the manual clock here: a crowd sleeping on one clock would wear out its lease.
    const sleep = async () => {
      polls++
      await new Promise<void>((resolve) => setTimeout(resolve, 5))
    }
    const deps = testDeps({ sleep })
    const client = await aStoredClient(deps)
    const answer = Promise.withResolvers<CreateAnswer>()
    deps.provider.script('createRequest', () => answer.promise)
    const failureOf = () => create(deps, client, aRequest(), 'key-1').catch((error: unknown) => error)

    const first = failureOf()
    await expect.poll(() => deps.provider.countOf('createRequest')).toBe(1)
    const waiters = Promise.all(Array.from({ length: 200 }, failureOf))
    await expect.poll(() => polls, { timeout: 20_000 }).toBeGreaterThanOrEqual(200)
    answer.resolve({ kind: 'unknown', reason: 'timeout' })
    const failures = [await first, ...(await waiters)]

    expect(failures.map((error) => error instanceof GatewayError && error.message)).toStrictEqual(
      Array.from({ length: 201 }, () => 'the provider did not answer; retry with the same Idempotency-Key'),
    )
    expect(deps.provider.countOf('createRequest')).toBe(1)
  })

  it('cancels a request without a usable destination and answers internal_error', async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    deps.provider.script('createRequest', async (input) => ({
      kind: 'created',
      request: {
        paymentRequestId: 'pr-empty',
        reference: input.reference,
        status: 'open',
        latestPaymentId: undefined,
        destination: undefined,
      },
    }))

    await expect(create(deps, client, aRequest(), 'key-1')).rejects.toThrow('no payment destination')

    expect(deps.provider.calls.at(-1)).toStrictEqual({ operation: 'cancelRequest', id: 'pr-empty' })
  })
})

describe('createPayment after a crash', () => {
  /** An attempt that died behind the provider's answer: its claim is all that is left. */
  const crashed = async (deps: ReturnType<typeof testDeps>, key: string, fields = {}) => {
    const client = await aStoredClient(deps)
    deps.provider.script('createRequest', async () => {
      throw new Error('the process died')
    })
    await create(deps, client, aRequest(fields), key).catch(() => undefined)
    deps.provider.script('createRequest', testDeps().provider.createRequest)
    return client
  }

  it('makes the retry wait while the lease may still be live, and take over once it is over', async () => {
    const deps = testDeps()
    const client = await crashed(deps, 'key-1')

    const early = create(deps, client, aRequest(), 'key-1')
    await expect(early).rejects.toThrow('still being created')
    deps.clock.advance(30)
    const late = await create(deps, client, aRequest(), 'key-1')

    expect(late.payment).toMatchObject({ status: 'pending', attempt: 2 })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, pending: 1 })
  })

  it('lets one of two take-overs through and the other waits for it', async () => {
    const deps = testDeps()
    const client = await crashed(deps, 'key-1')
    deps.clock.advance(31)

    const [one, two] = await Promise.all([
      create(deps, client, aRequest(), 'key-1'),
      create(deps, client, aRequest(), 'key-1'),
    ])

    expect(one.payment).toEqual(two.payment)
    expect(deps.provider.countOf('createRequest')).toBe(2)
  })

  it('does not let an attempt commit over the one that took over, and cancels its request', async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    const healthy = testDeps()
    let answerLate: () => void = () => undefined
    deps.provider.script('createRequest', async (input, timeoutMs) => {
      const answer = await healthy.provider.createRequest(input, timeoutMs)
      await new Promise<void>((resolve) => (answerLate = resolve))
      return answer
    })
    const frozen = create(deps, client, aRequest(), 'key-1')
    await expect.poll(() => deps.provider.countOf('createRequest')).toBe(1)
    deps.clock.advance(31)
    deps.provider.script('createRequest', healthy.provider.createRequest)
    deps.provider.script('cancelRequest', healthy.provider.cancelRequest)

    const taken = await create(deps, client, aRequest(), 'key-1')
    answerLate()
    const late = await frozen

    expect(late).toEqual({ payment: taken.payment, replayed: true })
    const [orphan, kept] = [...healthy.provider.requests.values()]
    expect(orphan?.status).toBe('cancelled')
    expect(kept).toMatchObject({ status: 'open', paymentRequestId: taken.payment.paymentRequestId })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, pending: 1 })
  })

  it('refuses to record the failure of an attempt that was overtaken', async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    const { payment } = await create(deps, client, aRequest(), 'key-1')
    const creating = {
      ...payment,
      status: 'creating',
      request: aRequest(),
      claimedAt: deps.now(),
      mayExistUpstream: false,
    }

    const released = await releaseAttempt(
      deps,
      { ...creating, status: 'creating' },
      { failure: 'x', providerAttempts: [] },
    )

    expect(released.applied).toBe(false)
    expect(await findStoredPayment(deps, payment.paymentId)).toEqual(payment)
  })

  it('sends no second OVO push while the first may still be answered, and asks the provider before it does', async () => {
    const deps = testDeps()
    const client = await crashed(deps, 'key-1', OVO_REQUEST)
    const again = () => create(deps, client, aRequest(OVO_REQUEST), 'key-1')

    deps.clock.advance(31)
    await expect(again()).rejects.toThrow('the push sent to the customer may still be answered')
    deps.clock.advance(30)
    deps.provider.script('listTransactions', async () => ({ kind: 'unanswered', reason: 'unreachable' }))
    await expect(again()).rejects.toThrow('could not say whether the last push was paid')
    deps.provider.script('listTransactions', async () => ({
      kind: 'found',
      value: { transactions: [], hasMore: false },
    }))
    const { payment } = await again()

    expect(payment).toMatchObject({ status: 'pending', attempt: 2, paymentDestination: '' })
    expect(deps.provider.countOf('createRequest')).toBe(2)
  })

  it('gives up in time instead of beginning a provider call it cannot finish', async () => {
    const deps = testDeps()
    const client = await crashed(deps, 'key-1', OVO_REQUEST)
    deps.clock.advance(61)
    deps.provider.script('listTransactions', async () => {
      deps.clock.advance(12)
      return { kind: 'found', value: { transactions: [], hasMore: false } }
    })

    await expect(create(deps, client, aRequest(OVO_REQUEST), 'key-1')).rejects.toThrow('took too long')

    expect(deps.provider.countOf('createRequest')).toBe(1)
  })
})
