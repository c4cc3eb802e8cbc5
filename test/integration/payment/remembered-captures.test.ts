import { describe, expect } from 'vitest'
import { referenceOf } from '../../../shared/ids.ts'
import { minor } from '../../../shared/money.ts'
import { rememberCapture } from '../../../shared/payment/attempt-store.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import { update } from '../../../shared/table/step.ts'
import { addMs, MINUTE_MS } from '../../../shared/time.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { aCreating, aPendingPayment, checkWhenDue, FIRST_ATTEMPT } from '../../support/payment-builders.ts'
import { paymentOf } from '../../support/synced-payment.ts'
import { testDeps } from '../../support/test-deps.ts'
import { dueAtOf } from '../../support/webhook-builders.ts'
import { paymentTest as it } from './payment-test.ts'

describe('captures remembered while the payment was created', () => {
  it('are asked about once it is there, before its own request', async ({ deps, client, payment }) => {
    await deps.table.write(
      update(paymentKey(payment.paymentId), { add: { rememberedProviderPaymentIds: new Set(['py-remembered']) } }),
    )
    deps.provider.payments.set('py-remembered', {
      providerPaymentId: 'py-remembered',
      paymentRequestId: 'pr-orphan',
      reference: referenceOf(payment.paymentId, 1),
      currency: 'IDR',
      status: 'captured',
      capturedMinor: minor(100_000),
    })

    await checkWhenDue(deps, payment)

    expect(await paymentOf(deps, { payment })).toMatchObject({ creditedProviderPaymentId: 'py-remembered' })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 95_900, succeeded: 1 })
  })

  it('are asked about for an hour in which the provider says nothing, and then forgotten', async ({ deps, client }) => {
    const payment = await aPendingPayment(deps, client, { method: 'ewallet', channelCode: 'DANA' })
    const now = () => paymentOf(deps, { payment })
    const remembered = { rememberedProviderPaymentIds: new Set(['py-nothing']) }
    await deps.table.write(update(paymentKey(payment.paymentId), { add: remembered }))

    expect(await checkWhenDue(deps, payment)).toBe('not_shown')
    expect(await now()).toMatchObject({ ...remembered, dueAt: addMs(deps.now(), 2 * MINUTE_MS) })
    deps.clock.advance(3_600)
    expect(await checkWhenDue(deps, payment)).toBe('checked')

    expect(await now()).not.toHaveProperty('rememberedProviderPaymentIds')
    expect(await now()).toMatchObject({ dueAt: payment.expiresAt })
  })

  const remembering = async () => {
    const { deps, creating } = await aCreating(FIRST_ATTEMPT)
    await rememberCapture(deps, creating, 'py-remembered', deps.now())
    return { deps, creating, check: () => checkWhenDue(deps, creating) }
  }

  it('are kept, and due again, while the provider does not answer about them', async () => {
    const { deps, creating, check } = await remembering()
    deps.provider.script('getPayment', async () => ({ kind: 'unanswered', reason: 'unreachable' }))

    expect(await check()).toBe('unanswered')

    expect(await findStoredPayment(deps, creating.paymentId)).toMatchObject({
      rememberedProviderPaymentIds: new Set(['py-remembered']),
    })
    expect(await dueAtOf(deps, 'payment', creating.paymentId)).toBe('2026-11-20T04:02:00.000Z')
  })

  it('are forgotten when the provider knows nothing of them and no attempt is left to bring them', async () => {
    const { deps, creating, check } = await remembering()

    expect(await check()).toBe('checked')

    expect(await findStoredPayment(deps, creating.paymentId)).toEqual(creating)
    expect(await dueAtOf(deps, 'payment', creating.paymentId)).toBeUndefined()
  })

  it('are what a create is looked at for: of one that died, once, and the provider is not asked', async () => {
    const { deps, creating } = await aCreating({ ...FIRST_ATTEMPT, dueAt: testDeps().now() })

    expect(await checkWhenDue(deps, creating)).toBe('checked')

    expect(deps.provider.calls).toStrictEqual([])
    expect(await dueAtOf(deps, 'payment', creating.paymentId)).toBeUndefined()
  })
})
