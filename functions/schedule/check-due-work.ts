import { checkDueWork } from '../../shared/due-work/check-due-work.ts'
import { scheduleHandler } from '../../shared/runtime/schedule-handler.ts'

const summary =
  'Every minute: hands out what is due: lost callbacks, our own expiry, lost events, overdue deliveries, alerts. ' +
  'Safe to repeat.'

export const handler = scheduleHandler({ summary }, (deps) => checkDueWork(deps))
