import { queuesOf } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { byQueue, type QueueName } from '../../../shared/queues.ts'

type QueueSettings = {
  readonly hiddenSeconds: (timeoutSeconds: number) => number
  /**
   * Receives of one message before it goes to the dead-letter queue. Only crashed workers count:
   * failed deliveries are recorded in the table and sent again as new messages.
   */
  readonly maxReceives: number
}

/**
 * A webhook's message is visible again soon after its worker has ended, so an attempt that died is
 * checked when its claim expires; a second worker that is too early finds the claim and waits. So
 * the queue allows more receives, in about the same total time as `HANDED_OUT_ONCE`.
 */
const RECOVERED_SOON: QueueSettings = {
  hiddenSeconds: (timeoutSeconds) => timeoutSeconds + 2,
  maxReceives: 20,
}

/** As AWS advises: sooner, a second worker could get a batch that Lambda still retries. */
const HANDED_OUT_ONCE: QueueSettings = {
  hiddenSeconds: (timeoutSeconds) => 6 * timeoutSeconds,
  maxReceives: 5,
}

export const QUEUE_SETTINGS: Readonly<Record<QueueName, QueueSettings>> = {
  // Due work that a worker leaves is in another message within a minute.
  ...byQueue(() => HANDED_OUT_ONCE),
  webhooks: RECOVERED_SOON,
  'webhooks-slow': RECOVERED_SOON,
}

/** The visibility timeout of a queue, by the longest timeout of the functions that read it. */
export function hiddenSecondsOf(name: QueueName) {
  const readers = MANIFEST.filter(({ trigger }) =>
    queuesOf(trigger).some(({ queue }) => queue === name),
  )
  return QUEUE_SETTINGS[name].hiddenSeconds(
    Math.max(...readers.map(({ timeoutSeconds }) => timeoutSeconds)),
  )
}
