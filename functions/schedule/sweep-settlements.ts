import { scheduleHandler } from '../../shared/runtime/worker-handlers.ts'
import { sweepSettlements } from '../../shared/settlement/sweep-settlements.ts'

const summary =
  'Daily, at 02:00 UTC or at the stage’s own time (spec 3.2): puts every client on the ' +
  'settlements queue. Safe to repeat.'

export const handler = scheduleHandler({ summary }, (deps) => sweepSettlements(deps))
