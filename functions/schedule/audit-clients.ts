import { startAudits } from '../../shared/audit/audit-client.ts'
import { alertUncompared } from '../../shared/books/balance-store.ts'
import { scheduleHandler } from '../../shared/runtime/worker-handlers.ts'
import { alertUnpaidSettlements } from '../../shared/settlement/sweep-settlements.ts'

export const handler = scheduleHandler(
  {
    summary:
      'Daily, at the stage’s `auditAtUtc`: queues the gateway and every client for their audits. ' +
      'Alerts about settlements that have waited three days for their payout, and about a day ' +
      'without compare-balance. Safe to repeat.',
  },
  async (deps) => {
    const started = await startAudits(deps)
    await alertUnpaidSettlements(deps)
    await alertUncompared(deps)
    return started
  },
)
