/**
 * Goal: no delivery that was written with its event goes missing or is altered unseen (design section 4, Audit). Method:
 * each attribute of a delivery is changed behind the gateway's back, one at a time; the audit must name the delivery.
 */
import { describe, expect, it } from 'vitest'
import { auditLedger } from '../../../shared/audit/audit-ledger.ts'
import { deliveryIdFor, eventIdFor } from '../../../shared/ids.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import { deliveryKey, endpointKey } from '../../../shared/table/keys.ts'
import { exists, put, remove, update } from '../../../shared/table/step.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { findDelivery } from '../../../shared/webhook/delivery/delivery-store.ts'
import { redeliverToEndpoint } from '../../../shared/webhook/delivery/redeliver.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import { moveToGone } from '../../../shared/webhook/endpoint/endpoint-store.ts'
import { deliverWebhook } from '../../../shared/webhook/send/deliver-webhook.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { aPendingPayment, aStoredClient } from '../../support/payment-builders.ts'
import { rawItem, tamperingsOf } from '../../support/tampering.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { messageFor, storedEndpoint } from '../../support/webhook-builders.ts'
import { unseenBy } from './unseen-by.ts'

/** A paid payment whose event was delivered. */
const deliveredPayment = async () => {
  const deps = memoryDeps()
  const client = await aStoredClient(deps)
  const endpoint = await storedEndpoint(deps, { clientId: client.clientId })
  const payment = await aPendingPayment(deps, client)
  await applyProviderNews(deps, { providerPaymentId: deps.provider.pay(payment.paymentRequestId) }, 'callback')
  const deliveryId = deliveryIdFor(eventIdFor(payment.paymentId, 'payment.succeeded'), endpoint.endpointId)
  const delivery = await findDelivery(deps, deliveryId)
  if (delivery) await deliverWebhook(deps, messageFor(delivery))
  deps.clock.advance(1)
  const audited = async (of: TestDeps = deps) =>
    (await auditLedger({ ...of, sleep: async () => {} }, client.clientId)).differences
  return { deps, clientId: client.clientId, endpoint, deliveryId, audited }
}

/** What an attempt moves, and what nothing repeats. */
const MOVES = 'attempts round_start state status success ttl resends claimed_until claim_token'.split(' ')

describe('the audit', () => {
  it('sees an altered delivery', async () => {
    const { deps, clientId, deliveryId } = await deliveredPayment()
    const tamperings = tamperingsOf(await rawItem(deps, deliveryKey(deliveryId)), { loose: MOVES, imprecise: [] })
    expect(tamperings.map(({ name }) => name).join()).toContain('url')

    expect(await unseenBy(deps, clientId, { tamperings, ids: [deliveryId] })).toStrictEqual([])
  })

  it.each([
    ['more rounds than attempts', { roundStart: 2 }, 'delivery.round_start'],
    ['a success without an attempt', { attempts: 0 }, 'delivery.attempts'],
    ['a time for no attempt', { nextAttemptAt: '2026-01-01T00:00:00.000Z' }, 'delivery.next_attempt_at'],
  ])('sees %s', async (_, change, what) => {
    const { deps, deliveryId, audited } = await deliveredPayment()
    await deps.table.write(update(deliveryKey(deliveryId), { set: change }))

    expect(await audited()).toMatchObject([{ what, id: deliveryId }])
  })

  it('sees a delivery that was deleted, until it may be gone by itself', async () => {
    const { deps, deliveryId, audited } = await deliveredPayment()
    await deps.table.write(remove(deliveryKey(deliveryId), exists))

    const expected: unknown = expect.stringMatching(/^of payment.succeeded of payment /)
    expect(await audited()).toStrictEqual([{ what: 'delivery', id: deliveryId, expected, found: null }])
    deps.clock.set(addMs(deps.now(), 91 * DAY_MS))
    expect((await audited()).filter(({ what }) => what === 'delivery')).toStrictEqual([])
  })

  it('takes one that a redelivery made after the first was gone for what it is', async () => {
    const { deps, clientId, endpoint, deliveryId, audited } = await deliveredPayment()
    const since = addMs(deps.now(), -DAY_MS)
    deps.clock.set(addMs(deps.now(), 95 * DAY_MS))
    await deps.table.write(remove(deliveryKey(deliveryId), exists))
    const all = { since, status: undefined, cursor: undefined }
    const bulk = { clientId, endpointId: endpoint.endpointId, operator: 'ayu', ...all }
    expect(await redeliverToEndpoint(deps, bulk)).toMatchObject({ count: 1 })

    expect((await audited()).filter(({ what }) => what.startsWith('delivery'))).toStrictEqual([])
  })

  it('knows the address of an endpoint that was deleted', async () => {
    const { deps, endpoint, audited } = await deliveredPayment()
    await deps.table.transact(moveToGone(endpoint, deps.now()))

    expect(await audited()).toStrictEqual([])
  })

  it('sees an endpoint whose address was altered', async () => {
    const { deps, endpoint, deliveryId, audited } = await deliveredPayment()
    const other: Endpoint = { ...endpoint, url: 'https://elsewhere.example/hooks' }
    await deps.table.write(put(endpointKey(endpoint.clientId, endpoint.endpointId), other))

    expect(await audited()).toMatchObject([{ what: 'delivery.url', id: deliveryId, expected: other.url }])
  })
})
