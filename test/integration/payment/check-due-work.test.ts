import { describe, expect, it } from 'vitest'
import { checkDuePayment } from '../../../shared/payment/news/check-due-payment.ts'
import { receiveCallback } from '../../../shared/payment/news/receive-callback.ts'
import type { Payment, PaymentRequest } from '../../../shared/payment/payment.ts'
import {
  claimCheck,
  endCheck,
  findStoredPayment,
  markDueNow,
  scheduleCheck,
} from '../../../shared/payment/payment-store.ts'
import { callbackSecretName } from '../../../shared/secrets.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { addMs } from '../../../shared/time.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { aPendingPayment, aStoredClient, OVO_REQUEST } from '../../support/payment-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

const aPending = async (fields: Partial<PaymentRequest> = {}) => {
  const deps = testDeps()
  const client = await aStoredClient(deps)
  const payment = await aPendingPayment(deps, client, fields)
  return { deps, client, payment }
}

const current = async (deps: TestDeps, payment: Payment): Promise<Payment> => {
  const stored = await findStoredPayment(deps, payment.paymentId)
  if (stored === undefined || stored.status === 'creating') throw new Error('the payment is not visible')
  return stored
}

/** Lets the payment's own due time come and checks it, as the schedule would. */
const checkWhenDue = async (deps: TestDeps, payment: Payment) => {
  const { dueAt } = await current(deps, payment)
  if (dueAt === undefined) throw new Error('the payment is not due at all')
  if (dueAt > deps.now()) deps.clock.set(dueAt)
  return checkDuePayment(deps, { paymentId: payment.paymentId, dueAt })
}

describe('checkDuePayment: callbacks switched off entirely', () => {
  it('finds a payment that was paid', async () => {
    const { deps, client, payment } = await aPending()
    deps.provider.pay(payment.paymentRequestId)

    await checkWhenDue(deps, payment)

    expect(await current(deps, payment)).toMatchObject({ status: 'succeeded' })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 95_900, succeeded: 1 })
  })

  it('finds a payment that failed', async () => {
    const { deps, payment } = await aPending()
    deps.provider.close(payment.paymentRequestId, 'failed')

    await checkWhenDue(deps, payment)

    expect(await current(deps, payment)).toMatchObject({ status: 'failed' })
  })

  it('looks at 5, 30 and 60 minutes, then hourly, and at the expiry of a virtual account', async () => {
    const { deps, payment } = await aPending({ expiresInSeconds: 9_000 })
    const dueTimes = []
    for (let check = 0; check < 5; check++) {
      dueTimes.push((await current(deps, payment)).dueAt)
      await checkWhenDue(deps, payment)
    }

    expect(dueTimes).toStrictEqual([
      '2026-11-20T04:05:00.000Z',
      '2026-11-20T04:30:00.000Z',
      '2026-11-20T05:00:00.000Z',
      '2026-11-20T06:00:00.000Z',
      '2026-11-20T06:30:00.000Z',
    ])
    expect(await current(deps, payment)).toMatchObject({ status: 'expired' })
  })

  it('looks at an OVO payment one minute behind its expiry', async () => {
    const { payment } = await aPending(OVO_REQUEST)

    expect(payment.expiresAt).toBe('2026-11-20T04:00:55.000Z')
    expect(payment.dueAt).toBe('2026-11-20T04:01:55.000Z')
  })
})

describe('checkDuePayment: our own expiry', () => {
  const anExpired = async () => {
    const pending = await aPending({ method: 'qris', channelCode: undefined, expiresInSeconds: 60 })
    pending.deps.clock.advance(60)
    return pending
  }

  it('cancels upstream first, then expires with its event', async () => {
    const { deps, client, payment } = await anExpired()

    await checkWhenDue(deps, payment)

    expect(await current(deps, payment)).toMatchObject({ status: 'expired' })
    expect(deps.provider.requests.get(payment.paymentRequestId)?.status).toBe('cancelled')
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, expired: 1 })
  })

  it('lets a payment succeed that was paid before the upstream cancel', async () => {
    const { deps, client, payment } = await anExpired()
    deps.provider.pay(payment.paymentRequestId)

    await checkWhenDue(deps, payment)

    expect(await current(deps, payment)).toMatchObject({ status: 'succeeded' })
    expect((await ledgerView(deps, client.clientId)).pendingMinor).toBe(99_200)
  })

  it('expires all the same when the provider cannot cancel a request that is not final', async () => {
    const { deps, payment } = await anExpired()
    deps.provider.script('cancelRequest', async () => ({ kind: 'not_cancellable' }))

    await checkWhenDue(deps, payment)

    expect(await current(deps, payment)).toMatchObject({ status: 'expired' })
  })

  it('expires with a finding when the provider does not know the request', async () => {
    const { deps, payment } = await anExpired()
    deps.provider.script('cancelRequest', async () => ({ kind: 'not_found' }))

    await checkWhenDue(deps, payment)

    expect(await current(deps, payment)).toMatchObject({ status: 'expired' })
    expect(await findSuspense(deps, `${payment.paymentId}#not_found_upstream`)).toBeDefined()
  })

  it('stays pending while the provider cannot be reached, and is asked again two minutes later', async () => {
    const { deps, payment } = await anExpired()
    deps.provider.script('cancelRequest', async () => ({ kind: 'unanswered', reason: 'unreachable' }))

    const result = await checkWhenDue(deps, payment)

    expect(result).toBe('unanswered')
    expect(await current(deps, payment)).toMatchObject({ status: 'pending', dueAt: addMs(deps.now(), 120_000) })
  })
})

