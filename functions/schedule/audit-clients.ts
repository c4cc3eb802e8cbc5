import { startAudits } from '../../shared/audit/start-audits.ts'
import { scheduleHandler } from '../../shared/runtime/schedule-handler.ts'

const summary =
  'Daily, two hours behind the sweep: puts every client on the audits queue, where those that moved are audited. ' +
  'Safe to repeat.'

export const handler = scheduleHandler({ summary }, (deps) => startAudits(deps))
