import { checkDueWork } from '../../shared/due-work/check-due-work.ts'
import { scheduleHandler } from '../../shared/runtime/schedule-handler.ts'

/** Every minute: lost callbacks, our own expiry, events the stream lost, overdue deliveries, alerts. Safe to repeat. */
export const handler = scheduleHandler((deps) => checkDueWork(deps))
