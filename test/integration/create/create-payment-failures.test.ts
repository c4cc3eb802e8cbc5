import { describe, expect } from 'vitest'
import type { Client } from '../../../shared/client/client.ts'
import { GatewayError, invalid } from '../../../shared/errors.ts'
import { minor } from '../../../shared/money.ts'
import { createPayment } from '../../../shared/payment/create/create-payment.ts'
import type { CreateAnswer } from '../../../shared/provider/provider.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { aRequest, create } from '../../support/payment-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'
import { paymentTest as it } from '../payment/payment-test.ts'
import { aCreate } from './a-create.ts'

const refusedBody = { ok: false, error: invalid('invalid JSON body: not well-formed JSON') } as const

const UNKNOWN: CreateAnswer = { kind: 'unknown', reason: 'timeout' }
const REFUSED: CreateAnswer = { kind: 'refused', code: 'INVALID_VALUE_ERROR' }

/**
 * A wait that takes no time on the manual clock: for crowds, whose waits would add up on it although they pass side by
 * side, and wear out every lease.
 */
const sleepBesideOthers = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5))

/** Attempts under one key that the provider answered so; it is well again. */
const failedCreate = async (deps: TestDeps, client: Client, answers: readonly CreateAnswer[], request = aRequest()) => {
  for (const answer of answers) {
    deps.provider.script('createRequest', async () => answer)
    await create(deps, client, request, 'key-1').catch(() => undefined)
  }
  deps.provider.heal('createRequest')
}

describe('createPayment when the provider fails', () => {
  it.for([
    [{ kind: 'refused', code: 'CHANNEL_NOT_ACTIVATED' }, 'the provider refused the payment: CHANNEL_NOT_ACTIVATED'],
    [{ kind: 'not_executed', reason: 'rate_limited' }, 'the provider accepts no payments right now'],
    [{ kind: 'unknown', reason: 'timeout' }, 'the provider did not answer'],
    [{ kind: 'unknown', reason: 'HTTP 500 SERVER_ERROR', answered: true }, 'the provider failed'],
  ] as const)(
    'answers internal_error after %o and lets a retry make the payment',
    async ([answer, message], { deps, client }) => {
      deps.provider.script('createRequest', async () => answer)

      const failed = await create(deps, client, aRequest(), 'key-1').catch((error: unknown) => error)
      deps.provider.heal('createRequest')
      const retried = await create(deps, client, aRequest(), 'key-1')

      expect(failed).toBeInstanceOf(GatewayError)
      expect(failed).toMatchObject({ code: 'internal_error', message: expect.stringContaining(message) as string })
      expect(retried.payment).toMatchObject({ status: 'pending', attempt: 2 })
      expect(retried.payment.providerAttempts.map(({ outcome }) => outcome)).toStrictEqual([answer.kind, 'created'])
      expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, pending: 1 })
    },
  )

  it.for([
    ['an attempt that may exist upstream', [UNKNOWN], 2],
    ['one of them, however many were refused after it', [UNKNOWN, REFUSED, REFUSED], 4],
  ] as const)('uses the stored request after %s', async ([, answers, attempt], { deps, client }) => {
    await failedCreate(deps, client, answers)

    const { payment } = await create(deps, client, aRequest({ notionalMinor: minor(7) }), 'key-1')

    expect(payment).toMatchObject({ attempt, notionalMinor: 100_000 })
  })

  it("uses the new request's own words when the provider refused every attempt for good", async ({ deps, client }) => {
    await failedCreate(deps, client, [REFUSED], aRequest({ notionalMinor: minor(1) }))

    const { payment } = await create(deps, client, aRequest({ notionalMinor: minor(70_000) }), 'key-1')

    expect(payment.notionalMinor).toBe(70_000)
  })

  it('takes over with the stored request when the retry cannot be read', async ({ deps, client }) => {
    await failedCreate(deps, client, [UNKNOWN])

    const { payment } = await createPayment(deps, { client, idempotencyKey: 'key-1', parsed: refusedBody })

    expect(payment).toMatchObject({ status: 'pending', notionalMinor: 100_000 })
  })

  it('makes no stampede: 200 callers waiting on a failing attempt all get its failure and none asks again', async () => {
    let polls = 0
    const sleep = () => {
      polls++
      return sleepBesideOthers()
    }
    const { deps, make, asked } = await aCreate({}, testDeps({ sleep }))
    const answer = Promise.withResolvers<CreateAnswer>()
    deps.provider.script('createRequest', () => answer.promise)
    const failureOf = () => make().catch((error: unknown) => error)

    const first = failureOf()
    await expect.poll(asked).toBe(1)
    const waiters = Promise.all(Array.from({ length: 200 }, failureOf))
    await expect.poll(() => polls, { timeout: 20_000 }).toBeGreaterThanOrEqual(200)
    answer.resolve(UNKNOWN)
    const failures = [await first, ...(await waiters)]

    const message = 'the provider did not answer; retry with the same Idempotency-Key'
    const told = failures.map((error) => error instanceof GatewayError && error.message)
    expect(told).toStrictEqual(Array(201).fill(message))
    expect(asked()).toBe(1)
  })

  it('cancels a request without a usable destination and answers internal_error', async ({ deps, client }) => {
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
