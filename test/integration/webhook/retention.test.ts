import { describe, expect } from 'vitest'
import { listPaymentEvents } from '../../../shared/event/read-events.ts'
import { attemptKey, deliveryKey } from '../../../shared/table/keys.ts'
import { addMs, DAY_MS, expiresAfter, type Timestamp } from '../../../shared/time.ts'
import { findDelivery, listAttempts } from '../../../shared/webhook/delivery/delivery-store.ts'
import { deliveriesOfEvent } from '../../../shared/webhook/delivery/list-deliveries.ts'
import { redeliver, redeliverToEndpoint } from '../../../shared/webhook/delivery/redeliver.ts'
import { skipDelivery } from '../../../shared/webhook/send/attempt-store.ts'
import { deliverWebhook } from '../../../shared/webhook/send/deliver-webhook.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { drainQueue, FAILED, messageFor, rowOf, storedDelivery } from '../../support/webhook-builders.ts'
import { webhookTest as it } from './webhook-test.ts'

type Key = Parameters<TestDeps['table']['get']>[0]
const ttlOf = async (deps: TestDeps, key: Key) => (await deps.table.get(key))?.['ttl']
const days = (from: Timestamp, count: number) => expiresAfter(from, count * DAY_MS)
const pass = (deps: TestDeps, count: number) => deps.clock.set(addMs(deps.now(), count * DAY_MS))

/* How long events are kept for what is sent again: redeliver.test.ts. */

describe('retention (design section 9)', () => {
  it('keeps a delivery and its attempts 90 days from its end', async ({ deps, endpoint, delivery: good }) => {
    const [skipped, bad] = [await storedDelivery(deps, endpoint), await storedDelivery(deps, endpoint)]
    const ttl = ({ deliveryId }: typeof good) => ttlOf(deps, deliveryKey(deliveryId))
    await skipDelivery(deps, skipped)
    deps.answerWebhooks(async () => FAILED)
    const start = deps.now()
    await deliverWebhook(deps, messageFor(bad))
    expect(await ttl(bad)).toBeUndefined()
    await drainQueue(deps)

    expect([await ttl(good), await ttl(skipped)]).toStrictEqual([undefined, days(start, 90)])
    expect(await ttl(bad)).toBe(days(deps.now(), 90))
    expect(await ttlOf(deps, attemptKey(bad.deliveryId, 1))).toBe(days(start, 90))
  })

  it('treats an expired delivery as deleted, while its event lives longer', async ({ deps, event, delivery }) => {
    const { clientId, endpointId, deliveryId } = delivery
    await deliverWebhook(deps, messageFor(delivery))
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'succeeded' })

    pass(deps, 91)

    const again = redeliver(deps, { clientId, deliveryId, operator: 'ayu' })
    await expect(again).rejects.toMatchObject({ code: 'not_found' })
    expect(await findDelivery(deps, deliveryId)).toBeUndefined()
    expect(await listAttempts(deps, deliveryId)).toStrictEqual([])
    expect(await deliveriesOfEvent(deps, clientId, event.eventId)).toStrictEqual([])
    expect(await listPaymentEvents(deps, event.paymentId)).toHaveLength(1)
    pass(deps, 30)
    expect(await listPaymentEvents(deps, event.paymentId)).toStrictEqual([])
    const bulk = { clientId, endpointId, operator: 'ayu', since: event.firedAt, status: undefined, cursor: undefined }
    expect(await redeliverToEndpoint(deps, bulk)).toMatchObject({ count: 0 })
  })
})
