import { describe, expect } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import type { ProviderRequest } from '../../../shared/provider/provider.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import { update } from '../../../shared/table/step.ts'
import { addMs, MINUTE_MS } from '../../../shared/time.ts'
import { aCreating, aPendingPayment, checkWhenDue } from '../../support/payment-builders.ts'
import { paymentOf } from '../../support/synced-payment.ts'
import { aHiddenPayment } from './hidden-payment.ts'
import { paymentTest as it } from './payment-test.ts'

describe('a callback about a payment that is being created and whose capture the provider does not show yet', () => {
  /**
   * The process of the create died, so the gateway does not know its request. The customer has
   * paid.
   */
  const aHiddenCreating = async (request: Partial<ProviderRequest>) => {
    const { deps, payment, providerPaymentId, receivePaid, suspenseOf } = await aHiddenPayment()
    const { creating } = await aCreating()
    const { paymentId } = creating
    const ids = { paymentRequestId: 'pr-creating', reference: `${paymentId}-1` }
    const upstreamRequest = {
      ...deps.provider.requestOf(payment.paymentRequestId),
      ...ids,
      ...request,
    }
    deps.provider.requests.set('pr-creating', upstreamRequest)
    const receive = () => receivePaid(providerPaymentId, { ...payment, ...ids, paymentId })
    return {
      deps,
      creating,
      paymentId,
      providerPaymentId,
      suspenseOf,
      receive,
      reread: () => findStoredPayment(deps, paymentId),
    }
  }

  it.each(['missing', 'refused'])(
    'is stored, checked at once, and removed after an hour (%s)',
    async (visibility) => {
      const { deps, creating, providerPaymentId, receive, reread } = await aHiddenCreating({})
      let reason: 'unreachable' | 'refused' = 'unreachable'
      if (visibility === 'refused')
        deps.provider.script('getPayment', async () => ({ kind: 'unanswered', reason }))
      const creatingWithCapture = {
        status: 'creating',
        rememberedProviderPaymentIds: new Set([providerPaymentId]),
      }

      expect(await receive()).toBe('ask_again')
      expect(await reread()).toMatchObject({ ...creatingWithCapture, dueAt: deps.now() })
      reason = 'refused'
      expect(await checkWhenDue(deps, creating)).toBe('not_shown')
      expect(await reread()).toMatchObject(creatingWithCapture)
      // Within an hour the provider repeats its callback.
      deps.clock.advance(3_600)
      expect(await checkWhenDue(deps, creating)).toBe('checked')

      expect(await reread()).not.toHaveProperty('rememberedProviderPaymentIds')
      expect(await reread()).not.toHaveProperty('dueAt')
    },
  )

  it.each([true, false])(
    'answers 500 when the provider’s request is open or unknown (known: %s)',
    async (isKnown) => {
      const { deps, receive, reread } = await aHiddenCreating({
        status: 'open',
        latestPaymentId: undefined,
      })
      if (!isKnown) deps.provider.requests.delete('pr-creating')

      expect(await receive()).toBe('ask_again')
      expect(await reread()).not.toHaveProperty('rememberedProviderPaymentIds')
    },
  )

  it('is accepted when the captured money is in suspense', async () => {
    const { deps, paymentId, providerPaymentId, suspenseOf, receive } = await aHiddenCreating({
      status: 'open',
    })
    const capture = { status: 'captured', currency: 'IDR', capturedMinor: minor(1) } as const
    const target = {
      providerPaymentId,
      paymentRequestId: 'pr-creating',
      reference: `${paymentId}-1`,
    }
    deps.provider.payments.set(providerPaymentId, { ...capture, ...target })

    expect(await receive()).toBe('applied')
    expect(await suspenseOf(providerPaymentId)).toMatchObject({ cause: 'wrong_amount' })
  })
})

const WITH_CAPTURE = { rememberedProviderPaymentIds: new Set(['py-remembered']) }

it('a capture that the create stored is checked for an hour, then removed', async ({
  deps,
  client,
}) => {
  const payment = await aPendingPayment(deps, client, { method: 'ewallet', channelCode: 'DANA' })
  const reread = () => paymentOf(deps, { payment })
  await deps.table.write(update(paymentKey(payment.paymentId), { add: WITH_CAPTURE }))

  expect(await checkWhenDue(deps, payment)).toBe('not_shown')
  expect(await reread()).toMatchObject({ ...WITH_CAPTURE, dueAt: addMs(deps.now(), 2 * MINUTE_MS) })
  deps.clock.advance(3_600)
  expect(await checkWhenDue(deps, payment)).toBe('checked')

  expect(await reread()).not.toHaveProperty('rememberedProviderPaymentIds')
  expect(await reread()).toMatchObject({ dueAt: payment.expiresAt })
})
