import { handler as auditClient } from '../../../../functions/queue/audit-client.ts'
import { handler as deliverWebhook } from '../../../../functions/queue/deliver-webhook.ts'
import { handler as settleClient } from '../../../../functions/queue/settle-client.ts'
import { handler as syncSlices } from '../../../../functions/queue/sync-slices.ts'
import { addMs, MINUTE_MS } from '../../../../shared/time.ts'
import type { MemoryDeps } from '../../../support/memory-deps.ts'
import { drainQueue, FAILED, messageFor, storedDelivery, storedEndpoint } from '../../../support/webhook-builders.ts'
import { asMessage, DUE_WORKERS, handOver, runDueWork, type Scene } from './watched-world.ts'

const deliver = async (deps: MemoryDeps, delivery: Parameters<typeof messageFor>[0]) => {
  const { deliveryId: delivery_id, attempt, clientId: client_id, endpointId: endpoint_id } = messageFor(delivery)
  const message = asMessage({ delivery_id, attempt, client_id, endpoint_id })
  await handOver(deliverWebhook, deps, [message], 'deliver-webhook')
}

const announcedLate: Scene = async (deps) => {
  const endpoint = await storedEndpoint(deps)
  await deliver(deps, await storedDelivery(deps, endpoint, { firedAt: addMs(deps.now(), -3 * MINUTE_MS) }))
}

/** Eight failures in a row. */
const abandonedDelivery: Scene = async (deps) => {
  deps.answerWebhooks(async () => FAILED)
  await deliver(deps, await storedDelivery(deps, await storedEndpoint(deps)))
  await drainQueue(deps)
}

const UNREADABLE = [asMessage('not a message of ours')]

/** No worker can read what it gets. */
export const unreadableMessages: Scene = async (deps) => {
  await handOver(deliverWebhook, deps, UNREADABLE, 'deliver-webhook')
  await handOver(settleClient, deps, UNREADABLE, 'settle-client')
  await handOver(syncSlices, deps, UNREADABLE, 'sync-slices')
  await handOver(auditClient, deps, UNREADABLE, 'audit-client')
  for (const [worker, handler] of DUE_WORKERS) await handOver(handler, deps, UNREADABLE, worker)
}

export const unsettled: Scene = (deps) => handOver(settleClient, deps, UNREADABLE, 'settle-client')

/** One merchant answers, another does not until it is given up. */
const failingDeliveries: Scene = async (deps) => {
  await deliver(deps, await storedDelivery(deps, await storedEndpoint(deps)))
  await abandonedDelivery(deps)
}

const lostMessage: Scene = async (deps) => {
  await storedDelivery(deps, await storedEndpoint(deps))
  deps.clock.advance(15 * 60)
  await runDueWork(deps)
}

/** By the alarm that must see it. */
export const WEBHOOK_SCENES: Readonly<Record<string, Scene>> = {
  'webhooks-in-time-fast': announcedLate,
  'webhooks-in-time-slow': announcedLate,
  'deliveries-failing': failingDeliveries,
  'deliveries-late': lostMessage,
}