describe('checkDuePayment: claims and refusals', () => {
  it('closes nothing before the expiry when the provider does not know the request', async () => {
    const { deps, payment } = await aPending()
    deps.provider.script('getRequest', async () => ({ kind: 'not_found' }))

    await checkWhenDue(deps, payment)

    expect(await current(deps, payment)).toMatchObject({ status: 'pending' })
    expect(await findSuspense(deps, `${payment.paymentId}#not_found_upstream`)).toBeDefined()
  })

  it('lets one of ten workers ask', async () => {
    const { deps, payment } = await aPending()
    const dueAt = payment.dueAt ?? deps.now()
    deps.clock.set(dueAt)

    const due = { paymentId: payment.paymentId, dueAt }
    const results = await Promise.all(Array.from({ length: 10 }, () => checkDuePayment(deps, due)))

    expect(results.filter((result) => result === 'checked')).toHaveLength(1)
    expect(deps.provider.countOf('getRequest')).toBe(1)
  })

  it('leaves a payment that became due for another reason meanwhile to that reason', async () => {
    const { deps, payment } = await aPending()
    const { dueAt = deps.now() } = payment
    const claimed = addMs(dueAt, 1)
    await claimCheck(deps, payment.paymentId, dueAt, claimed)
    await markDueNow(deps, payment.paymentId, deps.now())

    const scheduled = await scheduleCheck(deps, payment.paymentId, claimed, addMs(dueAt, 60_000))
    const ended = await endCheck(deps, payment.paymentId, claimed)

    expect([scheduled.applied, ended.applied]).toStrictEqual([false, false])
    expect(await current(deps, payment)).toMatchObject({ dueAt: deps.now() })
  })
})

describe('receiveCallback', () => {
  const [NEW, OLD] = ['the-new-token-of-tests', 'the-old-token-of-tests'] as const
  const TOKENS = JSON.stringify({ callback_tokens: [NEW, OLD] })
  const dataOf = ({ paymentId, paymentRequestId }: Payment, providerPaymentId: string) => ({
    payment_id: providerPaymentId,
    payment_request_id: paymentRequestId,
    reference_id: `${paymentId}-1`,
    status: 'SUCCEEDED',
  })
  const aCallback = (payment: Payment, providerPaymentId: string) =>
    Buffer.from(JSON.stringify({ event: 'payment.capture', data: dataOf(payment, providerPaymentId) }))
  const withSecret = async () => {
    const pending = await aPending()
    pending.deps.secretValues.set(callbackSecretName('test'), TOKENS)
    return pending
  }

  it.each([undefined, '', 'wrong', `${NEW}s`])('refuses the token %o and changes nothing', async (token) => {
    const { deps, payment } = await withSecret()
    const providerPaymentId = deps.provider.pay(payment.paymentRequestId)

    const attempt = receiveCallback(deps, { token, rawBody: aCallback(payment, providerPaymentId) })

    await expect(attempt).rejects.toMatchObject({ code: 'auth' })
    expect(await current(deps, payment)).toEqual(payment)
    expect(deps.provider.countOf('getPayment')).toBe(0)
  })

  it.each([NEW, OLD])('accepts %s and applies what the provider says', async (token) => {
    const { deps, payment } = await withSecret()
    const providerPaymentId = deps.provider.pay(payment.paymentRequestId)

    expect(await receiveCallback(deps, { token, rawBody: aCallback(payment, providerPaymentId) })).toBe('applied')

    expect(await current(deps, payment)).toMatchObject({ status: 'succeeded' })
  })

  it('makes the payment due at once and asks for a repeat when the provider cannot be asked', async () => {
    const { deps, payment } = await withSecret()
    deps.provider.script('getPayment', async () => ({ kind: 'unanswered', reason: 'unreachable' }))
    deps.clock.advance(1)

    const outcome = await receiveCallback(deps, { token: NEW, rawBody: aCallback(payment, 'py-1') })

    expect(outcome).toBe('ask_again')
    expect(await current(deps, payment)).toMatchObject({ status: 'pending', dueAt: deps.now() })
  })

  it.each(['not json', '{}', '{"event":"payout.succeeded","data":{"id":"x"}}', '[]', 'null'])(
    'ignores %s, which is nothing to ask about',
    async (text) => {
      const { deps } = await withSecret()

      expect(await receiveCallback(deps, { token: NEW, rawBody: Buffer.from(text) })).toBe('ignored')
    },
  )
})
