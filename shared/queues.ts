import { assertInvariant } from './errors.ts'

/** Queues of the gateway. A message only says "look": the table's row is the truth. */
export const QUEUE_NAMES = [
  'webhooks',
  'webhooks-slow',
  'settlements',
  'sync',
  'audits',
  'due-payments',
  'due-deliveries',
  'due-alerts',
] as const
export type QueueName = (typeof QUEUE_NAMES)[number]

/** One value for each queue. */
export const byQueue = <Value>(valueOf: (name: QueueName) => Value): Readonly<Record<QueueName, Value>> => ({
  webhooks: valueOf('webhooks'),
  'webhooks-slow': valueOf('webhooks-slow'),
  settlements: valueOf('settlements'),
  sync: valueOf('sync'),
  audits: valueOf('audits'),
  'due-payments': valueOf('due-payments'),
  'due-deliveries': valueOf('due-deliveries'),
  'due-alerts': valueOf('due-alerts'),
})

export type QueueMessage = {
  readonly body: object
  /** Whole seconds, 0 to 900: SQS holds a message no longer. */
  readonly delaySeconds: number
  /** Fair queueing: one busy group does not starve the others. */
  readonly group: string
}

export type Queues = {
  /** Each message is taken or not by itself. Throws when one was not: it may be sent again, so may the others. */
  send(queue: QueueName, ...messages: readonly QueueMessage[]): Promise<void>
}

export const MAX_DELAY_SECONDS = 900

/** What a sender takes: SQS would refuse it too, but only the deployed one. */
export const assertDelay = (delaySeconds: number): void =>
  assertInvariant(
    Number.isInteger(delaySeconds) && delaySeconds >= 0 && delaySeconds <= MAX_DELAY_SECONDS,
    'a delay is a whole number of seconds, 0 to 900',
  )
