import { checkDueWork } from '../../shared/due-work/check-due-work.ts'
import { scheduleHandler } from '../../shared/runtime/schedule-handler.ts'

const summary =
  'Every minute: lost callbacks, our own expiry, events the stream lost, overdue deliveries, alerts. Safe to repeat.'

export const handler = scheduleHandler({ summary }, (deps) => checkDueWork(deps))
