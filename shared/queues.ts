import { assertInvariant } from './errors.ts'

/** A message only names work; the table's row decides. */
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

export function byQueue<Value>(
  valueOf: (name: QueueName) => Value,
): Readonly<Record<QueueName, Value>> {
  return {
    webhooks: valueOf('webhooks'),
    'webhooks-slow': valueOf('webhooks-slow'),
    settlements: valueOf('settlements'),
    sync: valueOf('sync'),
    audits: valueOf('audits'),
    'due-payments': valueOf('due-payments'),
    'due-deliveries': valueOf('due-deliveries'),
    'due-alerts': valueOf('due-alerts'),
  }
}

export type QueueMessage = {
  readonly body: object
  /** Whole seconds, 0 to 900, the maximum delay of SQS. */
  readonly delaySeconds: number
  /** Fair queueing: a busy group does not delay other groups. */
  readonly group: string
}

export type Queues = {
  /** Throws if a message was not accepted. The caller may send all messages again. */
  send(queue: QueueName, ...messages: readonly QueueMessage[]): Promise<void>
}

export const MAX_DELAY_SECONDS = 900

/** Throws for a delay that SQS refuses, so that local runs fail too. */
export function assertDelay(delaySeconds: number): void {
  assertInvariant(
    Number.isInteger(delaySeconds) && delaySeconds >= 0 && delaySeconds <= MAX_DELAY_SECONDS,
    'a delay must be a whole number of seconds from 0 to 900',
  )
}
