import { scheduleHandler } from '../../shared/runtime/worker-handlers.ts'
import { sweepSettlements } from '../../shared/settlement/sweep-settlements.ts'

export const handler = scheduleHandler(
  {
    summary:
      'Daily, at the stage’s `sweepAtUtc` (spec 3.2): puts every client on the settlements ' +
      'queue. Safe to repeat.',
  },
  sweepSettlements,
)
