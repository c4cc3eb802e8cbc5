import { describe, expect } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { checkDuePayment } from '../../../shared/payment/news/check-due-payment.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { findStoredPayment, rememberCapture } from '../../../shared/payment/payment-store.ts'
import { referenceOf } from '../../../shared/payment/provider-attempts.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import { update } from '../../../shared/table/step.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { aCreating, FIRST_ATTEMPT } from '../../support/payment-builders.ts'
import { paymentTest as it } from '../../support/payment-test.ts'
import { type TestDeps } from '../../support/test-deps.ts'
import { dueAtOf } from '../../support/webhook-builders.ts'

/** The provider has received the amount for a payment, by a payment of this id. */
const capturedUpstream = (deps: TestDeps, { paymentId }: Pick<Payment, 'paymentId'>, providerPaymentId: string) =>
  deps.provider.payments.set(providerPaymentId, {
    providerPaymentId,
    paymentRequestId: 'pr-orphan',
    reference: referenceOf(paymentId, 1),
    currency: 'IDR',
    status: 'captured',
    capturedMinor: minor(100_000),
  })

describe('checkDuePayment: captures remembered while the payment was created', () => {
  it('are asked about once it is there, before its own request', async ({ deps, client, payment }) => {
    await deps.table.write(
      update(paymentKey(payment.paymentId), { add: { rememberedProviderPaymentIds: new Set(['py-remembered']) } }),
    )
    capturedUpstream(deps, payment, 'py-remembered')

    await checkDuePayment(deps, { paymentId: payment.paymentId, dueAt: payment.dueAt ?? deps.now() })

    expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({
      creditedProviderPaymentId: 'py-remembered',
    })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 95_900, succeeded: 1 })
  })

  const remembering = async () => {
    const { deps, creating } = await aCreating(FIRST_ATTEMPT)
    await rememberCapture(deps, creating, 'py-remembered', deps.now())
    return { deps, creating, check: () => checkDuePayment(deps, { paymentId: creating.paymentId, dueAt: deps.now() }) }
  }

  it('are kept, and due again, while nobody can be asked about them', async () => {
    const { deps, creating, check } = await remembering()
    deps.provider.script('getPayment', async () => ({ kind: 'unanswered', reason: 'unreachable' }))

    const result = await check()

    expect(result).toBe('unanswered')
    expect(await findStoredPayment(deps, creating.paymentId)).toMatchObject({
      rememberedProviderPaymentIds: new Set(['py-remembered']),
    })
    expect(await dueAtOf(deps, 'payment', creating.paymentId)).toBe('2026-11-20T04:02:00.000Z')
  })

  it('are forgotten when the provider knows nothing of them', async () => {
    const { deps, creating, check } = await remembering()

    const result = await check()

    expect(result).toBe('checked')
    expect(await findStoredPayment(deps, creating.paymentId)).toEqual(creating)
    expect(await dueAtOf(deps, 'payment', creating.paymentId)).toBeUndefined()
  })
})

describe('checkDuePayment while nobody can be asked', () => {
  it('comes back in two minutes, and not at the next regular check', async ({ deps, payment }) => {
    const { dueAt = deps.now() } = payment
    deps.clock.set(dueAt)
    deps.provider.script('getRequest', async () => ({ kind: 'unanswered', reason: 'unreachable' }))

    const result = await checkDuePayment(deps, { paymentId: payment.paymentId, dueAt })

    expect(result).toBe('unanswered')
    expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({ dueAt: '2026-11-20T04:07:00.000Z' })
  })
})

describe('checkDuePayment without a claim', () => {
  it('asks nobody: another worker has the payment, or it is no longer due', async ({ deps, payment }) => {
    const asked = deps.provider.calls.length

    const result = await checkDuePayment(deps, { paymentId: payment.paymentId, dueAt: deps.now() })

    expect(result).toBe('not_claimed')
    expect(deps.provider.calls).toHaveLength(asked)
    expect(await findStoredPayment(deps, payment.paymentId)).toEqual(payment)
  })
})
