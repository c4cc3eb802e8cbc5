import { expect } from 'vitest'
import { cancelPayment } from '../../../shared/payment/news/cancel-payment.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { aPendingPayment, aStoredClient, checkWhenDue, eventOf } from '../../support/payment-builders.ts'
import { paymentOf } from '../../support/synced-payment.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

export const LIFETIME_S = 600
export const EXPIRED = 'payment cannot be cancelled in status=expired'

/** A QRIS payment, whose time is ours to enforce, and what can happen to its cancels. */
export const aQris = async () => {
  const deps = testDeps()
  const client = await aStoredClient(deps)
  const request = { method: 'qris', channelCode: undefined, expiresInSeconds: LIFETIME_S } as const
  const payment = await aPendingPayment(deps, client, request)
  const { provider } = deps
  const cancel = (as: TestDeps = deps) => cancelPayment(as, { clientId: client.clientId, id: payment.paymentId })
  return {
    deps,
    client,
    payment,
    cancel,
    check: async (as: TestDeps = deps) => checkWhenDue(as, payment),
    /** A cancel that is lost, now and from now on, on its way there, or on its way back when the provider has done it. */
    loseCancel: async (way: 'there' | 'back') => {
      provider.script('cancelRequest', async (id, timeoutMs) => {
        if (way === 'back') await provider.healthy.cancelRequest(id, timeoutMs)
        return { kind: 'unanswered', reason: 'unreachable' }
      })
      await expect(cancel()).rejects.toMatchObject({ code: 'network' })
    },
    heal: () => provider.heal('cancelRequest'),
    /** Something happens while the provider's answer is on its way. */
    meanwhile: (act: () => Promise<unknown>) =>
      provider.script('cancelRequest', async (id, timeoutMs) => {
        const answer = await provider.healthy.cancelRequest(id, timeoutMs)
        await act()
        return answer
      }),
    passTime: () => deps.clock.advance(LIFETIME_S),
  }
}

/** Due work, as often as it takes. */
export const rest = async (deps: TestDeps, payment: Payment): Promise<Payment> => {
  for (let check = 0; check < 20; check++) {
    const stored = await paymentOf(deps, { payment })
    if (stored.status !== 'pending') return stored
    await checkWhenDue(deps, payment)
  }
  throw new Error('the payment does not come to rest')
}

export const expectExpired = async (deps: TestDeps, payment: Payment) => {
  expect(await paymentOf(deps, { payment })).toMatchObject({ status: 'expired' })
  expect(await eventOf(deps, payment, 'payment.expired')).toMatchObject({ entity: 'event' })
  expect(await ledgerView(deps, payment.clientId)).toStrictEqual({ pendingMinor: 0, expired: 1 })
}

export const expectCancelled = async (deps: TestDeps, payment: Payment) => {
  expect(await paymentOf(deps, { payment })).toMatchObject({ status: 'cancelled' })
  expect(await paymentOf(deps, { payment })).not.toHaveProperty('expiryStartedAt')
  expect(await eventOf(deps, payment, 'payment.expired')).toBeUndefined()
  expect(await ledgerView(deps, payment.clientId)).toStrictEqual({ pendingMinor: 0, cancelled: 1 })
}
