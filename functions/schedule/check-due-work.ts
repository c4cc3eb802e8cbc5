import { checkDueWork } from '../../shared/due-work/check-due-work.ts'
import { scheduleHandler } from '../../shared/runtime/worker-handlers.ts'

export const handler = scheduleHandler(
  {
    summary:
      'Every minute: queues due work for the workers: checks and expiries of payments, overdue ' +
      'deliveries, alerts. Safe to repeat.',
  },
  checkDueWork,
)
