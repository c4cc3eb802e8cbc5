import { drainSlot } from '../../../shared/due-work/drain-slot.ts'
import { DUE_ALERTS } from '../../../shared/due-work/due-alerts.ts'
import type { Delivery } from '../../../shared/webhook/delivery/delivery.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import { deliverWebhook } from '../../../shared/webhook/send/deliver-webhook.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { FAILED, messageFor, storedDelivery, storedEndpoint } from '../../support/webhook-builders.ts'

/** Its eighth attempt fails. */
export const abandon = async (deps: TestDeps, endpoint: Endpoint): Promise<Delivery> => {
  deps.answerWebhooks(async () => FAILED)
  const delivery = await storedDelivery(deps, endpoint, { attempts: 7 })
  await deliverWebhook(deps, messageFor(delivery))
  return delivery
}

export const abandonMany = async (deps: TestDeps, endpoint: Endpoint, times: number): Promise<readonly string[]> => {
  const ids: string[] = []
  for (let time = 0; time < times; time++) ids.push((await abandon(deps, endpoint)).deliveryId)
  return ids
}

export const dueAlerts = (deps: TestDeps) => drainSlot(deps, DUE_ALERTS, { slot: 0, part: 0, parts: 1 })

/** The deliveries that each message names. */
export const namedIn = ({ published }: TestDeps, all: readonly string[]) =>
  published.map(({ message }) => all.filter((id) => message.includes(id)))

export const alertIn = (message: string) => /Alert ([0-9a-f-]{36})/.exec(message)?.[1]

export const world = async () => {
  const deps = memoryDeps()
  return { deps, endpoint: await storedEndpoint(deps) }
}

export const left = ({ memory }: Awaited<ReturnType<typeof world>>['deps']) =>
  memory.items().filter(({ sk, work }) => String(sk).startsWith('UNTOLD#') || work === 'alert')
