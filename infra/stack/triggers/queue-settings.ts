import { queuesOf } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import type { QueueName } from '../../../shared/queues.ts'

/** How every queue of the gateway behaves, on AWS and in the local gateway. */
type QueueSettings = {
  /** How long a message stays hidden from others once it was handed to a function of that timeout. */
  readonly hiddenSeconds: (timeoutSeconds: number) => number
  /**
   * Receives of one message before it is set aside. Only a worker that breaks off counts: failed deliveries are recorded
   * in the table and sent again as new messages.
   */
  readonly maxReceives: number
}

/**
 * A webhook's message comes again soon after the end of its worker, so that an attempt that died with it is checked
 * when its claim ends. One handed to a second worker while Lambda still retries the first meets the claim and waits. It
 * may then be received as often as makes up the time that a queue hidden for six timeouts gives.
 */
const RECOVERED_SOON: QueueSettings = { hiddenSeconds: (timeoutSeconds) => timeoutSeconds + 2, maxReceives: 20 }

/** What AWS advises: a batch hidden for less could be handed to a second worker while Lambda still retries the first. */
const HANDED_OUT_ONCE: QueueSettings = { hiddenSeconds: (timeoutSeconds) => 6 * timeoutSeconds, maxReceives: 5 }

export const QUEUE_SETTINGS: Readonly<Record<QueueName, QueueSettings>> = {
  webhooks: RECOVERED_SOON,
  'webhooks-slow': RECOVERED_SOON,
  settlements: HANDED_OUT_ONCE,
  sync: HANDED_OUT_ONCE,
  audits: HANDED_OUT_ONCE,
  // What a worker leaves is handed out again within a minute.
  'due-payments': HANDED_OUT_ONCE,
  'due-deliveries': HANDED_OUT_ONCE,
  'due-alerts': HANDED_OUT_ONCE,
}

/** How long a message of the queue stays hidden after it was received: by the longest timeout of the functions it starts. */
export const hiddenSecondsOf = (name: QueueName): number => {
  const readers = MANIFEST.filter(({ trigger }) => queuesOf(trigger).some(({ queue }) => queue === name))
  return QUEUE_SETTINGS[name].hiddenSeconds(Math.max(...readers.map(({ timeoutSeconds }) => timeoutSeconds)))
}
