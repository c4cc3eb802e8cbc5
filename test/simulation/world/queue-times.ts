import type { QueueName } from '../../../shared/queues.ts'
import type { SimQueueOptions } from './sim-queue.ts'

const WORKER_OF_DUE_WORK = { visibilityMs: 540_000, maxReceiveCount: 5 }
/** How long the queues of the stack hide what a worker was given, and how often they give it. */
export const QUEUE_TIMES: Readonly<Record<QueueName, SimQueueOptions>> = {
  webhooks: { visibilityMs: 35_000, maxReceiveCount: 20 },
  'webhooks-slow': { visibilityMs: 35_000, maxReceiveCount: 20 },
  settlements: { visibilityMs: 3_600_000, maxReceiveCount: 5 },
  sync: { visibilityMs: 1_800_000, maxReceiveCount: 5 },
  audits: { visibilityMs: 1_800_000, maxReceiveCount: 5 },
  'due-payments': WORKER_OF_DUE_WORK,
  'due-deliveries': WORKER_OF_DUE_WORK,
  'due-alerts': WORKER_OF_DUE_WORK,
}
