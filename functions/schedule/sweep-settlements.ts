import { scheduleHandler } from '../../shared/runtime/worker-handlers.ts'
import { sweepSettlements } from '../../shared/settlement/sweep-settlements.ts'

const summary =
  'Daily, at the stage’s `sweepAtUtc` (spec 3.2): puts every client on the settlements queue. ' +
  'Safe to repeat.'

export const handler = scheduleHandler({ summary }, sweepSettlements)
