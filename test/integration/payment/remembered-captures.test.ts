import { describe, expect } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import { update } from '../../../shared/table/step.ts'
import { addMs, MINUTE_MS } from '../../../shared/time.ts'
import { aCreating, aPendingPayment, checkWhenDue, FIRST_ATTEMPT } from '../../support/payment-builders.ts'
import { paymentOf } from '../../support/synced-payment.ts'
import { testDeps } from '../../support/test-deps.ts'
import { dueAtOf } from '../../support/webhook-builders.ts'
import { paymentTest as it } from './payment-test.ts'

const REMEMBERED = { rememberedProviderPaymentIds: new Set(['py-remembered']) }

describe('captures remembered while the payment was created', () => {
  it('are asked about when the payment is visible, before its own request', async ({ scene }) => {
    const { deps, payment, check, stored, ledger } = scene
    await deps.table.write(update(paymentKey(payment.paymentId), { add: REMEMBERED }))
    const captured = { currency: 'IDR', status: 'captured', capturedMinor: minor(100_000) } as const
    const of = { providerPaymentId: 'py-remembered', paymentRequestId: 'pr-orphan' }
    deps.provider.payments.set(of.providerPaymentId, { ...captured, ...of, reference: `${payment.paymentId}-1` })

    await check()

    expect(await stored()).toMatchObject({ creditedProviderPaymentId: 'py-remembered' })
    expect(await ledger()).toStrictEqual({ pendingMinor: 95_900, succeeded: 1 })
  })

  it('are asked about for an hour while the provider does not show them, and then forgotten', async ({
    deps,
    client,
  }) => {
    const payment = await aPendingPayment(deps, client, { method: 'ewallet', channelCode: 'DANA' })
    const now = () => paymentOf(deps, { payment })
    await deps.table.write(update(paymentKey(payment.paymentId), { add: REMEMBERED }))

    expect(await checkWhenDue(deps, payment)).toBe('not_shown')
    expect(await now()).toMatchObject({ ...REMEMBERED, dueAt: addMs(deps.now(), 2 * MINUTE_MS) })
    deps.clock.advance(3_600)
    expect(await checkWhenDue(deps, payment)).toBe('checked')

    expect(await now()).not.toHaveProperty('rememberedProviderPaymentIds')
    expect(await now()).toMatchObject({ dueAt: payment.expiresAt })
  })

  it('are the only reason to check a create: one that died is checked once, without a call', async () => {
    const { deps, creating } = await aCreating({ ...FIRST_ATTEMPT, dueAt: testDeps().now() })

    expect(await checkWhenDue(deps, creating)).toBe('checked')

    expect(deps.provider.calls).toStrictEqual([])
    expect(await dueAtOf(deps, 'payment', creating.paymentId)).toBeUndefined()
  })
})
