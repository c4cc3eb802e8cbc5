import { describe, expect, it } from 'vitest'
import { listPaymentEvents } from '../../../shared/event/read-events.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { eventKey, paymentKey } from '../../../shared/table/keys.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { aPendingPayment, aStoredClient } from '../../support/payment-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'

/** What keys and places in the indexes say anyhow. */
const SAID_ANYHOW = {
  payment: ['paymentId', 'createdAt', 'currency'],
  event: ['eventId', 'type', 'clientId', 'paymentId', 'firedAt'],
}

const kept = (item: object | undefined, names: readonly string[]) => names.filter((name) => item && name in item)

describe('what the rows of a payment leave out', () => {
  it('is said by keys and indexes, and read and audited all the same, paid or not', async () => {
    const deps = memoryDeps()
    const client = await aStoredClient(deps)
    const [pending, paid, failed] = [
      await aPendingPayment(deps, client),
      await aPendingPayment(deps, client),
      await aPendingPayment(deps, client),
    ]
    const providerPaymentId = deps.provider.pay(paid.paymentRequestId)

    await applyProviderNews(deps, { providerPaymentId }, 'callback')
    await closePayment(deps, failed, { status: 'failed', source: 'callback' })

    const at = deps.now()
    const began = { status: 'pending', at: paid.createdAt, source: 'create' }
    expect(await findStoredPayment(deps, pending.paymentId)).toEqual(pending)
    expect(await findStoredPayment(deps, paid.paymentId)).toEqual({
      ...paid,
      status: 'succeeded',
      paidAt: at,
      openAt: at,
      creditedProviderPaymentId: providerPaymentId,
      transitions: [began, { status: 'succeeded', at, source: 'callback' }],
      dueAt: undefined,
    })
    expect(await listPaymentEvents(deps, failed.paymentId)).toMatchObject([
      { type: 'payment.failed', paymentId: failed.paymentId, clientId: client.clientId, firedAt: at },
    ])
    const [row, event] = [
      await deps.table.get(paymentKey(paid.paymentId)),
      await deps.table.get(eventKey(paid.paymentId, 'payment.succeeded')),
    ]
    expect(kept(row, SAID_ANYHOW.payment)).toStrictEqual([])
    expect(kept(event, SAID_ANYHOW.event)).toStrictEqual([])
    await expectBalanced(deps, client.clientId)
  })
})

describe('the provider of a payment', () => {
  it('is the one that takes its channel, from the claim on', async () => {
    const deps = memoryDeps()
    const client = await aStoredClient(deps)
    deps.provider.script('nameFor', ({ method }) => (method === 'qris' ? 'another' : 'xendit'))

    const [qris, bank] = [
      await aPendingPayment(deps, client, { method: 'qris', channelCode: undefined }),
      await aPendingPayment(deps, client),
    ]

    expect([qris.provider, bank.provider]).toStrictEqual(['another', 'xendit'])
  })
})
