import { describe, expect, it } from 'vitest'
import { applyProviderNews } from '../../../shared/payment/news/apply-provider-news.ts'
import { cancelPayment } from '../../../shared/payment/news/cancel-payment.ts'
import { findStoredPayment, noteCancelRequested } from '../../../shared/payment/payment-store.ts'
import type { CancelAnswer } from '../../../shared/provider/provider.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { eventKey } from '../../../shared/table/keys.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { aPendingPayment, aStoredClient } from '../../support/payment-builders.ts'
import { testDeps } from '../../support/test-deps.ts'

const aPending = async () => {
  const deps = testDeps()
  const client = await aStoredClient(deps)
  const payment = await aPendingPayment(deps, client)
  const cancel = () => cancelPayment(deps, { clientId: client.clientId, id: payment.paymentId })
  const stored = () => findStoredPayment(deps, payment.paymentId)
  return { deps, client, payment, cancel, stored }
}

describe('cancelPayment (spec 4.4)', () => {
  it('cancels upstream, then here, counts it, and sends no event', async () => {
    const { deps, client, payment, cancel, stored } = await aPending()

    const cancelled = await cancel()

    expect(cancelled).toMatchObject({ status: 'cancelled', paymentId: payment.paymentId })
    expect(await stored()).toMatchObject({ status: 'cancelled', cancelRequestedAt: deps.now() })
    expect(deps.provider.requests.get(payment.paymentRequestId)?.status).toBe('cancelled')
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, cancelled: 1 })
    for (const type of ['payment.succeeded', 'payment.failed', 'payment.expired']) {
      expect(await deps.table.get(eventKey(payment.paymentId, type))).toBeUndefined()
    }
  })

  it.each(['succeeded', 'failed', 'expired', 'cancelled'] as const)('refuses a payment that is %s', async (status) => {
    const { deps, payment, cancel } = await aPending()
    if (status === 'succeeded') deps.provider.pay(payment.paymentRequestId)
    else if (status === 'cancelled') await cancel()
    else deps.provider.close(payment.paymentRequestId, status)
    await applyProviderNews(deps, { paymentRequestId: payment.paymentRequestId }, 'callback')

    await expect(cancel()).rejects.toMatchObject({
      code: 'validation',
      message: `payment cannot be cancelled in status=${status}`,
    })
  })

  it('cancels here when the provider cannot cancel a request that is not final', async () => {
    const { deps, cancel } = await aPending()
    deps.provider.script('cancelRequest', async () => ({ kind: 'not_cancellable' }))

    expect(await cancel()).toMatchObject({ status: 'cancelled' })
  })

  it('answers by the true status when the customer has paid meanwhile', async () => {
    const { deps, client, payment, cancel, stored } = await aPending()
    deps.provider.pay(payment.paymentRequestId)

    await expect(cancel()).rejects.toMatchObject({ message: 'payment cannot be cancelled in status=succeeded' })

    expect(await stored()).toMatchObject({ status: 'succeeded' })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 95_900, succeeded: 1 })
  })

  it.each([
    ['unreachable', 'network'],
    ['rate_limited', 'server_error'],
    ['server_error', 'server_error'],
    ['misconfigured', 'server_error'],
    ['refused', 'server_error'],
  ] as const)('answers 502 when the provider is %s, changes nothing, and can be tried again', async (reason, code) => {
    const { deps, cancel, stored } = await aPending()
    deps.provider.script('cancelRequest', async () => ({ kind: 'unanswered', reason }))

    await expect(cancel()).rejects.toMatchObject({ code })

    expect(await stored()).toMatchObject({ status: 'pending' })
    deps.provider.script('cancelRequest', async () => ({ kind: 'cancelled' }))
    expect(await cancel()).toMatchObject({ status: 'cancelled' })
  })

  it('concludes nothing from a request the provider does not know: a wrong key looks just like it', async () => {
    const { deps, payment, cancel, stored } = await aPending()
    deps.provider.script('cancelRequest', async () => ({ kind: 'not_found' }))

    await expect(cancel()).rejects.toMatchObject({ code: 'server_error' })

    expect(await stored()).toMatchObject({ status: 'pending' })
    expect(await findSuspense(deps, `${payment.paymentId}#not_found_upstream`)).toMatchObject({ kind: 'finding' })
  })

  it('answers 200 on the retry of a cancel whose answer was lost behind the provider', async () => {
    const { deps, payment, cancel } = await aPending()
    const lost: CancelAnswer = { kind: 'unanswered', reason: 'unreachable' }
    deps.provider.close(payment.paymentRequestId, 'cancelled')
    deps.provider.script('cancelRequest', async () => lost)
    await expect(cancel()).rejects.toMatchObject({ code: 'network' })
    deps.provider.script('cancelRequest', async () => ({ kind: 'final' }))

    expect(await cancel()).toMatchObject({ status: 'cancelled' })
  })

  it('is refused by a status that changed between its read and its note', async () => {
    const { deps, payment } = await aPending()
    deps.provider.pay(payment.paymentRequestId)
    await applyProviderNews(deps, { paymentRequestId: payment.paymentRequestId }, 'callback')

    const noted = await noteCancelRequested(deps, payment.paymentId, deps.now(), deps.now())

    expect(noted.applied).toBe(false)
  })

  it('never ends in both or neither when a capture races it, and answers the status that is kept (100 races)', async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    const kept = { cancelled: 0, succeeded: 0 }
    for (let race = 0; race < 100; race++) {
      const payment = await aPendingPayment(deps, client)
      // Who is first at the provider alternates; our own writes race freely.
      const pay = async () => {
        if (race % 3 === 1) await new Promise<void>((resolve) => setImmediate(resolve))
        const providerPaymentId = deps.provider.pay(payment.paymentRequestId)
        return applyProviderNews(deps, { providerPaymentId }, 'callback')
      }
      const cancelling = cancelPayment(deps, { clientId: client.clientId, id: payment.paymentId }).then(
        (answered) => answered.status,
        (error: Error) => error.message,
      )
      const [answer] = await Promise.all([cancelling, pay()])

      const stored = await findStoredPayment(deps, payment.paymentId)
      if (stored?.status === 'cancelled') expect(answer).toBe('cancelled')
      else expect(answer).toBe('payment cannot be cancelled in status=succeeded')
      expect(stored?.status === 'cancelled' || stored?.status === 'succeeded').toBe(true)
      kept[stored?.status === 'cancelled' ? 'cancelled' : 'succeeded']++
    }
    const view = await ledgerView(deps, client.clientId)
    expect(view.pendingMinor).toBe(kept.succeeded * 95_900)
    expect(kept.cancelled + kept.succeeded).toBe(100)
  })
})
