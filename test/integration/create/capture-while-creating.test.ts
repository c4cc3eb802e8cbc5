import { describe, expect, it } from 'vitest'
import { applyProviderNews } from '../../../shared/payment/news/apply-provider-news.ts'
import { checkDuePayment } from '../../../shared/payment/news/check-due-payment.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { aStoredClient, OVO_REQUEST, paidUnheard, paidWhileCreating } from '../../support/payment-builders.ts'
import { testDeps } from '../../support/test-deps.ts'

describe('a capture while the payment is still being created (OVO answers at once)', () => {
  const paidOvo = async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    return { deps, client, ...(await paidWhileCreating(deps, client, OVO_REQUEST)) }
  }

  it('is remembered under a live lease, and credited by due work once the payment is there', async () => {
    const { deps, client, creating, answer, providerPaymentId } = await paidOvo()

    const outcome = await applyProviderNews(deps, { providerPaymentId }, 'callback')
    answer.resolve()
    const { payment } = await creating
    const checked = await checkDuePayment(deps, { paymentId: payment.paymentId, dueAt: payment.dueAt ?? deps.now() })

    expect(outcome).toStrictEqual({ kind: 'deferred' })
    expect(payment).toMatchObject({ status: 'pending', dueAt: deps.now() })
    expect(checked).toBe('checked')
    expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({ status: 'succeeded' })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 97_900, succeeded: 1 })
    expect(await findSuspense(deps, providerPaymentId)).toBeUndefined()
  })

  it('makes the payment succeed from the stored request once the lease is over, and the late attempt replays it', async () => {
    const { deps, client, creating, answer, providerPaymentId } = await paidOvo()
    deps.clock.advance(31)

    const outcome = await applyProviderNews(deps, { providerPaymentId }, 'callback')
    answer.resolve()
    const late = await creating

    expect(outcome.kind).toBe('applied')
    expect(late.payment).toMatchObject({ status: 'succeeded', creditedProviderPaymentId: providerPaymentId })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 97_900, succeeded: 1 })
    expect(await findSuspense(deps, providerPaymentId)).toBeUndefined()
  })

  it('is credited by due work when the attempt died and no callback ever comes again', async () => {
    const { deps, client, creating, providerPaymentId } = await paidOvo()
    void creating.catch(() => undefined)
    await applyProviderNews(deps, { providerPaymentId }, 'callback')
    deps.clock.advance(31)
    const [attempted] = deps.provider.calls
    const paymentId = (attempted?.id ?? '').slice(0, 36) as Payment['paymentId']
    const item = await deps.table.get(paymentKey(paymentId))

    const checked = await checkDuePayment(deps, { paymentId, dueAt: item?.['dueAt'] as Payment['createdAt'] })

    expect(checked).toBe('checked')
    expect(await findStoredPayment(deps, paymentId)).toMatchObject({ status: 'succeeded', paymentDestination: '' })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 97_900, succeeded: 1 })
  })

  it('is credited when it was paid on a first attempt nobody heard of, and the request shown is cancelled', async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    const { payment, providerPaymentId } = await paidUnheard(deps, client)

    await applyProviderNews(deps, { providerPaymentId }, 'callback')

    expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({ status: 'succeeded' })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 95_900, succeeded: 1 })
    expect(deps.provider.requests.get(payment.paymentRequestId)?.status).toBe('cancelled')
  })
})
