import { startAudits } from '../../shared/audit/start-audits.ts'
import { scheduleHandler } from '../../shared/runtime/schedule-handler.ts'
import { tellUnpaidSettlements } from '../../shared/settlement/tell-unpaid-settlements.ts'

const summary =
  'Daily, two hours after the sweep: puts every client on the audits queue, where those that moved are audited and all ' +
  'are compared with the provider, and tells of settlements that have waited for their payout for three days. Safe to repeat.'

export const handler = scheduleHandler({ summary }, async (deps) => {
  const started = await startAudits(deps)
  await tellUnpaidSettlements(deps)
  return started
})
