import { describe, expect, it } from 'vitest'
import { GatewayError, invalid } from '../../../shared/errors.ts'
import { minor } from '../../../shared/money.ts'
import { createPayment } from '../../../shared/payment/create/create-payment.ts'
import type { CreateAnswer } from '../../../shared/provider/provider.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { sleepBesideOthers } from '../../support/manual-clock.ts'
import { aRequest, aStoredClient, create } from '../../support/payment-builders.ts'
import { testDeps } from '../../support/test-deps.ts'

const refusedBody = { ok: false, error: invalid('invalid JSON body: not well-formed JSON') } as const

describe('createPayment when the provider fails', () => {
  const failWith = (answer: CreateAnswer) => async () => answer

  it.each([
    [
      { kind: 'refused', code: 'INVALID_MERCHANT_SETTINGS' },
      'the provider refused the payment: INVALID_MERCHANT_SETTINGS',
    ],
    [{ kind: 'not_executed', reason: 'rate_limited' }, 'the provider takes no payments right now'],
    [{ kind: 'unknown', reason: 'timeout' }, 'the provider did not answer'],
    [{ kind: 'unknown', reason: 'HTTP 500 SERVER_ERROR', answered: true }, 'the provider failed'],
  ] as const)('answers internal_error after %o and lets a retry make the payment', async (answer, message) => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    deps.provider.script('createRequest', failWith(answer))

    const failed = await create(deps, client, aRequest(), 'key-1').catch((error: unknown) => error)
    deps.provider.heal('createRequest')
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
    deps.provider.heal('createRequest')

    const { payment } = await create(deps, client, aRequest({ notionalMinor: minor(7) }), 'key-1')

    expect(payment.notionalMinor).toBe(100_000)
  })

  it("uses the new request's own words when the provider refused every attempt for good", async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    deps.provider.script('createRequest', failWith({ kind: 'refused', code: 'INVALID_VALUE_ERROR' }))
    await create(deps, client, aRequest({ notionalMinor: minor(1) }), 'key-1').catch(() => undefined)
    deps.provider.heal('createRequest')

    const { payment } = await create(deps, client, aRequest({ notionalMinor: minor(70_000) }), 'key-1')

    expect(payment.notionalMinor).toBe(70_000)
  })

  it('takes over with the stored request when the retry cannot be read and the first may exist upstream', async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    deps.provider.script('createRequest', failWith({ kind: 'unknown', reason: 'timeout' }))
    await create(deps, client, aRequest(), 'key-1').catch(() => undefined)
    deps.provider.heal('createRequest')

    const { payment } = await createPayment(deps, { client, idempotencyKey: 'key-1', parsed: refusedBody })

    expect(payment).toMatchObject({ status: 'pending', notionalMinor: 100_000 })
  })

  it('makes no stampede: 200 callers waiting on a failing attempt all get its failure and nobody asks again', async () => {
    let polls = 0
    const sleep = () => {
      polls++
      return sleepBesideOthers()
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
