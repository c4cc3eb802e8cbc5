import { describe, expect } from 'vitest'
import { listPaymentEvents } from '../../../shared/event/read-events.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { findDelivery, listAttempts } from '../../../shared/webhook/delivery/delivery-store.ts'
import { deliveriesOfEvent } from '../../../shared/webhook/delivery/list-deliveries.ts'
import { redeliver, redeliverToEndpoint } from '../../../shared/webhook/delivery/redeliver.ts'
import { deliverWebhook } from '../../../shared/webhook/send/deliver-webhook.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { messageFor, rowOf } from '../../support/webhook-builders.ts'
import { webhookTest as it } from './webhook-test.ts'

const pass = (deps: TestDeps, count: number) => deps.clock.set(addMs(deps.now(), count * DAY_MS))

/* How long events are kept for what is sent again: redeliver.test.ts. */

describe('retention (design section 9)', () => {
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
