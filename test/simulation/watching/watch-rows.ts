import type { World } from '../world/world.ts'
import type { Observations } from './observations.ts'
import { watchAuditRecords } from './watch-audit-records.ts'
import { watchClients } from './watch-clients.ts'
import { watchErrors } from './watch-errors.ts'
import { watchFeeFields } from './watch-fee-fields.ts'
import { watchJobs } from './watch-jobs.ts'
import { watchLedger } from './watch-ledger.ts'
import { watchPayments } from './watch-payments.ts'
import { watchSettlementRows } from './watch-settlements.ts'
import { watchSuspense } from './watch-suspense.ts'
import { watchTransitions } from './watch-transitions.ts'
import { watchWindows } from './watch-windows.ts'
import { watchAbandonments } from './webhooks/watch-abandonments.ts'
import { watchAnnouncements } from './webhooks/watch-announcements.ts'
import { watchAttempts } from './webhooks/watch-attempts.ts'
import { watchDeliveryRows } from './webhooks/watch-delivery-rows.ts'
import { watchEndpointRows, watchEndpointStates } from './webhooks/watch-endpoint-rows.ts'
import { watchMessages } from './webhooks/watch-messages.ts'
import { watchPosts } from './webhooks/watch-posts.ts'

const WATCHERS: readonly ((world: World, seen: Observations) => void)[] = [
  watchTransitions,
  watchPayments,
  watchAttempts,
  watchMessages,
  watchPosts,
  watchEndpointRows,
  watchAbandonments,
  watchLedger,
  watchWindows,
  watchSettlementRows,
  watchFeeFields,
  watchSuspense,
  watchJobs,
  watchAuditRecords,
  watchClients,
  watchErrors,
]

/** Every row at each write, and what workers send, say and leave: money, what is counted of it, and who works on what. */
export const watchRows = (world: World, seen: Observations): void => {
  const endpoints = watchEndpointStates(world)
  watchAnnouncements(world, seen, endpoints)
  watchDeliveryRows(world, seen, endpoints)
  for (const watch of WATCHERS) watch(world, seen)
}
