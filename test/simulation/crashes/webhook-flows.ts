import { exists, update } from '../../../shared/table/step.ts'
import type { Play } from '../histories/operations.ts'
import type { Faults } from '../world/faults.ts'
import { type InvokeOptions, invoke, requestAs } from '../world/lambda.ts'
import { type ReceivedMessage, sqsEvent } from '../world/sim-queue.ts'
import { drive } from '../world/world.ts'
import {
  alone,
  callback,
  credited,
  type Flow,
  flow,
  handedOut,
  later,
  paid,
  pass,
  run,
  tenantOf,
} from './flow-steps.ts'

/** A credited payment whose messages were not sent. */
const unsent = async (play: Play): Promise<void> => {
  const id = await paid(play)
  alone(play, { queueSendFails: 1 })
  await drive(play.world, callback(play, id))
  alone(play)
}

/** A delivery that waits in its queue, which no worker reads. */
const scheduled = async (play: Play): Promise<object> => sqsEvent([await scheduledMessage(play)])

/** Deliveries whose next failure is their last, as workers are given them. */
const atTheirLast = async (play: Play, ...keys: readonly string[]): Promise<readonly object[]> => {
  const { world } = play
  const first: object[] = []
  for (const key of keys) first.push(sqsEvent([await scheduledMessage(play, key)]))
  alone(play, { merchantFails: 1 })
  for (const event of first) await drive(world, invoke(world, 'deliver-webhook', event))
  // Of eight attempts the second to the seventh.
  await pass(play, (60 + 120 + 240 + 480 + 960 + 1_920 + 60) * 1_000)
  world.paused.add('webhooks')
  await pass(play, 3_840_000)
  const last = world.queues.webhooks.receive({ max: 10, nowMs: world.scheduler.nowMs() })
  // The merchant has two endpoints.
  if (last.length !== 2 * keys.length) throw new Error(`${last.length} deliveries are at their last attempt`)
  world.paused.delete('webhooks')
  return last.map((message) => sqsEvent([message]))
}

/** Several abandoned deliveries. The first of each endpoint is reported to the operators. */
const alertsDue = async (play: Play): Promise<void> => {
  for (const event of await atTheirLast(play, 'first', 'second', 'third')) {
    await drive(play.world, invoke(play.world, 'deliver-webhook', event))
  }
  alone(play)
  await pass(play, 901_000)
}

/** The same, after its endpoint hung, as a worker of either lane is given it. */
const scheduledToSlow = (slow: boolean) => async (play: Play) => {
  const message = await scheduledMessage(play)
  const body = JSON.parse(message.body) as { readonly client_id: string; readonly endpoint_id: string }
  const key = { pk: `ENDPOINTS#${body.client_id}`, sk: `ENDPOINT#${body.endpoint_id}` }
  play.world.table.requests.write(update(key, { set: { slowSince: '2026-11-02T03:00:00.000Z' } }, exists))
  return sqsEvent([{ ...message, body: JSON.stringify({ ...body, ...(slow && { slow }) }) }])
}

const scheduledMessage = async (play: Play, key?: string): Promise<ReceivedMessage> => {
  const { world } = play
  world.paused.add('webhooks')
  await credited(play, key)
  const [message] = world.queues.webhooks.receive({ max: 1, nowMs: world.scheduler.nowMs() })
  if (!message) throw new Error('no delivery was sent')
  world.paused.delete('webhooks')
  return message
}

/** An abandoned delivery that its merchant redelivers while no worker runs. */
const abandoned = async (play: Play): Promise<string> => {
  const [record] = ((await scheduled(play)) as { readonly Records: readonly { readonly body: string }[] }).Records
  const { delivery_id: id } = JSON.parse(record?.body ?? '') as { readonly delivery_id: string }
  const change = { set: { status: 'skipped' }, remove: ['nextAttemptAt', 'state', 'work', 'slot', 'dueAt'] }
  play.world.table.requests.write(update({ pk: `DELIVERY#${id}`, sk: 'DELIVERY' }, change, exists))
  return id
}

const redeliverOwn = (play: Play, id: unknown, options: InvokeOptions = {}) =>
  requestAs(play.world, tenantOf(play), 'api-redeliver-webhook', { id: String(id) }, options)

const retryRedeliver: Flow['retry'] = (play, id) => drive(play.world, redeliverOwn(play, id))

/** A delivery that waits while its merchant's server has this fault. */
const scheduledWhile =
  (faults: Partial<Faults>): Flow['prepare'] =>
  async (play) => {
    const event = await scheduled(play)
    alone(play, faults)
    return event
  }

const deliver = run('deliver-webhook')
const dueDeliveries = run('check-due-deliveries')

/** From an event to its last attempt, and to the operators. */
export const WEBHOOK_FLOWS: readonly Flow[] = [
  flow('messages that were not sent', 5, handedOut('due-deliveries', later(unsent, 61_000), 2), dueDeliveries),
  flow('deliver', 6, scheduled, deliver),
  flow('deliver, refused by the merchant', 7, scheduledWhile({ merchantFails: 1 }), deliver),
  flow('deliver, to an endpoint that hangs', 8, scheduledWhile({ endpointHangs: 1 }), deliver),
  flow('deliver, sent on to the slow lane', 2, scheduledToSlow(false), deliver),
  flow('deliver, answered in the slow lane', 7, scheduledToSlow(true), deliver),
  flow('redelivery, by its merchant', 5, abandoned, redeliverOwn, retryRedeliver),
  flow('deliver, abandoned', 6, async (play) => (await atTheirLast(play, 'last'))[0], deliver),
  flow('alerts of an endpoint', 28, handedOut('due-alerts', alertsDue), run('check-due-alerts')),
]
