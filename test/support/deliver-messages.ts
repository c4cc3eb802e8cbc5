import type { WebhookResult } from '../../shared/send-webhook.ts'
import { msBetween, SECOND_MS } from '../../shared/time.ts'
import type { Delivery } from '../../shared/webhook/delivery/delivery.ts'
import type { Endpoint } from '../../shared/webhook/endpoint/endpoint.ts'
import { deliverWebhook } from '../../shared/webhook/send/deliver-webhook.ts'
import { type TestDeps, testDeps } from './test-deps.ts'
import { storedDelivery, storedEndpoint } from './webhook-builders.ts'

/** The message that tells a worker to look at a row's next attempt. */
export const messageFor = ({ deliveryId, attempts }: Delivery) => ({ deliveryId, attempt: attempts + 1 })

/** Takes the next message off the queue, as its delay passes on the clock, and lets a worker have it. */
export const deliverNextMessage = async (deps: TestDeps): Promise<void> => {
  const next = deps.sent.shift()
  if (!next) throw new Error('the queue is empty')
  deps.clock.advance(next.message.delaySeconds)
  const { delivery_id: deliveryId, attempt } = next.message.body as {
    delivery_id: Delivery['deliveryId']
    attempt: number
  }
  await deliverWebhook(deps, { deliveryId, attempt })
}

/** Works off one delivery's messages until none is left; `crashed` workers are tried again by due work, not by this. */
export const drainQueue = async (deps: TestDeps): Promise<void> => {
  for (let worked = 0; deps.sent.length > 0; worked++) {
    if (worked === 200) throw new Error('the queue does not end')
    await deliverNextMessage(deps)
  }
}

export const secondsSince = (deps: TestDeps, from: ReturnType<TestDeps['now']>): number =>
  msBetween(from, deps.now()) / SECOND_MS

/** What a merchant in trouble answers. */
export const FAILED: WebhookResult = {
  delivered: false,
  httpStatus: 500,
  error: 'http_status',
  responseBody: 'no',
  durationMs: 9,
}

/** An endpoint and a delivery to it, due now. */
export const dueDelivery = async (
  endpointOverrides: Partial<Endpoint> = {},
  deliveryOverrides: Partial<Delivery> = {},
) => {
  const deps = testDeps()
  const endpoint = await storedEndpoint(deps, endpointOverrides)
  const delivery = await storedDelivery(deps, endpoint, deliveryOverrides)
  return { deps, endpoint, delivery }
}

export const codes = (deps: TestDeps) => deps.lines.map(({ code }) => code)

/** Opens when told: a merchant, or a worker, that is held up. */
export const gate = () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { open: resolve, passed: promise }
}
