import type { World } from '../world/world.ts'
import type { Observations } from './observations.ts'
import { watchAuditRecords } from './watch-audit-records.ts'
import { watchClients } from './watch-clients.ts'
import { watchCounters } from './watch-counters.ts'
import { watchFeeFields } from './watch-fee-fields.ts'
import { watchFindings } from './watch-findings.ts'
import { watchJobs } from './watch-jobs.ts'
import { watchLedger } from './watch-ledger.ts'
import { watchSettlementRows } from './watch-settlements.ts'
import { watchSuspense } from './watch-suspense.ts'
import { watchWindows } from './watch-windows.ts'

/** Every row but payments' own states, watched at each write: money, what is counted of it, and who works on what. */
export const watchRows = (world: World, seen: Observations): void => {
  watchLedger(world, seen)
  watchWindows(world, seen)
  watchSettlementRows(world, seen)
  watchFeeFields(world, seen)
  watchSuspense(world, seen)
  watchFindings(world, seen)
  watchJobs(world, seen)
  watchCounters(world, seen)
  watchAuditRecords(world, seen)
  watchClients(world, seen)
}
