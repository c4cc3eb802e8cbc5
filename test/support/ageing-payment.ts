import { expect } from 'vitest'
import { cancelPayment } from '../../shared/payment/news/cancel-payment.ts'
import { checkDuePayment } from '../../shared/payment/news/check-due-payment.ts'
import type { Payment } from '../../shared/payment/payment.ts'
import { findStoredPayment } from '../../shared/payment/payment-store.ts'
import type { CancelAnswer } from '../../shared/provider/provider.ts'
import { later } from '../../shared/time.ts'
import { ledgerView } from './ledger-view.ts'
import { aPendingPayment, aStoredClient, eventOf } from './payment-builders.ts'
import { type TestDeps, testDeps } from './test-deps.ts'

export const LIFETIME_S = 600
const SILENCE: CancelAnswer = { kind: 'unanswered', reason: 'unreachable' }
export const EXPIRED = 'payment cannot be cancelled in status=expired'

/** A QRIS payment, whose time is ours to enforce, and what can happen to its cancels. */
export const aQris = async () => {
  const deps = testDeps()
  const client = await aStoredClient(deps)
  const request = { method: 'qris', channelCode: undefined, expiresInSeconds: LIFETIME_S } as const
  const payment = await aPendingPayment(deps, client, request)
  const doneUpstream = (id: string): CancelAnswer => {
    if (deps.provider.requests.get(id)?.status !== 'open') return { kind: 'final' }
    deps.provider.close(id, 'cancelled')
    return { kind: 'cancelled' }
  }
  return {
    deps,
    client,
    payment,
    cancel: (as: TestDeps = deps) => cancelPayment(as, { clientId: client.clientId, id: payment.paymentId }),
    check: async (as: TestDeps = deps) => checkDuePayment(as, await due(deps, payment)),
    /** No cancel reaches the provider. */
    cutOff: () => deps.provider.script('cancelRequest', async () => SILENCE),
    /** The provider cancels, and nobody hears of it. */
    loseAnswers: () => deps.provider.script('cancelRequest', async (id) => (doneUpstream(id), SILENCE)),
    /** Something happens while the provider's answer is on its way. */
    meanwhile: (act: () => Promise<unknown>) =>
      deps.provider.script('cancelRequest', async (id) => {
        const answer = doneUpstream(id)
        await act()
        return answer
      }),
    heal: () => deps.provider.script('cancelRequest', async (id) => doneUpstream(id)),
    passTime: () => deps.clock.advance(LIFETIME_S),
  }
}

export const current = async (deps: TestDeps, { paymentId }: Payment): Promise<Payment> => {
  const stored = await findStoredPayment(deps, paymentId)
  if (stored === undefined || stored.status === 'creating') throw new Error('the payment is not visible')
  return stored
}

const due = async (deps: TestDeps, payment: Payment) => {
  const { paymentId, dueAt = deps.now() } = await current(deps, payment)
  deps.clock.set(later(dueAt, deps.now()))
  return { paymentId, dueAt }
}

/** Due work, as often as it takes. */
export const rest = async (deps: TestDeps, payment: Payment): Promise<Payment> => {
  for (let check = 0; check < 20; check++) {
    const stored = await current(deps, payment)
    if (stored.status !== 'pending') return stored
    await checkDuePayment(deps, await due(deps, payment))
  }
  throw new Error('the payment does not come to rest')
}

export const expectExpired = async (deps: TestDeps, payment: Payment) => {
  expect(await current(deps, payment)).toMatchObject({ status: 'expired' })
  expect(await eventOf(deps, payment, 'payment.expired')).toMatchObject({ entity: 'event' })
  expect(await ledgerView(deps, payment.clientId)).toStrictEqual({ pendingMinor: 0, expired: 1 })
}

export const expectCancelled = async (deps: TestDeps, payment: Payment) => {
  expect(await current(deps, payment)).toMatchObject({ status: 'cancelled' })
  expect(await current(deps, payment)).not.toHaveProperty('expiryStartedAt')
  expect(await eventOf(deps, payment, 'payment.expired')).toBeUndefined()
  expect(await ledgerView(deps, payment.clientId)).toStrictEqual({ pendingMinor: 0, cancelled: 1 })
}
